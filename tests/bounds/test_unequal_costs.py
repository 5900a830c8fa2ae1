"""Bounds for unequal costs: by hand, and against simulations."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import almoner as al
from almoner.bounds import (
    alp_regret,
    epsilon_first_regret,
    exploration_length,
    general_alp_regret,
    general_budget_tail,
)
from almoner.scenarios import scenario


def test_the_exploration_length_by_hand() -> None:
    """One context, costs 1 and 3, means .5 and .7: slopes .5, .7/3 and .1 (from 1 to 3).

    The smallest step is .7/3 − .1 = .13333 and the smallest cost difference 1, so Δ* = .13333.
    With δ = ½ and π_min = 1: 2/.5 + log 100 · max(4, 32/(.5 · Δ*²)) = 4 + log 100 · 3600.
    """
    problem = al.Problem(
        context_probs=[1.0], reward_means=[[0.5, 0.7]], costs=[1, 3], horizon=100, budget=50
    )
    assert exploration_length(problem) == pytest.approx(4 + math.log(100) * 3600)


def test_rare_contexts_make_it_longer_quadratically_where_slopes_are_far_apart() -> None:
    """J=2, K=1, unit costs, means .9 and .1: Δ* = .8, 16/(.5·π·.64) = 50/π against 4/π²."""
    problem = al.Problem(
        context_probs=[0.01, 0.99], reward_means=[[0.9], [0.1]], horizon=100, budget=50
    )
    expected = 1 / 0.005 + math.log(100) * 4 / 0.01**2
    assert exploration_length(problem) == pytest.approx(expected)


def test_equal_slopes_need_not_be_told_apart() -> None:
    problem = al.Problem(
        context_probs=[0.5, 0.5], reward_means=[[0.4], [0.4]], horizon=100, budget=50
    )
    assert math.isfinite(exploration_length(problem))


@pytest.mark.slow
@pytest.mark.parametrize("gap", [0.1, 0.2, 0.4])
def test_the_budget_left_under_alp_stays_within_its_tail(gap: float) -> None:
    """The share of runs off by more than the gap, plus 4 of its standard errors at the bound."""
    problem = scenario("heterogeneous").scaled(2000)
    runs = al.simulate(problem, al.alp(), runs=400, seed=5, against="upper bound", marks=[1001])
    ratio = runs.budget_left[:, 0] / 1000
    bound = general_budget_tail(problem, 1000, gap=gap)
    error = 4 * math.sqrt(bound / 400)
    assert np.mean(ratio > problem.ratio + gap) <= bound + error
    assert np.mean(ratio < problem.ratio - gap) <= bound + error


def test_what_the_grid_cuts_off_is_left_to_the_end() -> None:
    """.9 pays for no action of cost 1: with one round to go .9 is left, and ρ is .009."""
    problem = al.Problem(context_probs=[1.0], reward_means=[[0.5]], horizon=100, budget=0.9)
    runs = al.simulate(problem, al.alp(), runs=2, seed=5, against="upper bound", marks=[100])
    assert np.all(runs.budget_left[:, 0] > problem.ratio + 0.8)
    assert general_budget_tail(problem, 1, gap=0.8) == 1
    assert general_budget_tail(problem, 1, gap=0.95) < 1


def test_money_that_no_plan_can_use_piles_up_beyond_the_last_boundary() -> None:
    """Boundaries .5 and 1. At ρ = 1.3 all runs have more than 1.5 a round left in the end."""
    problem = al.Problem(
        context_probs=[0.5, 0.5], reward_means=[[0.9], [0.3]], horizon=1000, budget=1300, costs=[1]
    )
    runs = al.simulate(problem, al.alp(), runs=50, seed=5, against="upper bound", marks=[501])
    assert np.all(runs.budget_left[:, 0] > 1.5 * 500)
    assert general_budget_tail(problem, 500, gap=0.2) == 1
    inside = problem.replace(budget=900)
    assert general_budget_tail(inside, 500, gap=0.4) == general_budget_tail(inside, 500, gap=0.1)


def test_the_regret_of_alp_by_hand() -> None:
    """One context, costs 1 and 2, means .5 and .7: v rises by .5 up to 1 and by .2 up to 2.

    At ρ = 1 the first kink is met and the second is 1 away: x = ½, S = 2e²/(8 sinh ¼) = 7.31.
    R = (π/4) √(1·1·400) = 15.71. So .5·2 + (.5 − .2)·15.71 + .2·7.31.
    """
    problem = al.Problem(
        context_probs=[1.0], reward_means=[[0.5, 0.7]], costs=[1, 2], horizon=400, budget=400
    )
    far = 2 * math.e**2 / (8 * math.sinh(0.25))
    expected = 0.5 * 2 + 0.3 * (math.pi / 4 * 20) + 0.2 * far
    assert general_alp_regret(problem) == pytest.approx(expected)
    assert general_alp_regret(problem.replace(budget=800)) == 0  # the dearest, in every round


@st.composite
def small_problems(draw: st.DrawFn) -> al.Problem:
    """Costs on a grid, so that the value of `alp` is computed; defaults, ties and zeros included.

    Every other budget lies on a boundary.
    """
    contexts, actions = draw(st.integers(1, 3)), draw(st.integers(1, 3))
    tenths = st.integers(0, 10).map(lambda tenth: tenth / 10)
    weights = draw(st.lists(st.integers(1, 4), min_size=contexts, max_size=contexts))
    means = draw(
        st.lists(
            st.lists(tenths, min_size=actions, max_size=actions),
            min_size=contexts,
            max_size=contexts,
        )
    )
    costs = draw(
        st.lists(st.sampled_from([0.5, 1.0, 1.5, 3.0]), min_size=actions, max_size=actions)
    )
    problem = al.Problem(
        context_probs=[weight / sum(weights) for weight in weights],
        reward_means=means,
        costs=costs,
        default_rewards=draw(st.lists(tenths, min_size=contexts, max_size=contexts)),
        defaults_known=True,
        horizon=draw(st.integers(1, 60)),
        budget=1,
    )
    boundaries = [*al.solve(problem).boundaries]
    ratio = draw(st.sampled_from([0.0, 0.3, 0.8, 1.7, 3.0, *boundaries, *boundaries]))
    return problem.replace(budget=round(ratio * problem.horizon * 2) / 2)


@settings(max_examples=150)
@given(problem=small_problems(), part=st.sampled_from([0.0, 0.01, 0.3, 0.49]))
@pytest.mark.slow
def test_no_small_problem_exceeds_the_bound_for_alp(problem: al.Problem, part: float) -> None:
    """On the grid of the costs, and with a part of a unit that pays for nothing."""
    problem = problem.replace(budget=problem.budget + part)
    regret = al.upper_bound(problem) - al.exact_value(problem, al.alp())
    assert regret <= general_alp_regret(problem) + 1e-9


@pytest.mark.parametrize("ratio", [0.4, 0.41, 1.1, 1.9])
def test_the_heterogeneous_system_stays_below_the_bound_for_alp(ratio: float) -> None:
    """0.4 and 1.9 are boundaries."""
    problem = scenario("heterogeneous").scaled(400, ratio=ratio)
    regret = al.upper_bound(problem) - al.exact_value(problem, al.alp())
    assert 0 < regret <= general_alp_regret(problem)


def test_off_the_boundaries_the_bound_does_not_grow_and_on_one_it_does_like_a_root() -> None:
    system = scenario("heterogeneous")
    off = [general_alp_regret(system.scaled(10**power, ratio=1.1)) for power in (9, 10, 11)]
    assert off[0] == off[1] == off[2]
    on = [general_alp_regret(system.scaled(10**power, ratio=0.4)) for power in (10, 12, 14)]
    assert (on[2] - on[1]) / (on[1] - on[0]) == pytest.approx(10)


@pytest.mark.parametrize("ratio", [0.3, 0.39, 0.4, 0.5])
def test_with_equal_costs_it_is_below_the_papers_bound(ratio: float) -> None:
    problem = scenario("paper-two").scaled(10_000, ratio=ratio)
    assert general_alp_regret(problem) < alp_regret(problem)


TOO_FEW = 20
TWO_SLOPES = al.Problem(
    context_probs=[0.5, 0.5], reward_means=[[0.9], [0.3]], costs=[1], horizon=20_000, budget=8_000
)
THREE_SLOPES = al.Problem(
    context_probs=[0.5, 0.5],
    reward_means=[[0.8, 1.0], [0.2, 0.4]],
    costs=[1, 2],
    horizon=200_000,
    budget=160_000,
)


@pytest.mark.parametrize(
    ("problem", "rounds"),
    [
        pytest.param(TWO_SLOPES, None, id="the theorem's length"),
        pytest.param(TWO_SLOPES, 500, id="a good one"),
        pytest.param(TWO_SLOPES, TOO_FEW, id="too short to be sure"),
        pytest.param(TWO_SLOPES.replace(budget=10_000), 500, id="on a boundary"),
        pytest.param(THREE_SLOPES, 8_000, id="unequal costs"),
    ],
)
@pytest.mark.slow
def test_epsilon_first_stays_below_its_bound(problem: al.Problem, rounds: int | None) -> None:
    length = rounds or math.ceil(exploration_length(problem))
    assert length < problem.horizon / 5
    policy = al.epsilon_first_alp(rounds=length, update=False)
    runs = al.simulate(problem, policy, runs=100, seed=3, against="upper bound")
    bound = epsilon_first_regret(problem, rounds)
    assert runs.regret.mean <= bound
    if rounds != TOO_FEW:
        assert bound < al.upper_bound(problem) / 4  # it says something


def test_the_theorems_length_makes_mistakes_negligible_and_regret_grow_with_log_t() -> None:
    """Exploring is all that grows, by the length times v(∞) + (.9·1 − .9 + .9·1 − .3)/2 = .6 + .3.

    What is left for exploiting has a ratio from .4 − 2460/10⁶ to .4 + .001, and the kinks at .5
    and 1 are .099 or more away.
    """
    problem = TWO_SLOPES.replace(horizon=10**6, budget=400_000)
    length = math.ceil(exploration_length(problem))
    x = 0.5 - 400_000 / (10**6 - length)
    near, far = (math.exp(4 * x) / (8 * math.sinh(x**2)) for x in (x, 0.5))
    exploiting = 0.9 + 0.6 * near + 0.3 * far
    bound = epsilon_first_regret(problem)
    assert bound == pytest.approx(length * 0.9 + exploiting, rel=1e-6)
    longer = TWO_SLOPES.replace(horizon=10**12, budget=4 * 10**11)
    assert epsilon_first_regret(longer) / bound == pytest.approx(2, rel=0.02)


def test_what_cannot_be_explored_can_lose_everything() -> None:
    """Rounds that cost more than the budget, or more of them than there are."""
    everything = 20_000 * 0.6
    assert epsilon_first_regret(TWO_SLOPES, 8_001) == pytest.approx(everything)
    assert epsilon_first_regret(TWO_SLOPES.replace(budget=40_000), 20_000) == everything
    assert epsilon_first_regret(scenario("heterogeneous")) > 10_000 * 0.5


def test_bad_arguments_are_refused() -> None:
    with pytest.raises(al.InvalidInput, match="rounds must be at least 1"):
        epsilon_first_regret(scenario("paper-two"), 0)
    with pytest.raises(al.InvalidInput, match="slack must be greater than 0"):
        epsilon_first_regret(scenario("paper-two"), slack=0)
    with pytest.raises(al.InvalidInput, match="slack must be greater than 0"):
        exploration_length(scenario("paper-two"), slack=0)
    with pytest.raises(al.InvalidInput, match="gap must be at least 0"):
        general_budget_tail(scenario("paper-two"), 10, gap=-1)


@pytest.mark.parametrize("unit", [1e-300, 1e-14, 1e-6, 1e6, 1e13, 1e300])
def test_exploration_does_not_depend_on_the_unit_of_money(unit: float) -> None:
    """Slopes and costs below 1e-12 used to count as 0, so that the bound was exceeded."""
    equal = al.Problem(
        context_probs=[0.5, 0.5],
        reward_means=[[0.55], [0.5]],
        horizon=10**5,
        budget=40_000,
    )
    unequal = equal.replace(reward_means=[[0.9, 0.95], [0.3, 0.35]], costs=[1, 2])
    for problem in (equal, unequal):
        other = problem.replace(costs=problem.costs * unit, budget=problem.budget * unit)
        assert exploration_length(other) == pytest.approx(exploration_length(problem))
        if 1e-100 < unit < 1e100:
            same = epsilon_first_regret(problem, 60)
            assert epsilon_first_regret(other, 60) == pytest.approx(same)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("horizon", [1, 10])
@pytest.mark.parametrize(
    ("probs", "means"),
    [([1e-300, 1], [[0.5], [0.1]]), ([0.5, 0.5], [[0.0], [0.0]]), ([0.5, 0.5], [[0.5], [0.5]])],
)
def test_exploration_has_a_number_in_extreme_cases(
    probs: list[float], means: list[list[float]], horizon: int
) -> None:
    """A context of probability 1e-300 raised ZeroDivisionError."""
    for costs in ([[1.0], [1.0]], [[1e-300], [1e300]], [[1e-14], [1e-14]]):
        problem = al.Problem(
            context_probs=probs, reward_means=means, costs=costs, horizon=horizon, budget=5
        )
        assert exploration_length(problem) > 0
        for rounds in (None, 1):
            assert 0 <= epsilon_first_regret(problem, rounds) <= horizon
