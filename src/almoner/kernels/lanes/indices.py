"""Indices of eight replications: those of `almoner.kernels.indices` and `pair_index`, as vectors.

Formulas without a branch are the same functions. Each branch on data is a `where` here.
"""

from __future__ import annotations

import math
from typing import Any

from almoner.jit import jit_inline
from almoner.kernels.elementary import log
from almoner.kernels.indices import LAST_AFFINE, exploration_level, score_bound
from almoner.kernels.lanes.state import LaneState
from almoner.kernels.lanes.vector import any_lane, floats, where
from almoner.policy.lowering import LoweredPolicy
from almoner.policy.rewards import KLUCB, HorizonUCB, InsuredWilson, LogPlus, Wilson

__all__ = ["curved_index", "index_at", "kl_bound", "level_of"]

_KL, _LOG_PLUS, _HORIZON_UCB = KLUCB.code, LogPlus.code, HorizonUCB.code
_WILSON, _INSURED = Wilson.code, InsuredWilson.code


@jit_inline
def level_of(policy: LoweredPolicy, common: float, share: Any, t: Any, left: Any) -> Any:
    """Return the index level of a context with this share (`pair_index.level_of`)."""
    if policy.reward in (_WILSON, _INSURED):
        return max(1.0, min(share * (policy.horizon - t + 1), left / policy.cheapest_paid))
    if policy.reward == _HORIZON_UCB:
        return share * (policy.horizon - t + 1)
    return floats(common)


@jit_inline
def index_at(policy: LoweredPolicy, state: LaneState, context: Any, option: Any, level: Any) -> Any:
    """Return the index of one option at a level."""
    if policy.reward <= LAST_AFFINE:
        return state.means[context, option] + level * state.roots[context, option]
    return curved_index(policy, state, context, option, level, level > -math.inf)


@jit_inline
def curved_index(
    policy: LoweredPolicy, state: LaneState, context: Any, option: Any, level: Any, asked: Any
) -> Any:
    """Return the index of one pair at a level, for indices that are not affine in it.

    Only the lanes in ``asked`` need it.
    """
    mean, count = state.means[context, option], state.taken[context, option]
    if policy.reward == _LOG_PLUS:
        bonus = math.sqrt(policy.width * max(0.0, level - log(count)))
        value = mean + bonus * state.roots[context, option]
    elif policy.reward == _HORIZON_UCB:
        bonus = math.sqrt(policy.width * log(1.0 + level / count))
        value = mean + bonus * state.roots[context, option]
    elif policy.reward == _KL:
        value = kl_bound(mean, level / count, asked)
    else:
        bound = score_bound(mean, exploration_level(level / count) / count)
        value = where(mean >= 1.0, 1.0 + 1e-9 * count, bound)
    return where(count == 0.0, 1.0, value)


@jit_inline
def kl_bound(mean: Any, level: Any, asked: Any) -> Any:
    """Return `almoner.kernels.indices.kl_bound`; a lane that is done keeps its result."""
    entropy = where(mean <= 0.0, 0.0, mean * log(mean))
    entropy += (1.0 - mean) * log(1.0 - mean)
    low, high = mean, floats(1.0)
    q = min(mean + math.sqrt(0.5 * level), 0.5 * (mean + 1.0))
    active = asked & (mean < 1.0) & (level > 0.0) & (level < math.inf)
    for _ in range(64):
        if not any_lane(active):
            break
        excess = entropy - (1.0 - mean) * log(1.0 - q) - level
        excess = where(mean > 0.0, excess - mean * log(q), excess)
        high = where(active & (excess > 0.0), q, high)
        low = where(active & ~(excess > 0.0), q, low)
        slope = (q - mean) / (q * (1.0 - q))
        step = where(slope > 0.0, q - excess / slope, low)
        step = where((low < step) & (step < high), step, 0.5 * (low + high))
        change = max(step - q, q - step)
        q = where(active, step, q)
        active &= ~((change <= 1e-15) | (step == low) | (step == high))
    return where(mean >= 1.0, 1.0, where(level <= 0.0, mean, q))
