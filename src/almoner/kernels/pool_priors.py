"""Priors of the pooled fit: each pair predicted without its own rewards, and the variance of ε.

The prior of a pair is the mean and the count of a beta distribution with the variance of its
prediction. A context without rewards is predicted by the effects of the actions alone.
"""

from __future__ import annotations

import math

from almoner.jit import jit, jit_inline
from almoner.kernels.pool_record import log_gain
from almoner.kernels.state import (
    ACTION_SPREAD,
    CONTEXT_SPREAD,
    EFFECT,
    GRAND_MEAN,
    NEW_COUNT,
    NEW_MEAN,
    NEW_SHARE,
    RESIDUAL,
    State,
)
from almoner.types import Floats

__all__ = ["RESIDUAL_SPREAD", "WIDEST", "digamma", "expit", "set_priors"]

RESIDUAL_SPREAD, RESIDUAL_COUNT = 0.15, 1.0
"""Variance of ε before any data, and the number of pairs that this guess is worth."""

WIDEST = math.pi**2 / 3
"""Variance of the log-odds of a uniform mean, which is no knowledge at all: that of μ before any
data, around 0, and the largest one of ε."""

FEW_PAIRS = 20.0
"""The prior is worth JK/(JK + 20) of its count: few pairs say little about the variances."""

LARGEST = 9.0
"""Largest log-odds of a prior: means between 0.0001 and 0.9999."""


@jit_inline
def expit(x: float) -> float:
    """Return the mean with these log-odds, kept away from 0 and 1."""
    return 1.0 / (1.0 + math.exp(-min(LARGEST, max(-LARGEST, x))))


@jit_inline
def set_priors(
    state: State, scores: Floats, weights: Floats, columns: Floats, proof: float
) -> None:
    """Predict each pair without its own rewards, and update the variance of ε by its score.

    The score is that of the beta-binomial law of a pair's rewards. Unlike a moment it stays
    unbiased when a pair is tried again because of its first rewards. As long as the record of the
    predictions is below ``proof``, all priors have a count of 0: nothing is borrowed.
    """
    fit, effects = state.fit, state.action_fit[EFFECT]
    contexts, actions = scores.shape
    total, active = _sum_columns(state, scores, weights, columns)
    scale = active * actions / (active * actions + FEW_PAIRS)
    residual, record = fit[RESIDUAL], 0.0
    gradient = RESIDUAL_COUNT * RESIDUAL_SPREAD / residual**2
    information = RESIDUAL_COUNT / residual
    for context in range(contexts):
        effect = state.context_effects[context]
        row, row_total = 0.0, 0.0
        for action in range(actions):
            rest = scores[context, action] - fit[GRAND_MEAN] - effects[action]
            row += weights[context, action]
            row_total += weights[context, action] * rest
        for action in range(actions):
            weight, score = weights[context, action], scores[context, action]
            m, variance, share = _predict(
                fit,
                1.0 / fit[CONTEXT_SPREAD] + row - weight,
                row_total - weight * (score - fit[GRAND_MEAN] - effects[action]),
                1.0 / fit[ACTION_SPREAD] + columns[0, action] - weight,
                columns[1, action] - weight * (score - fit[GRAND_MEAN] - effect),
                total,
            )
            state.prior_means[context, action] = m
            state.prior_counts[context, action] = scale / (variance * (m * (1.0 - m)))
            state.action_shares[context, action] = share
            if weight > 0.0:
                count = state.counts[context, action]
                rewards = min(count, state.sums[context, action])
                expected = _expected_information(count, variance, m * (1.0 - m))
                information += expected
                gradient += expected + 2.0 * _score(count, rewards, m, variance)
                if proof > -math.inf:
                    prior = state.prior_counts[context, action]
                    record += log_gain(count, rewards, m, prior)
    _set_new_priors(state, columns, scale, total)
    if record < proof:
        _borrow_nothing(state)
    factor = min(2.0, max(0.5, gradient / information))
    fit[RESIDUAL] = min(WIDEST, residual * factor)


@jit_inline
def _sum_columns(
    state: State, scores: Floats, weights: Floats, columns: Floats
) -> tuple[float, int]:
    """Sum weights and weighted log-odds by action; return all weight, and the contexts seen."""
    columns[:] = 0.0
    total, active = 1.0 / WIDEST, 0
    for context in range(scores.shape[0]):
        own = 0.0
        for action in range(scores.shape[1]):
            weight = weights[context, action]
            own += weight
            rest = scores[context, action] - state.fit[GRAND_MEAN] - state.context_effects[context]
            columns[0, action] += weight
            columns[1, action] += weight * rest
        total += own
        active += own > 0.0
    return total, active


@jit_inline
def _predict(
    fit: Floats,
    context_precision: float,
    context_total: float,
    action_precision: float,
    action_total: float,
    total: float,
) -> tuple[float, float, float]:
    """Return mean and variance of a prediction, and the share of the action in the variance."""
    context_variance, action_variance = 1.0 / context_precision, 1.0 / action_precision
    variance = fit[RESIDUAL] + context_variance + action_variance + 1.0 / total
    effects = fit[GRAND_MEAN] + context_total * context_variance + action_total * action_variance
    return expit(effects), variance, action_variance / variance


@jit_inline
def _set_new_priors(state: State, columns: Floats, scale: float, total: float) -> None:
    """Predict the pairs of a context without rewards."""
    fit, by_action = state.fit, state.action_fit
    for action in range(columns.shape[1]):
        m, variance, share = _predict(
            fit,
            1.0 / fit[CONTEXT_SPREAD],
            0.0,
            1.0 / fit[ACTION_SPREAD] + columns[0, action],
            columns[1, action],
            total,
        )
        by_action[NEW_MEAN, action] = m
        by_action[NEW_COUNT, action] = scale / (variance * (m * (1.0 - m)))
        by_action[NEW_SHARE, action] = share


@jit_inline
def _borrow_nothing(state: State) -> None:
    """Reset all priors to those before the first fit; the effects stay, for the next refit."""
    state.prior_means[:] = 0.0
    state.prior_counts[:] = 0.0
    state.action_shares[:] = 0.0
    for row in (NEW_MEAN, NEW_COUNT, NEW_SHARE):
        state.action_fit[row] = 0.0


@jit_inline
def _expected_information(count: float, variance: float, q: float) -> float:
    """Return the weight of a pair in the estimate of the variance of ε; 0 for a single reward.

    Less than a reward, as evidence of a window may be, has none either.
    """
    if count <= 1.0:
        return 0.0
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
