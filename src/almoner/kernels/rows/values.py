"""Values and expected costs of a row: the caller's scores, or bounds of a model's predictions."""

from __future__ import annotations

import math

from almoner.jit import jit_inline, jit_large
from almoner.kernels.indices import exploration_level
from almoner.kernels.rows.regression import dot, quadratic
from almoner.kernels.rows.state import (
    FIXED,
    FIXED_LEFT,
    FIXED_REMAINING,
    FIXED_ROUND,
    MEANS,
    NOISE,
    PRODUCT,
    SPREADS,
    STANDARD,
    UNAVAILABLE,
    Models,
    Row,
    RowState,
    X,
    units_of,
)
from almoner.policy.row_lowering import CALIBRATED, GIVEN, LINEAR, LoweredRows
from almoner.types import Floats, Ints

__all__ = ["standardise", "value_row"]

CLIP = 5.0
"""Standard deviations from the mean at which features are cut off."""

LEAST_RATIO, LARGEST_RATIO = 0.2, 5.0
"""Limits of a predicted ratio of bill and declared cost."""


@jit_inline
def standardise(policy: LoweredRows, state: RowState, row: Row, action: int) -> None:
    """Write the regressors of an action into the scratch space of the models.

    They are 1 and the standardised features, the same for all actions; where scores are
    recalibrated, 1 and the score less its mean. Before the first arrivals have standardised them,
    features count as their means.
    """
    x, standards = state.models.scratch[X], state.standards
    x[0] = 1.0
    for i in range(1, len(x)):
        x[i] = 0.0
    if state.progress[STANDARD] == 0:
        return
    if policy.model == CALIBRATED:
        x[1] = row.values[action] - standards[MEANS, action]
        return
    given = row.values[len(row.costs) + 1 :]
    for i in range(len(given)):
        deviation = (given[i] - standards[MEANS, i]) / standards[SPREADS, i]
        x[i + 1] = min(CLIP, max(-CLIP, deviation))


@jit_large
def value_row(policy: LoweredRows, state: RowState, row: Row, place: int) -> None:
    """Write the gains over skipping of a row into the market, with its expected costs.

    Actions that are not available gain minus infinity.
    """
    actions, models = len(row.costs), state.models
    as_given = policy.model == GIVEN
    as_given |= policy.model == CALIBRATED and state.progress[STANDARD] == 0
    arrivals, idle = state.figures[FIXED_REMAINING], row.values[actions]
    if policy.model == LINEAR:
        standardise(policy, state, row, 0)
        arrivals = _arrivals_left(state)
        if policy.learns_skip == 1:
            idle = _bound(models, actions, arrivals)
    for action in range(actions):
        declared, value = row.costs[action], row.values[action]
        cost = units_of(declared)
        if cost == UNAVAILABLE:
            state.costs[place, action], state.hulls.gains[place, action] = 0, -math.inf
            continue
        if not as_given:
            if policy.model == CALIBRATED:
                standardise(policy, state, row, action)
            elif policy.learns_costs == 1 and declared > 0:
                cost = _expected_cost(state, action, cost)
            plays = min(arrivals, state.figures[FIXED_LEFT] / cost) if cost > 0 else arrivals
            value = _bound(models, action, plays)
        state.costs[place, action], state.hulls.gains[place, action] = cost, value - idle
    if policy.default >= 0:
        _count_from(state.hulls.gains[place], state.costs[place], policy.default)


@jit_inline
def _count_from(gains: Floats, costs: Ints, default: int) -> None:
    """Count gains and costs from a default action, which takes the place of skipping.

    It is free, and with it all actions that are no dearer.
    """
    gain, cost = gains[default], costs[default]
    if gain == -math.inf:  # not available
        return
    for action in range(len(gains)):
        gains[action] -= gain
        costs[action] = max(0, costs[action] - cost)


@jit_inline
def _expected_cost(state: RowState, action: int, cost: int) -> int:
    """Return the declared cost of an action times the ratio that bills have had."""
    coefficients, actions = state.models.coefficients[FIXED], state.costs.shape[1]
    bill = len(coefficients) - actions + action
    ratio = dot(coefficients[bill], state.models.scratch[X])
    return math.ceil(cost * min(LARGEST_RATIO, max(LEAST_RATIO, ratio)))


@jit_inline
def _arrivals_left(state: RowState) -> float:
    """Return how many arrivals like this one are to come, by those like it so far."""
    models, t = state.models, state.figures[FIXED_ROUND]
    if t <= 0.0:
        return state.figures[FIXED_REMAINING]
    rarity = quadratic(models.visits[FIXED], models.scratch[X], models.scratch[PRODUCT])
    return state.figures[FIXED_REMAINING] / (t * max(1e-300, rarity))


@jit_inline
def _bound(models: Models, k: int, plays: float) -> float:
    """Return the optimistic value of a regression: θ'x + √(2 g(n h) σ² h) for n plays left."""
    x = models.scratch[X]
    h = quadratic(models.covariances[FIXED, k], x, models.scratch[PRODUCT])
    level = exploration_level(max(1.0, plays) * h)
    bonus = math.sqrt(2.0 * level * models.tallies[NOISE, k] * h)
    return dot(models.coefficients[FIXED, k], x) + bonus
