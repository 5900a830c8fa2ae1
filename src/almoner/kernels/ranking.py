"""The value of a context (its best index), and how the present context ranks among the others.

Indices move slowly, so they are bracketed: `refresh` bounds every index from below and above for an
epoch. An index is worked out only where its bracket leaves a comparison open, so a round costs a
few indices instead of all of them, and decides exactly the same. What brackets assume is checked
where it is used or changed: rounds, horizon and money in `refresh`, arrivals in `cover_arrival`,
rewards in `cover_reward`.
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
    VALID_HORIZON,
    VALID_LEAST,
    VALID_MOST,
    VALID_UNTIL,
    Memo,
    State,
    loosen,
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
    "cover_arrival",
    "cover_reward",
    "index_of",
    "is_between",
    "level_at",
    "level_of",
    "rank",
    "refresh",
    "value_of",
    "weights_of",
]

HEADROOM = 1.25
"""A level that falls with time rises when its context arrives: this much is allowed for."""

LEEWAY = 16
"""Bills and refunds move the money left: by one part in this many, brackets allow for it."""

_THOMPSON, _WILSON, _HORIZON_UCB = Thompson.code, Wilson.code, HorizonUCB.code
_EMPIRICAL, _TRUNCATED = EmpiricalContexts.code, TruncatedContexts.code
_KNOWN_CONTEXTS, _NO_CONTEXTS = KnownContexts.code, NoContexts.code


@jit_inline
def weights_of(policy: LoweredPolicy, state: State, t: int) -> tuple[Floats, float, float]:
    """Return the contexts' weights, what they are out of, and what an arrival adds to its own.

    What they are out of is NaN for an unknown code.
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
    """Return the index level that the clock gives to all contexts in round t."""
    if t < len(memo.levels):
        return memo.levels[t]
    return clock_level(policy.reward, policy.width, t)


@jit_inline
def level_of(policy: LoweredPolicy, common: float, share: float, t: int, left: float) -> float:
    """Return the index level of a context with this share in round t, with ``left`` units left.

    It is that of the clock, unless the index looks at what its context can still use.
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
def refresh(policy: LoweredPolicy, state: State, memo: Memo, context: int, level: float) -> None:
    """Bracket anew what no longer holds: everything at the end of an epoch, or one context.

    An epoch is a sixteenth of the rounds gone or to come, at one horizon and with about the same
    money. A context that has come more often than its bracket allowed for has a level above it.
    """
    t, left = state.progress[ROUND] + 1, state.progress[LEFT]
    start, stop = context, context
    if not _brackets_hold(policy, memo, t, left):
        last = t + min(t, policy.horizon - t) // 16
        memo.validity[VALID_UNTIL], memo.validity[VALID_HORIZON] = last, policy.horizon
        memo.validity[VALID_LEAST] = left - left // LEEWAY - (last - t) * policy.dearest
        memo.validity[VALID_MOST] = left + left // LEEWAY
        start, stop = 0, policy.costs.shape[0]
    elif level > memo.top[context]:
        stop = context + 1
    for stale in range(start, stop):
        _bracket_context(policy, state, memo, stale)


@jit_inline
def _brackets_hold(policy: LoweredPolicy, memo: Memo, t: int, left: int) -> bool:
    """Return whether the brackets were made for this round, this horizon and this money left."""
    return (
        t <= memo.validity[VALID_UNTIL]
        and policy.horizon == memo.validity[VALID_HORIZON]
        and memo.validity[VALID_LEAST] <= left <= memo.validity[VALID_MOST]
    )


@jit_inline
def _bracket_context(policy: LoweredPolicy, state: State, memo: Memo, context: int) -> None:
    """Bound the levels of a context from the next round to the end of the epoch, so its indices.

    A level rises with the clock, or falls with the rounds and the share while its context stays
    away, so that the two ends of the epoch bound it; and it rises with the money left.
    """
    first, last = state.progress[ROUND] + 1, memo.validity[VALID_UNTIL]
    least, most = float(memo.validity[VALID_LEAST]), float(memo.validity[VALID_MOST])
    weights, total, arrival = weights_of(policy, state, first)
    common = level_at(policy, memo, first)
    now = level_of(policy, common, weights[context] / total, first, least)
    risen = level_of(policy, common, (weights[context] + arrival) / total, first, most)
    weights, total, _ = weights_of(policy, state, last)
    common = level_at(policy, memo, last)
    then = level_of(policy, common, weights[context] / total, last, least)
    memo.bottom[context] = min(now, then)
    memo.top[context] = max(risen * HEADROOM, then) if policy.reward >= _WILSON else max(now, then)
    for action in range(policy.costs.shape[1]):
        _bracket_pair(policy, state, memo, context, action)
    _bracket_value(policy, memo, context)


@jit_inline
def cover_arrival(policy: LoweredPolicy, state: State, memo: Memo, context: int) -> None:
    """Drop the brackets of a context if its arrival, just counted, takes its level beyond them.

    After a decision that used them it does not. Arrivals of a log, or without money, use none.
    """
    if policy.reward < _WILSON:
        return
    t = state.progress[ROUND] + 1
    share, left = state.context_counts[context] / t, float(memo.validity[VALID_MOST])
    beyond = level_of(policy, 0.0, share, t, left) > memo.top[context]
    if beyond or policy.horizon != memo.validity[VALID_HORIZON]:
        loosen(policy, memo, context)


@jit_inline
def cover_reward(
    policy: LoweredPolicy, state: State, memo: Memo, context: int, action: int
) -> None:
    """Bracket a pair anew after a reward, unless its context has no brackets at present."""
    if state.progress[ROUND] < memo.validity[VALID_UNTIL] and memo.top[context] >= 0.0:
        _bracket_pair(policy, state, memo, context, action)
        _bracket_value(policy, memo, context)


@jit_inline
def _bracket_pair(
    policy: LoweredPolicy, state: State, memo: Memo, context: int, action: int
) -> None:
    """Bound the index of one pair at the levels of its context."""
    least, most = -math.inf, math.inf
    if policy.reward != _THOMPSON:
        none = np.uint64(0)
        least = index_of(policy, state, memo, context, action, memo.bottom[context], none)
        most = index_of(policy, state, memo, context, action, memo.top[context], none)
    memo.least[context, action], memo.most[context, action] = least, most


@jit_inline
def _bracket_value(policy: LoweredPolicy, memo: Memo, context: int) -> None:
    """Bound the value of a context by the bounds of its indices."""
    low, high = -math.inf, -math.inf
    for action in range(policy.costs.shape[1]):
        low = max(low, memo.least[context, action])
        high = max(high, memo.most[context, action])
    memo.low[context], memo.high[context] = low, high


@jit_inline
def _is_open(policy: LoweredPolicy, memo: Memo, context: int, action: int) -> bool:
    """Return whether this pair may be the best of its context; asked only where it saves work."""
    if policy.reward <= LAST_AFFINE:
        return True
    return memo.most[context, action] >= memo.low[context] - TOLERANCE


@jit_inline
def value_of(
    policy: LoweredPolicy, state: State, memo: Memo, context: int, level: float, key: np.uint64
) -> float:
    """Return the value of a context at a level within its bracket: its best index."""
    best = -math.inf
    for action in range(policy.costs.shape[1]):
        if _is_open(policy, memo, context, action):
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
    """Return the value of a context, its best action (a tie drawn at random), and how many tied.

    Where only some actions are available, all of this is said of them.
    """
    best, second, chosen = -math.inf, -math.inf, 0
    for action in range(policy.costs.shape[1]):
        value = -math.inf
        considered = _is_open(policy, memo, context, action)
        if available is not None:  # brackets are those of the best of all actions
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
    """Return the weights ranked ahead of a context, and tied with it (its own not counted).

    ``clock`` is the level that the clock gives to all contexts in this round.
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
    if inexact == 0:  # most often where many contexts were never rewarded
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
    """Return whether another context that can come has a value strictly between two others."""
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
