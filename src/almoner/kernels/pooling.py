"""Pooled fit: the mean reward of each pair by effects of its context and of its action.

The log-odds of the mean of pair (j, k) are modelled as μ + α_j + β_k + ε_jk, with normal α, β and ε
of unknown variances. `fit_pool` continues the fit before it by two sweeps of iterated weighted
least squares, and computes the priors (`almoner.kernels.pool_priors`). O(J·K) for J contexts and K
actions.
"""

from __future__ import annotations

import math

from almoner.jit import jit_inline, jit_large
from almoner.kernels.elementary import log
from almoner.kernels.indices import exploration_level
from almoner.kernels.lanes.vector import any_lane, where
from almoner.kernels.pair_index import level_of, weights_of
from almoner.kernels.pairs import Pairs
from almoner.kernels.pool_priors import (
    RESIDUAL_SPREAD,
    SCORE,
    WEIGHT,
    WIDEST,
    expit,
    set_priors,
)
from almoner.kernels.state import (
    ACTION_SPREAD,
    CONTEXT_SPREAD,
    EFFECT,
    GRAND_MEAN,
    LEFT,
    LEVEL,
    RESIDUAL,
    REWARDS,
    ROUND,
    SEEN_SHARE,
    Memo,
    State,
)
from almoner.policy.lowering import LoweredPolicy
from almoner.types import Floats

__all__ = ["fit_pool"]

SWEEPS = 2
SPREAD, SPREAD_COUNT = 1.0, 2.0
"""Variance of the effects before any data, and the number of effects that this guess is worth."""

PREDICTION = 2
"""Row of ``Memo.working``, beside those of `almoner.kernels.pool_priors`: predicted log-odds."""

LEAST_REWARDS, REWARDS_PER_PAIR = 15.0, 20.0
"""Rewards from which on predictions are judged, and rewards for each pair in the whole campaign
below which they never are."""


@jit_large
def fit_pool(policy: LoweredPolicy, state: State, memo: Memo, pairs: Pairs) -> None:
    """Fit the effects, their variances and the prior of every pair to the rewards so far.

    ``pairs`` are arrays of this state and memo.

    Contexts without rewards have no part in the fit, so that it does not matter when a context that
    has not arrived is added.
    """
    fit = state.fit
    if fit[RESIDUAL] == 0.0:
        fit[CONTEXT_SPREAD], fit[ACTION_SPREAD], fit[RESIDUAL] = SPREAD, SPREAD, RESIDUAL_SPREAD
    scores, weights = memo.working[:, SCORE], memo.working[:, WEIGHT]
    for sweep in range(SWEEPS + 1):
        _linearise(state, memo, pairs)
        if sweep < SWEEPS:
            _update_grand_mean(state, scores, weights)
            _update_contexts(state, scores, weights)
            _update_actions(state, scores, weights)
    _set_levels(policy, state)
    set_priors(state, memo, pairs, _proof(policy, state))


@jit_inline
def _proof(policy: LoweredPolicy, state: State) -> float:
    """Return the record that the predictions must reach to be used; -inf if they need none.

    They are judged once there are as many rewards as pairs in the contexts that have arrived, and
    where enough rewards are to come to learn every pair from its own.
    """
    t, rewards = state.progress[ROUND], state.fit[REWARDS]
    weights, _, _ = weights_of(policy, state, max(1, t))
    pairs = 0
    for context in range(policy.costs.shape[0]):
        pairs += policy.costs.shape[1] * (weights[context] > 0.0)
    plays = min(float(policy.horizon - t), state.progress[LEFT] / policy.cheapest_paid)
    in_all = rewards + state.fit[SEEN_SHARE] * plays
    if rewards < max(LEAST_REWARDS, pairs) or in_all < REWARDS_PER_PAIR * pairs:
        return -math.inf
    return policy.proof


@jit_inline
def _linearise(state: State, memo: Memo, pairs: Pairs) -> None:
    """Compute the working log-odds of each pair, and its precision (0 without rewards)."""
    fit, effects = state.fit, state.action_fit[EFFECT]
    for context in range(state.counts.shape[0]):
        for action in range(state.counts.shape[1]):
            prediction = fit[GRAND_MEAN] + state.context_effects[context] + effects[action]
            memo.working[context, PREDICTION, action] = prediction
    for i in range(pairs.counts.shape[0]):
        for j in range(pairs.counts.shape[1]):
            _linearise_pair(pairs, i, j, fit[RESIDUAL])


@jit_inline
def _linearise_pair(pairs: Pairs, i: int, j: int, residual: float) -> None:
    """Compute the working log-odds of a pair, and its precision.

    Its mean is shrunk towards its prediction first, as its log-odds may be infinite.
    """
    count, prediction = pairs.counts[i, j], pairs.working[i, PREDICTION, j]
    total, seen = min(count, pairs.sums[i, j]), count > 0.0  # of a window the sum may be more
    score = weight = 0.0 * count
    if any_lane(seen):
        m = expit(prediction)
        prior = 1.0 / (residual * m * (1.0 - m))
        p = (total + prior * m) / (count + prior)
        q = p * (1.0 - p)
        score = where(seen, log(p / (1.0 - p)) + (total / count - p) / q, 0.0)
        weight = where(seen, 1.0 / (1.0 / (count * q) + residual), 0.0)
    pairs.working[i, SCORE, j], pairs.working[i, WEIGHT, j] = score, weight


@jit_inline
def _update_grand_mean(state: State, scores: Floats, weights: Floats) -> None:
    """Update μ, given the effects.

    Here and for the effects a step is at most 1, as the model is only locally linear.
    """
    fit, effects = state.fit, state.action_fit[EFFECT]
    precision, total = 1.0 / WIDEST, -fit[GRAND_MEAN] / WIDEST
    for context in range(scores.shape[0]):
        for action in range(scores.shape[1]):
            prediction = fit[GRAND_MEAN] + state.context_effects[context] + effects[action]
            precision += weights[context, action]
            total += weights[context, action] * (scores[context, action] - prediction)
    fit[GRAND_MEAN] += min(1.0, max(-1.0, total / precision))


@jit_inline
def _update_contexts(state: State, scores: Floats, weights: Floats) -> None:
    """Update α of the contexts with rewards, and its variance."""
    fit, effects = state.fit, state.action_fit[EFFECT]
    squares, active = 0.0, 0
    for context in range(scores.shape[0]):
        own, total = 0.0, 0.0
        for action in range(scores.shape[1]):
            own += weights[context, action]
            rest = scores[context, action] - fit[GRAND_MEAN] - effects[action]
            total += weights[context, action] * rest
        if own > 0.0:
            precision = own + 1.0 / fit[CONTEXT_SPREAD]
            step = total / precision - state.context_effects[context]
            state.context_effects[context] += min(1.0, max(-1.0, step))
            squares += state.context_effects[context] ** 2 + 1.0 / precision
            active += 1
    fit[CONTEXT_SPREAD] = (SPREAD_COUNT * SPREAD + squares) / (SPREAD_COUNT + active)


@jit_inline
def _update_actions(state: State, scores: Floats, weights: Floats) -> None:
    """Update β of all actions, and its variance."""
    fit, effects = state.fit, state.action_fit[EFFECT]
    squares = 0.0
    for action in range(scores.shape[1]):
        precision, total = 1.0 / fit[ACTION_SPREAD], 0.0
        for context in range(scores.shape[0]):
            precision += weights[context, action]
            rest = scores[context, action] - fit[GRAND_MEAN] - state.context_effects[context]
            total += weights[context, action] * rest
        effects[action] += min(1.0, max(-1.0, total / precision - effects[action]))
        squares += effects[action] ** 2 + 1.0 / precision
    fit[ACTION_SPREAD] = (SPREAD_COUNT * SPREAD + squares) / (SPREAD_COUNT + scores.shape[1])


@jit_inline
def _set_levels(policy: LoweredPolicy, state: State) -> None:
    """Compute the level of each action: it is worth exploring for the plays of all contexts."""
    t, left = state.progress[ROUND], float(state.progress[LEFT])
    shares, total, _ = weights_of(policy, state, max(1, t))
    plays = 0.0
    for context in range(state.counts.shape[0]):
        if shares[context] > 0.0:
            plays += level_of(policy, 0.0, shares[context] / total, t, left)
    for action in range(state.counts.shape[1]):
        count = 0.0
        for context in range(state.counts.shape[0]):
            count += state.counts[context, action]
            if policy.windowed == 1:
                count += state.pending[context, action]
        level = exploration_level(state.fit[SEEN_SHARE] * max(1.0, plays) / (1.0 + count))
        state.action_fit[LEVEL, action] = level
