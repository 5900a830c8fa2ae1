"""Kernels of a live campaign on rows: weigh one arrival, and take one of the log.

A decision is taken by the same steps whether it is made or folded, so that both leave the same
state to the last bit, scratch space included.
"""

from __future__ import annotations

import numpy as np

from almoner.jit import jit_callable
from almoner.kernels.rows.state import LEFT, PRICE, ROUND, UNAVAILABLE, Row, RowState
from almoner.kernels.rows.steps import decide_row, take_row
from almoner.policy.row_lowering import LoweredRows
from almoner.types import Floats, Ints, Mask

__all__ = ["take_live", "weigh_live"]


@jit_callable
def weigh_live(
    policy: LoweredRows,
    state: RowState,
    row: Row,
    fits: Mask,
    key: np.uint64,
    left: int,
    spread: Floats,
    costs: Ints,
    figures: Floats,
) -> int:
    """Return the action for a row, or SKIP, when ``left`` units are left, and take nothing.

    ``spread`` gets the probability of each action, ``costs`` their expected costs, and ``figures``
    the probability of the action and the price of a unit.
    """
    state.progress[LEFT] = left
    spread[:] = 0.0
    for action in range(len(fits)):
        fits[action] &= row.costs[action] != UNAVAILABLE
        costs[action] = row.costs[action]
    action, figures[0] = decide_row(policy, state, row, fits, key, spread)
    figures[1] = state.figures[PRICE]
    if policy.horizon > state.progress[ROUND]:
        for k in range(len(fits)):
            costs[k] = state.costs[policy.size, k]
    return action


@jit_callable
def take_live(
    policy: LoweredRows, state: RowState, row: Row, fits: Mask, key: np.uint64, left: int
) -> None:
    """Record the arrival of a row when ``left`` units are left; what it costs is told later."""
    state.progress[LEFT] = left
    fits[:] = True
    decide_row(policy, state, row, fits, key, None)
    take_row(policy, state, row, 0, key)
