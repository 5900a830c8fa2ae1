"""Price of a live arrival: the value of one more unit of budget when it is decided.

With unequal costs the decision has found it (`almoner.kernels.price`). With equal costs it is the
value of the context at which the budget runs out. A search from the last price over the brackets of
J contexts finds it in a few steps of O(J).
"""

from __future__ import annotations

import math

import numpy as np

from almoner.jit import jit_inline
from almoner.kernels.pair_index import have_same_prior, level_at, level_of, weights_of
from almoner.kernels.ranking import value_of
from almoner.kernels.state import EXPLORED, LEFT, ROUND, UNIT_PRICE, Hulls, Memo, State
from almoner.kernels.steps import ratio_of
from almoner.lp import TOLERANCE
from almoner.policy.allocation import Procrastinate, SkipAlways
from almoner.policy.lowering import LoweredPolicy
from almoner.policy.rewards import ExploreFirst, Thompson

__all__ = ["unit_price"]

_PROCRASTINATE, _SKIP_ALWAYS = Procrastinate.code, SkipAlways.code
_THOMPSON, _EXPLORE = Thompson.code, ExploreFirst.code


@jit_inline
def unit_price(
    policy: LoweredPolicy, state: State, memo: Memo, hulls: Hulls | None, context: int, start: float
) -> float:
    """Return the price of a unit of budget now, searched from ``start``; NaN if there is none.

    There is none beyond the horizon, or with too little budget for any action. Policies that do not
    solve the LP have none, nor has one while it explores first, or Thompson's at equal costs, whose
    values are random.
    """
    t, left = state.progress[ROUND] + 1, state.progress[LEFT]
    remaining = policy.horizon - t + 1
    if remaining < 1 or left < policy.cheapest or policy.rule in (_PROCRASTINATE, _SKIP_ALWAYS):
        return math.nan
    if hulls is not None:
        exploring = policy.reward == _EXPLORE and state.progress[EXPLORED] == 0
        return math.nan if exploring else hulls.price[UNIT_PRICE]
    if policy.reward == _THOMPSON:
        return math.nan
    _, total, _ = weights_of(policy, state, t)
    room = ratio_of(policy, left, remaining) * total
    start = 0.0 if math.isnan(start) else start
    return _marginal_value(policy, state, memo, context, room, start)


@jit_inline
def _marginal_value(
    policy: LoweredPolicy, state: State, memo: Memo, context: int, room: float, price: float
) -> float:
    """Return the value at which the contexts, best first, use up ``room``; 0 if all of them fit.

    The search starts at ``price`` and returns the lowest price that fits, whatever the start. A
    context's value is computed only where its bracket contains the price, so a step up or down
    never passes the result. Each step goes to a value or to an end of a bracket, and never back: at
    most three per context in one direction.
    """
    t, left = state.progress[ROUND] + 1, float(state.progress[LEFT])
    weights, total, arrival = weights_of(policy, state, t)
    common, none = level_at(policy, memo, t), np.uint64(0)
    slack = TOLERANCE * max(total, room)
    low, high = 0.0, math.inf
    for _ in range(3 * policy.costs.shape[0] + 3):
        used, tied, above, under = 0.0, 0.0, math.inf, 0.0
        last, last_weight, last_value = -1, 0.0, 0.0
        for other in range(policy.costs.shape[0]):
            weight = weights[other] + (arrival if other == context else 0.0)
            value, top = memo.low[other], memo.high[other]
            if top < price - TOLERANCE:
                value = top
            elif value <= price + TOLERANCE and value < top:
                alike = last >= 0 and weight == last_weight
                if alike and have_same_prior(policy, state, memo, last, other):
                    value = last_value
                else:
                    level = level_of(policy, common, weight / total, t, left)
                    value = value_of(policy, state, memo, other, level, none)
                    last, last_weight, last_value = other, weight, value
            if value > price + TOLERANCE:
                used += weight
                above = min(above, value if weight > 0.0 else math.inf)
            elif value >= price - TOLERANCE:
                tied += weight
            elif weight > 0.0:
                under = max(under, value)
        if used > room + slack:
            low, following = price, above
        elif used + tied <= room + slack and price > 0.0:
            high, following = price, under
        else:
            break
        if not (low < following < high or following == 0.0):
            break
        price = following
    return price
