"""Paired comparison of two policies on the same contexts and reward noise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from almoner import checks
from almoner.errors import InvalidInput
from almoner.simulation.regret import Sample

if TYPE_CHECKING:
    from almoner.simulation.runs import Runs

__all__ = ["Comparison", "compare"]


@dataclass(frozen=True, kw_only=True, eq=False)
class Comparison:
    """The difference between two policies, replication by replication.

    Attributes
    ----------
    difference
        The regret of the first minus that of the second, as a `Sample`: below 0 where the first is
        better. Both saw the same contexts and reward noise, so its standard error is smaller than
        that of two separate simulations.
    low, high
        The confidence interval of its mean.
    level
        The level of that interval.
    better
        The share of the replications in which the first has less regret.
    """

    difference: Sample
    low: float
    high: float
    level: float
    better: float

    def __str__(self) -> str:
        said = "no difference is shown"
        if self.high < 0:
            said = "the first has less regret"
        elif self.low > 0:
            said = "the second has less regret"
        return (
            f"regret differs by {self.difference.mean:.4g}, {self.low:.4g} to {self.high:.4g} at "
            f"{100 * self.level:g} %: {said}"
        )


def compare(first: Runs, second: Runs, *, level: float = 0.95) -> Comparison:
    """Compare two simulations of one problem and seed, replication by replication."""
    if type(second) is not type(first):
        raise checks.refuse(
            "other", "be the runs of another policy", second, "give what simulate returns"
        )
    for name in ("seed", "against", "estimator"):
        if getattr(first, name) != getattr(second, name):
            raise InvalidInput(
                f"a paired comparison needs runs with the same {name}, got "
                f"{getattr(first, name)!r} and {getattr(second, name)!r}; simulate both alike"
            )
    if len(first) != len(second):
        raise InvalidInput(
            f"a paired comparison needs as many runs of both, got {len(first)} and {len(second)}; "
            "give both the same runs="
        )
    if len(first) < 2:
        raise InvalidInput(
            "a paired comparison needs two runs at least, got one; give both more runs="
        )
    if first.problem.to_dict() != second.problem.to_dict():
        raise InvalidInput(
            "a paired comparison needs runs on the same problem, got two problems; "
            "simulate both policies on one"
        )
    if not _same_world(first.world, second.world):
        raise InvalidInput(
            "a paired comparison needs runs on the same environment, got two; make one object of "
            "it, and simulate both policies on that"
        )
    difference = Sample(first.regret.values - second.regret.values)
    low, high = difference.interval(level)
    better = float(np.mean(difference.values < 0))
    return Comparison(difference=difference, low=low, high=high, level=level, better=better)


def _same_world(one: Any, other: Any) -> bool:
    """Return whether two environments are one object, or of one class with equal attributes."""
    if one is other or type(one) is not type(other):
        return one is other
    if isinstance(one, np.ndarray):
        return np.array_equal(one, other)
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(_same_world(one[k], other[k]) for k in one)
    if isinstance(one, (list, tuple)):
        return len(one) == len(other) and all(map(_same_world, one, other))
    if hasattr(one, "__dict__") and not callable(one):
        return _same_world(vars(one), vars(other))
    return bool(one == other)
