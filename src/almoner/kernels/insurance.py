"""Insurance: the evidence that a pair's own rewards must give before it is left alone.

Leaving a pair alone by mistake may lose a share of the campaign's reward. To rule that out with a
log-likelihood ratio L takes about L / kl plays of the pair, each at the loss of its gap (Wald). The
premium, summed over all pairs, is limited to a share of the campaign's reward, which limits L.
"""

from __future__ import annotations

import math

from almoner.jit import jit_inline, jit_large
from almoner.kernels.indices import kl_divergence
from almoner.kernels.lanes.vector import any_lane, where
from almoner.kernels.pair_index import level_of, weights_of
from almoner.kernels.pairs import Pairs
from almoner.kernels.state import EVIDENCE, LEFT, OVERALL_MEAN, ROUND, STAKE, Memo, State
from almoner.policy.lowering import LEARNED_DEFAULTS, LoweredPolicy

__all__ = ["insure"]

INSURED_LOSS = 0.15
"""Share of the campaign's reward whose loss is insured."""

CHANCE = 4.0
"""A loss of fewer standard deviations than this of the reward itself is not insured."""

MEAN, GAIN, GOAL, AHEAD = range(4)
"""Rows of ``Memo.working``: the mean of each pair, its gain over skipping, the mean at which it is
worth its cost, and that with the margin of what is insured."""

NEVER = 2.0
"""A mean that no pair reaches: its insurance costs nothing."""

HALVINGS = 30
"""Steps of the bisection for the price: to 1e-9 of the largest one."""


@jit_large
def insure(policy: LoweredPolicy, state: State, memo: Memo, pairs: Pairs) -> None:
    """Compute the loss that is insured, and the evidence that its premium buys.

    ``pairs`` are arrays of this state and memo.
    """
    terms, t, left = policy.insurance, state.progress[ROUND], float(state.progress[LEFT])
    remaining = max(1, policy.horizon - t)
    weights, total, _ = weights_of(policy, state, max(1, t))
    _set_means(memo)
    price = _price(policy, state, memo, left / remaining)
    reward = price * left / remaining
    for context in range(policy.costs.shape[0]):
        surplus = _surplus(policy, state, memo, context, price)
        reward += weights[context] / total * surplus
    reward = min(max(0.5, reward * policy.horizon), float(policy.horizon))
    stake = max(INSURED_LOSS * reward, CHANCE * math.sqrt(reward))
    for context in range(policy.costs.shape[0]):
        surplus, margin = _surplus(policy, state, memo, context, price), NEVER
        if weights[context] > 0.0:
            margin = stake / level_of(policy, 0.0, weights[context] / total, t + 1, left)
        for action in range(policy.costs.shape[1]):
            goal = _idle_mean(policy, state, context) + surplus
            goal += price * policy.costs[context, action]
            memo.working[context, GOAL, action] = goal
            memo.working[context, AHEAD, action] = goal + margin
    cost = _cost(memo, pairs)
    state.fit[STAKE] = stake
    state.fit[EVIDENCE] = terms.caution * min(terms.most, terms.premium * reward / cost)


@jit_inline
def _cost(memo: Memo, pairs: Pairs) -> float:
    """Return the cost of ruling out all pairs below their goals by a log-likelihood ratio of 1."""
    working = pairs.working
    for i in range(working.shape[0]):
        for j in range(working.shape[2]):
            mean, goal, ahead = working[i, MEAN, j], working[i, GOAL, j], working[i, AHEAD, j]
            insured, cost = (mean < goal) & (ahead < 0.999), 0.0 * mean
            if any_lane(insured):
                cost = where(insured, (goal - mean) / kl_divergence(mean, ahead), 0.0)
            working[i, GOAL, j] = cost
    total = 1e-9
    for context in range(memo.working.shape[0]):
        for action in range(memo.working.shape[2]):
            total += memo.working[context, GOAL, action]
    return total


@jit_inline
def _set_means(memo: Memo) -> None:
    """Compute the mean of each pair with one more reward of a half, so that none is 0 or 1."""
    for context in range(memo.counts.shape[0]):
        for action in range(memo.counts.shape[1]):
            count = memo.counts[context, action]
            mean = (memo.means[context, action] * count + 0.5) / (count + 1.0)
            memo.working[context, MEAN, action] = mean


@jit_inline
def _idle_mean(policy: LoweredPolicy, state: State, context: int) -> float:
    """Return the reward of skipping, known or learned; 0 if it was never seen."""
    if policy.default_mode == LEARNED_DEFAULTS and policy.windowed == 1:
        total = state.skip_sums[context] + state.fit[OVERALL_MEAN]
        return min(1.0, total / (state.skip_counts[context] + 1.0))
    if policy.default_mode == LEARNED_DEFAULTS and state.skip_counts[context] > 0.0:
        return state.skip_sums[context] / state.skip_counts[context]
    return policy.defaults[context]


@jit_inline
def _surplus(policy: LoweredPolicy, state: State, memo: Memo, context: int, price: float) -> float:
    """Return the gain of the best action over skipping, less its cost at a price; at least 0."""
    best, idle = 0.0, _idle_mean(policy, state, context)
    for action in range(policy.costs.shape[1]):
        gain = memo.working[context, MEAN, action] - idle - price * policy.costs[context, action]
        best = max(best, gain)
    return best


@jit_inline
def _price(policy: LoweredPolicy, state: State, memo: Memo, ratio: float) -> float:
    """Return the price at which the best actions cost the ratio; 0 if it pays for all of them."""
    weights, total, _ = weights_of(policy, state, max(1, state.progress[ROUND]))
    for context in range(policy.costs.shape[0]):
        memo.values[context] = weights[context] / total
        best, idle = -math.inf, _idle_mean(policy, state, context)
        for action in range(policy.costs.shape[1]):
            gain = memo.working[context, MEAN, action] - idle
            best = max(best, gain)
            memo.working[context, GAIN, action] = gain
        if policy.priced == 0:  # all costs are the same: the best action is
            memo.working[context, GAIN, 0] = best
            memo.values[context] *= policy.dearest
    low, high = 0.0, 1.0 / policy.cheapest_paid
    if _spend(policy, memo, 0.0) <= ratio:
        return 0.0
    for _ in range(HALVINGS):
        price = 0.5 * (low + high)
        if _spend(policy, memo, price) > ratio:
            low = price
        else:
            high = price
    return high


@jit_inline
def _spend(policy: LoweredPolicy, memo: Memo, price: float) -> float:
    """Return the cost per round of the best action in each context at a price.

    `_price` has written the gains, and the values of the contexts: their shares, or, with equal
    costs, what their best actions cost.
    """
    spend = 0.0
    if policy.priced == 0:
        for context in range(policy.costs.shape[0]):
            gain = memo.working[context, GAIN, 0] - price * policy.dearest
            spend += where(gain > 0.0, memo.values[context], 0.0)
        return spend
    for context in range(policy.costs.shape[0]):
        best, cost = 0.0, 0.0
        for action in range(policy.costs.shape[1]):
            theirs = float(policy.costs[context, action])
            gain = memo.working[context, GAIN, action] - price * theirs
            best, cost = max(best, gain), where(gain > best, theirs, cost)
        spend += memo.values[context] * cost
    return spend
