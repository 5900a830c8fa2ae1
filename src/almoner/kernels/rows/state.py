"""Data of a run on rows: the market, the models of rewards and bills, and the clock."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from almoner.jit import jit_callable
from almoner.kernels.state import Hulls
from almoner.policy.allocation import AdaptiveLP
from almoner.policy.row_lowering import CALIBRATED, GIVEN, LINEAR, LoweredRows
from almoner.types import Floats, Ints, Mask

__all__ = [
    "ADAPTIVE",
    "AVERAGE",
    "CUT",
    "EARLY",
    "ENTERED",
    "INTEGRAL",
    "LEFT",
    "NEXT",
    "PRICE",
    "RATE",
    "ROOM",
    "ROUND",
    "ROWS",
    "SCALE",
    "STANDARD",
    "MarketTerms",
    "Model",
    "Row",
    "RowMarket",
    "RowState",
    "WarmUp",
    "new_row_state",
    "reset_models",
    "reset_rows",
]

ROUND, LEFT, ENTERED, ROWS, NEXT, STANDARD, EARLY, CUT = range(8)
"""Places in ``RowState.progress``: rounds taken, units left, the last round whose row is in the
market (counted from 1), rows in the market, the round of the next refresh, 1 once features are
standardised, outcomes that were learned before that, and 1 if a hull lacks an action that was
dearer than the budget left."""

PRICE, RATE, ROOM, SCALE, AVERAGE, INTEGRAL = range(6)
"""Places in ``RowState.figures``: the price of a unit, the rate of the steps at it, the budget per
round that it was computed for, the mean of the steepest slopes of the first rows, a moving average
of the spend per round, and the integral of its error."""

ADAPTIVE = AdaptiveLP.code


class Row(NamedTuple):
    """A row as it arrives.

    ``scores`` has a value for each action, and that of skipping behind them; ``features`` are as
    given; ``costs`` are the expected costs in units as declared; ``allowed`` tells the actions that
    are available.
    """

    scores: Floats
    features: Floats
    costs: Ints
    allowed: Mask


class RowMarket(NamedTuple):
    """The rows of the market as they came, with their hulls as of the last refresh.

    ``costs`` are the expected costs that the hulls were computed with. The last row of ``costs``
    and of ``hulls`` is the arrival that is being decided, which has no weight.
    """

    scores: Floats
    features: Floats
    declared: Ints
    allowed: Mask
    costs: Ints
    hulls: Hulls


class MarketTerms(NamedTuple):
    """The terms of the market, by the names that `almoner.kernels.price` uses for a policy's.

    A ``dearest`` of infinity makes tolerances relative, as scores have no scale.
    """

    costs: Ints
    dearest: float
    rule: int


class Model(NamedTuple):
    """Linear regressions, one for each action, and for skipping behind them.

    ``covariances`` are the inverses of the precisions in units of the noise; ``residuals`` the sums
    of squared errors, each divided by its variance. The ``fixed_`` arrays are as of the last
    refresh, with the ``noise`` variances: all rows of the market and the arrival are compared by
    them. ``visits`` is the inverse of Σ xx' over all arrivals, ``clock`` the round, the rounds left
    and the units left at the refresh; ``x`` and ``gain`` are scratch space.
    """

    covariances: Floats
    coefficients: Floats
    residuals: Floats
    counts: Floats
    visits: Floats
    fixed_covariances: Floats
    fixed_coefficients: Floats
    fixed_visits: Floats
    noise: Floats
    clock: Floats
    x: Floats
    gain: Floats


class WarmUp(NamedTuple):
    """The first arrivals, from which features or scores are standardised.

    ``features`` are theirs; ``outcomes`` are learned again once they are standardised: whether a
    reward (0) or a bill (1), the action, the value, then the features. ``means`` and ``spreads``
    are the result.
    """

    features: Floats
    outcomes: Floats
    means: Floats
    spreads: Floats


class RowState(NamedTuple):
    """The state of a run on rows."""

    progress: Ints
    figures: Floats
    market: RowMarket
    rewards: Model
    bills: Model
    warm_up: WarmUp


def new_row_state(policy: LoweredRows, *, actions: int, features: int) -> RowState:
    """Return the state before the first round."""
    size, columns = policy.size, features if policy.model == LINEAR else actions
    if policy.model == GIVEN:
        columns = 0
    shape = (size + 1, actions)
    hulls = Hulls(
        gains=np.full(shape, -np.inf),
        slopes=np.zeros(shape),
        spans=np.zeros(shape, np.int64),
        tops=np.zeros(shape, np.int64),
        sizes=np.zeros(size + 1, np.int64),
        sources=np.zeros(0, np.int64),
        weights=np.zeros(size + 1),
        price=np.zeros(2),
        ranked=np.empty(0),
        filled=np.empty(0),
        kept=np.zeros(4, np.int64),
    )
    market = RowMarket(
        scores=np.zeros((size, actions + 1)),
        features=np.zeros((size, features)),
        declared=np.zeros((size, actions), np.int64),
        allowed=np.zeros((size, actions), np.bool_),
        costs=np.zeros(shape, np.int64),
        hulls=hulls,
    )
    width = {GIVEN: 0, CALIBRATED: 2, LINEAR: features + 1}[policy.model]
    state = RowState(
        progress=np.zeros(8, np.int64),
        figures=np.zeros(6),
        market=market,
        rewards=_new_model(actions + policy.learns_skip, width),
        bills=_new_model(actions if policy.learns_costs else 0, width),
        warm_up=WarmUp(
            features=np.zeros((policy.warm_up, columns)),
            outcomes=np.zeros((2 * policy.warm_up, columns + 3)),
            means=np.zeros(columns),
            spreads=np.zeros(columns),
        ),
    )
    reset_rows(policy, state)
    return state


def _new_model(count: int, width: int) -> Model:
    return Model(
        covariances=np.zeros((count, width, width)),
        coefficients=np.zeros((count, width)),
        residuals=np.zeros(count),
        counts=np.zeros(count),
        visits=np.zeros((width, width)),
        fixed_covariances=np.zeros((count, width, width)),
        fixed_coefficients=np.zeros((count, width)),
        fixed_visits=np.zeros((width, width)),
        noise=np.zeros(count),
        clock=np.zeros(3),
        x=np.zeros(width),
        gain=np.zeros(width),
    )


@jit_callable
def reset_rows(policy: LoweredRows, state: RowState) -> None:
    """Reset the state to before the first round, without allocation."""
    state.progress[:] = 0
    state.progress[LEFT] = policy.budget
    state.figures[:] = 0.0
    state.market.hulls.sizes[:] = 0
    state.market.hulls.weights[:] = 0.0
    state.market.hulls.price[:] = 0.0
    reset_models(policy, state)


@jit_callable
def reset_models(policy: LoweredRows, state: RowState) -> None:
    """Reset the models to their priors.

    A reward is ½ and a bill is as declared, whatever the features; a score is right, and counts for
    as many rewards as it is trusted.
    """
    for part in range(2):
        model = state.rewards if part == 0 else state.bills
        model.covariances[:] = 0.0
        model.coefficients[:] = 0.0
        model.counts[:] = 0.0
        model.residuals[:] = 0.5
        model.visits[:] = 0.0
        width = model.visits.shape[0]
        for i in range(width):
            model.visits[i, i] = 1.0
        for k in range(len(model.counts)):
            for i in range(width):
                precision = 1.0 if i == 0 else policy.prior
                start = (0.5 if part == 0 else 1.0) if i == 0 else 0.0
                if policy.model == CALIBRATED:
                    precision, start = policy.prior, 1.0
                    if i == 0:
                        start = state.warm_up.means[k]
                    else:
                        precision *= state.warm_up.spreads[k] ** 2
                model.covariances[k, i, i] = 1.0 / precision
                model.coefficients[k, i] = start
