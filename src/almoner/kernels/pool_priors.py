"""Priors of the pooled fit: each pair predicted without its own rewards, and the variance of ε.

The prior of a pair is the mean and the count of a beta distribution with the variance of its
prediction. A context without rewards is predicted by the effects of the actions alone.
"""

from __future__ import annotations

import math
from typing import Any

from almoner.jit import jit, jit_inline
from almoner.kernels.elementary import exp, log
from almoner.kernels.lanes.vector import any_lane, where
from almoner.kernels.pairs import Pairs
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
    Memo,
    State,
)
from almoner.types import Floats

__all__ = [
    "RESIDUAL_SPREAD",
    "SCORE",
    "WEIGHT",
    "WIDEST",
    "digamma",
    "expit",
    "set_priors",
]

SCORE, WEIGHT = 0, 1
"""Rows of ``Memo.working``: the working log-odds of each pair, and their precision."""

CONTEXT_PRECISION, CONTEXT_TOTAL, ACTION_PRECISION, ACTION_TOTAL = 2, 3, 4, 5
"""Rows of ``Memo.working`` that a pair is predicted from: precision, and sum of log-odds weighted
by it, of the other pairs in its context and of those with its action."""

INFORMATION, GRADIENT, RECORD = 2, 3, 4
"""The same rows, once it is predicted: what the pair adds to these sums."""

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
def expit(x: Any) -> Any:
    """Return the mean with these log-odds, kept away from 0 and 1."""
    return 1.0 / (1.0 + exp(-min(LARGEST, max(-LARGEST, x))))


@jit_inline
def set_priors(state: State, memo: Memo, pairs: Pairs, proof: float) -> None:
    """Predict each pair without its own rewards, and update the variance of ε by its score.

    The score is that of the beta-binomial law of a pair's rewards. Unlike a moment it stays
    unbiased when a pair is tried again because of its first rewards. As long as the record of the
    predictions is below ``proof``, all priors have a count of 0: nothing is borrowed.
    """
    fit, columns = state.fit, memo.columns
    contexts, actions = state.counts.shape
    total, active = _sum_columns(state, memo.working[:, SCORE], memo.working[:, WEIGHT], columns)
    scale = active * actions / (active * actions + FEW_PAIRS)
    _leave_out(state, memo)
    for i in range(pairs.counts.shape[0]):
        for j in range(pairs.counts.shape[1]):
            _predict_pair(fit, pairs, i, j, total, scale, proof)
    residual, record = fit[RESIDUAL], 0.0
    gradient = RESIDUAL_COUNT * RESIDUAL_SPREAD / residual**2
    information = RESIDUAL_COUNT / residual
    for context in range(contexts):
        for action in range(actions):
            information += memo.working[context, INFORMATION, action]
            gradient += memo.working[context, GRADIENT, action]
            record += memo.working[context, RECORD, action]
    _set_new_priors(state, columns, scale, total)
    if record < proof:
        _borrow_nothing(state)
    factor = min(2.0, max(0.5, gradient / information))
    fit[RESIDUAL] = min(WIDEST, residual * factor)


@jit_inline
def _leave_out(state: State, memo: Memo) -> None:
    """Compute what each pair is predicted from: the sums of its context and action without it."""
    fit, effects, columns, working = state.fit, state.action_fit[EFFECT], memo.columns, memo.working
    for context in range(state.counts.shape[0]):
        effect = state.context_effects[context]
        row, row_total = 0.0, 0.0
        for action in range(state.counts.shape[1]):
            rest = working[context, SCORE, action] - fit[GRAND_MEAN] - effects[action]
            row += working[context, WEIGHT, action]
            row_total += working[context, WEIGHT, action] * rest
        for action in range(state.counts.shape[1]):
            weight, score = working[context, WEIGHT, action], working[context, SCORE, action]
            rest = score - fit[GRAND_MEAN] - effects[action]
            working[context, CONTEXT_PRECISION, action] = 1.0 / fit[CONTEXT_SPREAD] + row - weight
            working[context, CONTEXT_TOTAL, action] = row_total - weight * rest
            precision = 1.0 / fit[ACTION_SPREAD] + columns[0, action] - weight
            working[context, ACTION_PRECISION, action] = precision
            rest = score - fit[GRAND_MEAN] - effect
            working[context, ACTION_TOTAL, action] = columns[1, action] - weight * rest


@jit_inline
def _predict_pair(
    fit: Floats, pairs: Pairs, i: int, j: int, total: float, scale: float, proof: float
) -> None:
    """Compute the prior of a pair, and what its rewards say about ε and about the predictions."""
    m, variance, share = _predict(
        fit,
        pairs.working[i, CONTEXT_PRECISION, j],
        pairs.working[i, CONTEXT_TOTAL, j],
        pairs.working[i, ACTION_PRECISION, j],
        pairs.working[i, ACTION_TOTAL, j],
        total,
    )
    prior = scale / (variance * (m * (1.0 - m)))
    pairs.prior_means[i, j], pairs.prior_counts[i, j] = m, prior
    pairs.action_shares[i, j] = share
    count, seen = pairs.counts[i, j], pairs.working[i, WEIGHT, j] > 0.0
    information = gradient = record = 0.0 * count
    if any_lane(seen):
        rewards = min(count, pairs.sums[i, j])
        expected = _expected_information(count, variance, m * (1.0 - m))
        information = where(seen, expected, 0.0)
        gradient = where(seen, expected + 2.0 * _score(count, rewards, m, variance), 0.0)
        if proof > -math.inf:
            record = where(seen, log_gain(count, rewards, m, prior), 0.0)
    pairs.working[i, INFORMATION, j], pairs.working[i, GRADIENT, j] = information, gradient
    pairs.working[i, RECORD, j] = record


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
    context_precision: Any,
    context_total: Any,
    action_precision: Any,
    action_total: Any,
    total: float,
) -> tuple[Any, Any, Any]:
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
def _expected_information(count: Any, variance: Any, q: Any) -> Any:
    """Return the weight of a pair in the estimate of the variance of ε; 0 for a single reward.

    Less than a reward, as evidence of a window may be, has none either.
    """
    shrinkage = 1.0 + variance * q
    spread = (1.0 / (count * q) + variance) / shrinkage
    return where(count <= 1.0, 0.0, (1.0 - 1.0 / count) / (shrinkage * shrinkage * spread))


@jit_inline
def _score(count: Any, rewards: Any, m: Any, variance: Any) -> Any:
    """Return the derivative of a pair's beta-binomial log-likelihood by its variance."""
    q = m * (1.0 - m)
    prior = 1.0 / (variance * q)
    wins, losses = m * prior, (1.0 - m) * prior
    slope = digamma(prior) - digamma(prior + count)
    slope += m * (digamma(wins + rewards) - digamma(wins))
    slope += (1.0 - m) * (digamma(losses + count - rewards) - digamma(losses))
    return -slope / (variance * variance * q)


@jit
def digamma(x: Any) -> Any:
    """Return ψ(x) for x > 0, by its recurrence and its asymptotic series, to 1e-7.

    The recurrence 1/x + 1/(x + 1) + 1/(x + 2) + 1/(x + 3) is that of one division.
    """
    u = x * (x + 3.0)
    shift = (2.0 * x + 3.0) * (2.0 * u + 2.0) / (u * (u + 2.0))
    z = 1.0 / (x + 4.0)
    y = z * z
    series = 0.5 * z + y * (1.0 / 12.0 - y * (1.0 / 120.0 - y / 252.0))
    return log(x + 4.0) - shift - series
