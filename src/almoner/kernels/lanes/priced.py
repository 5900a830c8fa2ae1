"""Decisions of eight replications where costs differ, or skipping has a reward.

As in `almoner.kernels.priced`, the steps of the hulls of all contexts compete for the budget. Each
hull and the price are computed anew in every round, with a `where` for each branch on data.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from almoner.jit import jit_inline
from almoner.kernels.draws import SERVE_LANE, TIE_LANE
from almoner.kernels.lanes.environment import uniform
from almoner.kernels.lanes.indices import index_at, index_beside, insured_index, level_of
from almoner.kernels.lanes.shares import priced_ratio
from almoner.kernels.lanes.state import LaneState, aligned, level_at, totals
from almoner.kernels.lanes.vector import (
    any_lane,
    as_floats,
    as_integers,
    as_lanes,
    floats,
    integers,
    where,
)
from almoner.kernels.price import ADJACENT, PASSES
from almoner.kernels.state import LEFT
from almoner.lp import ROUNDING, TOLERANCE
from almoner.policy.allocation import RoundedLP, SkipAlways
from almoner.policy.lowering import LEARNED_DEFAULTS, LoweredPolicy
from almoner.policy.rewards import InsuredWilson
from almoner.types import Floats

__all__ = ["LaneHulls", "decide_by_price", "new_lane_hulls", "vectors_of_hulls"]

_ROUNDED, _SKIP_ALWAYS, _INSURED = RoundedLP.code, SkipAlways.code, InsuredWilson.code


class LaneHulls(NamedTuple):
    """Hulls as in `almoner.kernels.state.Hulls`; the last axis of each array are the lanes.

    ``gains`` (contexts, 1 + actions, skip first) are the gains over skipping, ``slopes``,
    ``spans`` and ``tops`` (contexts, actions) the steps, ``tops`` as options. A step that a hull
    does not have has a slope of -inf and a span of 0. ``weights`` are the contexts' weights, and
    ``price`` the price found last; ``free`` is the best option of a context that costs nothing, 0
    if that is skipping.
    """

    gains: Any
    slopes: Any
    spans: Any
    tops: Any
    weights: Any
    free: Any
    price: Any


def new_lane_hulls(policy: LoweredPolicy) -> LaneHulls:
    """Return the hulls of eight replications, to be computed in every round."""
    contexts, actions = policy.costs.shape
    steps = contexts, actions
    return LaneHulls(
        aligned(contexts, 1 + actions),
        aligned(*steps),
        aligned(*steps),
        aligned(*steps),
        aligned(contexts),
        aligned(contexts),
        aligned(1),
    )


@jit_inline
def vectors_of_hulls(arrays: LaneHulls) -> LaneHulls:
    """Return the same arrays with vectors as entries."""
    return LaneHulls(
        as_lanes(arrays.gains, arrays.gains),
        as_lanes(arrays.slopes, arrays.slopes),
        as_lanes(arrays.spans, arrays.slopes),
        as_lanes(arrays.tops, arrays.slopes),
        as_lanes(arrays.weights, arrays.weights),
        as_lanes(arrays.free, arrays.weights),
        as_lanes(arrays.price, arrays.price),
    )


@jit_inline
def decide_by_price(
    policy: LoweredPolicy,
    state: LaneState,
    hulls: LaneHulls,
    levels: Floats,
    costs: Floats,
    t: int,
    context: Any,
    key: Any,
) -> Any:
    """Return the option for each context that has arrived, 0 for skipping.

    ``costs`` (contexts, 1 + actions, skip first) are those of the policy as floats.
    """
    if policy.rule == _SKIP_ALWAYS:
        return integers(0)
    left, (total, arrival) = state.progress[LEFT], totals(policy, state, t)
    room = priced_ratio(policy, left, policy.horizon - t + 1) * total
    for other in range(policy.costs.shape[0]):
        weight = state.weights[other] + where(context == other, arrival, 0.0)
        hulls.weights[other] = weight
        _update_gains(
            policy, state, hulls, levels, costs, t, other, weight / total, context == other
        )
    if policy.reward == _INSURED:
        _insure_gains(policy, state, hulls, levels, costs, t, context, total)
    for other in range(policy.costs.shape[0]):
        _compute_hull(policy, hulls, costs, other)
    price, rate = _find_price(policy, hulls, total, room)
    base, step = as_integers(hulls.free[context]), integers(0)
    near = _nearness(policy, price)
    for i in range(policy.costs.shape[1]):
        slope, top = hulls.slopes[context, i], as_integers(hulls.tops[context, i])
        base = where(slope > price + near, top, base)
        step = where((slope <= price + near) & (slope >= price - near), top, step)
    rate = where(step == 0, 0.0, rate)
    if policy.rule == _ROUNDED:
        rate = where((step != 0) & (rate >= 0.5), 1.0, 0.0)
    option = where(uniform(key, SERVE_LANE) < rate, step, base)
    option = where(left >= policy.cheapest, option, 0)
    return _break_tie(policy, hulls, costs, context, option, key)


@jit_inline
def _update_gains(
    policy: LoweredPolicy,
    state: LaneState,
    hulls: LaneHulls,
    levels: Floats,
    costs: Floats,
    t: int,
    context: int,
    share: Any,
    own: Any,
) -> None:
    """Compute the gains of a context over skipping; -inf for actions that are not affordable.

    It has arrived in the lanes ``own``. What is insured there is left out.
    """
    left, common = state.progress[LEFT], level_at(policy, levels, t)
    level = level_of(policy, common, share, t, left)
    free = level if policy.cheapest > 0 else level_of(policy, common, share, t, math.inf)
    idle = floats(policy.defaults[context])
    if policy.default_mode == LEARNED_DEFAULTS:
        idle = index_at(policy, state, context, 0, level)
    for option in range(1, 1 + policy.costs.shape[1]):
        plays = level if costs[context, option] > 0.0 else free
        gain = index_beside(policy, state, context, option, plays, own) - idle
        hulls.gains[context, option] = where(costs[context, option] <= left, gain, -math.inf)


@jit_inline
def _insure_gains(
    policy: LoweredPolicy,
    state: LaneState,
    hulls: LaneHulls,
    levels: Floats,
    costs: Floats,
    t: int,
    context: Any,
    total: Any,
) -> None:
    """Raise the gains of each context that has arrived to what is insured.

    Rounding is monotone: the larger of two gains is the gain of the larger of two indices.
    """
    left, common = state.progress[LEFT], level_at(policy, levels, t)
    share = hulls.weights[context] / total
    level = level_of(policy, common, share, t, left)
    free = level_of(policy, common, share, t, math.inf)
    idle = floats(0.0) + policy.defaults[context]
    if policy.default_mode == LEARNED_DEFAULTS:
        idle = index_at(policy, state, context, 0, level)
    for option in range(1, 1 + policy.costs.shape[1]):
        cost, gain = costs[context, option], hulls.gains[context, option]
        plays, floor = where(cost > 0.0, level, free), gain + idle - TOLERANCE
        insured = insured_index(policy, state, context, option, plays, cost <= left, floor)
        hulls.gains[context, option] = max(gain, insured - idle)


@jit_inline
def _compute_hull(policy: LoweredPolicy, hulls: LaneHulls, costs: Floats, context: int) -> None:
    """Compute the steps of one hull from its gains (`almoner.lp.candidates`)."""
    actions = policy.costs.shape[1]
    cost, gain, start = floats(0.0), floats(0.0), floats(0.0)
    for option in range(1, 1 + actions):
        if costs[context, option] <= 0.0:
            better = hulls.gains[context, option] > gain
            start = where(better, float(option), start)
            gain = where(better, hulls.gains[context, option], gain)
    growing = hulls.weights[context] > 0.0
    hulls.free[context] = where(growing, start, 0.0)
    rising = _is_rising(costs, context)
    for i in range(actions):
        best, steepest = floats(0.0), floats(0.0)
        top_cost, top_gain = floats(0.0), floats(0.0)
        for option in range(1 + i * rising, 1 + actions):  # each step is to a dearer one
            theirs, price = hulls.gains[context, option], costs[context, option]
            rise, run = theirs - gain, price - cost
            slope, allowed = rise / run, growing & (price > cost) & (theirs > gain)
            steeper = (best == 0.0) | (slope > steepest)
            if any_lane(allowed & _is_close(slope, steepest)):
                nearly = max(TOLERANCE * rise, ROUNDING) / run
                steeper = (best == 0.0) | (slope > steepest + nearly)
                steeper |= (slope > steepest - nearly) & (price > top_cost)
            chosen = allowed & steeper
            best, steepest = where(chosen, float(option), best), where(chosen, slope, steepest)
            top_cost, top_gain = where(chosen, price, top_cost), where(chosen, theirs, top_gain)
        found = best > 0.0
        hulls.slopes[context, i] = where(found, (top_gain - gain) / (top_cost - cost), -math.inf)
        hulls.spans[context, i] = where(found, top_cost - cost, 0.0)
        hulls.tops[context, i] = best
        cost, gain = where(found, top_cost, cost), where(found, top_gain, gain)
        growing = found
        if not any_lane(found):
            _end_hull(policy, hulls, context, i + 1)
            break


@jit_inline
def _is_rising(costs: Floats, context: int) -> bool:
    """Return whether the costs of a context rise, or stay, from option to option."""
    rising = True
    for option in range(2, costs.shape[1]):
        rising &= costs[context, option - 1] <= costs[context, option]
    return rising


@jit_inline
def _end_hull(policy: LoweredPolicy, hulls: LaneHulls, context: int, first: int) -> None:
    """Write that a hull has no steps from ``first`` on."""
    for i in range(first, policy.costs.shape[1]):
        hulls.slopes[context, i] = floats(-math.inf)
        hulls.spans[context, i] = hulls.tops[context, i] = floats(0.0)


@jit_inline
def _is_close(slope: Any, steepest: Any) -> Any:
    """Return whether slopes may be tied: the tolerance is less than this, as runs are of a unit."""
    gap, margin = slope - steepest, 2.0 * (TOLERANCE * slope + ROUNDING)
    return max(gap, -gap) <= margin


@jit_inline
def _nearness(policy: LoweredPolicy, price: Any) -> Any:
    """Return the largest difference at which a slope is tied with a price."""
    return TOLERANCE * max(price, 1.0 / policy.dearest)


@jit_inline
def _find_price(policy: LoweredPolicy, hulls: LaneHulls, total: Any, room: Any) -> tuple[Any, Any]:
    """Return the price at which the steps use up ``room``, and the rate of the steps at it.

    The search is that of `almoner.kernels.price`; a lane that has found its price keeps it.
    """
    slack = TOLERANCE * max(total, room)
    low, high, price = floats(0.0), floats(math.inf), hulls.price[0]
    used, tied = floats(0.0), floats(0.0)
    searching = room == room  # noqa: PLR0124  # everywhere
    for attempt in range(PASSES):
        all_used, all_tied, above, under = _fill(policy, hulls, price)
        used, tied = where(searching, all_used, used), where(searching, all_tied, tied)
        over = searching & (used > room + slack)
        short = searching & ~over & (used + tied < room - slack) & (under > 0.0)
        low, high = where(over, above, low), where(short, under, high)
        price = where(over, above, where(short, under, price))
        searching = over | short
        if not any_lane(searching):
            break
        if attempt >= ADJACENT:
            high = where(searching & (high == math.inf), _steepest(policy, hulls), high)
            price = where(searching, low + 0.5 * (high - low), price)
    hulls.price[0] = price
    rate = min(1.0, max(0.0, (room - used) / tied))
    return price, where((tied <= 0.0) | (used + tied <= room), 1.0, rate)


@jit_inline
def _fill(policy: LoweredPolicy, hulls: LaneHulls, price: Any) -> tuple[Any, Any, Any, Any]:
    """Return the costs of the steps above a price and at it, and the next slopes on both sides."""
    used, tied, above, under = floats(0.0), floats(0.0), floats(math.inf), floats(0.0)
    near = _nearness(policy, price)
    for other in range(policy.costs.shape[0]):
        weight = hulls.weights[other]
        for i in range(policy.costs.shape[1]):
            slope, cost = hulls.slopes[other, i], weight * hulls.spans[other, i]
            steep, level = slope > price + near, slope >= price - near
            used += where(steep, cost, 0.0)
            above = where(steep, min(above, slope), above)
            tied += where(level & ~steep, cost, 0.0)
            under = where(level, under, max(under, slope))
    return used, tied, above, under


@jit_inline
def _steepest(policy: LoweredPolicy, hulls: LaneHulls) -> Any:
    """Return the steepest slope of all hulls: the first of each."""
    steepest = floats(0.0)
    for other in range(policy.costs.shape[0]):
        steepest = max(steepest, hulls.slopes[other, 0])
    return steepest


@jit_inline
def _break_tie(
    policy: LoweredPolicy, hulls: LaneHulls, costs: Floats, context: Any, option: Any, key: Any
) -> Any:
    """Return one of the options with the same cost and gain as the one chosen, at random."""
    gain, cost, ties = hulls.gains[context, option], costs[context, option], floats(0.0)
    for other in range(1, 1 + policy.costs.shape[1]):
        tied = _is_tied(hulls, costs, context, other, gain, cost)
        ties += where(tied, 1.0, 0.0)
    if not any_lane((option != 0) & (ties > 1.0)):
        return option
    pick, drawn = as_floats(as_integers(uniform(key, TIE_LANE) * ties)), option
    for other in range(1, 1 + policy.costs.shape[1]):
        tied = _is_tied(hulls, costs, context, other, gain, cost)
        drawn = where(tied & (pick == 0.0), other, drawn)
        pick -= where(tied, 1.0, 0.0)
    return where(option == 0, 0, drawn)


@jit_inline
def _is_tied(
    hulls: LaneHulls, costs: Floats, context: Any, other: int, gain: Any, cost: Any
) -> Any:
    gap = gain - hulls.gains[context, other]
    return (costs[context, other] == cost) & (max(gap, 0.0 - gap) <= TOLERANCE)
