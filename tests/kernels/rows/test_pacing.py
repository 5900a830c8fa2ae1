"""Price controllers for comparison, by formulas worked by hand."""

from __future__ import annotations

import math
from typing import Any

import pytest
from support.plain_kernels import plain

import almoner as al
from almoner.kernels.rows.pacing import is_ahead, pace, scale_price
from almoner.kernels.rows.state import (
    AVERAGE,
    INTEGRAL,
    LEFT,
    PRICE,
    ROUND,
    SCALE,
    RowState,
    new_row_state,
)
from almoner.policy.row_lowering import LoweredRows, lower_rows


def setting(policy: al.Policy) -> tuple[LoweredRows, RowState]:
    """Return a budget of 2 units a round, with a price and a scale of 3 and 4."""
    lowered = lower_rows(policy, horizon=100, budget=200, features=0)
    state = new_row_state(lowered, actions=1, features=0)
    state.figures[PRICE], state.figures[SCALE], state.figures[AVERAGE] = 3.0, 4.0, 2.0
    state.progress[ROUND] = 1
    return lowered, state


def moved(policy: al.Policy, cost: float) -> RowState:
    lowered, state = setting(policy)
    state.progress[LEFT] = 200 - int(cost)
    plain(pace)(lowered, state, cost)
    return state


def test_dual_descent_raises_the_price_by_what_was_spent_too_much() -> None:
    policy = al.dual_descent(step=0.1)
    assert moved(policy, 6.0).figures[PRICE] == pytest.approx(3.0 + 0.1 * 4.0 * 2.0)
    assert moved(policy, 0.0).figures[PRICE] == pytest.approx(3.0 - 0.1 * 4.0)
    assert moved(al.dual_descent(step=9.0), 0.0).figures[PRICE] == 0.0


def test_an_ema_pacer_moves_by_the_error_of_the_average() -> None:
    state = moved(al.ema_pacing(step=0.1, weight=0.5), 6.0)
    assert state.figures[AVERAGE] == pytest.approx(4.0)
    assert state.figures[PRICE] == pytest.approx(3.0 + 0.1 * 4.0 * 1.0)


def test_a_pid_controller_moves_the_logarithm_of_the_price() -> None:
    state = moved(al.pid_pacing(proportional=0.5, integral=0.1), 12.0)
    aim = 188 / 99
    error = (2.0 + 0.05 * 10.0 - aim) / aim
    assert state.figures[INTEGRAL] == pytest.approx(error)
    assert state.figures[PRICE] == pytest.approx(4.0 * math.exp(0.6 * error))


@pytest.mark.parametrize("make", [al.priced, al.greedy_scores, al.fixed_rate])
def test_others_leave_the_price_alone(make: Any) -> None:
    assert moved(make(), 6.0).figures[PRICE] == 3.0


def test_the_scale_is_the_value_for_money_of_the_best_actions() -> None:
    lowered = lower_rows(al.dual_descent(), horizon=100, budget=200, features=0)
    state = new_row_state(lowered, actions=1, features=0)
    for t, (gain, cost) in enumerate([(0.5, 0.0), (0.9, 3.0), (1.0, 5.0)]):
        state.progress[ROUND] = t
        plain(scale_price)(lowered, state, gain, cost)
    assert state.figures[PRICE] == pytest.approx(1.4 / 3)  # of the first row that costs anything
    assert state.figures[SCALE] == pytest.approx(2.4 / 8)
    assert state.figures[AVERAGE] == 2.0


@pytest.mark.parametrize(("left", "ahead"), [(180, False), (177, True)])
def test_a_fixed_rate_is_ahead_above_its_straight_line(left: int, ahead: bool) -> None:
    """At the 11th round 22 of 200 units may be spent."""
    lowered, state = setting(al.fixed_rate())
    state.progress[ROUND], state.progress[LEFT] = 10, left
    assert bool(plain(is_ahead)(lowered, state)) == ahead
