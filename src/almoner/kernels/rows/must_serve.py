"""Must serve on rows: the money that is set aside for a default action of the arrivals to come."""

from __future__ import annotations

import math

from almoner.jit import jit_inline
from almoner.types import Floats, Ints, Mask

__all__ = ["SUMS", "beyond_defaults", "count_bill", "keep_for_defaults"]

ARRIVED, PLANNED, BILLED, SUMS = range(4)
"""Places in the sums of a default action: its expected costs for all arrivals, and the expected
costs and the bills of those that got it. From ``SUMS`` on, the largest bill of each action, in
expected costs."""


@jit_inline
def beyond_defaults(sums: Floats, cost: int, t: int, remaining: int, left: int) -> int:
    """Return the units left beyond the default action for this arrival and those to come.

    ``cost`` is the expected cost of this arrival's, number ``t`` from 0 on, which is added to the
    sums; later ones cost the mean so far. Both count as much more, or less, as bills of the default
    have been above what was expected, with one more bill as expected.
    """
    sums[ARRIVED] += cost
    mean = sums[ARRIVED] / (t + 1)
    ratio = (sums[BILLED] + mean) / (sums[PLANNED] + mean) if mean > 0.0 else 1.0
    aside = math.ceil(ratio * (cost + mean * (remaining - 1)) * (1.0 - 1e-12))
    return max(0, left - aside)


@jit_inline
def keep_for_defaults(sums: Floats, costs: Ints, default: int, spare: int, fits: Mask) -> None:
    """Leave out actions whose largest bill would take what is set aside for the default."""
    for action in range(len(costs)):
        largest = max(1.0, sums[SUMS + action]) * costs[action]
        if action != default and largest > spare + costs[default]:
            fits[action] = False


@jit_inline
def count_bill(sums: Floats, action: int, default: int, cost: int, bill: int) -> None:
    """Count the bill of an action, beside its expected cost."""
    if action == default:
        sums[PLANNED] += cost
        sums[BILLED] += bill
    if cost > 0:
        sums[SUMS + action] = max(sums[SUMS + action], bill / cost)
