"""Brackets of indices: bounds from below and above that are valid for many rounds.

Levels move slowly, so `refresh` bounds the index of every pair for an epoch, in O(J·K) for J
contexts and K actions. The assumptions are checked where they are used or changed: rounds, horizon
and budget in `refresh`, arrivals in `update_after_arrival`, rewards in `update_after_reward`.
"""

from __future__ import annotations

import math

import numpy as np

from almoner.jit import jit_inline
from almoner.kernels.pair_index import index_of, level_at, level_of, weights_of
from almoner.kernels.posterior import likely_range
from almoner.kernels.state import (
    LEFT,
    ROUND,
    VALID_HORIZON,
    VALID_LEAST,
    VALID_MOST,
    VALID_UNTIL,
    Memo,
    State,
)
from almoner.policy.lowering import LoweredPolicy
from almoner.policy.rewards import Thompson, Wilson

__all__ = ["epoch_end", "refresh", "update_after_arrival", "update_after_reward"]

LEVEL_MARGIN = 1.25
"""Factor by which brackets let a level rise: one that falls with time rises as contexts arrive."""

BUDGET_MARGIN = 16
"""Brackets stay valid while bills and refunds change the units left by one part in this many."""

_THOMPSON, _WILSON = Thompson.code, Wilson.code


@jit_inline
def refresh(policy: LoweredPolicy, state: State, memo: Memo, context: int, level: float) -> None:
    """Recompute brackets that are no longer valid: all at the end of an epoch, or one context's.

    An epoch is a sixteenth of the rounds past or left, whichever are fewer, at one horizon and
    about the same budget left. A context that arrived more often than its bracket allows for has a
    level above it.
    """
    t, left = state.progress[ROUND] + 1, state.progress[LEFT]
    start, stop = context, context
    if not _brackets_hold(policy, memo, t, left):
        last = epoch_end(policy, t)
        memo.validity[VALID_UNTIL], memo.validity[VALID_HORIZON] = last, policy.horizon
        memo.validity[VALID_LEAST] = left - left // BUDGET_MARGIN - (last - t) * policy.dearest
        memo.validity[VALID_MOST] = left + left // BUDGET_MARGIN
        start, stop = 0, policy.costs.shape[0]
    elif level > memo.top[context]:
        stop = context + 1
    for stale in range(start, stop):
        _bracket_context(policy, state, memo, stale)


@jit_inline
def epoch_end(policy: LoweredPolicy, t: int) -> int:
    """Return the last round of an epoch that begins in round t."""
    return t + min(t, policy.horizon - t) // 16


@jit_inline
def _brackets_hold(policy: LoweredPolicy, memo: Memo, t: int, left: int) -> bool:
    """Return whether the brackets are valid for this round, horizon and budget left."""
    return (
        t <= memo.validity[VALID_UNTIL]
        and policy.horizon == memo.validity[VALID_HORIZON]
        and memo.validity[VALID_LEAST] <= left <= memo.validity[VALID_MOST]
    )


@jit_inline
def _bracket_context(policy: LoweredPolicy, state: State, memo: Memo, context: int) -> None:
    """Bound the levels, and by them the indices, of a context until the end of the epoch.

    A level rises with the round, or falls with the rounds left and the share of a context that does
    not arrive, so its values at both ends of the epoch bound it; and it rises with the budget left.
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
    memo.top[context] = (
        max(risen * LEVEL_MARGIN, then) if policy.reward >= _WILSON else max(now, then)
    )
    for action in range(policy.costs.shape[1]):
        _bracket_pair(policy, state, memo, context, action)
    _bracket_value(policy, memo, context)


@jit_inline
def update_after_arrival(policy: LoweredPolicy, state: State, memo: Memo, context: int) -> None:
    """Reset the brackets of a context if its arrival, just counted, takes its level beyond them.

    A decision refreshes the brackets itself; this is for arrivals folded from a log, or with no
    budget left.
    """
    if policy.reward < _WILSON:
        return
    t = state.progress[ROUND] + 1
    share, left = state.context_counts[context] / t, float(memo.validity[VALID_MOST])
    beyond = level_of(policy, 0.0, share, t, left) > memo.top[context]
    if beyond or policy.horizon != memo.validity[VALID_HORIZON]:
        _reset_brackets(policy, memo, context)


@jit_inline
def update_after_reward(
    policy: LoweredPolicy, state: State, memo: Memo, context: int, action: int
) -> None:
    """Recompute the bracket of a pair after a reward, unless its context has none."""
    if state.progress[ROUND] < memo.validity[VALID_UNTIL] and memo.top[context] >= 0.0:
        _bracket_pair(policy, state, memo, context, action)
        _bracket_value(policy, memo, context)


@jit_inline
def _bracket_pair(
    policy: LoweredPolicy, state: State, memo: Memo, context: int, action: int
) -> None:
    """Bound the index of one pair at the levels of its context; a draw only with high probability.

    See `almoner.kernels.posterior`.
    """
    least, most = likely_range(memo, context, action)
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
def _reset_brackets(policy: LoweredPolicy, memo: Memo, context: int) -> None:
    """Replace the brackets of a context by unbounded ones.

    With ``top`` at -1 every level lies above it, so that the next arrival brackets it again.
    """
    memo.bottom[context], memo.top[context] = 0.0, -1.0
    memo.low[context], memo.high[context] = -math.inf, math.inf
    for action in range(policy.costs.shape[1]):
        memo.least[context, action], memo.most[context, action] = -math.inf, math.inf
