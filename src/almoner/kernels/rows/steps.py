"""The steps of a run on rows: `decide_row`, `take_row`, `learn_row` and `learn_bill`.

The simulator and the live agent call the same ones. `decide_row` adds the row to the market, and
`take_row` follows it, in a fold of a log too; to decide again about the same row changes nothing
but the scale of the price controllers for comparison.
"""

from __future__ import annotations

import math

import numpy as np

from almoner.jit import jit_inline, jit_merged
from almoner.kernels.draws import SERVE_LANE, uniform
from almoner.kernels.priced import SKIP, break_tie, options_at, write_spread
from almoner.kernels.rows.learning import count_visit, observe_outcome
from almoner.kernels.rows.market import compute_hull, enter, market_terms
from almoner.kernels.rows.pacing import is_ahead, pace, scale_price
from almoner.kernels.rows.state import LEFT, PRICE, RATE, ROUND, Row, RowState
from almoner.kernels.rows.values import value_row
from almoner.policy.row_lowering import GIVEN, LINEAR, LoweredRows
from almoner.policy.rows import FixedRate, Unpriced
from almoner.types import Floats, Mask

__all__ = ["SKIP", "decide_row", "learn_bill", "learn_row", "take_row"]

LARGEST_BILL = 20.0
"""Limit of a bill, in declared costs, that a model of costs learns."""

_UNPRICED, _FIXED = Unpriced.code, FixedRate.code


@jit_inline
def decide_row(
    policy: LoweredRows,
    state: RowState,
    row: Row,
    fits: Mask,
    key: np.uint64,
    spread: Floats,
) -> tuple[int, float]:
    """Add a row to the market; return its action, or SKIP, and the probability of that.

    ``fits`` tells the actions whose reserve the money left can pay. ``spread``, unless it is empty,
    receives the probability of every action; the rest is that of skipping.
    """
    if state.progress[ROUND] >= policy.horizon:
        return SKIP, 1.0
    enter(policy, state, row, key)
    place, hulls = policy.size, state.hulls
    value_row(policy, state, row, place)
    for action in range(len(fits)):
        if not fits[action]:
            hulls.gains[place, action] = -math.inf
    compute_hull(state, place)
    if hulls.sizes[place] == 0 or is_ahead(policy, state):
        return SKIP, 1.0
    best = hulls.tops[place, hulls.sizes[place] - 1]
    scale_price(policy, state, hulls.gains[place, best], float(state.costs[place, best]))
    price = 0.0 if policy.rule in (_UNPRICED, _FIXED) else state.figures[PRICE]
    terms = market_terms(state)
    base, step, rate = options_at(terms, hulls, place, price, state.figures[RATE])
    if len(spread) > 0:
        write_spread(terms, hulls, place, step, rate, spread)
        write_spread(terms, hulls, place, base, 1.0 - rate, spread)
    chosen, probability = base, 1.0 - rate
    if uniform(key, SERVE_LANE) < rate:
        chosen, probability = step, rate
    return break_tie(terms, hulls, place, chosen, probability, key)


@jit_merged
def take_row(policy: LoweredRows, state: RowState, row: Row, cost: int, key: np.uint64) -> None:
    """Record the decision on a row: the round, and the units that it takes from the budget."""
    if policy.model != GIVEN:
        count_visit(policy, state, row)
    state.progress[ROUND] += 1
    state.progress[LEFT] -= cost
    pace(policy, state, float(cost))


@jit_merged
def learn_row(policy: LoweredRows, state: RowState, row: Row, action: int, reward: float) -> None:
    """Record the reward of a row's action, or of skipping."""
    if policy.model == GIVEN or (action == SKIP and policy.learns_skip == 0):
        return
    regression = len(row.costs) if action == SKIP else action
    observe_outcome(policy, state, row, regression, reward)


@jit_merged
def learn_bill(policy: LoweredRows, state: RowState, row: Row, action: int, bill: float) -> None:
    """Record the bill of a row's action, in units; the declared cost is in the row."""
    if policy.model != LINEAR or policy.learns_costs == 0 or row.costs[action] <= 0:
        return
    ratio = min(LARGEST_BILL, bill / row.costs[action])
    regression = len(row.costs) + policy.learns_skip + action
    observe_outcome(policy, state, row, regression, ratio)
