"""The loop of a simulation on rows: replications, folded from the steps of a run on rows."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from almoner.jit import jit_large
from almoner.kernels.draws import POLICY, round_key, stream_key
from almoner.kernels.rows.must_serve import beyond_defaults, count_bill, keep_for_defaults
from almoner.kernels.rows.state import LEFT, PRICE, Row, RowState, reset_rows
from almoner.kernels.rows.steps import SKIP, decide_row, learn_bill, learn_row, take_row
from almoner.policy.row_lowering import LoweredRows
from almoner.types import Floats, Ints, Mask

__all__ = ["ROW_FIGURES", "RowWorld", "play_rows"]

ROW_FIGURES = 3
"""Number of columns that `play_rows` writes for each replication, before one for each action."""


class RowWorld(NamedTuple):
    """The rows of a simulation.

    ``rewards`` has a column for each action, and one for skipping behind them; ``values`` and
    ``costs`` are what policies see, as in `almoner.kernels.rows.state.Row`; ``bills`` are what is
    paid, in units.
    """

    rewards: Floats
    values: Floats
    costs: Ints
    bills: Ints


@jit_large
def play_rows(
    policy: LoweredRows,
    world: RowWorld,
    state: RowState,
    root: np.uint64,
    first: int,
    orders: Ints,
    out: Floats,
    choices: Ints,
    numbers: Floats,
    fits: Mask,
    sums: Floats,
) -> None:
    """Play replications ``first``, ``first + 1``, …, the rows of each in the order given.

    A row of ``out`` gets the reward, the spend in units, the part of bills that the budget could
    not pay, and how often each action was taken. If ``choices`` and ``numbers`` have a row for
    every round, they get its action, and its probability, price, reward and units left. ``fits``
    and ``sums`` are scratch space. A default action is taken wherever the arrival would be skipped,
    if it can be paid.
    """
    actions, default, spread = world.costs.shape[1], policy.default, sums[:0]
    for run in range(out.shape[0]):
        reset_rows(policy, state)
        stream = stream_key(root, first + run, POLICY)
        reward, overrun, out[run, :] = 0.0, 0.0, 0.0
        left, sums[:] = policy.budget, 0.0
        for t in range(orders.shape[1]):
            i = orders[run, t]
            row = Row(world.values[i], world.costs[i])
            for k in range(actions):
                fits[k] = row.costs[k] <= left
            key = round_key(stream, t)
            if default >= 0:
                remaining = policy.horizon - t
                spare = beyond_defaults(sums, row.costs[default], t, remaining, left)
                state.progress[LEFT] = spare
                keep_for_defaults(sums, row.costs, default, spare, fits)
            action, probability = decide_row(policy, state, row, fits, key, spread)
            if action == SKIP and default >= 0 and fits[default]:
                action = default
            bill = 0 if action == SKIP else world.bills[i, action]
            if default >= 0 and action != SKIP:
                count_bill(sums, action, default, row.costs[action], bill)
            paid = min(bill, left)
            left -= paid
            take_row(policy, state, row, paid, key)
            state.progress[LEFT] = left
            gained = world.rewards[i, actions if action == SKIP else action]
            learn_row(policy, state, row, action, gained)
            if action != SKIP:
                learn_bill(policy, state, row, action, float(bill))
                out[run, ROW_FIGURES + action] += 1.0
            reward += gained
            overrun += bill - paid
            if len(choices) > 0:
                choices[t] = action
                numbers[t, 0], numbers[t, 1] = probability, state.figures[PRICE]
                numbers[t, 2], numbers[t, 3] = gained, state.progress[LEFT]
        out[run, 0], out[run, 1] = reward, policy.budget - state.progress[LEFT]
        out[run, 2] = overrun
