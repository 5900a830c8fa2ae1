"""Kernels of a live campaign on rows: decide for one arrival, and learn one outcome.

A decision of the log is folded by the call that made it: both leave the same state to the last bit,
scratch space included. There is one kernel for each, as compilation takes seconds.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from almoner.jit import jit_callable, jit_inline
from almoner.kernels.draws import round_key
from almoner.kernels.live import ACTED, NOT_ALLOWED, PAST_HORIZON, POLICY_SKIP, UNAFFORDABLE
from almoner.kernels.rows.state import (
    LEFT,
    PRICE,
    ROUND,
    UNAVAILABLE,
    Row,
    RowState,
    units_of,
)
from almoner.kernels.rows.steps import SKIP, decide_row, learn_bill, learn_row, take_row
from almoner.policy.row_lowering import LoweredRows
from almoner.types import Floats, Ints, Mask

__all__ = ["LiveScratch", "advance_row", "learn_outcome"]


class LiveScratch(NamedTuple):
    """The arrays beside the state that a decision writes.

    ``reserves`` are those of the actions. ``fits`` gets the actions that the row offers, and that
    both the money left and that of the plan can pay; ``spread`` the probability of each action,
    ``costs`` their expected costs, and ``figures`` the probability of the action, the price of a
    unit, and why it is skipped.
    """

    reserves: Ints
    fits: Mask
    spread: Floats
    costs: Ints
    figures: Floats


@jit_callable
def advance_row(
    policy: LoweredRows,
    state: RowState,
    row: Row,
    scratch: LiveScratch,
    stream: np.uint64,
    left: int,
    payable: int,
    takes: int,
) -> int:
    """Return the action for a row, or SKIP, when ``left`` units are left for the plan.

    Reserves must not exceed ``payable``. If ``takes`` is 1, the arrival is recorded; the cost of
    its action is told later.
    """
    reserves, fits, spread, costs, figures = scratch
    t, key = state.progress[ROUND], round_key(stream, state.progress[ROUND])
    state.progress[LEFT] = left
    for k in range(len(fits)):
        costs[k], spread[k] = units_of(row.costs[k]), 0.0
        fits[k] = costs[k] != UNAVAILABLE and reserves[k] <= payable
    action, figures[0] = decide_row(policy, state, row, fits, key, spread)
    figures[1], figures[2] = math.nan, PAST_HORIZON
    if t < policy.horizon:
        figures[1], figures[2] = state.figures[PRICE], NOT_ALLOWED
        for k in range(len(fits)):
            if costs[k] != UNAVAILABLE and figures[2] == NOT_ALLOWED:
                figures[2] = UNAFFORDABLE
            fits[k] = state.hulls.gains[policy.size, k] > -math.inf
            if fits[k]:
                figures[2] = POLICY_SKIP
            costs[k] = state.costs[policy.size, k]
    if action != SKIP:
        figures[2] = ACTED
    if takes == 1:
        take_row(policy, state, row, 0, key)
        _clear_scratch(policy, state)
    return action


@jit_inline
def _clear_scratch(policy: LoweredRows, state: RowState) -> None:
    """Clear the place of the arrival, which depends on the actions that could be paid."""
    place, hulls = policy.size, state.hulls
    hulls.sizes[place] = 0
    for k in range(state.costs.shape[1]):
        hulls.gains[place, k], hulls.slopes[place, k] = -math.inf, 0.0
        hulls.spans[place, k], hulls.tops[place, k], state.costs[place, k] = 0, 0, 0
    for i in range(state.models.scratch.shape[1]):
        state.models.scratch[0, i] = state.models.scratch[1, i] = 0.0


@jit_callable
def learn_outcome(
    policy: LoweredRows, state: RowState, row: Row, action: int, outcome: float, billed: int
) -> None:
    """Record the reward of a row's action, or of skipping; its bill, if ``billed`` is 1."""
    if billed == 1:
        learn_bill(policy, state, row, action, outcome)
    else:
        learn_row(policy, state, row, action, outcome)
