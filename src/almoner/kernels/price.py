"""Dual price of the budget: the slope at which the hull steps of all contexts use it up.

Where the statistics are known, the N steps are sorted once and their costs summed, and the price is
found by bisection in O(log N). Where indices move, a search starts from the last price: each pass
over all steps, O(N), halves the interval that holds the price; most rounds need one or two passes.
"""

from __future__ import annotations

import math
from typing import Protocol

from almoner.jit import jit_inline
from almoner.kernels.state import KEPT_LEAST, LAST_PRICE, UNIT_PRICE, Hulls
from almoner.lp import TOLERANCE
from almoner.types import Floats, Ints

__all__ = ["PricedTerms", "find_price", "nearness"]

ADJACENT = 4
"""Passes that try an adjacent slope before halving: the price seldom moves far between rounds."""

PASSES = 128
"""Limit of passes. Each later pass halves an interval that starts below 2**20, and the search ends
at the latest when all of it is tied, at a length of 1e-12 / dearest, where costs are below 2**53
units: 20 + 40 + 53 halvings."""


class PricedTerms(Protocol):
    """Terms that a price is found and applied on: those of a policy, or of a market of rows.

    ``costs`` (contexts, actions) and ``dearest`` are in units; a ``dearest`` of infinity makes all
    tolerances relative. ``rule`` is the code of an allocation rule.
    """

    @property
    def costs(self) -> Ints: ...  # noqa: D102
    @property
    def dearest(self) -> float: ...  # noqa: D102
    @property
    def rule(self) -> int: ...  # noqa: D102


@jit_inline
def nearness(policy: PricedTerms, price: float) -> float:
    """Return the largest difference at which a slope is tied with a price.

    Slopes are gains per unit, and a small unit makes all of them small: the tolerance scales with
    the dearest cost, so that they are not all tied.
    """
    return TOLERANCE * max(price, 1.0 / policy.dearest)


@jit_inline
def find_price(policy: PricedTerms, hulls: Hulls, total: float, room: float) -> tuple[float, float]:
    """Return the price at which the steps use up ``room``, and the rate of the steps at it.

    ``total`` is the total weight of the contexts, and sets the scale of rounding errors. Where
    steps use up ``room`` exactly, every price from theirs down to the next slope balances it. The
    lowest of them, the next slope or 0 if everything fits, is the price of one more unit, and is
    reported.
    """
    slack = TOLERANCE * max(total, room)
    if len(hulls.ranked) > 0 and hulls.kept[KEPT_LEAST] == policy.dearest:
        price, used, tied, under = _bisect(policy, hulls, room - slack)
    else:
        price, used, tied, under = _search(policy, hulls, room, slack)
    hulls.price[LAST_PRICE] = price
    hulls.price[UNIT_PRICE] = price if used + tied > room + slack else under
    if tied <= 0.0 or used + tied <= room:
        return price, 1.0
    return price, min(1.0, max(0.0, (room - used) / tied))


@jit_inline
def _bisect(policy: PricedTerms, hulls: Hulls, room: float) -> tuple[float, float, float, float]:
    """Find the price among sorted steps; return it, the costs above and at it, and the next slope.

    It is the slope of the step that reaches ``room``, or of the last one if all of them fit.
    """
    i = min(_count_below(hulls.filled[1:], room), len(hulls.ranked) - 1)
    price = -hulls.ranked[i]
    near = nearness(policy, price)
    first = _count_below(hulls.ranked, -(price + near))
    after = _count_below(hulls.ranked, -(price - near))
    under = -hulls.ranked[after] if after < len(hulls.ranked) else 0.0
    return price, hulls.filled[first], hulls.filled[after] - hulls.filled[first], under


@jit_inline
def _count_below(rising: Floats, limit: float) -> int:
    """Return how many of a rising array's numbers are below a limit."""
    start, stop = 0, len(rising)
    while start < stop:  # halved each time
        middle = (start + stop) // 2
        if rising[middle] < limit:
            start = middle + 1
        else:
            stop = middle
    return start


@jit_inline
def _search(
    policy: PricedTerms, hulls: Hulls, room: float, slack: float
) -> tuple[float, float, float, float]:
    """Find the price among unsorted steps; return as `_bisect` does.

    The price lies between ``low`` and ``high``, both of them slopes once a pass has found them:
    the steps from ``low`` up cost more than ``room``, those beyond ``high`` less.
    """
    low, high = 0.0, math.inf
    price, used, tied, under = hulls.price[LAST_PRICE], 0.0, 0.0, 0.0
    for attempt in range(PASSES):
        used, tied, above, under = _fill(policy, hulls, price)
        if used > room + slack:
            low, price = above, above
        elif used + tied < room - slack and under > 0.0:
            high, price = under, under
        else:
            break
        if attempt >= ADJACENT:
            high = _steepest(policy, hulls) if high == math.inf else high
            price = low + 0.5 * (high - low)
    return price, used, tied, under


@jit_inline
def _fill(policy: PricedTerms, hulls: Hulls, price: float) -> tuple[float, float, float, float]:
    """Return the costs of the steps above a price and at it, and the next slopes on both sides."""
    used, tied, above, under = 0.0, 0.0, math.inf, 0.0
    near = nearness(policy, price)
    for other in range(policy.costs.shape[0]):
        weight = hulls.weights[other]
        for i in range(hulls.sizes[other]):
            slope, cost = hulls.slopes[other, i], weight * hulls.spans[other, i]
            if slope > price + near:
                used += cost
                above = min(above, slope)
            elif slope >= price - near:
                tied += cost
            else:
                under = max(under, slope)
    return used, tied, above, under


@jit_inline
def _steepest(policy: PricedTerms, hulls: Hulls) -> float:
    """Return the steepest slope of all hulls: the first of each, as slopes fall along a hull.

    It is the second where the first step costs nothing.
    """
    steepest = 0.0
    for other in range(policy.costs.shape[0]):
        first = 0 if hulls.sizes[other] == 0 or hulls.spans[other, 0] > 0 else 1
        if first < hulls.sizes[other]:
            steepest = max(steepest, hulls.slopes[other, first])
    return steepest
