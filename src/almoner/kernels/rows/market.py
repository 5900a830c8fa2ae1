"""The market: a sample of rows that stands for the arrivals to come, and its price.

Half of it are the latest rows, half are a random sample of all. The price is that of the LP over
the market at the present budget per round.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from almoner.jit import jit_inline, jit_large, jit_merged
from almoner.kernels.draws import MARKET_LANE, uniform
from almoner.kernels.price import find_price
from almoner.kernels.rows.regression import copy_matrix
from almoner.kernels.rows.state import (
    COUNTS,
    CUT,
    ENTERED,
    FIXED,
    FIXED_LEFT,
    FIXED_REMAINING,
    FIXED_ROUND,
    FRESH,
    LEFT,
    NEXT,
    NOISE,
    NOW,
    PRICE,
    RATE,
    RESIDUALS,
    ROOM,
    ROUND,
    ROWS,
    START,
    Row,
    RowState,
)
from almoner.kernels.rows.values import value_row
from almoner.kernels.state import UNIT_PRICE
from almoner.lp import ROUNDING, candidates
from almoner.policy.allocation import AdaptiveLP
from almoner.policy.row_lowering import GIVEN, LoweredRows
from almoner.policy.rows import Priced
from almoner.types import Ints

__all__ = ["MarketTerms", "compute_hull", "enter", "market_terms"]

REFRESHES, LONGEST, LARGE = 24, 64, 8
"""A refresh is due after this share of the rounds so far, or left, and at most so many rounds, or
this share of a large market, whose price takes longer and is more exact."""

MOVED = 0.02
"""Relative change of the budget per round after which the price is computed anew."""

_PRICED, _ADAPTIVE = Priced.code, AdaptiveLP.code


class MarketTerms(NamedTuple):
    """The terms of the market, by the names that `almoner.kernels.price` uses for a policy's.

    A ``dearest`` of infinity makes tolerances relative, as scores have no scale.
    """

    costs: Ints
    dearest: float
    rule: int


@jit_inline
def market_terms(state: RowState) -> MarketTerms:
    """Return the terms by which the price of the market is found."""
    return MarketTerms(state.costs, math.inf, _ADAPTIVE)


@jit_merged
def enter(policy: LoweredRows, state: RowState, row: Row, key: np.uint64) -> None:
    """Add the row of this round to the market, once, and compute what is due."""
    t = state.progress[ROUND]
    if state.progress[ENTERED] <= t < policy.horizon:
        state.progress[ENTERED] = t + 1
        _enter(policy, state, row, key)


@jit_large
def _enter(policy: LoweredRows, state: RowState, row: Row, key: np.uint64) -> None:
    t = state.progress[ROUND]
    remaining = policy.horizon - t
    due = t >= state.progress[NEXT]
    if due:
        longest = max(LONGEST, policy.size // LARGE)
        since = t - state.progress[START]
        state.progress[NEXT] = t + max(1, min(longest, min(since, remaining) // REFRESHES))
        if policy.model != GIVEN:
            _refresh(policy, state)
    if policy.rule != _PRICED:
        return
    place = _place(policy, state, key)
    if place >= 0:
        for i in range(len(row.values)):
            state.values[place, i] = row.values[i]
        for action in range(len(row.costs)):
            state.declared[place, action] = row.costs[action]
        state.hulls.weights[place] = 1.0
        value_row(policy, state, row, place)
        compute_hull(state, place)
    ratio, room = state.progress[LEFT] / remaining, state.figures[ROOM]
    if due or abs(ratio - room) > MOVED * room:
        state.figures[ROOM] = ratio
        _solve(policy, state, ratio)


@jit_merged
def _place(policy: LoweredRows, state: RowState, key: np.uint64) -> int:
    """Return the place of an arrival in the market, -1 if it gets none."""
    seen, half = state.progress[ROUND] - state.progress[START], policy.size // 2
    if state.progress[FRESH] < policy.size:
        place = state.progress[FRESH]
        state.progress[FRESH] += 1
        state.progress[ROWS] = max(state.progress[ROWS], state.progress[FRESH])
        return place
    if seen % 2 == 0:  # the latest rows
        return (seen // 2) % half
    drawn = int(uniform(key, MARKET_LANE) * (seen + 1))
    return half + drawn % (policy.size - half) if drawn < policy.size else -1


@jit_merged
def _refresh(policy: LoweredRows, state: RowState) -> None:
    """Take the models as they are now, and value all rows of the market by them."""
    models = state.models
    copy_matrix(models.visits[NOW], models.visits[FIXED])
    copy_matrix(models.coefficients[NOW], models.coefficients[FIXED])
    for k in range(models.tallies.shape[1]):
        copy_matrix(models.covariances[NOW, k], models.covariances[FIXED, k])
        residuals, count = models.tallies[RESIDUALS, k], models.tallies[COUNTS, k]
        models.tallies[NOISE, k] = residuals / (2.0 + count)
    state.figures[FIXED_ROUND] = state.progress[ROUND]
    state.figures[FIXED_REMAINING] = policy.horizon - state.progress[ROUND]
    state.figures[FIXED_LEFT] = state.progress[LEFT]
    if policy.rule == _PRICED:
        _value_all(policy, state)


@jit_large
def _value_all(policy: LoweredRows, state: RowState) -> None:
    """Compute the values and hulls of all rows of the market."""
    state.progress[CUT] = 0
    for place in range(state.progress[ROWS]):
        value_row(policy, state, Row(state.values[place], state.declared[place]), place)
        compute_hull(state, place)


@jit_merged
def _solve(policy: LoweredRows, state: RowState, ratio: float) -> None:
    """Compute the price at which the market spends a budget per round.

    Actions dearer than the budget left are dropped from all rows, as they cannot be taken.
    """
    hulls, rows = state.hulls, state.progress[ROWS]
    dearest = 0
    for place in range(rows):
        if hulls.sizes[place] > 0:
            last = hulls.tops[place, hulls.sizes[place] - 1]
            dearest = max(dearest, state.costs[place, last])
    if dearest > state.progress[LEFT] or state.progress[CUT] == 1:
        _value_all(policy, state)
    hulls.sizes[policy.size] = 0  # the arrival before has no weight
    price, rate = find_price(market_terms(state), hulls, float(rows), ratio * rows)
    beyond = hulls.price[UNIT_PRICE]
    if beyond < price:  # where the budget ends between two steps, at the price of one more unit
        price, rate = beyond, 1.0 if beyond <= 0.0 else 0.0
    state.figures[PRICE], state.figures[RATE] = price, rate


@jit_large
def compute_hull(state: RowState, place: int) -> None:
    """Compute the hull of one row from its gains, of actions that the budget left can pay.

    Rounding errors are relative to the largest gain, as scores have no scale.
    """
    hulls, costs = state.hulls, state.costs[place]
    gains, tops = hulls.gains[place], hulls.tops[place]
    largest = 0.0
    for action in range(len(costs)):
        if costs[action] > state.progress[LEFT]:
            gains[action] = -math.inf
            state.progress[CUT] = 1
        largest = max(largest, gains[action])
    hulls.sizes[place] = candidates(gains, costs, tops, ROUNDING * largest)
    gain, cost = 0.0, 0
    for i in range(hulls.sizes[place]):
        run = costs[tops[i]] - cost
        hulls.slopes[place, i] = (gains[tops[i]] - gain) / run if run > 0 else math.inf
        hulls.spans[place, i] = run
        gain, cost = gains[tops[i]], costs[tops[i]]
