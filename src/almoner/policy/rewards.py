"""Reward knowledge: the index of each context-action pair, known or learned.

Letters: S, C are the sum and the count of the rewards of a pair so far, ū = S/C their mean, t the
round, τ the rounds left (this one included), b the budget left. A pair without rewards has index 1.
The compiled formulas are in `almoner.kernels.indices`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from almoner import checks
from almoner.errors import InvalidPolicy
from almoner.policy.insurance import INSURANCES

__all__ = [
    "KLUCB",
    "UCB",
    "EmpiricalMean",
    "ExploreFirst",
    "HorizonUCB",
    "InsuredWilson",
    "KnownRewards",
    "LogPlus",
    "RewardKnowledge",
    "Thompson",
    "Wilson",
]


EXPLORATION_TESTS = ("none", "usable", "literal")
"""Tests that may end exploration early."""


@dataclass(frozen=True, kw_only=True)
class RewardKnowledge:
    """Base class of reward knowledge; ``code`` selects the branch in `almoner.kernels.indices`."""

    code: ClassVar[int]


@dataclass(frozen=True, kw_only=True)
class _WithWidth(RewardKnowledge):
    width: float

    def __post_init__(self) -> None:
        width = checks.number("width", self.width, low=0, error=InvalidPolicy)
        object.__setattr__(self, "width", width)


@dataclass(frozen=True, kw_only=True)
class KnownRewards(RewardKnowledge):
    """Known means; left out, the simulator supplies the problem's own.

    Parameters
    ----------
    means
        Mean reward of each action in each context, (contexts, actions).
    """

    code: ClassVar[int] = 0
    means: tuple[tuple[float, ...], ...] | None = None

    def __post_init__(self) -> None:
        if self.means is not None:
            table: Any = checks.array(
                "means", self.means, shape=(None, None), low=0, high=1, error=InvalidPolicy
            )
            object.__setattr__(self, "means", tuple(map(tuple, table.tolist())))


@dataclass(frozen=True, kw_only=True)
class UCB(_WithWidth):
    """UCB index ū + √(width · log t / C), not clipped at 1; the paper has width ½."""

    code: ClassVar[int] = 3
    width: float = 0.5


@dataclass(frozen=True, kw_only=True)
class KLUCB(_WithWidth):
    """KL-UCB index: the largest q with C · kl(ū, q) ≤ width · log t (Garivier and Cappé, 2011).

    By Pinsker's inequality it lies below the `UCB` of half its width.
    """

    code: ClassVar[int] = 4
    width: float = 1.0


@dataclass(frozen=True, kw_only=True)
class LogPlus(_WithWidth):
    """Index ū + √(width · log⁺(t/C) / C): the bonus vanishes for pairs seen in most rounds."""

    code: ClassVar[int] = 5
    width: float = 0.25


@dataclass(frozen=True, kw_only=True)
class Thompson(RewardKnowledge):
    """Draw from Beta(1+S, 1+C−S) per pair and round; S counts rewards binarised at random."""

    code: ClassVar[int] = 6


@dataclass(frozen=True, kw_only=True)
class Wilson(RewardKnowledge):
    """Wilson score bound with the optimal boundary of a finite-horizon bandit.

    Its width falls with the plays left in the context, min(share · τ, b), so that exploration ends
    when nothing is left to gain from it.
    """

    code: ClassVar[int] = 7


@dataclass(frozen=True, kw_only=True)
class EmpiricalMean(RewardKnowledge):
    """Empirical mean ū: no exploration beyond the first try of each pair."""

    code: ClassVar[int] = 1


@dataclass(frozen=True, kw_only=True)
class HorizonUCB(_WithWidth):
    """Index ū + √(width · log(1 + share·τ/C) / C): the bonus falls with the arrivals to come."""

    code: ClassVar[int] = 8
    width: float = 0.25


@dataclass(frozen=True, kw_only=True)
class InsuredWilson(RewardKnowledge):
    """Wilson bound, insured against leaving a good action alone.

    A context that has arrived tries an action again until the action's own rewards say that to
    leave it alone cannot lose more than 15 % of the campaign's reward. ``evidence`` is the
    log-likelihood ratio L that says so after C plays, multiplied by ``caution``:

    - ``"graded"``: L = 3.6 + 1.4 log(1 + C), at most 8.5, for at most 5 % of the reward. Bounds
      are at 0.8 of the level of `Wilson`; where a prior is in use (`Pooled`), at the full level for
      the context that has arrived.
    - ``"flat"``: L = 7.5, for at most 8 % of the reward. Bounds are at the full level for the
      context that has arrived, and at 0.6 of it for those that wait. Campaigns that were opened
      with `thrifty` before its evidence was graded go on with this one.

    Contexts that wait compete for the budget without insurance: money is not saved for rewards that
    only optimism promises.

    Parameters
    ----------
    caution
        0 for no insurance; 1 is a compromise between the mean and the worst runs; up to about
        1.5, larger numbers make bad runs rarer, and cost more on average.
    evidence
        ``"flat"`` or ``"graded"``.
    """

    code: ClassVar[int] = 9
    caution: float = 1.0
    evidence: str = "flat"

    def __post_init__(self) -> None:
        caution = checks.number("caution", self.caution, low=0, high=10, error=InvalidPolicy)
        object.__setattr__(self, "caution", caution)
        checks.choice("evidence", self.evidence, INSURANCES, error=InvalidPolicy)


@dataclass(frozen=True, kw_only=True)
class ExploreFirst(RewardKnowledge):
    """Try all actions evenly first, then use the means (the paper's ε-First).

    Parameters
    ----------
    rounds
        How many rounds to explore; left out, the cap or the test ends it.
    test
        ``"usable"`` ends exploration when the expected cost of mistakes in the rounds left is at
        most three times the cost of exploration so far; ``"literal"`` is the paper's Confidence
        Level Test; ``"none"``.
    update
        Whether to go on learning after exploration; the paper does not.
    cap
        Largest share of the budget for exploration, and of the rounds unless ``rounds`` or
        ``factor`` is given. Left out, a tenth, or everything if one of them is given.
    factor
        Instead of ``rounds``: explore for ⌈factor · log T⌉ rounds, which depends on the horizon.
    untried
        The mean of a pair that exploration left untried: 1, so that it is tried; 0 in the paper.
    """

    code: ClassVar[int] = 2
    rounds: int | None = None
    test: str = "none"
    update: bool = True
    cap: float | None = None
    factor: float | None = None
    untried: float = 1.0

    def __post_init__(self) -> None:
        if self.factor is not None:
            factor = checks.number("factor", self.factor, above=0, error=InvalidPolicy)
            object.__setattr__(self, "factor", factor)
            if self.rounds is not None:
                rule = "be left out where rounds is given"
                raise checks.refuse("factor", rule, factor, error=InvalidPolicy)
        untried = checks.number("untried", self.untried, low=0, high=1, error=InvalidPolicy)
        object.__setattr__(self, "untried", untried)
        if self.rounds is not None:
            rounds = checks.whole("rounds", self.rounds, error=InvalidPolicy)
            object.__setattr__(self, "rounds", rounds)
        if self.cap is not None:
            cap = checks.number("cap", self.cap, above=0, high=1, error=InvalidPolicy)
            object.__setattr__(self, "cap", cap)
        checks.flag("update", self.update, error=InvalidPolicy)
        checks.choice("test", self.test, EXPLORATION_TESTS, error=InvalidPolicy)
