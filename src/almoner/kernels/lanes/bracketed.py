"""Decisions of eight replications by brackets, for indices that are not affine in their level.

As in `almoner.kernels.ranking`, few indices are computed: those that a decision of one of the lanes
hangs on. A decision hangs on contexts that are not clearly ahead or behind only if it differs
between all of them being ahead and none.
"""

from __future__ import annotations

import math
from typing import Any

from almoner.jit import jit_inline
from almoner.kernels.draws import SERVE_LANE
from almoner.kernels.lanes.brackets import Brackets, refresh
from almoner.kernels.lanes.environment import uniform
from almoner.kernels.lanes.indices import index_of, level_of, own_at_most, own_index_of
from almoner.kernels.lanes.ranking import best_mean, break_ties
from almoner.kernels.lanes.shares import budget_ratio, serve_share
from almoner.kernels.lanes.state import LaneState, level_at, totals
from almoner.kernels.lanes.vector import any_lane, floats, integers, where
from almoner.kernels.state import LEFT
from almoner.lp import TOLERANCE
from almoner.policy.allocation import EagerRounding
from almoner.policy.lowering import LoweredPolicy
from almoner.types import Floats

__all__ = ["decide_by_brackets"]

_EAGER = EagerRounding.code


@jit_inline
def decide_by_brackets(
    policy: LoweredPolicy,
    state: LaneState,
    brackets: Brackets,
    levels: Floats,
    t: int,
    last: int,
    context: Any,
    key: Any,
) -> tuple[Any, Any]:
    """Return whether each context that has arrived is served, and its best action.

    Costs are equal. The brackets are valid until round ``last``.
    """
    left, (total, arrival) = state.progress[LEFT], totals(policy, state, t)
    alive, own = left >= policy.cheapest, state.weights[context] + arrival
    common = level_at(policy, levels, t)
    level = level_of(policy, common, own / total, t, left)
    refresh(policy, state, brackets, levels, context, level, t, last)
    plentiful, draw = policy.held * left >= policy.horizon - t + 1, uniform(key, SERVE_LANE)
    room = budget_ratio(policy, left, policy.horizon - t + 1) * total
    # Those that are skipped whatever their index is need none: mostly contexts with few rewards.
    highest = _bound_own_value(policy, state, brackets, context, level)
    ahead = _clear_weight(policy, state, brackets, highest + TOLERANCE)
    share = serve_share(policy, plentiful, room - ahead, own, ahead, floats(0.0))
    may_serve = alive & ((draw < share) | _may_ask(policy, share, room - ahead, total))
    value, action = _choose(policy, state, context, level, key, may_serve)
    may_serve &= value > 0.0
    ahead = _clear_weight(policy, state, brackets, value + TOLERANCE)
    unclear = _unclear_weight(policy, state, brackets, context, value)
    share = serve_share(policy, plentiful, room - ahead, own, ahead, floats(0.0))
    most = ahead + unclear
    least = serve_share(policy, plentiful, room - most, own, most, unclear)
    hangs = ((draw < share) & (draw >= least)) | _may_ask(policy, share, room - ahead, total)
    hangs &= may_serve & (unclear > 0.0)
    if any_lane(hangs):
        ahead, tied = _resolve(
            policy, state, brackets, context, value, common, total, t, ahead, hangs
        )
        exact = serve_share(policy, plentiful, room - ahead, own, ahead, tied)
        share = where(hangs, exact, share)
    asks = may_serve & _may_ask(policy, share, room - ahead, total)
    if any_lane(asks):
        floor = best_mean(policy, state, context, False)
        found = _is_between(policy, state, brackets, context, floor, value, common, total, t, asks)
        share = where(found, 1.0, share)
    return may_serve & (draw < share), action


@jit_inline
def _bound_own_value(
    policy: LoweredPolicy, state: LaneState, brackets: Brackets, context: Any, level: Any
) -> Any:
    """Return a bound of the value of each context that has arrived.

    The bounds of its actions are left in ``state.row``, for `_choose`.
    """
    highest = floats(-math.inf)
    for action in range(policy.costs.shape[1]):
        most = brackets.most[context, action + 1]
        most = own_at_most(policy, state, context, action + 1, level, most)
        state.row[action] = most
        highest = max(highest, most)
    return highest


@jit_inline
def _choose(
    policy: LoweredPolicy, state: LaneState, context: Any, level: Any, key: Any, alive: Any
) -> tuple[Any, Any]:
    """Return the value of each context that has arrived, and its best action.

    ``state.row`` holds bounds of the indices of its actions.
    """
    # The action with the largest bound first: few others can then still be better.
    highest, first = floats(-math.inf), integers(0)
    for action in range(policy.costs.shape[1]):
        first = where(state.row[action] > highest, action, first)
        highest = max(highest, state.row[action])
    value = own_index_of(policy, state, context, first + 1, level, alive, -math.inf)
    best, second, chosen = floats(-math.inf), floats(-math.inf), integers(0)
    for action in range(policy.costs.shape[1]):
        index = where(first == action, value, -math.inf)
        may_be = state.row[action] >= value - TOLERANCE
        considered = alive & (first != action) & may_be
        if any_lane(considered):
            other = own_index_of(
                policy, state, context, action + 1, level, considered, value - 2.0 * TOLERANCE
            )
            index = where(considered, other, index)
        state.row[action] = index
        second = max(second, min(best, index))
        chosen = where(index > best, action, chosen)
        best = max(best, index)
    tie = alive & (second >= best - TOLERANCE)
    if any_lane(tie):
        chosen = break_ties(policy, state, best, chosen, tie, key)
    return best, chosen


@jit_inline
def _may_ask(policy: LoweredPolicy, share: Any, room: Any, total: Any) -> Any:
    """Return where eager rounding serves even so, if a context that waits is only promising."""
    if policy.rule != _EAGER:
        return share != share  # noqa: PLR0124  # nowhere
    return (share == 0.0) & (room > TOLERANCE * total)


@jit_inline
def _clear_weight(policy: LoweredPolicy, state: LaneState, brackets: Brackets, above: Any) -> Any:
    """Return the weight of the contexts whose bracket lies above a number."""
    ahead = floats(0.0)
    for other in range(policy.costs.shape[0]):
        ahead += where(brackets.low[other] > above, state.weights[other], 0.0)
    return ahead


@jit_inline
def _unclear_weight(
    policy: LoweredPolicy, state: LaneState, brackets: Brackets, context: Any, value: Any
) -> Any:
    """Return the weight of the other contexts whose bracket contains a value."""
    above, below, unclear = value + TOLERANCE, value - TOLERANCE, floats(0.0)
    for other in range(policy.costs.shape[0]):
        may_be = (brackets.low[other] <= above) & (brackets.high[other] >= below)
        unclear += where(may_be & (context != other), state.weights[other], 0.0)
    return unclear


@jit_inline
def _resolve(
    policy: LoweredPolicy,
    state: LaneState,
    brackets: Brackets,
    context: Any,
    value: Any,
    common: float,
    total: Any,
    t: int,
    ahead: Any,
    asked: Any,
) -> tuple[Any, Any]:
    """Return the weight of all contexts ahead, and of those tied, in the lanes asked for."""
    above, below, tied = value + TOLERANCE, value - TOLERANCE, floats(0.0)
    for other in range(policy.costs.shape[0]):
        low, high, weight = brackets.low[other], brackets.high[other], state.weights[other]
        need = asked & (low <= above) & (high >= below) & (context != other)
        if any_lane(need):
            exact = _value_of(policy, state, brackets, other, common, total, t, need)
            ahead += where(need & (exact > above), weight, 0.0)
            tied += where(need & (exact >= below) & (exact <= above), weight, 0.0)
    return ahead, tied


@jit_inline
def _value_of(
    policy: LoweredPolicy,
    state: LaneState,
    brackets: Brackets,
    context: int,
    common: float,
    total: Any,
    t: int,
    asked: Any,
) -> Any:
    """Return the value of a context while another one is decided, in the lanes asked for."""
    share = state.weights[context] / total
    level = level_of(policy, common, share, t, state.progress[LEFT])
    best, lowest = floats(-math.inf), brackets.low[context] - TOLERANCE
    for option in range(1, 1 + policy.costs.shape[1]):
        may_be = asked & (brackets.most[context, option] >= lowest)
        if any_lane(may_be):
            value = index_of(policy, state, context, option, level, may_be)
            best = where(may_be, max(best, value), best)
    return best


@jit_inline
def _is_between(
    policy: LoweredPolicy,
    state: LaneState,
    brackets: Brackets,
    context: Any,
    floor: Any,
    value: Any,
    common: float,
    total: Any,
    t: int,
    asked: Any,
) -> Any:
    """Return where another context of positive weight has a value strictly between two bounds."""
    below, found = value - TOLERANCE, asked & ~asked
    for other in range(policy.costs.shape[0]):
        low, high = brackets.low[other], brackets.high[other]
        may_be = (low < below) & (high > floor) & (state.weights[other] > 0.0)
        clear = (low > floor) & (high < below)
        found |= asked & may_be & clear & (context != other)
    for other in range(policy.costs.shape[0]):
        low, high = brackets.low[other], brackets.high[other]
        may_be = (low < below) & (high > floor) & (state.weights[other] > 0.0)
        need = asked & ~found & may_be & (context != other)
        if any_lane(need):
            exact = _value_of(policy, state, brackets, other, common, total, t, need)
            found |= need & (exact > floor) & (exact < below)
    return found
