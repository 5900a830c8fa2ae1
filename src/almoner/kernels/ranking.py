"""Value of a context (its best index), and its rank among the other contexts, for equal costs.

Indices are compared by their brackets (`almoner.kernels.brackets`): a round compares those of J
contexts, and computes an index only where they leave a comparison undecided, a few instead of J·K
for K actions, with exactly the same decision. `bound_own_value` and `weight_ahead` compute none;
where their bounds decide, `choose` and `rank` are not called.
"""

from __future__ import annotations

import math

import numpy as np

from almoner.jit import jit_inline
from almoner.kernels.draws import TIE_LANE, uniform
from almoner.kernels.indices import LAST_AFFINE
from almoner.kernels.pair_index import (
    have_same_prior,
    index_of,
    level_of,
    own_bracket_of,
    own_index_of,
    weights_of,
)
from almoner.kernels.posterior import exceeds
from almoner.kernels.state import LEFT, ROUND, Memo, State
from almoner.lp import TOLERANCE
from almoner.policy.lowering import LoweredPolicy
from almoner.policy.rewards import InsuredWilson, Thompson
from almoner.types import Mask

__all__ = [
    "bound_own_value",
    "choose",
    "is_between",
    "own_value_of",
    "rank",
    "value_of",
    "weight_ahead",
]

_INSURED, _THOMPSON = InsuredWilson.code, Thompson.code


@jit_inline
def _may_be_best(policy: LoweredPolicy, memo: Memo, context: int, action: int) -> bool:
    """Return whether a pair may be the best of its context; True for a draw, or a cheap index."""
    if policy.reward <= LAST_AFFINE or policy.reward == _THOMPSON:
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
def own_value_of(
    policy: LoweredPolicy, state: State, memo: Memo, context: int, level: float, key: np.uint64
) -> float:
    """Return the value of a context while it is decided itself."""
    if policy.reward != _INSURED:
        return value_of(policy, state, memo, context, level, key)
    best = -math.inf
    for action in range(policy.costs.shape[1]):
        best = max(best, own_index_of(policy, state, memo, context, action, level, key))
    return best


@jit_inline
def bound_own_value(
    policy: LoweredPolicy, state: State, memo: Memo, context: int, level: float
) -> tuple[float, float, int, int]:
    """Return bounds of the value of a context that is decided, and its candidates.

    They are the actions that brackets leave as the best; returned are the last of them and their
    number. Their upper bounds are left in the row of the memo, for `choose`.
    """
    low, high = -math.inf, -math.inf
    for action in range(policy.costs.shape[1]):
        least, most = own_bracket_of(policy, state, memo, context, action, level)
        low, high = max(low, least), max(high, most)
        memo.row[action] = most
    candidate, candidates = 0, 0
    for action in range(policy.costs.shape[1]):
        may_be_best = memo.row[action] >= low - TOLERANCE
        candidate = action if may_be_best else candidate
        candidates += may_be_best
    return low, high, candidate, candidates


@jit_inline
def choose(
    policy: LoweredPolicy,
    state: State,
    memo: Memo,
    context: int,
    level: float,
    floor: float,
    key: np.uint64,
    available: Mask | None,
) -> tuple[float, int, int]:
    """Return the value of a context, its best action (ties broken at random), and the ties.

    Only ``available`` actions count, if given. Only those count whose bounds in the row of the memo
    reach ``floor``.
    """
    best, second, chosen = -math.inf, -math.inf, 0
    for action in range(policy.costs.shape[1]):
        value = -math.inf
        considered = floor == -math.inf or memo.row[action] >= floor - TOLERANCE
        if available is not None:
            considered = considered and available[action]
        if considered:
            value = own_index_of(policy, state, memo, context, action, level, key)
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
def weight_ahead(
    policy: LoweredPolicy, state: State, memo: Memo, context: int, low: float, high: float
) -> tuple[float, float]:
    """Return the least and the most weight that may rank ahead of a context, or level with it.

    ``low`` and ``high`` bound the value of the context, brackets those of the others.
    """
    weights, _, _ = weights_of(policy, state, state.progress[ROUND] + 1)
    above, below = high + TOLERANCE, low - TOLERANCE
    least, most = 0.0, 0.0
    for other in range(policy.costs.shape[0]):  # no branches: this loop runs every round
        weight = weights[other] * (other != context)
        least += weight * (memo.low[other] > above)
        most += weight * (memo.high[other] >= below)
    return least, most


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
    last, last_value = -1, 0.0
    for i in range(unclear):
        other = int(np.int64(memo.unclear[i]))
        weight, exact = weights[other], memo.low[other]
        if exact < memo.high[other]:
            alike = last >= 0 and weight == weights[last]
            if alike and have_same_prior(policy, state, memo, last, other):
                exact = last_value
            else:
                level = level_of(policy, common, weight / total, t, left)
                exact = value_of(policy, state, memo, other, level, key)
                last, last_value = other, exact
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
    last, last_value = -1, 0.0
    for other in range(policy.costs.shape[0]):
        low, high, weight = memo.low[other], memo.high[other], weights[other]
        if other == context or weight <= 0.0:
            continue
        if policy.reward == _THOMPSON:
            above = exceeds(policy, memo, other, below, key)
            if not above and exceeds(policy, memo, other, floor, key):
                return True
            continue
        if low >= below or high <= floor:
            continue
        exact = low
        if low <= floor or high >= below:
            alike = last >= 0 and weight == weights[last]
            if alike and have_same_prior(policy, state, memo, last, other):
                exact = last_value
            else:
                level = level_of(policy, common, weight / total, t, left)
                exact = value_of(policy, state, memo, other, level, key)
                last, last_value = other, exact
        if floor < exact < below:
            return True
    return False
