"""Parts of policies on rows: arrivals that bring scores, features and costs of their own.

A row is what one arrival offers: a value and a cost for each action that is available to it. The
values are the caller's scores or the predictions of a model; a market of recent rows stands for
the arrivals to come; and the price at which the market spends the budget per round decides. The
other rules are what people use instead, for comparison.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from almoner import checks
from almoner.errors import InvalidPolicy
from almoner.policy.allocation import AllocationRule
from almoner.policy.contexts import ContextKnowledge
from almoner.policy.rewards import RewardKnowledge

__all__ = [
    "DualDescent",
    "EMAPacing",
    "FixedRate",
    "GivenScores",
    "LinearModel",
    "Market",
    "PIDPacing",
    "Priced",
    "Unpriced",
]

LARGEST = 65_536
"""Rows of a market, at most: a price takes some passes over all of them."""

SCORE_LIMIT = 1e300
"""The largest magnitude of a score: differences and sums of scores are finite."""

REGRESSOR_LIMIT = 1e100
"""The largest magnitude of features, rewards and recalibrated scores: their squares are finite."""


@dataclass(frozen=True, kw_only=True)
class GivenScores(RewardKnowledge):
    """Scores of the caller as the values of actions.

    Parameters
    ----------
    trust
        The number of rewards that a score counts for: the scores of each action are recalibrated
        by a line through its rewards, with this weight on the scores as they are. Left out, scores
        are used as given, and need no scale.
    """

    code: ClassVar[int] = 0
    trust: float | None = None

    def __post_init__(self) -> None:
        if self.trust is not None:
            trust = checks.number("trust", self.trust, above=0.0, error=InvalidPolicy)
            object.__setattr__(self, "trust", trust)


@dataclass(frozen=True, kw_only=True)
class LinearModel(RewardKnowledge):
    """Bayesian linear regression of the reward on features, one for each action.

    The bound of a value is √(2 g σ² h) above its prediction, where h is the variance of the
    prediction in units of the noise σ², and g the level of `almoner.thrifty` for the plays that
    arrivals of this kind have left.

    Parameters
    ----------
    ridge
        Prior precision of each coefficient but the constant, per feature.
    learn_costs
        Learn the ratio of bill and declared cost on the same features.
    """

    code: ClassVar[int] = 1
    ridge: float = 10.0
    learn_costs: bool = True

    def __post_init__(self) -> None:
        ridge = checks.number("ridge", self.ridge, above=0.0, error=InvalidPolicy)
        object.__setattr__(self, "ridge", ridge)
        checks.flag("learn_costs", self.learn_costs, error=InvalidPolicy)


@dataclass(frozen=True, kw_only=True)
class Market(ContextKnowledge):
    """A sample of the rows seen: half of it the latest, half of it drawn from all.

    Parameters
    ----------
    size
        The number of rows. Left out, it is 256, and for long horizons a fortieth of the horizon up
        to 1,024: where the budget serves one arrival in a hundred, only few rows are near the
        price.
    """

    code: ClassVar[int] = 0
    size: int | None = None

    def __post_init__(self) -> None:
        if self.size is None:
            return
        size = checks.whole("size", self.size, low=2, error=InvalidPolicy)
        if size > LARGEST:
            raise checks.refuse("size", f"be at most {LARGEST}", size, error=InvalidPolicy)
        object.__setattr__(self, "size", size)

    def size_for(self, horizon: int) -> int:
        """Return the number of rows for a horizon."""
        return min(1024, max(256, horizon // 40)) if self.size is None else self.size


@dataclass(frozen=True, kw_only=True)
class Priced(AllocationRule):
    """Solve the LP of the market at the present ratio b/τ, and decide at its price."""

    code: ClassVar[int] = 0


@dataclass(frozen=True, kw_only=True)
class DualDescent(AllocationRule):
    """Move the price by a step against the budget that a round has left over.

    Balseiro, Lu and Mirrokni, Operations Research 71, 2023: λ ← max(0, λ − η(ρ − c)).

    Parameters
    ----------
    step
        η, relative to the value for money of the best actions of the first rows, as scores need no
        scale, and to ρ.
    """

    code: ClassVar[int] = 1
    step: float = 0.05

    def __post_init__(self) -> None:
        step = checks.number("step", self.step, above=0.0, error=InvalidPolicy)
        object.__setattr__(self, "step", step)


@dataclass(frozen=True, kw_only=True)
class PIDPacing(AllocationRule):
    """Control the price by the error of a smoothed spend, proportionally and by its integral.

    Parameters
    ----------
    proportional, integral
        The gains of the controller, on the logarithm of the price.
    """

    code: ClassVar[int] = 2
    proportional: float = 0.5
    integral: float = 0.02

    def __post_init__(self) -> None:
        for name in ("proportional", "integral"):
            gain = checks.number(name, getattr(self, name), low=0.0, error=InvalidPolicy)
            object.__setattr__(self, name, gain)


@dataclass(frozen=True, kw_only=True)
class EMAPacing(AllocationRule):
    """Move the price by the relative error of an exponential moving average of the spend.

    Parameters
    ----------
    step
        The step on the price, relative to the value for money of the first rows' best actions.
    weight
        The weight of the present round in the average.
    """

    code: ClassVar[int] = 3
    step: float = 0.05
    weight: float = 0.05

    def __post_init__(self) -> None:
        for name in ("step", "weight"):
            value = checks.number(name, getattr(self, name), above=0.0, error=InvalidPolicy)
            object.__setattr__(self, name, value)


@dataclass(frozen=True, kw_only=True)
class Unpriced(AllocationRule):
    """Take the action with the best value while it can be paid, whatever it costs."""

    code: ClassVar[int] = 4


@dataclass(frozen=True, kw_only=True)
class FixedRate(AllocationRule):
    """Take the action with the best value while the spend is below its straight line."""

    code: ClassVar[int] = 5
