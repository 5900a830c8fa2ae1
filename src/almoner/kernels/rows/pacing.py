"""Price controllers that people use instead of the LP, for comparison.

Each moves a price by the spend of the last round. The scale of prices is the value for money of the
best actions of the first rows, so that parameters mean the same for scores of any scale.
"""

from __future__ import annotations

import math

from almoner.jit import jit_inline
from almoner.kernels.rows.state import (
    AVERAGE,
    BEST_COST,
    BEST_GAIN,
    INTEGRAL,
    LEFT,
    PRICE,
    ROUND,
    SCALE,
    RowState,
)
from almoner.policy.row_lowering import LoweredRows
from almoner.policy.rows import DualDescent, EMAPacing, FixedRate, PIDPacing, Priced, Unpriced

__all__ = ["is_ahead", "pace", "scale_price"]

SMOOTHING = 0.05
"""Weight of the present round in the average spend that a PID controller sees."""

SCALED = 100
"""Rows that set the scale of prices."""

_PRICED, _UNPRICED, _FIXED = Priced.code, Unpriced.code, FixedRate.code
_DUAL, _PID, _EMA = DualDescent.code, PIDPacing.code, EMAPacing.code


@jit_inline
def scale_price(policy: LoweredRows, state: RowState, gain: float, cost: float) -> None:
    """Add the best action of a row to the scale of prices; the first row sets the first price."""
    figures = state.figures
    if policy.rule in (_PRICED, _UNPRICED, _FIXED) or state.progress[ROUND] >= SCALED:
        return
    figures[BEST_GAIN] += gain
    figures[BEST_COST] += cost
    if figures[BEST_COST] <= 0.0:  # only free actions so far
        return
    if figures[SCALE] == 0.0:
        figures[PRICE] = figures[BEST_GAIN] / figures[BEST_COST]
        figures[AVERAGE] = policy.budget / policy.horizon
    figures[SCALE] = figures[BEST_GAIN] / figures[BEST_COST]


@jit_inline
def is_ahead(policy: LoweredRows, state: RowState) -> bool:
    """Return whether a fixed rate has spent what it may by this round."""
    if policy.rule != _FIXED:
        return False
    spent = policy.budget - state.progress[LEFT]
    return spent > policy.budget * ((state.progress[ROUND] + 1) / policy.horizon)


@jit_inline
def pace(policy: LoweredRows, state: RowState, cost: float) -> None:
    """Move the price after a round that has spent ``cost`` units."""
    figures, ratio = state.figures, policy.budget / policy.horizon
    if ratio <= 0.0:
        return
    if policy.rule == _DUAL:
        step = policy.first * figures[SCALE] * (1.0 - cost / ratio)
        figures[PRICE] = max(0.0, figures[PRICE] - step)
    elif policy.rule == _PID:
        remaining = policy.horizon - state.progress[ROUND]
        aim = state.progress[LEFT] / max(1, remaining)
        figures[AVERAGE] += SMOOTHING * (cost - figures[AVERAGE])
        error = min(1.0, max(-1.0, (figures[AVERAGE] - aim) / max(aim, 1e-300)))
        figures[INTEGRAL] += error
        power = policy.first * error + policy.second * figures[INTEGRAL]
        figures[PRICE] = figures[SCALE] * math.exp(min(50.0, max(-50.0, power)))
    elif policy.rule == _EMA:
        figures[AVERAGE] += policy.second * (cost - figures[AVERAGE])
        step = policy.first * figures[SCALE] * (figures[AVERAGE] / ratio - 1.0)
        figures[PRICE] = max(0.0, figures[PRICE] + step)
