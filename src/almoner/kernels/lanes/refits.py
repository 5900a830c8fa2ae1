"""Refits of eight replications: one lane after the other, by the kernel of one replication.

Lanes are due in different rounds, so a lane is copied to a `State` of its own, refitted there
(`almoner.kernels.refit`), and copied back. There a vector holds eight pairs of the one lane.
"""

from __future__ import annotations

import math
from typing import Any

from almoner.jit import jit_inline, jit_large
from almoner.kernels import state as scalar
from almoner.kernels.lanes.brackets import Brackets
from almoner.kernels.lanes.indices import insured_at_most, shared_bound
from almoner.kernels.lanes.refit_buffers import RefitBuffers, state_of, vectors_of_pairs
from almoner.kernels.lanes.state import (
    BORROWS,
    EVIDENCE,
    REFIT_AT,
    REWARDS,
    STAKE,
    LaneState,
)
from almoner.kernels.lanes.vector import WIDTH, as_floats, as_lanes, lane, where
from almoner.kernels.refit import refit_pairs, update_means
from almoner.kernels.state import FROZEN, LEFT, LEVEL, NEW_COUNT, ROUND, Memo, State
from almoner.policy.lowering import LoweredPolicy
from almoner.policy.rewards import InsuredWilson

__all__ = ["refit_due", "refit_lanes"]

BOTTOM, TOP, POOLED, LEAST, MOST = range(5)
"""Rows of ``Memo.working`` after a refit: levels of a pair and of its action, and its bracket."""

_INSURED = InsuredWilson.code


@jit_inline
def refit_due(state: LaneState, option: Any) -> Any:
    """Count the rewards of a round; return the lanes in which a refit is due."""
    served = option != 0
    state.fit[REWARDS] += where(served, 1.0, 0.0)
    return served & (state.fit[REWARDS] >= state.fit[REFIT_AT])


@jit_inline
def refit_lanes(
    policy: LoweredPolicy,
    arrays: LaneState,
    brackets: Brackets | None,
    buffers: RefitBuffers,
    due: Any,
    t: int,
) -> None:
    """Refit lanes after round t.

    The ``brackets`` of insured indices are recomputed, at levels that must have been bounded.
    """
    flags = as_floats(due)
    for i in range(WIDTH):
        if lane(flags, i) > 0.0:
            _refit_lane(policy, arrays, buffers, i, t)
            if brackets is not None and policy.reward == _INSURED:
                _bracket_lane(policy, brackets, buffers, i)


@jit_inline
def _refit_lane(
    policy: LoweredPolicy, arrays: LaneState, buffers: RefitBuffers, i: int, t: int
) -> None:
    """Refit one lane after round t."""
    state, memo = state_of(buffers, i), buffers.memo
    for context in range(policy.costs.shape[0]):
        state.context_counts[context] = arrays.weights[context, i]
        state.skip_counts[context] = arrays.taken[context, 0, i]
        state.skip_sums[context] = arrays.sums[context, 0, i]
        for action in range(policy.costs.shape[1]):
            state.counts[context, action] = arrays.taken[context, action + 1, i]
            state.sums[context, action] = arrays.sums[context, action + 1, i]
    state.progress[ROUND], state.progress[LEFT] = t, int(arrays.progress[LEFT, i])
    state.progress[FROZEN] = int(arrays.progress[FROZEN, i])
    state.fit[scalar.REWARDS] = arrays.fit[REWARDS, i]
    _refit(policy, state, memo, buffers)
    arrays.fit[REFIT_AT, i] = state.fit[scalar.REFIT_AT]
    arrays.fit[STAKE, i] = state.fit[scalar.STAKE]
    arrays.fit[EVIDENCE, i] = state.fit[scalar.EVIDENCE]
    if policy.pooled == 1:
        _copy_prior(policy, arrays, state, memo, i)
    if policy.reward == _INSURED:
        for context in range(policy.costs.shape[0]):
            for action in range(policy.costs.shape[1]):
                arrays.at_most[context, action + 1, i] = buffers.bounds[context, action]
                arrays.largest[context, action + 1, i] = math.nan


@jit_large
def _refit(policy: LoweredPolicy, state: State, memo: Memo, buffers: RefitBuffers) -> None:
    """Refit the lane in the buffers, with vectors of its pairs."""
    pairs, at_most = (
        vectors_of_pairs(buffers.pairs),
        as_lanes(buffers.at_most, buffers.pairs.counts),
    )
    if policy.pooled == 0:  # else the refit does it
        update_means(policy, state, memo, pairs)
    refit_pairs(policy, state, memo, pairs)
    for i in range(pairs.counts.shape[1]):
        count, total = pairs.counts[0, i], pairs.sums[0, i]
        at_most[0, i] = insured_at_most(policy, state.fit[scalar.EVIDENCE], count, total)


@jit_inline
def _bracket_lane(policy: LoweredPolicy, brackets: Brackets, buffers: RefitBuffers, i: int) -> None:
    """Bound the insured indices of the lane in the buffers, by the levels of its contexts."""
    working, pairs = buffers.memo.working, vectors_of_pairs(buffers.pairs)
    for context in range(policy.costs.shape[0]):
        for action in range(policy.costs.shape[1]):
            working[context, BOTTOM, action] = brackets.bottom[context, i]
            working[context, TOP, action] = brackets.top[context, i]
            if policy.pooled == 1:
                working[context, POOLED, action] = buffers.action_fits[i, LEVEL, action]
    for j in range(pairs.counts.shape[1]):
        mean, count, common = pairs.means[0, j], pairs.all_counts[0, j], pairs.action_shares[0, j]
        bottom, top = pairs.working[0, BOTTOM, j], pairs.working[0, TOP, j]
        pooled, share = pairs.working[0, POOLED, j], policy.insurance.others
        least = shared_bound(policy, mean, count, bottom, share, common, pooled)
        most = shared_bound(policy, mean, count, top, share, common, pooled)
        pairs.working[0, LEAST, j], pairs.working[0, MOST, j] = least, most
    for context in range(policy.costs.shape[0]):
        low, high = -math.inf, -math.inf
        for action in range(policy.costs.shape[1]):
            lower, upper = working[context, LEAST, action], working[context, MOST, action]
            brackets.least[context, action + 1, i] = lower
            brackets.most[context, action + 1, i] = upper
            low, high = max(low, lower), max(high, upper)
        brackets.low[context, i], brackets.high[context, i] = low, high


@jit_inline
def _copy_prior(policy: LoweredPolicy, arrays: LaneState, state: State, memo: Memo, i: int) -> None:
    """Copy the pooled prior, and the means that follow from it, back to a lane."""
    arrays.fit[BORROWS, i] = state.action_fit[NEW_COUNT, 0]
    for action in range(policy.costs.shape[1]):
        arrays.action_levels[action + 1, i] = state.action_fit[LEVEL, action]
    for context in range(policy.costs.shape[0]):
        for action in range(policy.costs.shape[1]):
            prior = state.prior_counts[context, action]
            arrays.prior_counts[context, action + 1, i] = prior
            arrays.prior_sums[context, action + 1, i] = prior * state.prior_means[context, action]
            arrays.action_shares[context, action + 1, i] = state.action_shares[context, action]
            arrays.means[context, action + 1, i] = memo.means[context, action]
            arrays.counts[context, action + 1, i] = memo.counts[context, action]
            arrays.roots[context, action + 1, i] = memo.roots[context, action]
