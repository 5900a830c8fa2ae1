"""Refits: the pooled prior and the insurance, computed anew at geometric times.

A refit depends on the rewards seen and on the fit before it, so both are part of the state: two
processes that fold the same log agree to the last bit. It takes O(J·K) for J contexts and K
actions. Between refits a decision reads tables.
"""

from __future__ import annotations

import math

from almoner.jit import jit_inline, jit_separate
from almoner.kernels.insurance import insure
from almoner.kernels.lanes.vector import any_lane, where
from almoner.kernels.pairs import Pairs, pairs_of
from almoner.kernels.pooling import fit_pool
from almoner.kernels.state import (
    OVERALL_MEAN,
    REFIT_AT,
    REWARDS,
    SEEN_SHARE,
    VALID_UNTIL,
    Memo,
    State,
)
from almoner.policy.lowering import LoweredPolicy
from almoner.policy.rewards import InsuredWilson

__all__ = ["refit", "refit_due", "refit_pairs", "update_mean", "update_means"]

GROWTH = 1.08
"""Factor by which the number of rewards grows from one refit to the next."""

_INSURED = InsuredWilson.code


@jit_inline
def refit_due(policy: LoweredPolicy, state: State) -> bool:
    """Count a reward, and return whether the prior or the insurance is to be computed anew."""
    state.fit[REWARDS] += 1.0
    if policy.pooled == 0 and policy.reward != _INSURED:
        return False
    return state.fit[REWARDS] >= state.fit[REFIT_AT]


@jit_separate
def refit(policy: LoweredPolicy, state: State, memo: Memo) -> None:
    """Compute the prior and the insurance anew, and the means of all pairs; expire the brackets."""
    refit_pairs(policy, state, memo, pairs_of(policy, state, memo))


@jit_inline
def refit_pairs(policy: LoweredPolicy, state: State, memo: Memo, pairs: Pairs) -> None:
    """Do what `refit` does; ``pairs`` are arrays of the state and the memo, or vectors of them."""
    rewards = state.fit[REWARDS]
    state.fit[REFIT_AT] = GROWTH * rewards + 1.0
    awaited = 0.0
    for context in range(policy.costs.shape[0]):
        for action in range(policy.costs.shape[1]):
            awaited += state.pending[context, action]
    state.fit[SEEN_SHARE] = (rewards + 1.0) / (rewards + max(0.0, awaited) + 1.0)
    if policy.windowed == 1:  # silence is evidence, too
        state.fit[SEEN_SHARE] = 1.0
    if policy.pooled == 1:
        fit_pool(policy, state, memo, pairs)
        update_means(policy, state, memo, pairs)
    if policy.reward == _INSURED:
        insure(policy, state, memo, pairs)
        memo.insured[:] = math.nan
    memo.validity[VALID_UNTIL] = 0


@jit_inline
def update_means(policy: LoweredPolicy, state: State, memo: Memo, pairs: Pairs) -> None:
    """Do what `update_mean` does for every pair."""
    if policy.windowed == 1:
        for context in range(policy.costs.shape[0]):
            for action in range(policy.costs.shape[1]):
                update_mean(policy, state, memo, context, action)
        return
    for i in range(pairs.counts.shape[0]):
        for j in range(pairs.counts.shape[1]):
            prior, untried = pairs.prior_counts[i, j], pairs.untried[i, j]
            count, total = pairs.counts[i, j], pairs.sums[i, j]
            count, total = count + prior, total + prior * pairs.prior_means[i, j]
            seen, mean, root = count > 0.0, untried, 0.0 * count
            if any_lane(seen):
                mean = where(seen, total / count, untried)
                root = where(seen, 1.0 / math.sqrt(count), 0.0)
            pairs.means[i, j], pairs.all_counts[i, j], pairs.roots[i, j] = mean, count, root


@jit_inline
def update_mean(policy: LoweredPolicy, state: State, memo: Memo, context: int, action: int) -> None:
    """Compute the mean and the count of a pair, those of its prior included.

    Where rewards come within a window, the mean is that of the evidence that has come, and the
    count that of all decisions, so that evidence on its way is not bought twice. A pair without a
    prior gets one reward of the overall mean, as its sum may exceed its count. A pair without any
    rewards has the value before the first one.
    """
    count, total, prior = state.counts[context, action], state.sums[context, action], 0.0
    if policy.pooled == 1:
        prior = state.prior_counts[context, action]
        count, total = count + prior, total + prior * state.prior_means[context, action]
    if count <= 0.0 and policy.windowed == 0:
        memo.means[context, action] = policy.prior[context, action]
        memo.counts[context, action], memo.roots[context, action] = 0.0, 0.0
        return
    if policy.windowed == 1:
        lone = 0.0 if prior > 0.0 else 1.0
        count, total = count + lone, total + lone * state.fit[OVERALL_MEAN]
        memo.means[context, action] = min(1.0, total / count)
        count += max(0.0, state.pending[context, action])
    else:
        memo.means[context, action] = total / count
    memo.counts[context, action] = count
    memo.roots[context, action] = 1.0 / math.sqrt(count)
