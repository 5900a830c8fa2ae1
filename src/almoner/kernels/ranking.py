"""Value of a context (its best index), and its rank among the other contexts, for equal costs.

Indices are compared by their brackets (`almoner.kernels.brackets`): a round compares those of J
contexts, and computes an index only where they leave a comparison undecided, a few instead of J·K
for K actions, with exactly the same decision.
"""

from __future__ import annotations

import math

import numpy as np

from almoner.jit import jit_inline
from almoner.kernels.draws import THOMPSON_LANE, TIE_LANE, round_key, uniform
from almoner.kernels.indices import LAST_AFFINE, clock_level, index
from almoner.kernels.state import (
    FROZEN,
    LEFT,
    ROUND,
    Memo,
    State,
)
from almoner.lp import TOLERANCE
from almoner.policy.contexts import (
    EmpiricalContexts,
    KnownContexts,
    NoContexts,
    TruncatedContexts,
)
from almoner.policy.lowering import LoweredPolicy
from almoner.policy.rewards import HorizonUCB, Thompson, Wilson
from almoner.types import Floats, Mask

__all__ = [
    "choose",
    "index_of",
    "is_between",
    "level_at",
    "level_of",
    "rank",
    "value_of",
    "weights_of",
]

_THOMPSON, _WILSON, _HORIZON_UCB = Thompson.code, Wilson.code, HorizonUCB.code
_EMPIRICAL, _TRUNCATED = EmpiricalContexts.code, TruncatedContexts.code
_KNOWN_CONTEXTS, _NO_CONTEXTS = KnownContexts.code, NoContexts.code


@jit_inline
def weights_of(policy: LoweredPolicy, state: State, t: int) -> tuple[Floats, float, float]:
    """Return the weights of the contexts, their total, and the weight that an arrival adds.

    The total is NaN for an unknown code.
    """
    if policy.context not in (_EMPIRICAL, _TRUNCATED):
        known = policy.context in (_KNOWN_CONTEXTS, _NO_CONTEXTS)
        return policy.context_weights, 1.0 if known else math.nan, 0.0
    frozen = state.progress[FROZEN]
    if frozen > 0:
        return state.context_counts, float(frozen), 0.0
    return state.context_counts, float(t), 1.0


@jit_inline
def level_at(policy: LoweredPolicy, memo: Memo, t: int) -> float:
    """Return the index level that all contexts have in round t."""
    if t < len(memo.levels):
        return memo.levels[t]
    return clock_level(policy.reward, policy.width, t)


@jit_inline
def level_of(policy: LoweredPolicy, common: float, share: float, t: int, left: float) -> float:
    """Return the index level of a context with this share in round t, with ``left`` units left.

    It is ``common`` unless the index depends on the plays left in its context.
    """
    if policy.reward == _WILSON:
        return max(1.0, min(share * (policy.horizon - t + 1), left / policy.cheapest))
    if policy.reward == _HORIZON_UCB:
        return share * (policy.horizon - t + 1)
    return common


@jit_inline
def index_of(
    policy: LoweredPolicy,
    state: State,
    memo: Memo,
    context: int,
    action: int,
    level: float,
    key: np.uint64,
) -> float:
    """Return the index of one pair at a level."""
    mean, root = memo.means[context, action], memo.roots[context, action]
    if policy.reward <= LAST_AFFINE:
        return mean + level * root
    if policy.reward == _THOMPSON:
        key = round_key(key, THOMPSON_LANE + context * policy.costs.shape[1] + action)
    count = state.counts[context, action]
    return index(policy.reward, policy.width, level, mean, root, count, key)


@jit_inline
def _may_be_best(policy: LoweredPolicy, memo: Memo, context: int, action: int) -> bool:
    """Return whether a pair may be the best of its context; True where an index is cheap anyway."""
    if policy.reward <= LAST_AFFINE:
        return True
    return memo.most[context, action] >= memo.low[context] - TOLERANCE


@jit_inline
def value_of(
    policy: LoweredPolicy, state: State, memo: Memo, context: int, level: float, key: np.uint64
) -> float:
    """Return the value of a context, its best index, at a level within its bracket."""
    best = -math.inf
    for action in range(policy.costs.shape[1]):
        if _may_be_best(policy, memo, context, action):
            best = max(best, index_of(policy, state, memo, context, action, level, key))
    return best


@jit_inline
def choose(
    policy: LoweredPolicy,
    state: State,
    memo: Memo,
    context: int,
    level: float,
    key: np.uint64,
    available: Mask | None,
) -> tuple[float, int, int]:
    """Return the value of a context, its best action (ties broken at random), and the ties.

    Only ``available`` actions count, if given.
    """
    best, second, chosen = -math.inf, -math.inf, 0
    for action in range(policy.costs.shape[1]):
        value = -math.inf
        considered = _may_be_best(policy, memo, context, action)
        if available is not None:  # brackets compare with the best of all actions
            considered = available[action]
        if considered:
            value = index_of(policy, state, memo, context, action, level, key)
        memo.row[action] = value
        second = max(second, min(best, value))
        chosen = action if value > best else chosen
        best = max(best, value)
    if second < best - TOLERANCE:
        return best, chosen, 1
    ties = 0
    for action in range(policy.costs.shape[1]):
        ties += memo.row[action] >= best - TOLERANCE
    pick = int(uniform(key, TIE_LANE) * ties)
    for action in range(policy.costs.shape[1]):
        tied = memo.row[action] >= best - TOLERANCE
        chosen = action if tied and pick == 0 else chosen
        pick -= tied
    return best, chosen, ties


@jit_inline
def rank(
    policy: LoweredPolicy,
    state: State,
    memo: Memo,
    context: int,
    value: float,
    common: float,
    key: np.uint64,
) -> tuple[float, float]:
    """Return the weight of the contexts ranked ahead of a context, and of others tied with it.

    ``common`` is the level that all contexts have in this round.
    """
    t = state.progress[ROUND] + 1
    weights, total, _ = weights_of(policy, state, t)
    above, below = value + TOLERANCE, value - TOLERANCE
    ahead, tied, unclear = 0.0, 0.0, 0
    for other in range(policy.costs.shape[0]):  # no branches: this loop runs every round
        low, high = memo.low[other], memo.high[other]
        ahead += weights[other] * (low > above)
        unclear += (low <= above) & (high >= below)
    if unclear == ((memo.low[context] <= above) & (memo.high[context] >= below)):
        return ahead, tied
    unclear, inexact = 0, 0
    for other in range(policy.costs.shape[0]):
        low, high = memo.low[other], memo.high[other]
        memo.unclear[unclear] = other
        listed = (low <= above) & (high >= below) & (other != context)
        unclear += listed
        inexact += listed & (low < high)
        tied += weights[other] * listed
    if inexact == 0:  # usual where many contexts were never rewarded
        return ahead, tied
    left, tied = float(state.progress[LEFT]), 0.0
    for i in range(unclear):
        other = int(np.int64(memo.unclear[i]))
        weight, exact = weights[other], memo.low[other]
        if exact < memo.high[other]:
            level = level_of(policy, common, weight / total, t, left)
            exact = value_of(policy, state, memo, other, level, key)
        ahead += weight * (exact > above)
        tied += weight * ((exact >= below) & (exact <= above))
    return ahead, tied


@jit_inline
def is_between(
    policy: LoweredPolicy,
    state: State,
    memo: Memo,
    context: int,
    floor: float,
    value: float,
    common: float,
    key: np.uint64,
) -> bool:
    """Return whether another context of positive weight has a value strictly between two bounds."""
    t, left = state.progress[ROUND] + 1, float(state.progress[LEFT])
    weights, total, _ = weights_of(policy, state, t)
    below = value - TOLERANCE
    for other in range(policy.costs.shape[0]):
        low, high, weight = memo.low[other], memo.high[other], weights[other]
        if other == context or weight <= 0.0 or low >= below or high <= floor:
            continue
        exact = low
        if low <= floor or high >= below:
            level = level_of(policy, common, weight / total, t, left)
            exact = value_of(policy, state, memo, other, level, key)
        if floor < exact < below:
            return True
    return False
