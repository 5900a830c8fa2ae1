"""Unequal costs end to end: the oracle on a grid, and regrets measured independently."""

from __future__ import annotations

import math
from contextlib import nullcontext

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import almoner as al
from almoner.scenarios import scenario

HETEROGENEOUS = scenario("heterogeneous")
GRID = 0.25


@st.composite
def grid_problems(draw: st.DrawFn) -> al.Problem:
    """Draw small problems whose costs are multiples of a quarter."""
    contexts, actions = draw(st.integers(1, 3)), draw(st.integers(1, 3))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    return al.Problem(
        context_probs=rng.dirichlet(np.ones(contexts)),
        reward_means=rng.random((contexts, actions)).round(2),
        costs=GRID * rng.integers(1, 9, (contexts, actions)),
        default_rewards=(0.3 * rng.random(contexts)).round(2),
        horizon=draw(st.integers(1, 12)),
        budget=GRID * draw(st.integers(0, 60)),
    )


def best_by_recursion(problem: al.Problem) -> float:
    """Compute V(τ, b) from its definition, with budgets counted in quarters."""
    quarters = np.round(problem.costs / GRID).astype(int)
    values = np.zeros(round(problem.budget / GRID) + 1)
    for _ in range(problem.horizon):
        following = np.zeros(len(values))
        for left in range(len(values)):
            for context, chance in enumerate(problem.context_probs):
                options = [problem.default_rewards[context] + values[left]]
                for action, cost in enumerate(quarters[context]):
                    if cost <= left:
                        mean = problem.reward_means[context, action]
                        options.append(mean + values[left - cost])
                following[left] += chance * max(options)
        values = following
    return float(values[-1])


@given(grid_problems())
@settings(max_examples=40)
def test_the_optimum_on_a_grid_is_that_of_the_definition(problem: al.Problem) -> None:
    assert al.optimal_value(problem) == pytest.approx(best_by_recursion(problem), abs=1e-9)


def value_of_alp_by_recursion(problem: al.Problem) -> float:
    """Σ_j π_j Σ_k p_jk (u_jk + V(τ−1, b − c_jk)), p solved anew for what each b affords."""
    quarters = np.round(problem.costs / GRID).astype(int)
    values = np.zeros(round(problem.budget / GRID) + 1)
    for tau in range(1, problem.horizon + 1):
        following = np.zeros(len(values))
        for left in range(len(values)):
            means = np.where(quarters <= left, problem.reward_means, 0.0)
            shares = al.solve(
                problem.replace(reward_means=means), ratio=GRID * left / tau
            ).probabilities
            for context, chance in enumerate(problem.context_probs):
                idle = problem.default_rewards[context] + values[left]
                worth = (1 - shares[context].sum()) * idle
                for action in np.flatnonzero(shares[context] > 0):
                    rest = values[left - quarters[context, action]]
                    worth += shares[context, action] * (means[context, action] + rest)
                following[left] += chance * worth
        values = following
    return float(values[-1])


@given(grid_problems())
@settings(max_examples=25)
def test_the_exact_value_on_a_grid_is_that_of_the_definition(problem: al.Problem) -> None:
    exact = al.exact_value(problem, al.alp())
    assert exact == pytest.approx(value_of_alp_by_recursion(problem), abs=1e-9)
    assert exact <= al.optimal_value(problem) + 1e-9


QUARTERS = al.Problem(
    context_probs=[0.2, 0.5, 0.3],
    reward_means=[[0.9, 0.2, 0.9], [0.5, 0.6, 0.7], [0.3, 0.4, 0.1]],
    costs=[[1.25, 0.5, 1.25], [0.75, 1, 1.5], [0.25, 1, 0.25]],
    default_rewards=[0.1, 0.2, 0.0],
    horizon=150,
    budget=80,
)
BELIEVED = [[0.8, 0.5, 0.8], [0.4, 0.1, 0.6], [0.3, 0.3, 0.3]]  # ties that are none, wrong order


@pytest.mark.parametrize(
    "policy",
    [
        al.alp(),
        al.flp(),
        al.rounded(),
        al.alp(reward_means=BELIEVED, context_probs=[0.5, 0.2, 0.3]),
        al.rounded(reward_means=BELIEVED),
        al.Policy(
            rewards=al.KnownRewards(), contexts=al.KnownContexts(), allocation=al.SkipAlways()
        ),
    ],
)
def test_exact_values_on_a_grid_are_those_of_simulation(policy: al.Policy) -> None:
    """4 standard errors of the mean regret, which is the reduced one."""
    regret = al.simulate(QUARTERS, policy, runs=4000, seed=5).regret
    exact = al.optimal_value(QUARTERS) - al.exact_value(QUARTERS, policy)
    assert abs(regret.mean - exact) <= 4 * regret.stderr + 1e-9


@pytest.mark.parametrize(
    ("policy", "ratio"),
    [(al.alp(), 1.1), (al.rounded(), 0.4), (al.rounded(), 0.41), (al.rounded(), 1.1)],
)
def test_dropping_unaffordable_actions_before_the_lp_loses_little(
    policy: al.Policy, ratio: float
) -> None:
    """.06 to .08 at T = 400 by an independent program; skipping such rounds loses .18 to .22."""
    problem = HETEROGENEOUS.scaled(400, ratio=ratio)
    loss = al.optimal_value(problem) - al.exact_value(problem, policy)
    assert 0.055 < loss < 0.085


def test_the_exact_value_at_costs_on_no_coarse_grid_is_refused() -> None:
    with pytest.raises(al.NotComputable) as refused:
        al.exact_value(scenario("llm-routing"), al.alp())
    assert str(refused.value) == (
        "exact_value needs costs on a coarser common grid, got costs from 1.0825 to 18.9495 in "
        "steps of 0.0001; use simulate"
    )


def test_the_optimum_lies_a_little_below_the_upper_bound() -> None:
    """Measured independently: .09 at ρ = 1.1, whatever the horizon."""
    for horizon in (400, 3000):
        problem = HETEROGENEOUS.scaled(horizon)
        floor = al.upper_bound(problem) - al.optimal_value(problem)
        assert floor == pytest.approx(0.094, abs=0.003)


def test_budget_left_over_has_no_value() -> None:
    """One round, a budget of 1.75, costs 1 and 1.5: the dearer action and no more."""
    problem = al.Problem(
        context_probs=[1.0], reward_means=[[0.4, 0.7]], costs=[1, 1.5], horizon=1, budget=1.75
    )
    assert al.optimal_value(problem) == pytest.approx(0.7)
    assert al.optimal_value(problem.replace(budget=1.25)) == pytest.approx(0.4)


MEASURED = [
    (al.alp(), 0.21),
    (al.rounded(), 0.18),
    (al.horizon_alp(), 84),
    (al.ucb_alp(width=0.125), 87),
    (al.ucb_alp(), 144),
    (al.epsilon_first_alp(rounds=200, update=False), 243),
    (al.epsilon_first_alp(rounds=500, update=False), 186),
    (al.epsilon_first_alp(rounds=1000, update=False), 193),
    (al.epsilon_first_alp(rounds=500), 135),
    (al.epsilon_first_alp(test="usable"), 136),
    (al.epsilon_first_alp(test="literal", cap=1.0), 1016),
]
"""Regret at T = 10⁴, ρ = 1.1 against the upper bound, by an independent program."""


@pytest.mark.parametrize(("policy", "expected"), MEASURED)
def test_regrets_agree_with_an_independent_program(policy: al.Policy, expected: float) -> None:
    """Within 4 standard errors; its own numbers are rounded and carry an error of their own."""
    runs = al.simulate(HETEROGENEOUS, policy, runs=60, seed=11, against="upper bound")
    assert abs(runs.regret.mean - expected) < 4 * runs.regret.stderr + 0.02 * expected
    assert runs.spend.max() <= HETEROGENEOUS.budget


def test_thrifty_beats_explore_first_and_the_paper_s_width() -> None:
    regret = {
        name: al.simulate(HETEROGENEOUS, policy, runs=200, seed=4, against="upper bound").regret
        for name, policy in {
            "thrifty": al.thrifty(),
            "ucb_alp": al.ucb_alp(),
            "explore": al.epsilon_first_alp(test="usable"),
        }.items()
    }
    for other in ("ucb_alp", "explore"):
        error = math.hypot(regret["thrifty"].stderr, regret[other].stderr)
        assert regret["thrifty"].mean < regret[other].mean - 3 * error


@pytest.mark.parametrize("name", ["hillstrom-email", "llm-routing", "heterogeneous"])
@pytest.mark.parametrize(
    "recipe", ["alp", "rounded", "thrifty", "horizon_alp", "epsilon_first_alp"]
)
def test_real_scenarios_run_within_budget(name: str, recipe: str) -> None:
    problem = scenario(name).scaled(500)
    explores = recipe == "epsilon_first_alp"  # for 50 rounds, too few for all that may come
    with pytest.warns(al.UntriedPairs) if explores else nullcontext():
        runs = al.simulate(problem, al.recipe(recipe), runs=5, seed=2, against="upper bound")
    assert np.all(runs.spend <= problem.budget)
    assert np.all(runs.reward.values > 0)


def test_both_estimators_agree_at_unequal_costs_with_a_default() -> None:
    problem = HETEROGENEOUS.scaled(1000).replace(default_rewards=[0.1, 0.2, 0.05, 0.0, 0.3])
    raw, reduced = (
        al.simulate(
            problem, al.thrifty(), runs=300, seed=3, against="upper bound", estimator=estimator
        ).regret
        for estimator in ("raw", "reduced")
    )
    difference = al.Sample(raw.values - reduced.values)
    assert abs(difference.mean) < 4 * difference.stderr
    assert reduced.stderr < raw.stderr / 2
