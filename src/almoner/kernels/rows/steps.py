"""The steps of a run on rows: `decide_row`, `take_row`, `learn_row` and `learn_bill`.

The simulator and the live agent call the same ones. `decide_row` changes nothing that `take_row`
would not change too, so that a log can be folded by `take_row` alone.
"""

from __future__ import annotations

import numpy as np

from almoner.jit import jit_callable, jit_inline
from almoner.kernels.draws import SERVE_LANE, uniform
from almoner.kernels.priced import SKIP, break_tie, options_at, write_spread
from almoner.kernels.rows.market import compute_hull, enter, market_terms
from almoner.kernels.rows.pacing import is_ahead, pace, scale_price
from almoner.kernels.rows.regression import dot, observe
from almoner.kernels.rows.state import (
    EARLY,
    LEFT,
    PRICE,
    RATE,
    ROUND,
    STANDARD,
    Model,
    Row,
    RowState,
    reset_models,
)
from almoner.kernels.rows.values import standardise, value_row
from almoner.policy.row_lowering import CALIBRATED, GIVEN, LINEAR, LoweredRows
from almoner.policy.rows import FixedRate, Unpriced
from almoner.types import Floats, Mask

__all__ = ["SKIP", "decide_row", "learn_bill", "learn_row", "take_row"]

LARGEST_BILL = 20.0
"""Limit of a bill, in declared costs, that a model of costs learns."""

_REWARD, _BILL = 0.0, 1.0
_UNPRICED, _FIXED = Unpriced.code, FixedRate.code


@jit_callable
def decide_row(
    policy: LoweredRows,
    state: RowState,
    row: Row,
    fits: Mask,
    key: np.uint64,
    spread: Floats | None = None,
) -> tuple[int, float]:
    """Return the action for a row, or SKIP, and its probability.

    ``fits`` tells the actions whose reserve the money left can pay. ``spread``, if given, receives
    the probability of every action; the rest is that of skipping.
    """
    if policy.horizon - state.progress[ROUND] < 1:
        return SKIP, 1.0
    enter(policy, state, row, key)
    place, hulls = policy.size, state.market.hulls
    value_row(policy, state, row, place)
    for action in range(len(fits)):
        if not fits[action]:
            hulls.gains[place, action] = -np.inf
    compute_hull(state, place)
    if hulls.sizes[place] == 0 or is_ahead(policy, state):
        return SKIP, 1.0
    scale_price(policy, state, hulls.slopes[place, 0])
    price = 0.0 if policy.rule in (_UNPRICED, _FIXED) else state.figures[PRICE]
    terms = market_terms(state)
    base, step, rate = options_at(terms, hulls, place, price, state.figures[RATE])
    if spread is not None:
        write_spread(terms, hulls, place, step, rate, spread)
        write_spread(terms, hulls, place, base, 1.0 - rate, spread)
    if uniform(key, SERVE_LANE) < rate:
        return break_tie(terms, hulls, place, step, rate, key)
    return break_tie(terms, hulls, place, base, 1.0 - rate, key)


@jit_callable
def take_row(policy: LoweredRows, state: RowState, row: Row, cost: int, key: np.uint64) -> None:
    """Record a decision: the round, the row, and the units that it takes from the budget."""
    enter(policy, state, row, key)
    if policy.model == LINEAR:
        standardise(policy, state, row, 0)
        observe(state.rewards.visits, state.rewards.x, state.rewards.gain)
    t = state.progress[ROUND]
    state.progress[ROUND] += 1
    state.progress[LEFT] -= cost
    pace(policy, state, float(cost))
    if policy.model != GIVEN and state.progress[STANDARD] == 0 and t < policy.warm_up:
        given = row.features if policy.model == LINEAR else row.scores
        for i in range(state.warm_up.features.shape[1]):
            state.warm_up.features[t, i] = given[i]
        if t + 1 == policy.warm_up:
            _standardise_all(policy, state)


@jit_callable
def learn_row(policy: LoweredRows, state: RowState, row: Row, action: int, reward: float) -> None:
    """Record the reward of a row's action, or of skipping."""
    actions = len(row.costs)
    number = actions if action == SKIP else action
    if policy.model == GIVEN or number >= len(state.rewards.counts):
        return
    _note(policy, state, row, _REWARD, number, reward)
    standardise(policy, state, row, action)
    _learn(state.rewards, state.rewards.x, number, reward)


@jit_callable
def learn_bill(policy: LoweredRows, state: RowState, row: Row, action: int, bill: float) -> None:
    """Record the bill of a row's action, in units; the declared cost is in the row."""
    if policy.learns_costs == 0 or action == SKIP or row.costs[action] <= 0:
        return
    ratio = min(LARGEST_BILL, bill / row.costs[action])
    _note(policy, state, row, _BILL, action, ratio)
    standardise(policy, state, row, action)
    _learn(state.bills, state.rewards.x, action, ratio)


@jit_inline
def _learn(model: Model, x: Floats, number: int, outcome: float) -> None:
    """Add an outcome to a regression."""
    error = outcome - dot(model.coefficients[number], x)
    h = observe(model.covariances[number], x, model.gain)
    model.residuals[number] += error * error / (1.0 + h)
    for i in range(len(x)):
        model.coefficients[number, i] += model.gain[i] * error
    model.counts[number] += 1.0


@jit_inline
def _note(
    policy: LoweredRows, state: RowState, row: Row, kind: float, number: int, outcome: float
) -> None:
    """Keep an outcome that comes before features are standardised, to learn it again then."""
    early = state.progress[EARLY]
    if state.progress[STANDARD] == 1 or early >= len(state.warm_up.outcomes):
        return
    noted = state.warm_up.outcomes[early]
    noted[0], noted[1], noted[2] = kind, number, outcome
    given = row.features if policy.model == LINEAR else row.scores
    for i in range(state.warm_up.features.shape[1]):
        noted[3 + i] = given[i]
    state.progress[EARLY] = early + 1


@jit_inline
def _standardise_all(policy: LoweredRows, state: RowState) -> None:
    """Standardise by the first arrivals, and learn their outcomes again on the new scale."""
    warm_up, rewards = state.warm_up, state.rewards
    arrivals, columns = warm_up.features.shape
    for i in range(columns):
        mean, square = 0.0, 0.0
        for t in range(arrivals):
            mean += warm_up.features[t, i] / arrivals
        for t in range(arrivals):
            square += (warm_up.features[t, i] - mean) ** 2 / arrivals
        warm_up.means[i], warm_up.spreads[i] = mean, np.sqrt(square) if square > 0.0 else 1.0
    reset_models(policy, state)
    state.progress[STANDARD] = 1
    if policy.model == LINEAR:
        for t in range(arrivals):
            _write_regressors(policy, state, warm_up.features[t], 0)
            observe(rewards.visits, rewards.x, rewards.gain)
    for i in range(state.progress[EARLY]):
        number = int(warm_up.outcomes[i, 1])
        _write_regressors(policy, state, warm_up.outcomes[i, 3:], number)
        model = rewards if warm_up.outcomes[i, 0] == _REWARD else state.bills
        _learn(model, rewards.x, number, warm_up.outcomes[i, 2])


@jit_inline
def _write_regressors(policy: LoweredRows, state: RowState, given: Floats, number: int) -> None:
    """Write the regressors of features, or scores, as `standardise` does for a row."""
    market = state.market
    if policy.model == CALIBRATED:
        row = Row(given, market.features[0], market.declared[0], market.allowed[0])
    else:
        row = Row(market.scores[0], given, market.declared[0], market.allowed[0])
    standardise(policy, state, row, number)
