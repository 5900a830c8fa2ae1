"""Value against budget, of a log or of rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, overload

from almoner import checks
from almoner.logs.frontier import LogFrontier, log_frontier
from almoner.logs.log import Log
from almoner.simulation.rows.frontier import Frontier
from almoner.simulation.rows.rows import Rows

__all__ = ["frontier"]


@overload
def frontier(log: Log, *, budgets: Sequence[float], **options: Any) -> LogFrontier: ...
@overload
def frontier(log: Rows, *, budgets: Sequence[float], **options: Any) -> Frontier: ...
def frontier(
    log: Log | Rows, *, budgets: Sequence[float], **options: Any
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
    options
        Of a log ``bootstraps`` (200), the number of bootstrap samples, and ``seed`` (0); of rows
        the arguments of `Rows.frontier`.

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
    if isinstance(log, Rows):
        return log.frontier(budgets=budgets, **options)
    remedy = "read one with al.Log.read"
    checks.kind("log", log, Log, remedy)
    checks.known_keys("frontier", options, required=(), optional=["bootstraps", "seed"])
    return log_frontier(log, budgets=budgets, **options)
