"""Problem: true statistics of contexts and rewards, with costs, a budget and a horizon."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from numbers import Real
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from almoner import checks
from almoner.errors import InvalidProblem
from almoner.files import read_table
from almoner.fit import Fit
from almoner.types import Floats

__all__ = ["FROM_FILE", "Problem"]

FROM_FILE = "read one with Problem.from_file, or with almoner.scenarios.load"
"""Hint for callers who pass a path or scenario name."""


@dataclass(frozen=True, init=False, eq=False)
class Problem:
    """A budget, a horizon, and the true statistics of contexts and rewards.

    Parameters
    ----------
    context_probs
        Probability of each context, one per context; they sum to 1.
    reward_means
        Mean reward of each action in each context, (contexts, actions), in [0, 1].
    horizon
        Number of rounds, a positive whole number.
    budget
        The most that may be spent in all rounds; never exceeded.
    costs
        Cost of each action in each context: (contexts, actions), or one row for all contexts, or
        one number for all.
    default_rewards
        Mean reward of skipping, one per context. Skipping is always possible and always free.
    defaults_known
        Whether policies know the default rewards, or must learn them. A policy with known rewards
        knows them in any case.
    reward_spread
        Variance of a reward as a share of the largest variance its mean allows, m(1 − m):
        1 is Bernoulli, 0 is the mean itself every time, anything between is Beta.
    contexts, actions
        Names for people to read.
    fit
        The evidence of statistics that were fitted to a log, if they were.

    Examples
    --------
    >>> problem = Problem(
    ...     context_probs=[0.4, 0.6],
    ...     reward_means=[[0.2, 0.8], [0.1, 0.4]],
    ...     horizon=1000,
    ...     budget=400,
    ... )
    >>> problem.ratio
    0.4
    >>> problem.replace(horizon=2000, budget=900).ratio
    0.45
    """

    context_probs: Floats
    reward_means: Floats
    horizon: int
    budget: float
    costs: Floats
    default_rewards: Floats
    defaults_known: bool
    reward_spread: float
    contexts: tuple[str, ...]
    actions: tuple[str, ...]
    fit: Fit | None

    def __init__(
        self,
        *,
        context_probs: ArrayLike,
        reward_means: ArrayLike,
        horizon: float,
        budget: float,
        costs: ArrayLike = 1.0,
        default_rewards: ArrayLike = 0.0,
        defaults_known: bool = False,
        reward_spread: float = 1.0,
        contexts: Sequence[str] = (),
        actions: Sequence[str] = (),
        fit: Fit | None = None,
    ) -> None:
        probs = checks.probabilities("context_probs", context_probs, error=InvalidProblem)
        means = checks.array(
            "reward_means",
            reward_means,
            shape=(len(probs), None),
            of="contexts × actions",
            low=0,
            high=1,
            error=InvalidProblem,
            remedy="scale rewards to [0, 1]",
        )
        checks.flag("defaults_known", defaults_known, error=InvalidProblem)
        valid = {
            "context_probs": probs,
            "reward_means": means,
            "horizon": checks.whole("horizon", horizon, error=InvalidProblem),
            "budget": checks.number("budget", budget, low=0, error=InvalidProblem),
            "costs": checks.costs("costs", costs, shape=means.shape, error=InvalidProblem),
            "default_rewards": checks.array(
                "default_rewards",
                np.full(len(probs), default_rewards)
                if isinstance(default_rewards, Real)
                else default_rewards,
                shape=probs.shape,
                of="one per context",
                low=0,
                high=1,
                error=InvalidProblem,
            ),
            "defaults_known": defaults_known,
            "reward_spread": checks.number(
                "reward_spread", reward_spread, low=0, high=1, error=InvalidProblem
            ),
            "contexts": checks.names("contexts", contexts, count=len(probs), error=InvalidProblem),
            "actions": checks.names("actions", actions, count=means.shape[1], error=InvalidProblem),
            "fit": fit if isinstance(fit, Fit) or fit is None else Fit.from_dict(fit),
        }
        for name, value in valid.items():
            object.__setattr__(self, name, value)  # sets a field of a frozen dataclass

    def prior(self, *, memory: float = 1.0) -> dict[str, Any]:
        """Return the ``prior`` of a campaign, if the problem was fitted to a log.

        Means are in the unit of the log, and each has the weight of its rows, times ``memory``.
        """
        if self.fit is None:
            raise InvalidProblem(
                "a prior needs the counts of a log, and this problem has none; make the problem "
                "with Log.fit, or write al.Prior(means=…, weight=…)"
            )
        return self.fit.prior(self.contexts, self.actions, memory=memory)

    @property
    def ratio(self) -> float:
        """Budget per round, the ρ of the paper."""
        return self.budget / self.horizon

    @property
    def gains(self) -> Floats:
        """Mean gain of each action over skipping, (contexts, actions)."""
        gains: Floats = self.reward_means - self.default_rewards[:, None]
        return gains

    def replace(self, **changes: Any) -> Problem:
        """Return the same problem with some fields changed, and checked again.

        Costs and default rewards that are the same in every context hold for any number of them.
        """
        names = [field.name for field in fields(self)]
        if not {"horizon", "budget"} >= changes.keys():
            changes = {"fit": None, **changes}  # the log says nothing of other statistics
        checks.known_keys("the problem", changes, required=(), optional=names, error=InvalidProblem)
        return replace(self, **(self._shared() | changes))

    def _shared(self) -> dict[str, Any]:
        """Return costs and default rewards without the contexts that they were broadcast to."""
        shared: dict[str, Any] = {}
        if np.all(self.costs == self.costs.flat[0]):
            shared["costs"] = float(self.costs.flat[0])
        elif np.all(self.costs == self.costs[0]):
            shared["costs"] = self.costs[0]
        if np.all(self.default_rewards == self.default_rewards[0]):
            shared["default_rewards"] = float(self.default_rewards[0])
        return shared

    def scaled(self, horizon: int, *, ratio: float | None = None) -> Problem:
        """Return the problem at another horizon, with the budget that keeps (or sets) the ratio.

        Where every cost is one the budget counts actions and is rounded to a whole number.
        """
        horizon = checks.whole("horizon", horizon, error=InvalidProblem)
        if ratio is None:
            ratio = self.ratio
        else:
            checks.number("ratio", ratio, low=0, error=InvalidProblem)
        budget = ratio * horizon
        counts = bool(np.all(self.costs == 1)) and math.isfinite(budget)
        return self.replace(horizon=horizon, budget=round(budget) if counts else budget)

    def terms(self) -> dict[str, Any]:
        """Return the arguments of `almoner.policy.lowering.lower`, true statistics included."""
        names = ["horizon", "budget", "costs", "context_probs", "reward_means"]
        names += ["default_rewards", "defaults_known"]
        return {name: getattr(self, name) for name in names}

    def to_dict(self) -> dict[str, Any]:
        """Return lists and numbers under the constructor's names; default values are left out."""
        table: dict[str, Any] = {
            field.name: value.tolist() if isinstance(value, np.ndarray) else value
            for field in fields(self)
            if (value := getattr(self, field.name)) is not None
        }
        if np.all(self.costs == 1):
            del table["costs"]
        if not self.default_rewards.any():
            del table["default_rewards"]
        if not self.defaults_known:
            del table["defaults_known"]
        if self.reward_spread == 1:
            del table["reward_spread"]
        if self.fit is not None:
            table["fit"] = self.fit.to_dict()
        return {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in table.items()
            if value != ()
        }

    @classmethod
    def from_dict(cls, table: Any) -> Problem:
        """Build a problem from the result of `to_dict`; unknown and missing keys are refused."""
        if not isinstance(table, dict):
            raise InvalidProblem("a problem must be a table of names and values")
        names = [field.name for field in fields(cls)]
        checks.known_keys(
            "the problem", table, required=names[:4], optional=names[4:], error=InvalidProblem
        )
        return cls(**table)

    @classmethod
    def from_file(cls, path: str | Path) -> Problem:
        """Read a problem from a ``.toml`` or ``.json`` file with the constructor's names."""
        return read_table(path, "problem", cls.from_dict, error=InvalidProblem)

    def to_file(self, path: str | Path) -> None:
        """Write the problem as TOML or JSON, by the ending of the path."""
        path = Path(path)
        if path.suffix == ".json":
            text = json.dumps(self.to_dict(), indent=1, ensure_ascii=False) + "\n"
        elif path.suffix == ".toml":  # a JSON array, number or string is also TOML
            table = self.to_dict()
            fit = table.pop("fit", None)
            text = _toml(table) + ("" if fit is None else f"\n[fit]\n{_toml(fit)}")
        else:
            raise InvalidProblem(f"a problem file must end in .toml or .json, got {path.name!r}")
        path.write_text(text, encoding="utf-8")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Problem) and self.to_dict() == other.to_dict()

    def __hash__(self) -> int:
        return hash(json.dumps(self.to_dict()))


def _toml(table: dict[str, Any]) -> str:
    """Return lines of TOML for values that are no tables."""
    return "".join(
        f"{name} = {json.dumps(value, ensure_ascii=False)}\n".replace("\x7f", "\\u007f")
        for name, value in table.items()
    )
