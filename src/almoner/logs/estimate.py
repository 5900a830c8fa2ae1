"""Value against budget, of a log or of rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, overload

from almoner import checks
from almoner.logs.frontier import LogFrontier, log_frontier
from almoner.logs.log import Log
from almoner.policy.base import Policy
from almoner.simulation.rows.frontier import Frontier
from almoner.simulation.rows.rows import Rows

__all__ = ["frontier"]


@overload
def frontier(
    log: Log, *, budgets: Sequence[float], bootstraps: int | None = None, seed: int = 0
) -> LogFrontier: ...
@overload
def frontier(
    log: Rows,
    *,
    budgets: Sequence[float],
    seed: int = 0,
    policies: Sequence[Policy | str] | None = None,
    runs: int | None = None,
) -> Frontier: ...
def frontier(
    log: Log | Rows,
    *,
    budgets: Sequence[float],
    bootstraps: int | None = None,
    seed: int = 0,
    policies: Sequence[Policy | str] | None = None,
    runs: int | None = None,
) -> LogFrontier | Frontier:
    """Return what several budgets bring, estimated from a log or simulated on rows.

    A plan at a fixed price is an ordinary policy. Its value and its cost are estimated for all
    prices at once, by doubly robust estimation with means fitted on other folds and by
    self-normalised inverse propensities, and read at each budget. A campaign that learns brings
    this less what pacing and learning cost: see `replay`.

    Parameters
    ----------
    log
        A `Log`, or `Rows`: then this is `Rows.frontier`.
    budgets
        The budgets of all arrivals together.
    bootstraps
        Of a log: the number of bootstrap samples, 200 if left out.
    seed
        Everything random follows from it.
    policies, runs
        Of rows: see `Rows.frontier`, which takes more.

    Examples
    --------
    >>> log = Log.read({
    ...     "context": ["new", "new", "old", "old"] * 50,
    ...     "action": ["coupon", "", "coupon", ""] * 50,
    ...     "reward": [1, 0, 1, 1] * 50}, design="uniform")
    >>> [point] = frontier(log, budgets=[60])
    >>> round(point.value), point.price, point.shares["new"]
    (160, 1.0, {'skipped': 0.4, 'coupon': 0.6})
    >>> print(point.basis)
    200 rows, 100 matches, effective sample size 132, smallest probability 0.5
    """
    simulated: dict[str, Any] = {"policies": policies, "runs": runs}
    estimated: dict[str, Any] = {"bootstraps": bootstraps}
    if isinstance(log, Rows):
        return log.frontier(budgets=budgets, seed=seed, **_given(simulated, estimated, "a log"))
    checks.kind("log", log, Log, "read one with al.Log.read")
    return log_frontier(log, budgets=budgets, seed=seed, **_given(estimated, simulated, "rows"))


def _given(own: dict[str, Any], other: dict[str, Any], of: str) -> dict[str, Any]:
    """Return the arguments that were given; refuse those of the other kind of source."""
    for name, value in other.items():
        if value is not None:
            raise checks.refuse(name, f"be given for {of} only", value, "leave it out")
    return {name: value for name, value in own.items() if value is not None}
