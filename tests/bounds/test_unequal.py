"""Bounds for unequal costs: by hand, and against what is measured."""

import math

import numpy as np
import pytest

import almoner as al
from almoner.bounds import exploration_length, general_budget_tail
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


def test_bad_arguments_are_refused() -> None:
    with pytest.raises(al.InvalidInput, match="slack must be greater than 0"):
        exploration_length(scenario("paper-two"), slack=0)
    with pytest.raises(al.InvalidInput, match="gap must be at least 0"):
        general_budget_tail(scenario("paper-two"), 10, gap=-1)
