"""Must serve on rows: the money that is set aside for a default action of the arrivals to come."""

from __future__ import annotations

import math

from almoner.jit import jit_inline
from almoner.types import Floats

__all__ = ["ARRIVED", "BILLED", "PLANNED", "beyond_defaults"]

ARRIVED, PLANNED, BILLED = range(3)
"""Places in the sums of a default action: its expected costs for all arrivals, and the expected
costs and the bills of those that got it."""


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
