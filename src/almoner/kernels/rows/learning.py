"""Learning on rows: outcomes of the regressions, and features standardised by the first arrivals.

Outcomes that come before that are learned at once, as if all features were at their means, and
again when they are standardised.
"""

from __future__ import annotations

import math

from almoner.jit import jit_inline, jit_large, jit_merged
from almoner.kernels.rows.regression import dot, observe
from almoner.kernels.rows.state import (
    COUNTS,
    EARLY,
    MEANS,
    NEXT,
    NOW,
    PRODUCT,
    RESIDUALS,
    ROUND,
    SPREADS,
    STANDARD,
    Models,
    Row,
    RowState,
    X,
    reset_models,
)
from almoner.kernels.rows.values import standardise
from almoner.policy.row_lowering import LINEAR, LoweredRows
from almoner.types import Floats

__all__ = ["count_visit", "observe_outcome"]

CONSTANT = 1e-9
"""Spread of a feature, relative to its mean, up to which it counts as constant."""


@jit_large
def observe_outcome(
    policy: LoweredRows, state: RowState, row: Row, regression: int, outcome: float
) -> None:
    """Learn an outcome of a row: a reward, or a bill in declared costs."""
    early = state.progress[EARLY]
    place = policy.warm_up + early
    if state.progress[STANDARD] == 0 and place < len(state.first):
        state.first[place, 0], state.first[place, 1] = regression, outcome
        _copy_given(policy, row, state.first[place, 2:])
        state.progress[EARLY] = early + 1
    standardise(policy, state, row, regression)
    _learn(state.models, regression, outcome)


@jit_merged
def count_visit(policy: LoweredRows, state: RowState, row: Row) -> None:
    """Count an arrival by its features."""
    models, t = state.models, state.progress[ROUND]
    if policy.model == LINEAR:
        standardise(policy, state, row, 0)
        observe(models.visits[NOW], models.scratch[X], models.scratch[PRODUCT])
    if t < policy.warm_up:
        _copy_given(policy, row, state.first[t, 2:])
        if t + 1 == policy.warm_up:
            _standardise_all(policy, state)


@jit_merged
def _learn(models: Models, k: int, outcome: float) -> None:
    """Add the outcome of the regressors in the scratch space to a regression."""
    x, gain = models.scratch[X], models.scratch[PRODUCT]
    error = outcome - dot(models.coefficients[NOW, k], x)
    h = observe(models.covariances[NOW, k], x, gain)
    models.tallies[RESIDUALS, k] += error * error / (1.0 + h)
    models.tallies[COUNTS, k] += 1.0
    for i in range(len(x)):
        models.coefficients[NOW, k, i] += gain[i] * error


@jit_inline
def _copy_given(policy: LoweredRows, row: Row, target: Floats) -> None:
    """Copy the part of a row that is standardised: its features, or its scores."""
    start = len(row.costs) + 1 if policy.model == LINEAR else 0
    for i in range(len(target)):
        target[i] = row.values[start + i]


@jit_merged
def _standardise_all(policy: LoweredRows, state: RowState) -> None:
    """Standardise by the first arrivals, and learn their outcomes again on the new scale."""
    for i in range(state.standards.shape[1]):
        mean, square = 0.0, 0.0
        for t in range(policy.warm_up):
            mean += state.first[t, 2 + i] / policy.warm_up
        for t in range(policy.warm_up):
            square += (state.first[t, 2 + i] - mean) ** 2 / policy.warm_up
        spread = math.sqrt(square)
        state.standards[MEANS, i] = mean
        state.standards[SPREADS, i] = spread if spread > CONSTANT * abs(mean) else 1.0
    reset_models(policy, state)
    state.progress[STANDARD] = 1
    state.progress[NEXT] = 0  # models of the old scale must not value rows on the new one
    models = state.models
    for i in range(policy.warm_up + state.progress[EARLY]):
        _restore(policy, state, i)
        if i >= policy.warm_up:
            _learn(models, int(state.first[i, 0]), state.first[i, 1])
        elif policy.model == LINEAR:
            observe(models.visits[NOW], models.scratch[X], models.scratch[PRODUCT])


@jit_merged
def _restore(policy: LoweredRows, state: RowState, i: int) -> None:
    """Write the regressors of one of the first rows, as `standardise` does, of the last place."""
    last = len(state.values) - 1
    row = Row(state.values[last], state.declared[last])
    start = len(row.costs) + 1 if policy.model == LINEAR else 0
    for column in range(state.standards.shape[1]):
        row.values[start + column] = state.first[i, 2 + column]
    standardise(policy, state, row, int(state.first[i, 0]))
