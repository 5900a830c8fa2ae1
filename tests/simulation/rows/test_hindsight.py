"""The hindsight optimum against a general solver, brute force and numbers worked by hand."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog

import almoner as al
from almoner.types import Floats


def random_rows(seed: int, *, count: int, actions: int) -> al.Rows:
    rng = np.random.default_rng(seed)
    costs = rng.integers(0, 40, (count, actions)) / 8
    return al.Rows(
        rewards=rng.normal(0.3, 0.6, (count, actions)),
        costs=costs,
        skip_rewards=rng.normal(0.0, 0.2, count),
    )


def by_solver(rows: al.Rows, budget: float, *, serve: bool = False) -> float:
    """Return the optimum by scipy, skipping included unless every row must be served."""
    count, actions = rows.rewards.shape
    gains = rows.rewards if serve else rows.rewards - rows.skip_rewards[:, None]
    each = np.kron(np.eye(count), np.ones(actions))
    budget_row = {"A_ub": rows.costs.reshape(1, -1), "b_ub": [budget]}
    if serve:
        found = linprog(
            -gains.ravel(), **budget_row, A_eq=each, b_eq=np.ones(count), method="highs"
        )
        return -float(found.fun)
    found = linprog(
        -gains.ravel(),
        A_ub=np.vstack([each, rows.costs.ravel()]),
        b_ub=np.append(np.ones(count), budget),
        method="highs",
    )
    return float(rows.skip_rewards.sum()) - float(found.fun)


def check(rows: al.Rows, budget: float, optimum: al.HindsightOptimum) -> None:
    """Check that the probabilities are feasible and bring the value."""
    chances: Floats = optimum.probabilities
    assert chances.min() >= 0
    assert chances.sum(axis=1).max() <= 1 + 1e-12
    assert float((chances * rows.costs).sum()) <= budget * (1 + 1e-9) + 1e-12
    skipped = 1 - chances.sum(axis=1)
    value = float((chances * rows.rewards).sum() + skipped @ rows.skip_rewards)
    assert value == pytest.approx(float(optimum), rel=1e-9, abs=1e-9)


@given(st.integers(0, 10**6), st.integers(1, 25), st.integers(1, 5), st.floats(0, 1.2))
def test_the_optimum_is_that_of_a_general_solver(
    seed: int, count: int, actions: int, share: float
) -> None:
    rows = random_rows(seed, count=count, actions=actions)
    budget = share * float(rows.costs.max(axis=1).sum())
    optimum = rows.upper_bound(budget)
    check(rows, budget, optimum)
    assert float(optimum) == pytest.approx(by_solver(rows, budget), rel=1e-7, abs=1e-7)
    more = 1e-5 * (1 + budget)
    gained = float(rows.upper_bound(budget + more)) - float(optimum)
    assert gained <= optimum.price * more + 1e-9


@given(st.integers(0, 10**6), st.integers(1, 12), st.integers(1, 4), st.floats(0, 1))
def test_with_a_default_it_is_the_optimum_that_skips_nobody(
    seed: int, count: int, actions: int, share: float
) -> None:
    rows = random_rows(seed, count=count, actions=actions)
    least, most = rows.costs.min(axis=1).sum(), rows.costs.max(axis=1).sum()
    budget = float(least + share * (most - least))
    optimum = rows.upper_bound(budget, default="action 1")
    check(rows, budget, optimum)
    assert optimum.probabilities.sum(axis=1) == pytest.approx(np.ones(count))
    assert float(optimum) == pytest.approx(by_solver(rows, budget, serve=True), rel=1e-7, abs=1e-7)
    assert optimum.spend == pytest.approx(float((optimum.probabilities * rows.costs).sum()))


@pytest.mark.parametrize("seed", range(5))
def test_no_choice_of_actions_brings_more(seed: int) -> None:
    """All 4**6 choices of three actions and skipping for six rows."""
    rows = random_rows(seed, count=6, actions=3)
    budget = 0.3 * float(rows.costs.max(axis=1).sum())
    rewards = np.column_stack([rows.rewards, rows.skip_rewards])
    costs = np.column_stack([rows.costs, np.zeros(6)])
    best = max(
        sum(rewards[i, k] for i, k in enumerate(choice))
        for choice in product(range(4), repeat=6)
        if sum(costs[i, k] for i, k in enumerate(choice)) <= budget
    )
    assert best <= float(rows.upper_bound(budget)) + 1e-12


def test_worked_by_hand() -> None:
    """Steps of slope .6, .5 and .8 for a unit each, then .15, .05 and .05 for two units each.

    A budget of 5 takes the three first steps, and then the one of slope .15.
    """
    rows = al.Rows(rewards=[[0.6, 0.9], [0.5, 0.6], [0.8, 0.9]], costs=[1, 3])
    optimum = rows.upper_bound(5)
    assert float(optimum) == pytest.approx(0.9 + 0.5 + 0.8)
    assert optimum.probabilities.tolist() == [[0, 1], [1, 0], [1, 0]]
    assert optimum.price == pytest.approx(0.05)
    assert rows.upper_bound(4).price == pytest.approx(0.15)
    assert rows.upper_bound(4).probabilities[0].tolist() == pytest.approx([0.5, 0.5])
    assert [float(rows.upper_bound(budget)) for budget in (0, 9)] == pytest.approx([0.0, 2.4])
    assert [rows.upper_bound(budget).price for budget in (0, 9)] == pytest.approx([0.8, 0.0])


def test_where_not_everybody_can_be_served_a_default_changes_nothing() -> None:
    rows = al.Rows(rewards=[[0.6, 0.9], [0.5, 0.6]], costs=[1, 3], actions=["a", "b"])
    served = rows.upper_bound(1.5, default="a")
    assert float(served) == float(rows.upper_bound(1.5))


def test_bad_arguments_are_refused() -> None:
    rows = al.Rows(rewards=[[0.6]], costs=[[1]], actions=["a"])
    with pytest.raises(al.InvalidInput, match="budget must be at least 0"):
        rows.upper_bound(-1)
    with pytest.raises(al.InvalidInput, match="default must be one of a, got default='b'"):
        rows.upper_bound(1, default="b")


@pytest.mark.parametrize("gain", [1e-280, 1e-12, 1e12, 1e280])
@pytest.mark.parametrize("money", [1e-12, 1.0, 1e12])
def test_the_optimum_follows_the_units_of_rewards_and_costs(gain: float, money: float) -> None:
    rng = np.random.default_rng(3)
    rewards, costs = rng.random((200, 2)), 0.5 + rng.random((200, 2))
    plain = al.Rows(rewards=rewards, costs=costs).upper_bound(60)
    other = al.Rows(rewards=rewards * gain, costs=costs * money).upper_bound(60 * money)
    assert float(other) / gain == pytest.approx(float(plain), rel=1e-9)
    assert other.price / gain * money == pytest.approx(plain.price, rel=1e-9)
    assert other.spend <= 60 * money * (1 + 1e-12)
