"""Pooled prior: the mean reward of each pair as predicted by the rewards of all other pairs.

The log-odds of the mean of pair (j, k) are modelled as μ + α_j + β_k + ε_jk, with normal α, β and ε
of unknown variances. `fit_pool` continues the fit before it by two sweeps of iterated weighted
least squares. The prior of a pair is its prediction with its own rewards left out, as the mean and
the count of a beta distribution of the same variance. O(J·K) for J contexts and K actions.
"""

from __future__ import annotations

import math

from almoner.jit import jit, jit_inline, jit_large
from almoner.kernels.indices import exploration_level
from almoner.kernels.pair_index import level_of, weights_of
from almoner.kernels.state import (
    ACTION_SPREAD,
    CONTEXT_SPREAD,
    EFFECT,
    GRAND_MEAN,
    LEFT,
    LEVEL,
    NEW_COUNT,
    NEW_MEAN,
    NEW_SHARE,
    RESIDUAL,
    ROUND,
    SEEN_SHARE,
    Memo,
    State,
)
from almoner.policy.lowering import LoweredPolicy
from almoner.types import Floats

__all__ = ["digamma", "fit_pool"]

SWEEPS = 2
SPREAD, SPREAD_COUNT = 1.0, 2.0
"""Variance of the effects before any data, and the number of effects that this guess is worth."""

RESIDUAL_SPREAD, RESIDUAL_COUNT = 0.15, 1.0
"""Variance of ε before any data, and the number of pairs that this guess is worth."""

WIDEST = math.pi**2 / 3
"""Variance of the log-odds of a uniform mean, which is no knowledge at all: that of μ before any
data, around 0, and the largest one of ε."""

FEW_PAIRS = 20.0
"""The prior is worth JK/(JK + 20) of its count: few pairs say little about the variances."""

LARGEST = 9.0
"""Largest log-odds of a prior: means between 0.0001 and 0.9999."""


@jit_large
def fit_pool(policy: LoweredPolicy, state: State, memo: Memo) -> None:
    """Fit the effects, their variances and the prior of every pair to the rewards so far.

    Contexts without rewards have no part in the fit, so that it does not matter when a context that
    has not arrived is added.
    """
    fit = state.fit
    if fit[RESIDUAL] == 0.0:
        fit[CONTEXT_SPREAD], fit[ACTION_SPREAD], fit[RESIDUAL] = SPREAD, SPREAD, RESIDUAL_SPREAD
    scores, weights = memo.working[:, :, 0], memo.working[:, :, 1]
    for _ in range(SWEEPS):
        _linearise(state, scores, weights)
        _update_effects(state, scores, weights)
    _linearise(state, scores, weights)
    _set_levels(policy, state)
    _set_priors(state, scores, weights, memo.columns)


@jit_inline
def _expit(x: float) -> float:
    return 1.0 / (1.0 + math.exp(-min(LARGEST, max(-LARGEST, x))))


@jit_inline
def _linearise(state: State, scores: Floats, weights: Floats) -> None:
    """Compute the working log-odds of each pair, and its precision (0 without rewards).

    The mean of a pair is shrunk towards its prediction first, as its log-odds may be infinite.
    """
    fit, effects = state.fit, state.action_fit[EFFECT]
    for context in range(state.counts.shape[0]):
        for action in range(state.counts.shape[1]):
            count, total = state.counts[context, action], state.sums[context, action]
            if count <= 0.0:
                scores[context, action], weights[context, action] = 0.0, 0.0
                continue
            m = _expit(fit[GRAND_MEAN] + state.context_effects[context] + effects[action])
            prior = 1.0 / (fit[RESIDUAL] * m * (1.0 - m))
            p = (total + prior * m) / (count + prior)
            q = p * (1.0 - p)
            scores[context, action] = math.log(p / (1.0 - p)) + (total / count - p) / q
            weights[context, action] = 1.0 / (1.0 / (count * q) + fit[RESIDUAL])


@jit_inline
def _update_effects(state: State, scores: Floats, weights: Floats) -> None:
    """Update μ, then α, then β, each given the others, and the variances of α and β.

    A step is at most 1, as the linear model is only valid nearby.
    """
    fit, effects = state.fit, state.action_fit[EFFECT]
    contexts, actions = scores.shape
    precision, total = 1.0 / WIDEST, -fit[GRAND_MEAN] / WIDEST
    for context in range(contexts):
        for action in range(actions):
            prediction = fit[GRAND_MEAN] + state.context_effects[context] + effects[action]
            precision += weights[context, action]
            total += weights[context, action] * (scores[context, action] - prediction)
    fit[GRAND_MEAN] += min(1.0, max(-1.0, total / precision))
    squares, active = 0.0, 0
    for context in range(contexts):
        own, total = 0.0, 0.0
        for action in range(actions):
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
    squares = 0.0
    for action in range(actions):
        precision, total = 1.0 / fit[ACTION_SPREAD], 0.0
        for context in range(contexts):
            precision += weights[context, action]
            rest = scores[context, action] - fit[GRAND_MEAN] - state.context_effects[context]
            total += weights[context, action] * rest
        effects[action] += min(1.0, max(-1.0, total / precision - effects[action]))
        squares += effects[action] ** 2 + 1.0 / precision
    fit[ACTION_SPREAD] = (SPREAD_COUNT * SPREAD + squares) / (SPREAD_COUNT + actions)


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
        level = exploration_level(state.fit[SEEN_SHARE] * max(1.0, plays) / (1.0 + count))
        state.action_fit[LEVEL, action] = level


@jit_inline
def _set_priors(state: State, scores: Floats, weights: Floats, columns: Floats) -> None:
    """Predict each pair without its own rewards, and update the variance of ε by its score.

    The score is that of the beta-binomial law of a pair's rewards. Unlike a moment it stays
    unbiased when a pair is tried again because of its first rewards.
    """
    fit, by_action = state.fit, state.action_fit
    contexts, actions = scores.shape
    columns[:] = 0.0
    total, active = 1.0 / WIDEST, 0
    for context in range(contexts):
        own = 0.0
        for action in range(actions):
            weight = weights[context, action]
            own += weight
            rest = scores[context, action] - fit[GRAND_MEAN] - state.context_effects[context]
            columns[0, action] += weight
            columns[1, action] += weight * rest
        total += own
        active += own > 0.0
    scale = active * actions / (active * actions + FEW_PAIRS)
    residual = fit[RESIDUAL]
    gradient = RESIDUAL_COUNT * RESIDUAL_SPREAD / residual**2
    information = RESIDUAL_COUNT / residual
    for context in range(contexts + 1):  # the last is any context without rewards
        new = context == contexts
        row, row_total = 0.0, 0.0
        if not new:
            for action in range(actions):
                rest = scores[context, action] - fit[GRAND_MEAN] - by_action[EFFECT, action]
                row += weights[context, action]
                row_total += weights[context, action] * rest
        for action in range(actions):
            weight, score, effect = 0.0, 0.0, 0.0
            if not new:
                weight, score = weights[context, action], scores[context, action]
                effect = state.context_effects[context]
            above = row_total - weight * (score - fit[GRAND_MEAN] - by_action[EFFECT, action])
            beside = columns[1, action] - weight * (score - fit[GRAND_MEAN] - effect)
            context_variance = 1.0 / (1.0 / fit[CONTEXT_SPREAD] + row - weight)
            action_variance = 1.0 / (1.0 / fit[ACTION_SPREAD] + columns[0, action] - weight)
            variance = residual + context_variance + action_variance + 1.0 / total
            m = _expit(fit[GRAND_MEAN] + above * context_variance + beside * action_variance)
            q = m * (1.0 - m)
            if new:
                by_action[NEW_MEAN, action], by_action[NEW_COUNT, action] = (
                    m,
                    scale / (variance * q),
                )
                by_action[NEW_SHARE, action] = action_variance / variance
                continue
            state.prior_means[context, action] = m
            state.prior_counts[context, action] = scale / (variance * q)
            state.action_shares[context, action] = action_variance / variance
            if weight > 0.0:
                count, rewards = state.counts[context, action], state.sums[context, action]
                expected = _expected_information(count, variance, q)
                information += expected
                gradient += expected + 2.0 * _score(count, rewards, m, variance)
    factor = min(2.0, max(0.5, gradient / information))
    fit[RESIDUAL] = min(WIDEST, residual * factor)


@jit_inline
def _expected_information(count: float, variance: float, q: float) -> float:
    """Return the weight of a pair in the estimate of the variance of ε; 0 for a single reward."""
    spread = (1.0 / (count * q) + variance) / (1.0 + variance * q)
    return (1.0 - 1.0 / count) / ((1.0 + variance * q) ** 2 * spread)


@jit_inline
def _score(count: float, rewards: float, m: float, variance: float) -> float:
    """Return the derivative of a pair's beta-binomial log-likelihood by its variance."""
    q = m * (1.0 - m)
    prior = 1.0 / (variance * q)
    wins, losses = m * prior, (1.0 - m) * prior
    slope = digamma(prior) - digamma(prior + count)
    slope += m * (digamma(wins + rewards) - digamma(wins))
    slope += (1.0 - m) * (digamma(losses + count - rewards) - digamma(losses))
    return -slope / (variance * variance * q)


@jit
def digamma(x: float) -> float:
    """Return ψ(x) for x > 0, by its recurrence and its asymptotic series, to 1e-7."""
    shift = 0.0
    for _ in range(4):
        shift -= 1.0 / x
        x += 1.0
    y = 1.0 / (x * x)
    return shift + math.log(x) - 0.5 / x - y * (1.0 / 12.0 - y * (1.0 / 120.0 - y / 252.0))
