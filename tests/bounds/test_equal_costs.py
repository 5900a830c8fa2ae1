"""Every bound against the quantity it bounds, and against numbers worked by hand."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.bound_problems import three, tied, two
from support.problems import PAPER_TEN, PAPER_TWO, unit_problems

from almoner import bounds
from almoner.errors import InvalidInput, NotComputable
from almoner.policy.recipes import alp, ucb_alp, ucb_pb
from almoner.problem import Problem
from almoner.simulation.oracle import exact_value, optimal_value, upper_bound
from almoner.simulation.simulate import simulate

# Theorem 1


@pytest.mark.parametrize("horizon", [10, 300, 3000])
@pytest.mark.parametrize(
    ("paper", "ratio"),
    [
        *product([PAPER_TWO], [0.1, 0.39, 0.4, 0.41, 0.9]),
        *product([PAPER_TEN], [0.05, 0.15, 0.49, 0.5, 0.51, 0.7, 0.925]),
    ],
)
def test_alp_stays_under_theorem_1_on_the_problems_of_the_paper(
    paper: Callable[[int, float], Problem], ratio: float, horizon: int
) -> None:
    problem = paper(horizon, ratio)
    value = exact_value(problem, alp())
    assert value <= optimal_value(problem) + 1e-9
    assert upper_bound(problem) - value <= bounds.alp_regret(problem)


@given(unit_problems())
@pytest.mark.slow
def test_alp_stays_under_theorem_1_on_any_problem(problem: Problem) -> None:
    """A worthless context, for which our `alp` does not pay, only leaves more for the others."""
    regret = upper_bound(problem) - exact_value(problem, alp())
    assert regret <= bounds.alp_regret(problem) + 1e-9


@pytest.mark.slow
@given(problem=unit_problems(), cost=st.sampled_from([1.0, 0.1, 2.5]), part=st.floats(0, 1))
def test_alp_stays_under_theorem_1_with_fractional_budgets(
    problem: Problem, cost: float, part: float
) -> None:
    """Budgets between two numbers of actions, below one action, beyond the horizon."""
    problem = problem.replace(budget=(problem.budget + part) * cost, costs=cost)
    regret = upper_bound(problem) - exact_value(problem, alp())
    assert regret <= bounds.alp_regret(problem) + 1e-9
    assert regret <= bounds.general_alp_regret(problem) + 1e-9


def test_budget_that_pays_for_no_whole_action_is_lost() -> None:
    """One context of .9: 50.9 pays for 50 actions, and the upper bound counts 50.9."""
    problem = Problem(context_probs=[1], reward_means=[[0.9, 0.2]], horizon=100, budget=50.9)
    assert upper_bound(problem) - exact_value(problem, alp()) == pytest.approx(0.81)
    assert bounds.alp_regret(problem) == pytest.approx(0.81)


@pytest.mark.parametrize("make", [three, two])
def test_a_budget_below_one_action_loses_the_whole_upper_bound(
    make: Callable[[float], Problem],
) -> None:
    problem = make(0.9)
    assert simulate(problem, ucb_alp(), runs=2).reward.values.tolist() == [0, 0]
    assert bounds.alp_regret(problem) == pytest.approx(upper_bound(problem))
    assert bounds.ucb_alp_regret(problem) >= upper_bound(problem)


def test_theorem_1_off_the_boundaries_by_hand() -> None:
    """ρ = .4 lies .2 above q_1 and .1 below q_2: .8 / (1 − e^{−.02}) = .8 / .0198013 = 40.401."""
    assert bounds.alp_regret(three(40)) == pytest.approx(40.401, abs=1e-3)


def test_theorem_1_on_a_boundary_by_hand() -> None:
    """ρ = q_2 = .5: 2·.8·√(.25·100) = 8, and q_1 is .3 away: .8 / (1 − e^{−.18}) = 4.85643.

    ρ = q_1 = .2: 2·.8·√(.16·100) = 6.4, and 0 is .2 away: .8 / (1 − e^{−.08}) = 10.40533.
    """
    assert bounds.alp_regret(three(50)) == pytest.approx(8 + 4.85643, abs=1e-5)
    assert bounds.alp_regret(three(20)) == pytest.approx(6.4 + 10.40533, abs=1e-5)


def test_a_tiny_ratio_is_not_taken_for_a_boundary() -> None:
    # Off the boundaries the bound is a constant / δ², and δ = ρ where that is the nearest one: 0.
    long, longer = (
        bounds.alp_regret(two(0.4).replace(horizon=horizon, budget=10))
        for horizon in (10**9, 10**13)
    )
    assert longer == pytest.approx(1e8 * long)


def test_contexts_that_tie_are_one_context_to_theorem_1() -> None:
    """At ρ = .3 the LP is half way through the pair: δ = .3, and .5 / (1 − e^{−.18}) = 3.03527."""
    assert bounds.alp_regret(tied(30)) == pytest.approx(3.03527, abs=1e-5)


@pytest.mark.parametrize("budget", [0, 100, 130])
def test_without_a_choice_of_contexts_only_actions_can_cost(budget: int) -> None:
    problem = three(budget)
    assert bounds.alp_regret(problem) == 0
    assert bounds.ranking_errors(problem) == (0, 0)
    assert bounds.ucb_alp_regret(problem) == bounds.action_regret(problem)
    assert bounds.ucb_alp_log_constants(problem)[1] == 0
    assert bounds.truncation_round(problem) == (math.inf, False)


def test_only_the_number_of_actions_that_a_budget_pays_for_counts() -> None:
    """101 pays for 40.4 actions: the upper bound counts the .4, at the marginal reward of .6."""
    dear = three(101, costs=2.5)
    assert bounds.ranking_errors(dear) == bounds.ranking_errors(three(40))
    for bound in (bounds.alp_regret, bounds.ucb_alp_regret):
        assert bound(dear) == pytest.approx(bound(three(40)) + 0.4 * 0.6, rel=1e-12)
    assert bounds.remaining_budget(dear, 10) == bounds.remaining_budget(three(40), 10)


# Lemmas 4 and 6, Theorem 2


def test_action_regret_by_hand() -> None:
    """Gaps .4 and .2, the tie left out: Θ = 5 + .8 + 10 + .4 = 16.2; 16.2 log 100 + 2·.6."""
    assert bounds.action_regret(three(40)) == pytest.approx(16.2 * math.log(100) + 1.2)


def test_ranking_errors_off_the_boundaries_by_hand() -> None:
    """ρ = .4: the margin is the context of .3; δ = .1/2 = .05; every g = .05, 13.5/g = 270.

    Above, .9 against .6 and .4: 270 (1/.09 + 1/.25) + 4 = 3000 + 1080 + 4 = 4084.
    Below, .6 against .1 twice: 270·2/.25 + 4 = 2164. Each with 2·2 + 2·10⁻⁶, and with
    2 / (e^{.005} − 1) = 399.00083.
    """
    log = math.log(100)
    above, below = bounds.ranking_errors(three(40))
    assert above == pytest.approx(4084 * log + 4.000002 + 399.00083, abs=1e-4)
    assert below == pytest.approx(2164 * log + 4.000002 + 399.00083, abs=1e-4)


def test_ranking_errors_on_a_boundary_by_hand() -> None:
    """ρ = .2: the margin is the best context, so nothing is above; δ = .2/2 = .1 and g = .1.

    Below, .9 against .6 and .4 and twice .1: 135 (1/.09 + 1/.25 + 2/.64) + 8 = 2469.875, with
    4·2 + 4·10⁻⁶, and with 2 / (e^{.02} − 1) = 99.00333.
    """
    above, below = bounds.ranking_errors(three(20))
    assert above == 0
    assert below == pytest.approx(2469.875 * math.log(100) + 8.000004 + 99.00333, abs=1e-4)


def test_a_rare_context_is_seldom_seen() -> None:
    """ρ = .8 is .2 above q_1 and .15 below q_2: δ = .075, and g = .05 for the context of 5 %.

    Above, .9 against .8: 13.5 / (.075·.01) + 2 = 18002; below, .8 against .2: 13.5 / (.05·.36) + 2
    = 752. Each with 2 + 10⁻⁶, and with 2 / (e^{.01125} − 1) = 176.77965.
    """
    problem = Problem(
        context_probs=[0.6, 0.35, 0.05], reward_means=[[0.9], [0.8], [0.2]], horizon=100, budget=80
    )
    above, below = bounds.ranking_errors(problem)
    assert above == pytest.approx(18002 * math.log(100) + 2.000001 + 176.77965, abs=1e-4)
    assert below == pytest.approx(752 * math.log(100) + 2.000001 + 176.77965, abs=1e-4)


def test_a_rare_context_above_the_margin_needs_no_pulls_of_its_own() -> None:
    """ρ = .3 lies .25 above q_1 = .05: δ = .125 = g of the margin; .9 against .8: 10802 in all."""
    problem = Problem(
        context_probs=[0.05, 0.6, 0.35], reward_means=[[0.9], [0.8], [0.2]], horizon=100, budget=30
    )
    above, _ = bounds.ranking_errors(problem)
    rest = 2.000001 + 2 / math.expm1(2 * 0.125**2)
    assert above == pytest.approx(10802 * math.log(100) + rest)


def test_theorem_2_off_the_boundaries_by_hand() -> None:
    """ρ = .4 with q_1 = .3: δ = g = .05, v = .24 + .1·.4 = .28, ū* = .24 + .28 = .52.

    Θ^(a) = 2/.3 + .6 + 2/.1 + .2 = 27.46667; Θ^(c) = (.52 + .28)·(270 (1/.25 + 1/.16) + 4) =
    .8·2771.5 = 2217.2. The rest: 2 (.3 + .1) from the actions, .8·(2·2 + 2·10⁻⁹ + 399.00083) from
    the errors, (.4 + 2·.52) / (e^{.005} − 1) = 1.44·199.50042 = 287.28060 from the budget.
    """
    problem = two(400)
    constants = bounds.ucb_alp_log_constants(problem)
    assert constants == pytest.approx((27.46667, 2217.2), abs=1e-5)
    rest = 0.8 + 0.8 * 403.00083 + 287.28060
    expected = sum(constants) * math.log(1000) + rest
    assert bounds.ucb_alp_regret(problem) == pytest.approx(expected, abs=1e-4)


def test_theorem_2_on_a_boundary_by_hand() -> None:
    """ρ = q_1 = .3: δ = g = .15, v = .24.

    Θ^(c) = .24·(90 (1/.25 + 1/.16) + 4) = .24·926.5 = 222.36. The rest: .8 from the actions,
    2·.8·√(.21·1000) = 23.18620 and 2·.24 / (e^{.045} − 1) = .48·21.72597 = 10.42847 from the
    budget, .24·(4 + 2·21.72597) = 11.38847 from the errors.
    """
    problem = two(300)
    constants = bounds.ucb_alp_log_constants(problem)
    assert constants == pytest.approx((27.46667, 222.36), abs=1e-5)
    rest = 0.8 + 23.18620 + 10.42847 + 11.38847
    expected = sum(constants) * math.log(1000) + rest
    assert bounds.ucb_alp_regret(problem) == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize(("ratio", "root"), [(0.4, 0.0), (0.3, 1.6 * math.sqrt(0.21))])
def test_theorem_2_grows_with_its_log_constants(ratio: float, root: float) -> None:
    """From T to 4T: log 4 times both constants, and 2 u*_1 √(ρ(1−ρ)) (√4T − √T) on a boundary."""
    short, long = two(ratio * 1e6, 10**6), two(ratio * 4e6, 4 * 10**6)
    growth = bounds.ucb_alp_regret(long) - bounds.ucb_alp_regret(short)
    constants = sum(bounds.ucb_alp_log_constants(short))
    assert growth == pytest.approx(constants * math.log(4) + root * 1000, rel=1e-9)


@pytest.mark.parametrize(
    "problem",
    [
        PAPER_TWO(500, 0.4),
        PAPER_TWO(2000, 0.3),
        PAPER_TEN(500, 0.5),
        PAPER_TEN(2000, 0.6),
        two(300),
        two(650),
        three(50),
        three(150, 200),
    ],
)
def test_ucb_alp_stays_under_theorem_2(problem: Problem) -> None:
    """Against the larger benchmark, with four standard errors on top."""
    regret = simulate(problem, ucb_alp(), runs=200, seed=5, against="upper bound").regret
    assert 0 < regret.mean + 4 * regret.stderr <= bounds.ucb_alp_regret(problem)


def test_a_tie_with_the_marginal_context_leaves_no_bound() -> None:
    """At ρ = .8 the tie is above the margin and harmless, at ρ = .4 one of the pair is marginal."""
    assert bounds.ucb_alp_regret(tied(40)) == math.inf
    assert bounds.ucb_alp_log_constants(tied(40))[1] == math.inf
    assert bounds.ranking_errors(tied(40))[0] == math.inf
    assert math.isfinite(bounds.ucb_alp_regret(tied(80)))


def test_contexts_that_all_tie_may_be_mistaken_for_each_other() -> None:
    problem = two(400).replace(reward_means=[[0.3, 0.4], [0.4, 0.1]])
    assert bounds.alp_regret(problem) == 0
    assert bounds.ucb_alp_regret(problem) == bounds.action_regret(problem)
    assert bounds.ucb_pb_regret(problem) == bounds.action_regret(problem)


# Theorem 3, on two contexts, and Theorem 4, on EALP2


@pytest.mark.parametrize("budget", [300, 400])
def test_two_context_theorem_by_hand(budget: int) -> None:
    """π_2 = .7 and gaps .5 and .4: 13.5/.7 = 19.285714, so 38.571429 + 1 + 48.214286 + .8 =
    88.585714 times log T, 2·.9 besides, and the regret from actions; the budget does not matter.
    """
    problem = two(budget)
    expected = 88.585714 * math.log(1000) + 1.8 + bounds.action_regret(problem)
    assert bounds.ucb_pb_regret(problem) == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize("problem", [PAPER_TWO(1000, 0.39), PAPER_TWO(1000, 0.4), two(300), two(5)])
def test_ucb_pb_stays_under_its_theorem(problem: Problem) -> None:
    regret = simulate(problem, ucb_pb(), runs=300, seed=5).regret
    assert 0 < regret.mean + 4 * regret.stderr <= bounds.ucb_pb_regret(problem)


def test_contexts_that_never_come_do_not_count_as_contexts() -> None:
    problem = Problem(
        context_probs=[0.7, 0, 0.3],
        reward_means=[[0.3, 0.4], [0.9, 0.2], [0.8, 0.5]],
        horizon=1000,
        budget=400,
    )
    for bound in (bounds.ucb_pb_regret, bounds.ucb_alp_regret, bounds.alp_regret):
        assert bound(problem) == bound(two(400))


def test_truncation_round_by_hand() -> None:
    """ρ = .4 with q_1 = .3: δ = .1, J = 2, 16·4 log³T / .01; for T = 1000, 6400·329.618 = 2109557.

    log³T / T ≤ .001/256 = 3.9·10⁻⁶ fails at T = 2·10⁹ (4.9·10⁻⁶), holds at 3·10⁹ (3.5·10⁻⁶).
    """
    last_round, long_enough = bounds.truncation_round(two(400))
    assert last_round == pytest.approx(2109557, rel=1e-5)
    assert not long_enough
    assert not bounds.truncation_round(two(8e8, 2 * 10**9))[1]
    assert bounds.truncation_round(two(12e8, 3 * 10**9))[1]
    assert bounds.truncation_round(two(300)) == (math.inf, False)


# What cannot be had


@pytest.mark.parametrize(
    "bound",
    [
        bounds.alp_regret,
        bounds.action_regret,
        bounds.ranking_errors,
        bounds.ucb_alp_log_constants,
        bounds.ucb_alp_regret,
        bounds.ucb_pb_regret,
        bounds.truncation_round,
        lambda problem: bounds.remaining_budget(problem, 3),
        lambda problem: bounds.remaining_budget_tail(problem, 3, gap=0.1),
    ],
)
def test_problems_outside_the_theorems_are_refused(bound: Callable[[Problem], object]) -> None:
    with pytest.raises(NotComputable, match=r"every action to cost the same.* from 1 to 2;"):
        bound(three(40, costs=[1, 2]))
    with pytest.raises(NotComputable, match=r"skipping to bring nothing.* up to 0.2;"):
        bound(three(40, default_rewards=[0, 0, 0.2, 0.1]))


def test_arguments_outside_their_range_are_refused() -> None:
    problem = three(40)
    with pytest.raises(NotComputable, match="needs two contexts, got 3"):
        bounds.ucb_pb_regret(problem)
    with pytest.raises(InvalidInput, match="rounds_left must be at most the horizon, 100, got"):
        bounds.remaining_budget(problem, 101)
    with pytest.raises(InvalidInput, match="rounds_left must be at least 0, got rounds_left=-1"):
        bounds.remaining_budget_tail(problem, -1, gap=0.1)
    with pytest.raises(InvalidInput, match="gap must be greater than 0, got gap=0"):
        bounds.remaining_budget_tail(problem, 10, gap=0)
    with pytest.raises(InvalidInput, match=r"gap must be greater than 0, got gap=-0.5"):
        bounds.pulls_needed(problem, gap=-0.5)
    with pytest.raises(InvalidInput, match="at_round must be at least 1, got at_round=0"):
        bounds.ranking_error_probability(0)
    with pytest.raises(InvalidInput, match=r"chances must be a whole number, got chances=2.5"):
        bounds.execution_tail(2.5, gap=0.1)  # type: ignore[arg-type]
