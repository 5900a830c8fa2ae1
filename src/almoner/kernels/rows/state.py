"""Data of a run on rows: the market, the models of rewards and bills, and the clock.

Few arrays hold much: compilation takes time for every array that a kernel is called with.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from almoner.jit import jit_inline, jit_large
from almoner.kernels.state import Hulls
from almoner.policy.row_lowering import CALIBRATED, GIVEN, LINEAR, LoweredRows
from almoner.types import Floats, Ints

__all__ = [
    "AVERAGE",
    "BEST_COST",
    "BEST_GAIN",
    "COUNTS",
    "CUT",
    "EARLY",
    "ENTERED",
    "FIXED",
    "FIXED_LEFT",
    "FIXED_REMAINING",
    "FIXED_ROUND",
    "FRESH",
    "INTEGRAL",
    "LEFT",
    "MEANS",
    "NEXT",
    "NOISE",
    "NOW",
    "PRICE",
    "PRODUCT",
    "RATE",
    "RESIDUALS",
    "ROOM",
    "ROUND",
    "ROWS",
    "SCALE",
    "SPREADS",
    "STANDARD",
    "START",
    "UNAVAILABLE",
    "Models",
    "Row",
    "RowState",
    "X",
    "given_cost",
    "new_row_state",
    "reset_models",
    "reset_rows",
    "units_of",
]

ROUND, LEFT, ENTERED, ROWS, NEXT, STANDARD, EARLY, CUT, START, FRESH = range(10)
"""Places in ``RowState.progress``: rounds taken, units left, the last round whose row is in the
market (counted from 1), rows in the market, the round of the next refresh, 1 once features are
standardised, outcomes that were learned before that, and 1 if a hull lacks an action that was
dearer than the budget left. The market samples the rounds from ``START`` on, and ``FRESH`` of its
rows, at most all, are of them: those of before are replaced first."""

PRICE, RATE, ROOM, SCALE, AVERAGE, INTEGRAL, FIXED_ROUND, FIXED_REMAINING, FIXED_LEFT = range(9)
"""Places in ``RowState.figures``: the price of a unit, the rate of the steps at it, the budget per
round that it was computed for; the scale of prices, a moving average of the spend per round, the
integral of its error; rounds taken, rounds left and units left at the last refresh."""

BEST_GAIN, BEST_COST = 9, 10
"""Further places: gains and costs of the best actions of the first rows, which set the scale."""

NOW, FIXED = 0, 1
"""Places in the arrays of `Models`: as learned so far, and as of the last refresh."""

RESIDUALS, COUNTS, NOISE = range(3)
"""Rows of ``Models.tallies``: squared errors, each divided by its variance; outcomes; the variance
of the noise at the last refresh."""

X, PRODUCT = 0, 1
"""Rows of ``Models.scratch``: the regressors of a row, and their product with a matrix."""

MEANS, SPREADS = 0, 1
"""Rows of ``RowState.standards``."""

UNAVAILABLE = -1
"""Cost of an action that a row does not offer."""

GIVEN_FROM = -2
"""Code of a cost of 0 that an arrival has given; larger ones count downwards from it."""


class Row(NamedTuple):
    """A row as it arrives.

    ``values`` has the score of each action, that of skipping, and then the features; ``costs`` are
    the expected costs in units, as declared, which a model of bills corrects, or as given by the
    arrival, which are then coded (`given_cost`), or `UNAVAILABLE`.
    """

    values: Floats
    costs: Ints


class Models(NamedTuple):
    """Linear regressions of the rewards of actions, of skipping, and of the bills of actions.

    The last two only where they are learned. ``covariances`` are inverses of precisions, in units
    of the noise; ``visits`` is the inverse of Σ xx' over all arrivals. Rows are compared by models
    as of the last refresh: a fresh value of the arrival among stale values of the market would be
    compared with the wrong price.
    """

    covariances: Floats
    coefficients: Floats
    tallies: Floats
    visits: Floats
    scratch: Floats


class RowState(NamedTuple):
    """The state of a run on rows.

    ``values`` and ``declared`` are the rows of the market as they came; ``costs`` are the expected
    costs that their ``hulls`` were computed with. The last row of both is the arrival that is being
    decided, which has no weight. ``first`` holds the features (or scores) of the first arrivals,
    and then outcomes that are learned again once they are standardised: the regression, the
    outcome, and the features. ``standards`` are their means and spreads.
    """

    progress: Ints
    figures: Floats
    values: Floats
    declared: Ints
    costs: Ints
    hulls: Hulls
    models: Models
    first: Floats
    standards: Floats


def given_cost(units: int) -> int:
    """Return the code of a cost that an arrival has given."""
    return GIVEN_FROM - units


@jit_inline
def units_of(cost: int) -> int:
    """Return the units of a cost, as declared or as given, or `UNAVAILABLE`."""
    return GIVEN_FROM - cost if cost <= GIVEN_FROM else cost


def new_row_state(policy: LoweredRows, *, actions: int, features: int) -> RowState:
    """Return the state before the first round."""
    width = {GIVEN: 0, CALIBRATED: 2, LINEAR: features + 1}[policy.model]
    columns = {GIVEN: 0, CALIBRATED: actions, LINEAR: features}[policy.model]
    count = actions + policy.learns_skip + actions * policy.learns_costs
    shape = (policy.size + 1, actions)
    state = RowState(
        progress=np.zeros(10, np.int64),
        figures=np.zeros(11),
        values=np.zeros((policy.size, actions + 1 + features)),
        declared=np.zeros((policy.size, actions), np.int64),
        costs=np.zeros(shape, np.int64),
        hulls=_new_hulls(shape),
        models=Models(
            covariances=np.zeros((2, count, width, width)),
            coefficients=np.zeros((2, count, width)),
            tallies=np.zeros((3, count)),
            visits=np.zeros((2, width, width)),
            scratch=np.zeros((2, width)),
        ),
        first=np.zeros((3 * policy.warm_up, 2 + columns)),
        standards=np.zeros((2, columns)),
    )
    reset_rows(policy, state)
    return state


def _new_hulls(shape: tuple[int, int]) -> Hulls:
    return Hulls(
        gains=np.full(shape, -np.inf),
        slopes=np.zeros(shape),
        spans=np.zeros(shape, np.int64),
        tops=np.zeros(shape, np.int64),
        sizes=np.zeros(shape[0], np.int64),
        sources=np.zeros(0, np.int64),
        weights=np.zeros(shape[0]),
        price=np.zeros(2),
        ranked=np.zeros(0),
        filled=np.zeros(0),
        kept=np.zeros(4, np.int64),
    )


@jit_large
def reset_rows(policy: LoweredRows, state: RowState) -> None:
    """Reset the state to before the first round, without allocation."""
    state.progress[:] = 0
    state.progress[LEFT] = policy.budget
    state.figures[:] = 0.0
    state.hulls.sizes[:] = 0
    state.hulls.weights[:] = 0.0
    state.hulls.price[:] = 0.0
    state.standards[MEANS, :] = 0.0
    state.standards[SPREADS, :] = 1.0
    reset_models(policy, state)


@jit_large
def reset_models(policy: LoweredRows, state: RowState) -> None:
    """Reset the models to their priors.

    A reward is ½ and a bill is as declared, whatever the features; a score is right, and counts for
    as many rewards as it is trusted.
    """
    models = state.models
    count, width = models.coefficients.shape[1:]
    rewards = count - policy.learns_costs * state.declared.shape[1]
    models.covariances[:] = 0.0
    models.visits[:] = 0.0
    models.tallies[:] = 0.0
    for i in range(width):
        models.visits[NOW, i, i] = 1.0
    for k in range(count):
        models.tallies[RESIDUALS, k] = 0.5
        for i in range(width):
            precision, start = policy.prior, 0.0
            if i == 0:
                precision, start = 1.0, 0.5 if k < rewards else 1.0
            if policy.model == CALIBRATED:
                precision, start = policy.prior, state.standards[MEANS, k]
                if i == 1:
                    precision, start = policy.prior * state.standards[SPREADS, k] ** 2, 1.0
            models.covariances[NOW, k, i, i] = 1.0 / precision
            models.coefficients[NOW, k, i] = start
