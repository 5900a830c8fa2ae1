"""Value of a context, and its rank among the others, in eight replications at once.

Here all J·K indices are computed, as `almoner.kernels.ranking` would without brackets.
"""

from __future__ import annotations

import math
from typing import Any

from almoner.jit import jit_inline
from almoner.kernels.draws import TIE_LANE
from almoner.kernels.lanes.environment import uniform
from almoner.kernels.lanes.state import LaneState
from almoner.kernels.lanes.vector import any_lane, as_floats, as_integers, floats, integers, where
from almoner.lp import TOLERANCE
from almoner.policy.lowering import LoweredPolicy

__all__ = [
    "best_mean",
    "break_ties",
    "choose",
    "is_between",
    "rank",
    "rank_by_brackets",
    "value_of",
]


@jit_inline
def index_of(state: LaneState, context: Any, action: Any, level: float) -> Any:
    """Return the index of one pair in each lane."""
    return state.means[context, action + 1] + level * state.roots[context, action + 1]


@jit_inline
def value_of(policy: LoweredPolicy, state: LaneState, context: int, level: float) -> Any:
    """Return the value of a context, its best index."""
    best = floats(-math.inf)
    for action in range(policy.costs.shape[1]):
        best = max(best, index_of(state, context, action, level))
    return best


@jit_inline
def choose(
    policy: LoweredPolicy, state: LaneState, context: Any, level: float, key: Any
) -> tuple[Any, Any]:
    """Return the value of the context of each lane, and its best action, ties broken at random."""
    best, second, chosen = floats(-math.inf), floats(-math.inf), integers(0)
    for action in range(policy.costs.shape[1]):
        value = index_of(state, context, action, level)
        state.row[action] = value
        second = max(second, min(best, value))
        chosen = where(value > best, action, chosen)
        best = max(best, value)
    tie = second >= best - TOLERANCE
    if any_lane(tie):
        chosen = break_ties(policy, state, best, chosen, tie, key)
    return best, chosen


@jit_inline
def break_ties(
    policy: LoweredPolicy, state: LaneState, best: Any, chosen: Any, tie: Any, key: Any
) -> Any:
    """Return one of the tied actions at random, in the lanes that have a tie.

    ``state.row`` holds the indices of the actions.
    """
    ties = floats(0.0)
    for action in range(policy.costs.shape[1]):
        ties += where(state.row[action] >= best - TOLERANCE, 1.0, 0.0)
    pick = as_floats(as_integers(uniform(key, TIE_LANE) * ties))
    for action in range(policy.costs.shape[1]):
        tied = state.row[action] >= best - TOLERANCE
        chosen = where(tie & tied & (pick == 0.0), action, chosen)
        pick -= where(tied, 1.0, 0.0)
    return chosen


@jit_inline
def rank(
    policy: LoweredPolicy, state: LaneState, context: Any, value: Any, level: float
) -> tuple[Any, Any]:
    """Return the weight of the contexts ranked ahead, and of others tied, in their order."""
    above, below = value + TOLERANCE, value - TOLERANCE
    ahead, tied = floats(0.0), floats(0.0)
    for other in range(policy.costs.shape[0]):
        theirs, weight = value_of(policy, state, other, level), state.weights[other]
        ahead += where(theirs > above, weight, 0.0)
        level_with = (theirs >= below) & (theirs <= above) & (context != other)
        tied += where(level_with, weight, 0.0)
    return ahead, tied


@jit_inline
def rank_by_brackets(
    policy: LoweredPolicy, state: LaneState, value: Any, level: float, bottom: float
) -> Any:
    """Return the weight of the contexts ranked ahead, summed in the order of the scalar kernel.

    That adds the contexts first whose bracket is ahead, at the least level of the epoch, and then
    those whose index is. Sums of known weights may differ in the last bit.
    """
    above, ahead = value + TOLERANCE, floats(0.0)
    for other in range(policy.costs.shape[0]):
        low = value_of(policy, state, other, bottom)
        ahead += where(low > above, state.weights[other], 0.0)
    for other in range(policy.costs.shape[0]):
        low, exact = value_of(policy, state, other, bottom), value_of(policy, state, other, level)
        ahead += where((low <= above) & (exact > above), state.weights[other], 0.0)
    return ahead


@jit_inline
def is_between(
    policy: LoweredPolicy, state: LaneState, context: Any, floor: Any, value: Any, level: float
) -> Any:
    """Return whether another context of positive weight has a value strictly between two bounds."""
    below, found = value - TOLERANCE, context != context  # noqa: PLR0124  # none
    for other in range(policy.costs.shape[0]):
        theirs = value_of(policy, state, other, level)
        others = (context != other) & (state.weights[other] > 0.0)
        found |= others & (theirs > floor) & (theirs < below)
    return found


@jit_inline
def best_mean(policy: LoweredPolicy, state: LaneState, context: Any, known: bool) -> Any:
    """Return the best mean among the tried actions of a context, 0 if none was tried."""
    best = floats(0.0)
    for action in range(policy.costs.shape[1]):
        mean = state.means[context, action + 1]
        if known:
            best = max(best, mean)
        else:
            best = where(state.taken[context, action + 1] > 0.0, max(best, mean), best)
    return best
