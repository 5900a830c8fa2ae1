"""The market: which rows it keeps, and its price against the LP by a general solver."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from scipy.optimize import linprog
from support.plain_kernels import plain

import almoner as al
from almoner.kernels.draws import POLICY, round_key, stream_key
from almoner.kernels.rows import market as market_module
from almoner.kernels.rows.state import (
    LEFT,
    PRICE,
    RATE,
    ROUND,
    ROWS,
    UNAVAILABLE,
    Row,
    RowState,
    new_row_state,
)
from almoner.policy.row_lowering import LoweredRows, lower_rows
from almoner.types import Floats, Ints

enter: Any = plain(market_module.enter)
place_of: Any = plain(market_module._place)


def key_of(run: int, t: int) -> np.uint64:
    with np.errstate(over="ignore"):
        stream = plain(stream_key)(np.uint64(11), run, POLICY)
        return np.uint64(plain(round_key)(stream, t))


def setting(size: int, *, actions: int, horizon: int, budget: int) -> tuple[LoweredRows, RowState]:
    policy = al.Policy(
        rewards=al.GivenScores(), contexts=al.Market(size=size), allocation=al.Priced()
    )
    lowered = lower_rows(policy, horizon=horizon, budget=budget, features=0)
    return lowered, new_row_state(lowered, actions=actions, features=0)


def arrive(lowered: LoweredRows, state: RowState, scores: Floats, costs: Ints, run: int) -> None:
    t = int(state.progress[ROUND])
    with np.errstate(over="ignore"):
        enter(lowered, state, Row(np.append(scores, 0.0), costs), key_of(run, t))
    state.progress[ROUND] = t + 1


def solved(scores: Floats, costs: Ints, room: float) -> tuple[float, float, float]:
    """Return value, and the least and the largest price of the LP, by a general solver.

    The price of one more unit, and of one fewer, are slopes of the value.
    """
    count, actions = scores.shape
    each = np.kron(np.eye(count), np.ones(actions))

    def value(budget: float) -> float:
        found = linprog(
            -scores.ravel(),
            A_ub=np.vstack([each, costs.ravel()]),
            b_ub=np.append(np.ones(count), budget),
            method="highs",
        )
        return -float(found.fun)

    step = 1e-4 * room
    return (
        value(room),
        (value(room + step) - value(room)) / step,
        (value(room) - value(room - step)) / step,
    )


def spend_at(scores: Floats, costs: Ints, price: float, rate: float) -> tuple[float, float]:
    """Return value and cost of rows that take what the price says, steps at it at a rate."""
    near = 1e-9 * price
    totals = np.zeros(2)
    for weight, exact in ((rate, price - near), (1.0 - rate, price + near)):
        surplus = np.column_stack([np.zeros(len(scores)), scores - exact * costs])
        pick = surplus.argmax(axis=1)
        chosen = np.arange(len(scores))
        totals[0] += weight * np.column_stack([np.zeros(len(scores)), scores])[chosen, pick].sum()
        totals[1] += weight * np.column_stack([np.zeros(len(scores)), costs])[chosen, pick].sum()
    return float(totals[0]), float(totals[1])


@pytest.mark.parametrize("seed", range(12))
def test_the_price_is_that_of_the_lp_over_the_market(seed: int) -> None:
    """At the price and its rate the market spends b/τ per row, and reaches the LP's value."""
    rng = np.random.default_rng(seed)
    count, actions = int(rng.integers(3, 30)), int(rng.integers(1, 5))
    scores = rng.normal(0.2, 0.5, (count, actions))
    costs = rng.integers(1, 60, (count, actions))
    horizon = 4 * count
    budget = int(rng.uniform(0.05, 0.7) * 40 * horizon)
    lowered, state = setting(64, actions=actions, horizon=horizon, budget=budget)
    for row in range(count):
        state.progress[LEFT] = budget - row * budget // horizon
        arrive(lowered, state, scores[row], costs[row], 0)
    state.progress[LEFT] = left = int(0.9 * budget)
    with np.errstate(over="ignore"):
        plain(market_module._solve)(lowered, state, left / (horizon - count))
    room = count * left / (horizon - count)
    value, low, high = solved(scores, costs, room)
    price, rate = state.figures[PRICE], state.figures[RATE]
    assert low - 1e-6 <= price <= high + 1e-6
    reached, spent = spend_at(scores, costs, price, rate)
    assert reached - price * spent == pytest.approx(value - price * room, rel=1e-6, abs=1e-6)
    if low > 1e-6:
        assert spent == pytest.approx(room, rel=1e-6)


def test_once_it_is_full_the_price_is_that_of_the_rows_kept() -> None:
    """A market of 16 after 300 rounds, half of it drawn from all."""
    rng = np.random.default_rng(5)
    scores, costs = rng.normal(0.3, 0.4, (300, 3)), rng.integers(1, 30, (300, 3))
    lowered, state = setting(16, actions=3, horizon=400, budget=2400)
    for row in range(300):
        state.progress[LEFT] = 2400 - 6 * row
        arrive(lowered, state, scores[row], costs[row], 0)
    kept, paid = state.values[:16, :3], state.declared[:16]
    assert {tuple(row) for row in kept} <= {tuple(row) for row in scores}
    with np.errstate(over="ignore"):
        plain(market_module._solve)(lowered, state, 6.0)
    value, low, high = solved(kept, paid, 16 * 6.0)
    assert low - 1e-6 <= state.figures[PRICE] <= high + 1e-6
    reached, spent = spend_at(kept, paid, state.figures[PRICE], state.figures[RATE])
    assert (reached, spent) == pytest.approx((value, 16 * 6.0), rel=1e-6)


def test_half_of_it_are_the_latest_rows_and_half_a_uniform_sample() -> None:
    """Every second row may enter the sample; each of them is in it as often as any other.

    400 runs of 64 rounds: an average of 100 for each of 32 rows, within 5 standard deviations.
    """
    lowered, state = setting(16, actions=1, horizon=64, budget=64)
    counts: Counter[int] = Counter()
    for run in range(400):
        state.progress[:] = 0
        held = np.full(16, -1)
        for t in range(64):
            state.progress[ROUND] = t
            with np.errstate(over="ignore"):
                place = place_of(lowered, state, key_of(run, t))
            if place >= 0:
                held[place] = t
        assert sorted(held[:8]) == [48, 50, 52, 54, 56, 58, 60, 62]
        counts.update(held[8:].tolist())
    candidates = [*range(8, 16), *range(17, 64, 2)]
    assert set(counts) <= set(candidates)
    share = 8 / len(candidates)
    deviation = 5 * (400 * share * (1 - share)) ** 0.5
    assert all(abs(counts[row] - 400 * share) <= deviation for row in candidates)


def test_a_row_enters_once_though_it_is_decided_and_taken() -> None:
    lowered, state = setting(4, actions=1, horizon=9, budget=9)
    row = Row(np.array([0.5, 0.0]), np.array([1]))
    with np.errstate(over="ignore"):
        enter(lowered, state, row, key_of(0, 0))
        enter(lowered, state, row, key_of(0, 0))
    assert state.progress[ROWS] == 1


def test_actions_that_the_budget_left_cannot_pay_leave_the_market() -> None:
    lowered, state = setting(8, actions=2, horizon=20, budget=200)
    for _ in range(4):
        arrive(lowered, state, np.array([0.3, 0.9]), np.array([5, 50]), 0)
    state.progress[LEFT] = 49
    with np.errstate(over="ignore"):
        plain(market_module._solve)(lowered, state, 49 / 16)
    assert state.hulls.sizes[:4].tolist() == [1, 1, 1, 1]
    assert state.figures[PRICE] == pytest.approx(0.3 / 5)
    state.progress[LEFT] = 200
    with np.errstate(over="ignore"):
        plain(market_module._solve)(lowered, state, 200 / 16)
    assert state.hulls.sizes[:4].tolist() == [2, 2, 2, 2]


def test_actions_that_are_not_available_are_no_options() -> None:
    lowered, state = setting(8, actions=2, horizon=20, budget=200)
    arrive(lowered, state, np.array([0.3, 0.9]), np.array([5, UNAVAILABLE]), 0)
    assert state.hulls.sizes[0] == 1
    assert state.hulls.tops[0, 0] == 0
