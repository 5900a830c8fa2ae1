from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog
from support.problems import (
    MEANS,
    PAPER_TEN,
    any_cost_problems,
    context_probs,
    tables,
    unit_problems,
)

from almoner.errors import InvalidInput
from almoner.live.estimates.estimates import Estimates
from almoner.lp import TOLERANCE, candidates, collect_steps, hull_steps, solve
from almoner.problem import Problem
from almoner.types import Floats

NEAR = 1e-10
all_problems = unit_problems() | any_cost_problems()


def one_context(points: list[tuple[float, float]]) -> Problem:
    """A single context whose actions lie at these (cost, mean)."""
    costs, means = zip(*points, strict=True)
    return Problem(context_probs=[1], reward_means=[means], costs=costs, horizon=1, budget=0)


def gains_of(problem: Problem) -> Floats:
    return problem.reward_means - problem.default_rewards[:, None]


def by_highs(problem: Problem) -> float:
    """The value of the same linear program, by a solver that knows nothing of hulls."""
    contexts, actions = problem.reward_means.shape
    probs = np.repeat(problem.context_probs, actions)
    result = linprog(
        -probs * gains_of(problem).ravel(),
        A_ub=np.vstack(
            [probs * problem.costs.ravel(), np.kron(np.eye(contexts), np.ones(actions))]
        ),
        b_ub=np.concatenate([[problem.ratio], np.ones(contexts)]),
        method="highs",
    )
    assert result.status == 0
    return float(problem.context_probs @ problem.default_rewards - result.fun)


@given(all_problems)
@pytest.mark.slow
def test_the_value_is_that_of_a_general_solver(problem: Problem) -> None:
    assert solve(problem).value == pytest.approx(by_highs(problem), abs=1e-9)


@given(all_problems)
def test_the_solution_carries_its_own_certificate(problem: Problem) -> None:
    """Primal and dual solution are feasible and worth the same, so both are optimal.

    The dual of the LP is: minimise λρ + Σ_j π_j (u_j0 + s_j) over λ, s ≥ 0 with
    s_j ≥ u_jk − u_j0 − λc_jk for every action. The price is λ; the least s_j it leaves follows.
    """
    solution = solve(problem)
    p, probs, ratio = solution.probabilities, problem.context_probs, problem.ratio
    spend = float(probs @ (p * problem.costs).sum(axis=1))
    surplus = gains_of(problem) - solution.price * problem.costs
    best = np.maximum(surplus.max(axis=1), 0)

    assert np.all(p >= 0)
    assert np.all(p.sum(axis=1) <= 1 + NEAR)
    assert spend <= ratio + NEAR
    assert solution.price >= 0

    reached = probs @ problem.default_rewards + probs @ (p * gains_of(problem)).sum(axis=1)
    bound = solution.price * ratio + probs @ (problem.default_rewards + best)
    assert solution.value == pytest.approx(reached, abs=NEAR)
    assert solution.value == pytest.approx(bound, abs=NEAR)

    comes = probs > 0
    assert np.all((p <= NEAR) | (surplus >= best[:, None] - NEAR))
    assert np.all((p.sum(axis=1) >= 1 - NEAR) | (best <= NEAR) | ~comes)
    assert solution.price == 0 or spend == pytest.approx(ratio, abs=NEAR)
    assert np.all(p[~comes] == 0)


@given(all_problems)
def test_boundaries_are_where_the_value_kinks_and_the_price_is_its_slope_to_the_right(
    problem: Problem,
) -> None:
    knots = [0.0, *solve(problem).boundaries.tolist()]
    assert knots == sorted(set(knots))
    slopes = []
    for left, right in zip(knots, [*knots[1:], knots[-1] + 1], strict=True):
        start, middle, end = (solve(problem, ratio=r) for r in (left, (left + right) / 2, right))
        slope = (end.value - start.value) / (right - left)
        assert middle.value == pytest.approx((start.value + end.value) / 2, abs=NEAR)
        assert start.price == middle.price == pytest.approx(slope, abs=1e-8)
        slopes.append(start.price)
    assert all(before > after for before, after in pairwise(slopes))
    assert slopes[-1] == 0


@given(all_problems, st.data())
def test_at_a_boundary_the_next_step_gets_nothing(problem: Problem, data: st.DataObject) -> None:
    boundaries = solve(problem).boundaries
    assume(len(boundaries))
    at = data.draw(st.sampled_from(boundaries.tolist()))
    solution = solve(problem, ratio=at)
    nearly = TOLERANCE / 2 * at
    below, above = (solve(problem, ratio=at + shift) for shift in (-nearly, nearly))
    assert below.price == above.price == solution.price
    assert below.probabilities == pytest.approx(above.probabilities, abs=1e-9)
    assert not above.probabilities[solution.probabilities == 0].any()
    slopes, weights, _ = hull_steps(problem.context_probs, gains_of(problem), problem.costs)
    assert at == pytest.approx(weights[slopes > solution.price + NEAR].sum(), abs=NEAR)
    assert solution.boundary_distance == 0


TWO = Problem(context_probs=[0.4, 0.6], reward_means=[[0.8], [0.4]], horizon=1, budget=0)


@pytest.mark.parametrize(
    ("ratio", "served", "value", "price"),
    [
        (0.0, [0, 0], 0, 0.8),
        (0.2, [0.5, 0], 0.16, 0.8),
        (0.4, [1, 0], 0.32, 0.4),
        (0.7, [1, 0.5], 0.44, 0.4),
        (1.0, [1, 1], 0.56, 0),
        (1.5, [1, 1], 0.56, 0),
    ],
)
def test_two_contexts_by_hand(
    ratio: float, served: list[float], value: float, price: float
) -> None:
    """The better context, 40 % of arrivals, is served first, at 0.8 for each unit spent.

    ρ = 0.2 serves half of it: 0.2 × 0.8 = 0.16. ρ = 0.4 serves all of it: 0.32, and from there a
    unit brings 0.4. ρ = 0.7 leaves 0.3 for the other 60 %, half of them: 0.32 + 0.3 × 0.4 = 0.44.
    ρ ≥ 1 serves everybody: 0.32 + 0.24 = 0.56, and more is worth nothing.
    """
    solution = solve(TWO, ratio=ratio)
    assert solution.probabilities[:, 0] == pytest.approx(served, abs=1e-15)
    assert solution.value == pytest.approx(value, abs=1e-15)
    assert solution.price == pytest.approx(price, abs=1e-15)
    assert solution.boundaries.tolist() == pytest.approx([0.4, 1.0])
    assert solution.ratio == ratio


@pytest.mark.parametrize(
    ("ratio", "probabilities", "value", "price"),
    [(0.5, [0.5, 0, 0], 0.2, 0.4), (2.5, [0.5, 0, 0.5], 0.6, 0.4 / 3), (9, [0, 0, 1], 0.8, 0)],
)
def test_an_action_below_the_hull_is_never_taken(
    ratio: float, probabilities: list[float], value: float, price: float
) -> None:
    """(cost 1, mean .4), (2, .5), (4, .8): at cost 2 the line from the first to the last has
    .4 + .4/3 = .533 > .5. So: first at .4 a unit, then a step of cost 3 at .4/3 a unit. At
    ρ = 2.5 half of that step is taken, which mixes both ends evenly: (.4 + .8)/2 = .6.
    """
    solution = solve(one_context([(1, 0.4), (2, 0.5), (4, 0.8)]), ratio=ratio)
    assert solution.probabilities[0] == pytest.approx(probabilities, abs=1e-15)
    assert solution.value == pytest.approx(value)
    assert solution.price == pytest.approx(price)
    assert solution.boundaries.tolist() == pytest.approx([1, 4])


def test_of_points_on_one_line_only_the_dearest_is_used() -> None:
    """0.2 a unit throughout: ρ = 1 buys the action of cost 4 in a quarter of the rounds."""
    solution = solve(one_context([(1, 0.2), (4, 0.8), (2, 0.4)]), ratio=1)
    assert solution.probabilities[0] == pytest.approx([0, 0.25, 0])
    assert [solution.value, solution.price] == pytest.approx([0.2, 0.2])
    assert solution.boundaries.tolist() == [4]


def test_of_equally_dear_actions_the_better_is_used() -> None:
    solution = solve(one_context([(2, 0.3), (2, 0.7), (2, 0.5)]), ratio=1)
    assert solution.probabilities[0] == pytest.approx([0, 0.5, 0])
    assert solution.price == pytest.approx(0.35)


def test_what_gains_less_than_skipping_is_never_paid() -> None:
    solution = solve(one_context([(1, 0.3), (2, 0.5)]).replace(default_rewards=0.5), ratio=5)
    assert solution.probabilities.tolist() == [[0, 0]]
    assert (solution.value, solution.price, len(solution.boundaries)) == (0.5, 0, 0)
    assert solution.boundary_distance == math.inf


def test_a_default_reward_counts_in_the_value_and_against_the_gain() -> None:
    """Gains of .6 − .1 and .9 − .7 at cost 1: ρ = .5 serves the first (20 %) and 3/8 of the other.

    .2 × .5 + .3 × .2 on top of the .2 × .1 + .8 × .7 = .58 that skipping brings.
    """
    two = TWO.replace(context_probs=[0.2, 0.8], reward_means=[[0.6], [0.9]])
    solution = solve(two.replace(default_rewards=[0.1, 0.7]), ratio=0.5)
    assert solution.probabilities[:, 0] == pytest.approx([1, 0.375])
    assert solution.value == pytest.approx(0.58 + 0.1 + 0.06)


def test_steps_of_equal_slope_are_filled_at_a_common_rate() -> None:
    """.5 for 1 and 1.0 for 2 are both .5 a unit; together they can use .2 + .3 × 2 = .8, and
    ρ = .4 fills half of each. The third, at .1 a unit, gets nothing.
    """
    probs, means, costs = [0.2, 0.5, 0.3], [[0.5], [0.1], [1.0]], [[1], [1], [2]]
    three = Problem(context_probs=probs, reward_means=means, costs=costs, horizon=5, budget=2)
    solution = solve(three)
    assert solution.probabilities[:, 0] == pytest.approx([0.5, 0, 0.5])
    assert solution.boundaries.tolist() == pytest.approx([0.8, 1.3])


@given(all_problems, st.randoms(use_true_random=False))
def test_no_label_decides(problem: Problem, random: Any) -> None:
    order = list(range(len(problem.context_probs)))
    random.shuffle(order)
    fields = ("context_probs", "reward_means", "costs", "default_rewards")
    shuffled = problem.replace(**{name: getattr(problem, name)[order] for name in fields})
    plain, moved = solve(problem), solve(shuffled)
    assert moved.probabilities == pytest.approx(plain.probabilities[order], abs=NEAR)
    assert moved.boundaries == pytest.approx(plain.boundaries, abs=NEAR)


def test_the_boundaries_of_the_ten_contexts_are_the_sums_from_the_best_down() -> None:
    problem = PAPER_TEN(100, 0.5)
    solution = solve(problem)
    assert solution.boundaries == pytest.approx(np.cumsum(problem.context_probs[::-1]))
    assert solution.boundary_distance == pytest.approx(0, abs=TOLERANCE)
    assert not solution.probabilities[:5].any()


@pytest.mark.parametrize("ratio", [-0.1, math.nan, math.inf, "a"])
def test_a_ratio_that_is_none_is_refused(ratio: Any) -> None:
    with pytest.raises(InvalidInput, match=r"^ratio must "):
        solve(TWO, ratio=ratio)


def test_a_solution_cannot_be_changed_by_accident() -> None:
    solution = solve(TWO)
    with pytest.raises(ValueError, match="read-only"):
        solution.probabilities[0, 0] = 1
    with pytest.raises(ValueError, match="read-only"):
        solution.boundaries[0] = 1


FEW, MANY = st.tuples(st.integers(1, 4), st.integers(-1, 4)), st.tuples(*[st.integers(1, 500)] * 2)
POINTS = st.lists(FEW, min_size=1, max_size=8) | st.lists(FEW | MANY, min_size=1, max_size=8)
"""Among few places many points coincide, and many lie on one line."""


def monotone_chain(points: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The vertices after (0, 0) of the upper hull while it rises, in whole numbers throughout."""
    hull = [(0, 0)]
    for x, y in sorted(points):
        while hull[-1][0] == x and hull[-1][1] < y:
            hull.pop()
        if hull[-1][0] == x:
            continue
        while len(hull) > 1:
            (x0, y0), (x1, y1) = hull[-2:]
            if (x1 - x0) * (y - y0) < (y1 - y0) * (x - x0):
                break
            hull.pop()
        hull.append((x, y))
    return [end for start, end in pairwise(hull) if end[1] > start[1]]


@given(POINTS)
@example([(1, 1), (4, 4), (2, 2), (2, 2)])
def test_candidates_are_the_vertices_of_the_rising_hull(points: list[tuple[int, int]]) -> None:
    costs = np.array([cost / 100 for cost, _ in points])
    gains = np.array([gain / 100 for _, gain in points])
    chosen = np.empty(len(points), np.int64)
    count = candidates(gains, costs, chosen)
    assert [points[action] for action in chosen[:count].tolist()] == monotone_chain(points)


def outputs(problem: Problem, kernel: Any) -> tuple[int, list[npt.NDArray[Any]]]:
    gains = gains_of(problem)
    out = [np.zeros(gains.size), np.zeros(gains.size), np.zeros((gains.size, 3), np.int64)]
    chosen = np.zeros(gains.shape[1], np.int64)
    return kernel(problem.context_probs, gains, problem.costs, chosen, *out), [chosen, *out]


@given(any_cost_problems())
def test_the_kernels_do_what_their_python_does(problem: Problem) -> None:
    kernel: Any = collect_steps
    count, arrays = outputs(problem, kernel)
    plain_count, plain_arrays = outputs(problem, kernel.py_func)
    assert count == plain_count
    for array, plain in zip(arrays, plain_arrays, strict=True):
        np.testing.assert_array_equal(array, plain)

    hull: Any = candidates
    for gains, costs in zip(gains_of(problem), problem.costs, strict=True):
        chosen, plain = (np.full(len(gains), -1) for _ in range(2))
        assert hull(gains, costs, chosen) == hull.py_func(gains, costs, plain)
        np.testing.assert_array_equal(chosen, plain)


def algorithm_4(gains: list[float], costs: list[float]) -> list[int]:
    """The paper's Algorithm 4 step by step, with an exit where no candidate is left after ``a``."""
    order = sorted(range(len(gains)), key=lambda k: (-gains[k] / costs[k], costs[k]))
    kept = [
        k
        for i, k in enumerate(order)
        if gains[k] > 0 and all(gains[k] > gains[other] for other in order[:i])
    ]
    chosen = kept[:1]
    while chosen:
        last = chosen[-1]
        after = kept[kept.index(last) + 1 :]
        if not after:
            break
        slopes = [(gains[k] - gains[last]) / (costs[k] - costs[last]) for k in after]
        steepest = max(slopes)
        chosen.append([k for k, slope in zip(after, slopes, strict=True) if slope == steepest][-1])
    return chosen


@given(
    st.lists(st.tuples(st.integers(-3, 20), st.integers(1, 8)), min_size=1, max_size=8, unique=True)
)
def test_the_paper_s_algorithm_4_finds_the_same_candidates(pairs: list[tuple[int, int]]) -> None:
    """Whole numbers bring equal costs, ties and collinear points in plenty.

    Two actions may do the same: what counts is the hull, so candidates are compared by what they
    cost and gain, and a point on a straight line between two others may be there or not.
    """
    gains, costs = np.array([[g for g, _ in pairs], [c for _, c in pairs]], float)
    chosen = np.empty(len(gains), np.int64)
    hull = chosen[: candidates(gains, costs, chosen)].tolist()
    literal = algorithm_4(gains.tolist(), costs.tolist())

    def corners(places: list[int]) -> set[tuple[float, float]]:
        points = [(0.0, 0.0), *((costs[k], gains[k]) for k in places)]
        inner = {
            points[i]
            for i in range(1, len(points) - 1)
            if (points[i][1] - points[i - 1][1]) * (points[i + 1][0] - points[i][0])
            == (points[i + 1][1] - points[i][1]) * (points[i][0] - points[i - 1][0])
        }
        return set(points) - inner

    assert corners(hull) == corners(literal)


def exact_value_of(problem: Problem, ratio: float) -> Fraction:
    """Fill the steps of all hulls by falling slope, in rational arithmetic."""
    steps = []
    for chance, means, costs in zip(
        problem.context_probs, problem.reward_means, problem.costs, strict=True
    ):
        points = [(Fraction(c), Fraction(u)) for c, u in zip(costs, means, strict=True)]
        cost, gain = Fraction(0), Fraction(0)
        while rest := [(c, u) for c, u in points if c > cost and u > gain]:
            slope = max((u - gain) / (c - cost) for c, u in rest)
            top = max(c for c, u in rest if (u - gain) / (c - cost) == slope)
            steps.append((slope, Fraction(chance) * (top - cost)))
            cost, gain = top, gain + slope * (top - cost)
    value, room = Fraction(0), Fraction(ratio)
    for slope, weight in sorted(steps, reverse=True):
        used = min(room, weight)
        value, room = value + slope * used, room - used
    return value


MAGNITUDES = st.builds(
    lambda digit, power: digit * 10.0**power, st.integers(1, 9), st.integers(-9, 9)
)


@given(
    data=st.data(),
    contexts=st.integers(1, 4),
    actions=st.integers(1, 4),
    digit=st.integers(1, 9),
    power=st.integers(-15, 6),
)
@settings(max_examples=300)
@pytest.mark.slow
def test_the_value_is_exact_at_every_scale_of_costs_and_ratios(
    data: st.DataObject, contexts: int, actions: int, digit: int, power: int
) -> None:
    """Costs from 1e-9 to 1e9, ratios from 1e-15 to 1e6: no scale may hide another."""
    problem = Problem(
        context_probs=data.draw(context_probs(contexts)),
        reward_means=data.draw(tables(MEANS, contexts, actions)),
        costs=data.draw(tables(MAGNITUDES, contexts, actions)),
        horizon=1,
        budget=1,
    )
    ratio = digit * 10.0**power
    solution, exact = solve(problem, ratio=ratio), float(exact_value_of(problem, ratio))
    assert solution.value == pytest.approx(exact, rel=1e-9)
    reached = problem.context_probs @ (solution.probabilities * problem.reward_means).sum(axis=1)
    assert reached == pytest.approx(exact, rel=1e-9)
    spend = problem.context_probs @ (solution.probabilities * problem.costs).sum(axis=1)
    assert spend <= ratio * (1 + 1e-9)


def test_a_cheap_action_counts_beside_one_a_million_million_times_dearer() -> None:
    problem = one_context([(1e-6, 0.89), (1e6, 0.9)])
    assert solve(problem, ratio=1e-6).value == pytest.approx(0.89, rel=1e-12)
    assert solve(problem, ratio=1e-7).price == pytest.approx(0.89e6, rel=1e-12)
    long = one_context([(1, 0.8), (1e6, 0.9)]).replace(horizon=10**13, budget=10)
    assert long.horizon * solve(long).value == pytest.approx(8.0, rel=1e-12)


@pytest.mark.slow
def test_a_chain_of_near_ties_is_not_one_piece() -> None:
    """Each gain is within the tolerance of the next; the first and the last differ by 4e-8."""
    contexts = 100_000
    means = 0.5 + np.arange(contexts) * 4e-13
    problem = Problem(
        context_probs=np.full(contexts, 1 / contexts),
        reward_means=means[:, None],
        horizon=1000,
        budget=500,
    )
    solution = solve(problem)
    best = np.sort(means)[contexts // 2 :].sum() / contexts
    assert len(solution.boundaries) > 10_000
    assert solution.value == pytest.approx(best, rel=2e-12)
    earned = float(np.sum(solution.probabilities * problem.reward_means)) / contexts
    assert earned == pytest.approx(solution.value, rel=2e-12)


@st.composite
def with_free_actions(draw: st.DrawFn) -> Estimates:
    shape = draw(st.integers(1, 4)), draw(st.integers(1, 4))
    size = shape[0] * shape[1]
    numbers = st.sampled_from([0.0, 0.1, 0.25, 0.5, 0.8, 1.0])
    costs = draw(st.lists(st.sampled_from([0.0, 0.0, 1.0, 2.0, 3.5]), min_size=size, max_size=size))
    means = draw(st.lists(numbers, min_size=size, max_size=size))
    idle = draw(st.lists(numbers, min_size=shape[0], max_size=shape[0]))
    return Estimates(
        np.array(draw(context_probs(shape[0]))),
        np.array(means).reshape(shape),
        np.array(costs).reshape(shape),
        np.array(idle),
        draw(st.sampled_from([0.0, 0.3, 1.0, 10.0])),
    )


@given(with_free_actions())
@pytest.mark.slow
def test_free_actions_are_taken_at_every_ratio(problem: Estimates) -> None:
    """Value, feasibility, and the price, against a general solver: also without any money."""
    solution = solve(problem)
    assert solution.value == pytest.approx(by_highs(problem), abs=1e-9)  # type: ignore[arg-type]
    p = solution.probabilities
    assert np.all(p >= 0)
    assert np.all(p.sum(axis=1) <= 1 + NEAR)
    assert problem.context_probs @ (p * problem.costs).sum(axis=1) <= problem.ratio + NEAR
    gains = (p * (problem.reward_means - problem.default_rewards[:, None])).sum(axis=1)
    worth = problem.context_probs @ (problem.default_rewards + gains)
    assert worth == pytest.approx(solution.value, abs=1e-9)
    more = by_highs(problem._replace(ratio=problem.ratio + 1e-4))  # type: ignore[arg-type]
    if solution.boundary_distance > 2e-4:
        assert more - solution.value == pytest.approx(1e-4 * solution.price, abs=1e-9)
    assert np.all(solution.boundaries > 0)


def test_a_free_action_comes_before_a_dearer_one() -> None:
    """Free 0.2, paid 0.8 at 2: a half of 1 buys a quarter of the step from one to the other."""
    problem = Estimates(
        np.ones(1), np.array([[0.2, 0.8]]), np.array([[0.0, 2.0]]), np.zeros(1), 0.5
    )
    solution = solve(problem)
    assert solution.probabilities.tolist() == [[0.75, 0.25]]
    assert (solution.value, solution.price) == pytest.approx((0.35, 0.3))
    assert solution.boundaries.tolist() == [2.0]
