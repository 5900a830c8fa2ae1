from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from almoner.money import Grid, amounts, budget_left, decimal_grid, on_grid


def exact(amount: float) -> Fraction:
    """The decimal that a float prints as, which is what its author meant."""
    return Fraction(Decimal(str(amount)))


def unit_of(grid: Grid) -> Fraction:
    return Fraction(grid.top, grid.bottom)


def spent(grid: Grid, units: int) -> float:
    return float(amounts(grid, np.array([units]))[0])


@pytest.mark.parametrize(
    ("budget", "costs", "unit", "units", "costs_in_units"),
    [
        (0.3, [0.1, 0.2], Fraction(1, 10), 3, [1, 2]),
        (10.0, [2.5, 2.5], Fraction(5, 2), 4, [1, 1]),
        (1.0, [0.25, 0.4], Fraction(1, 20), 20, [5, 8]),
        (11.0, [2.5, 7.5], Fraction(5, 2), 4, [1, 3]),  # the 1.00 that buys nothing is left out
        (0.0, [3.0, 6.0], Fraction(3), 0, [1, 2]),
        (4000.0, [1.0, 1.0], Fraction(1), 4000, [1, 1]),
        (1.0, [0.07, 0.3], Fraction(1, 100), 100, [7, 30]),
    ],
)
def test_the_grid_is_the_coarsest_on_which_every_cost_is_whole(
    budget: float, costs: list[float], unit: Fraction, units: int, costs_in_units: list[int]
) -> None:
    grid = on_grid(budget, np.array([costs]))
    assert unit_of(grid) == unit
    assert grid.budget == units
    assert grid.costs.tolist() == [costs_in_units]


def test_three_actions_at_a_tenth_fit_three_tenths_although_floats_disagree() -> None:
    assert 0.1 + 0.1 + 0.1 > 0.3
    grid = on_grid(0.3, np.array([[0.1]]))
    assert 3 * int(grid.costs[0, 0]) == grid.budget
    assert spent(grid, grid.budget) == 0.3


def test_costs_keep_their_table_and_equal_costs_stay_equal() -> None:
    costs = np.array([[3.0, 1.5, 3.0], [4.5, 3.0, 1.5]])
    grid = on_grid(20.0, costs)
    assert grid.costs.tolist() == [[2, 1, 2], [3, 2, 1]]
    assert grid.costs.dtype == np.int64


decimals = st.builds(
    lambda digits, places: digits / 10**places, st.integers(1, 10**6), st.integers(0, 6)
)
budgets = st.just(0.0) | st.builds(
    lambda digits, places: digits / 10**places, st.integers(0, 10**12), st.integers(0, 6)
)
costs_of = st.lists(decimals, min_size=1, max_size=4)

DENSE = example(budget=371388832794.977, costs=[0.000143], share=1.0)
"""Here units × top is beyond 2**53, so that a product of floats is rounded before it is divided."""


@given(budget=budgets, costs=costs_of, share=st.floats(0, 1))
@DENSE
@example(budget=0.3, costs=[0.1], share=1.0)
@example(budget=8182623923.538588, costs=[2.3e-06], share=1.0)
def test_no_number_of_purchases_that_integers_allow_overspends(
    budget: float, costs: list[float], share: float
) -> None:
    grid = on_grid(budget, np.array([costs]))
    for cost, units in zip(costs, grid.costs[0].tolist(), strict=True):
        most = grid.budget // units
        for count in {int(share * most), most}:
            assert count * exact(cost) <= exact(budget)
            assert spent(grid, count * units) <= budget


@given(budget=st.integers(0, 10**9).map(lambda n: n / 1000), costs=costs_of)
def test_integers_allow_every_purchase_that_the_budget_pays_for(
    budget: float, costs: list[float]
) -> None:
    """All are multiples of 1e-6 and below 1e6: within what integers hold exactly."""
    grid = on_grid(budget, np.array([costs]))
    unit = unit_of(grid)
    assert [units * unit for units in grid.costs[0].tolist()] == [exact(cost) for cost in costs]
    assert grid.budget == math.floor(exact(budget) / unit)
    assert math.gcd(*grid.costs[0].tolist()) == 1


@given(budget=budgets, costs=costs_of, share=st.floats(0, 1))
@DENSE
def test_an_amount_is_the_float_nearest_to_what_was_spent(
    budget: float, costs: list[float], share: float
) -> None:
    grid = on_grid(budget, np.array([costs]))
    for units in (int(share * grid.budget), grid.budget):
        assert spent(grid, units) == float(units * unit_of(grid))


AWKWARD = [
    (1e9, [1 / 3]),
    (1e9, [1 / 3, 2 / 3]),
    (1e12, [1e-7]),
    (1e12, [1e-7, 3e-7]),
    (1e12 + 0.1, [math.pi, math.e]),
    (2.0**53, [1.0]),
    (1e16, [1.0, 3.0]),
    (1e300, [7.0, 1e299]),
    (1.0, [1e-310]),
    (1e-300, [1e-300]),
    (1e40 / 3, [1e38 / 7]),
    (0.0, [math.pi * 1e-9, math.e * 1e9]),
]


@pytest.mark.parametrize(("budget", "costs"), AWKWARD)
def test_where_integers_cannot_hold_the_exact_grid_costs_are_rounded_up_and_nothing_overspends(
    budget: float, costs: list[float]
) -> None:
    grid = on_grid(budget, np.array([costs]))
    assert grid.budget * unit_of(grid) <= exact(budget)
    for cost, units in zip(costs, grid.costs[0].tolist(), strict=True):
        assert units * unit_of(grid) >= exact(cost)
        assert spent(grid, grid.budget // units * units) <= budget


@given(
    budget=st.floats(0, 1e15, allow_subnormal=False),
    costs=st.lists(st.floats(1e-6, 1e15), min_size=1, max_size=3),
)
def test_no_floats_at_all_overspend(budget: float, costs: list[float]) -> None:
    grid = on_grid(budget, np.array([costs]))
    for cost, units in zip(costs, grid.costs[0].tolist(), strict=True):
        most = grid.budget // units
        assert most * exact(cost) <= exact(budget)
        assert spent(grid, most * units) <= budget


@given(budget=budgets, costs=costs_of, units=st.lists(st.integers(0, 2**53), min_size=2))
def test_order_is_kept(budget: float, costs: list[float], units: list[int]) -> None:
    grid = on_grid(budget, np.array([costs]))
    rank = np.argsort(costs, kind="stable")
    assert np.all(np.diff(grid.costs[0][rank]) >= 0)
    assert np.all(np.diff(amounts(grid, np.sort(units))) >= 0)


@pytest.mark.parametrize(("bought", "left"), [(0, 11.0), (1, 8.5), (3, 3.5), (4, 1.0)])
def test_what_is_left_counts_the_money_that_buys_nothing(bought: int, left: float) -> None:
    """Of 11, four actions at 2.5 take 10; the last 1 stays whatever is bought."""
    grid = on_grid(11.0, np.array([[2.5]]))
    assert budget_left(11.0, grid, np.array([grid.budget - bought])).tolist() == [left]


@given(budget=budgets, costs=costs_of, share=st.floats(0, 1))
def test_what_is_spent_and_what_is_left_make_the_budget(
    budget: float, costs: list[float], share: float
) -> None:
    grid = on_grid(budget, np.array([costs]))
    units = int(share * grid.budget)
    left = float(budget_left(budget, grid, np.array([units]))[0])
    assert left >= 0
    assert left + spent(grid, grid.budget - units) == pytest.approx(budget, rel=1e-12, abs=1e-12)


def test_the_rounding_of_a_huge_budget_costs_little() -> None:
    """A third is 333334 millionths on the grid that a budget of 1e9 leaves: 2e-6 too dear."""
    grid = on_grid(1e9, np.array([[1 / 3, 1.0]]))
    assert unit_of(grid) == Fraction(2, 10**6)
    assert grid.costs.tolist() == [[166667, 500000]]
    assert grid.budget == 5 * 10**14


def test_a_single_cost_is_its_own_unit_however_many_digits_it_has() -> None:
    grid = on_grid(400 / 3, np.array([[1 / 3]]))
    assert (grid.budget, grid.costs.tolist()) == (400, [[1]])


@pytest.mark.parametrize(
    ("budget", "costs", "bottom", "units", "in_units"),
    [
        (0.3, [0.1, 0.05], 100, 30, [10, 5]),
        (1.999, [0.5, 0.25], 100, 199, [50, 25]),
        (7.0, [1.0, 3.0], 1, 7, [1, 3]),
        (0.0, [3.73e-05, 0.0], 10**7, 0, [373, 0]),
    ],
)
def test_a_decimal_grid_is_the_coarsest_power_of_ten(
    budget: float, costs: list[float], bottom: int, units: int, in_units: list[int]
) -> None:
    grid = decimal_grid(budget, np.array(costs))
    assert (grid.top, grid.bottom, grid.budget, grid.exact) == (1, bottom, units, True)
    assert grid.costs.tolist() == in_units


@given(
    st.lists(st.floats(0, 1e6, allow_subnormal=False), min_size=1, max_size=20),
    st.floats(0, 1e9, allow_subnormal=False),
)
def test_no_cost_is_rounded_down_and_no_budget_up(costs: list[float], budget: float) -> None:
    """Costs with all digits of a float are rounded up, by less than 3e-14 of the budget."""
    grid = decimal_grid(budget, np.array(costs))
    unit = unit_of(grid)
    assert grid.budget * unit <= exact(budget)
    for cost, units in zip(costs, grid.costs.tolist(), strict=True):
        if grid.exact:
            assert units * unit == exact(cost)
        elif units == 2**52:
            assert budget == 0 or cost > 4 * budget
        else:
            reach = exact(budget) or max(map(exact, costs))
            slack = Fraction(3, 10**14) * max(reach, exact(cost))
            assert exact(cost) <= units * unit <= exact(cost) + slack


def test_costs_beyond_all_budgets_leave_the_others_as_they_are() -> None:
    grid = decimal_grid(1.0, np.array([0.25, 1e300, 1 / 3]))
    assert grid.budget == 10**15
    first, unaffordable, third = grid.costs.tolist()
    assert first in (250_000_000_000_000, 250_000_000_000_001)
    assert (unaffordable, third) == (2**52, 333_333_333_333_334)
