"""Decisions for an arrival with costs of its own: the plan weighs this one at them.

Of the τ arrivals to come, one is this one, planned at its own costs; the others, of its context
too, are planned at the expected ones. So the LP has one context more than otherwise: it has the
indices of the arrival's context and the arrival's costs, and takes the weight of one arrival, 1/τ
of all, from that context (all of it, where it has less). With the expected costs as its own the LP
is the same as without, and so are its solutions.
"""

from __future__ import annotations

import math

import numpy as np

from almoner.jit import jit_callable, jit_inline
from almoner.kernels.draws import REDRAW_LANE, round_key
from almoner.kernels.explore_first import least_tried
from almoner.kernels.hulls import compute_hulls, compute_own_hull
from almoner.kernels.live import PRICE, PROBABILITY, REDRAWS, ArrivalBatch
from almoner.kernels.pair_index import weights_of
from almoner.kernels.price import find_price
from almoner.kernels.priced import SKIP, draw_option, priced_ratio
from almoner.kernels.state import EXPLORED, LEFT, ROUND, UNIT_PRICE, Hulls, Memo, State
from almoner.kernels.weigh import OPTION, SPREAD, record_choice
from almoner.policy.allocation import SkipAlways
from almoner.policy.lowering import LoweredPolicy
from almoner.policy.rewards import ExploreFirst, Thompson
from almoner.types import Floats, Ints, Mask

__all__ = ["weigh_at_own_costs"]

_SKIP_ALWAYS = SkipAlways.code
_EXPLORE, _THOMPSON = ExploreFirst.code, Thompson.code


@jit_callable
def weigh_at_own_costs(
    policy: LoweredPolicy,
    extended: LoweredPolicy,
    state: State,
    memo: Memo,
    hulls: Hulls,
    stream: np.uint64,
    batch: ArrivalBatch,
    reserves: Ints,
    left: int,
    weighed: Floats,
) -> None:
    """Decide the first arrival of a batch at costs of its own, and do not take the decision.

    Its costs are the last row of ``extended.costs``, and ``hulls`` have one row more than the
    policy; ``reserves`` are those of the arrival. The rest is as in `almoner.kernels.weigh.weigh`.
    """
    context, allowed, row = batch.contexts[0], batch.allowed[0], policy.costs.shape[0]
    past = state.progress[ROUND] >= policy.horizon
    any_allowed, options = False, 0.0
    weighed[:] = 0.0
    for action in range(len(allowed)):
        any_allowed |= allowed[action]
        allowed[action] &= reserves[action] <= left
        allowed[action] &= extended.costs[row, action] <= state.progress[LEFT]
        if allowed[action] and not past:
            weighed[OPTION, action] = 1.0
            options += 1.0
    key, spread = round_key(stream, state.progress[ROUND]), weighed[SPREAD]
    draws = REDRAWS if policy.reward == _THOMPSON else 1
    batch.draw_counts[:] = 0.0
    action, probability, price = SKIP, 1.0, math.nan
    for redraw in range(draws - 1, -1, -1):  # the decision last, so that the price is its own
        drawn = key if redraw == 0 else round_key(key, REDRAW_LANE * redraw)
        action, probability, price = _decide(
            policy, extended, state, memo, hulls, context, drawn, allowed, spread
        )
        batch.draw_counts[action + 1] += 1.0
    if draws > 1:
        probability = batch.draw_counts[action + 1] / draws
        for other in range(len(allowed)):
            spread[other] = batch.draw_counts[other + 1] / draws
    batch.figures[0, PROBABILITY], batch.figures[0, PRICE] = probability, price
    record_choice(batch, action, options > 0.0, any_allowed, past)


@jit_inline
def _decide(
    policy: LoweredPolicy,
    extended: LoweredPolicy,
    state: State,
    memo: Memo,
    hulls: Hulls,
    context: int,
    key: np.uint64,
    allowed: Mask,
    spread: Floats,
) -> tuple[int, float, float]:
    """Return the action or SKIP, its probability, and the price of a unit; NaN if there is none."""
    t, left = state.progress[ROUND] + 1, state.progress[LEFT]
    remaining = policy.horizon - t + 1
    if remaining < 1 or policy.rule == _SKIP_ALWAYS:
        return SKIP, 1.0, math.nan
    if policy.reward == _EXPLORE and state.progress[EXPLORED] == 0:
        action, probability = least_tried(policy, state, context, key, allowed, spread)
        return action, probability, math.nan
    _, total, _ = weights_of(policy, state, t)
    room = priced_ratio(policy, left, remaining) * total
    compute_hulls(policy, state, memo, hulls, context, key)
    compute_own_hull(policy, extended, state, memo, hulls, context, key)
    price, rate = find_price(extended, hulls, total, room)
    unit_price = hulls.price[UNIT_PRICE]
    row = policy.costs.shape[0]
    action, probability = draw_option(extended, hulls, row, price, rate, key, allowed, spread)
    return action, probability, unit_price
