"""Values and expected costs of a row: the caller's scores, or bounds of a model's predictions."""

from __future__ import annotations

import math

from almoner.jit import jit_inline
from almoner.kernels.indices import exploration_level
from almoner.kernels.rows.regression import dot, quadratic
from almoner.kernels.rows.state import STANDARD, Model, Row, RowState
from almoner.policy.row_lowering import CALIBRATED, GIVEN, LINEAR, LoweredRows

__all__ = ["expected_costs", "standardise", "value_row"]

CLIP = 5.0
"""Standard deviations from the mean at which features are cut off."""

LEAST_RATIO, LARGEST_RATIO = 0.2, 5.0
"""Limits of a predicted ratio of bill and declared cost."""

_T, _REMAINING, _LEFT = 0, 1, 2


@jit_inline
def standardise(policy: LoweredRows, state: RowState, row: Row, action: int) -> None:
    """Write the regressors of an action into the scratch space of the models.

    They are 1 and the standardised features, the same for all actions; where scores are
    recalibrated, 1 and the score less its mean. Before the first arrivals have standardised them,
    features count as their means.
    """
    x, means, spreads = state.rewards.x, state.warm_up.means, state.warm_up.spreads
    x[0] = 1.0
    if policy.model == CALIBRATED:
        x[1] = row.scores[action] - means[action] if state.progress[STANDARD] == 1 else 0.0
        return
    for i in range(len(means)):
        x[i + 1] = 0.0
        if state.progress[STANDARD] == 1:
            x[i + 1] = min(CLIP, max(-CLIP, (row.features[i] - means[i]) / spreads[i]))


@jit_inline
def value_row(policy: LoweredRows, state: RowState, row: Row, place: int) -> None:
    """Write the gains over skipping of a row into the market, with its expected costs.

    Actions that are not available gain minus infinity.
    """
    market, actions = state.market, len(row.costs)
    if policy.model == GIVEN or (policy.model == CALIBRATED and state.progress[STANDARD] == 0):
        for action in range(actions):
            market.costs[place, action] = row.costs[action]
            gain = row.scores[action] - row.scores[actions]
            market.hulls.gains[place, action] = gain if row.allowed[action] else -math.inf
        return
    plays = 0.0
    if policy.model == LINEAR:
        standardise(policy, state, row, 0)
        plays = _arrivals_left(state)
    expected_costs(policy, state, row, place)
    idle = row.scores[actions]
    if policy.learns_skip == 1:
        idle = _bound(state.rewards, actions, plays)
    for action in range(actions):
        gain = -math.inf
        if row.allowed[action]:
            if policy.model == CALIBRATED:
                standardise(policy, state, row, action)
                plays = state.rewards.clock[_REMAINING]
            affordable = plays
            if market.costs[place, action] > 0:
                affordable = min(plays, state.rewards.clock[_LEFT] / market.costs[place, action])
            gain = _bound(state.rewards, action, affordable) - idle
        market.hulls.gains[place, action] = gain


@jit_inline
def expected_costs(policy: LoweredRows, state: RowState, row: Row, place: int) -> None:
    """Write the expected costs of a row, whose regressors are in the scratch space."""
    bills = state.bills
    for action in range(len(row.costs)):
        cost = row.costs[action]
        if policy.learns_costs == 1 and cost > 0:
            ratio = dot(bills.fixed_coefficients[action], state.rewards.x)
            ratio = min(LARGEST_RATIO, max(LEAST_RATIO, ratio))
            cost = math.ceil(row.costs[action] * ratio)
        state.market.costs[place, action] = cost


@jit_inline
def _arrivals_left(state: RowState) -> float:
    """Return how many arrivals like this one are to come, by those like it so far."""
    rewards = state.rewards
    t, remaining = rewards.clock[_T], rewards.clock[_REMAINING]
    if t <= 0.0:
        return remaining
    return remaining / (t * max(1e-300, quadratic(rewards.fixed_visits, rewards.x, rewards.gain)))


@jit_inline
def _bound(model: Model, action: int, plays: float) -> float:
    """Return the optimistic value of an action: θ'x + √(2 g(n h) σ² h)."""
    h = quadratic(model.fixed_covariances[action], model.x, model.gain)
    level = exploration_level(max(1.0, plays) * h)
    bonus = math.sqrt(2.0 * level * model.noise[action] * h)
    return dot(model.fixed_coefficients[action], model.x) + bonus
