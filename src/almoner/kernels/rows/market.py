"""The market: a sample of rows that stands for the arrivals to come, and its price.

Half of it are the latest rows, half are a random sample of all. Values are those of the last
refresh, for the arrival too: a fresh value among stale ones would be compared with the wrong price.
The price is that of the LP over the market at the present budget per round.
"""

from __future__ import annotations

import math

import numpy as np

from almoner.jit import jit_inline
from almoner.kernels.draws import MARKET_LANE, uniform
from almoner.kernels.price import find_price
from almoner.kernels.rows.regression import copy_matrix
from almoner.kernels.rows.state import (
    ADAPTIVE,
    CUT,
    ENTERED,
    LEFT,
    NEXT,
    PRICE,
    RATE,
    ROOM,
    ROUND,
    ROWS,
    MarketTerms,
    Model,
    Row,
    RowState,
)
from almoner.kernels.rows.values import value_row
from almoner.kernels.state import UNIT_PRICE
from almoner.lp import candidates
from almoner.policy.row_lowering import GIVEN, LoweredRows
from almoner.policy.rows import Priced

__all__ = ["compute_hull", "enter", "market_terms"]

REFRESHES, LONGEST = 24, 64
"""A refresh is due after a share of the rounds so far, or left, but at most so many rounds."""

MOVED = 0.02
"""Relative change of the budget per round after which the price is computed anew."""

_PRICED = Priced.code


@jit_inline
def market_terms(state: RowState) -> MarketTerms:
    """Return the terms by which `almoner.kernels.price` finds the price of the market."""
    return MarketTerms(state.market.costs, math.inf, ADAPTIVE)


@jit_inline
def enter(policy: LoweredRows, state: RowState, row: Row, key: np.uint64) -> None:
    """Add the row of this round to the market, once, and compute what is due."""
    t = state.progress[ROUND]
    remaining = policy.horizon - t
    if state.progress[ENTERED] > t or remaining < 1:
        return
    state.progress[ENTERED] = t + 1
    due = t >= state.progress[NEXT]
    if due:
        state.progress[NEXT] = t + max(1, min(LONGEST, min(t, remaining) // REFRESHES))
        _refresh(policy, state)
    if policy.rule != _PRICED:
        return
    place = _place(policy, state, key)
    if place >= 0:
        _write(policy, state, row, place)
    ratio, room = state.progress[LEFT] / remaining, state.figures[ROOM]
    if due or abs(ratio - room) > MOVED * room:
        state.figures[ROOM] = ratio
        _solve(policy, state, ratio)


@jit_inline
def _place(policy: LoweredRows, state: RowState, key: np.uint64) -> int:
    """Return the place of an arrival in the market, -1 if it gets none."""
    seen, half = state.progress[ROUND], policy.size // 2
    if state.progress[ROWS] < policy.size:
        state.progress[ROWS] += 1
        return state.progress[ROWS] - 1
    if seen % 2 == 0:  # the latest rows
        return (seen // 2) % half
    drawn = int(uniform(key, MARKET_LANE) * (seen + 1))
    return half + drawn % (policy.size - half) if drawn < policy.size else -1


@jit_inline
def _write(policy: LoweredRows, state: RowState, row: Row, place: int) -> None:
    """Write a row to a place of the market."""
    market = state.market
    for action in range(len(row.costs)):
        market.declared[place, action] = row.costs[action]
        market.allowed[place, action] = row.allowed[action]
        market.scores[place, action] = row.scores[action]
    market.scores[place, len(row.costs)] = row.scores[len(row.costs)]
    for i in range(len(row.features)):
        market.features[place, i] = row.features[i]
    market.hulls.weights[place] = 1.0
    value_row(policy, state, row, place)
    compute_hull(state, place)


@jit_inline
def _refresh(policy: LoweredRows, state: RowState) -> None:
    """Take the models as they are now, and value all rows of the market by them."""
    if policy.model == GIVEN:
        return
    rewards = state.rewards
    _fix(rewards)
    _fix(state.bills)
    rewards.clock[0] = state.progress[ROUND]
    rewards.clock[1] = policy.horizon - state.progress[ROUND]
    rewards.clock[2] = state.progress[LEFT]
    if policy.rule == _PRICED:
        _value_all(policy, state)


@jit_inline
def _value_all(policy: LoweredRows, state: RowState) -> None:
    """Compute the values and hulls of all rows of the market."""
    market = state.market
    state.progress[CUT] = 0
    for place in range(state.progress[ROWS]):
        row = Row(
            market.scores[place],
            market.features[place],
            market.declared[place],
            market.allowed[place],
        )
        value_row(policy, state, row, place)
        compute_hull(state, place)


@jit_inline
def _fix(model: Model) -> None:
    """Copy a model to the values that all rows are compared by until the next refresh."""
    copy_matrix(model.visits, model.fixed_visits)
    copy_matrix(model.coefficients, model.fixed_coefficients)
    for k in range(len(model.counts)):
        copy_matrix(model.covariances[k], model.fixed_covariances[k])
        model.noise[k] = model.residuals[k] / (2.0 + model.counts[k])


@jit_inline
def _solve(policy: LoweredRows, state: RowState, ratio: float) -> None:
    """Compute the price at which the market spends a budget per round.

    Actions dearer than the budget left are dropped from all rows, as they cannot be taken.
    """
    hulls, rows = state.market.hulls, state.progress[ROWS]
    dearest = 0
    for place in range(rows):
        for i in range(hulls.sizes[place]):
            dearest = max(dearest, state.market.costs[place, hulls.tops[place, i]])
    if dearest > state.progress[LEFT] or state.progress[CUT] == 1:
        _value_all(policy, state)
    hulls.sizes[policy.size] = 0  # the arrival before has no weight
    price, rate = find_price(market_terms(state), hulls, float(rows), ratio * rows)
    beyond = hulls.price[UNIT_PRICE]
    if beyond < price:  # where the budget ends between two steps, at the price of one more unit
        price, rate = beyond, 1.0 if beyond <= 0.0 else 0.0
    state.figures[PRICE], state.figures[RATE] = price, rate


@jit_inline
def compute_hull(state: RowState, place: int) -> None:
    """Compute the hull of one row from its gains, of actions that the budget left can pay."""
    hulls, costs = state.market.hulls, state.market.costs[place]
    gains, tops = hulls.gains[place], hulls.tops[place]
    for action in range(len(costs)):
        if costs[action] > state.progress[LEFT]:
            gains[action] = -math.inf
            state.progress[CUT] = 1
    hulls.sizes[place] = candidates(gains, costs, tops)
    gain, cost = 0.0, 0
    for i in range(hulls.sizes[place]):
        run = costs[tops[i]] - cost
        hulls.slopes[place, i] = (gains[tops[i]] - gain) / run if run > 0 else math.inf
        hulls.spans[place, i] = run
        gain, cost = gains[tops[i]], costs[tops[i]]
