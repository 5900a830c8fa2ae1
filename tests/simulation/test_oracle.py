"""Exact values against brute force, closed forms, published values and simulation."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from support.problems import GRID, PAPER_TEN, PAPER_TWO, unit_problems

import almoner as al

KNOWING = {
    "alp": al.alp(),
    "flp": al.flp(),
    "flp_override": al.flp(override=True),
    "rounded": al.rounded(),
    "pb": al.pb(),
}

REFERENCE = [
    # problem, ρ, T: upper bound, optimum; regret of alp, flp, flp with override, rounded
    ("two", 0.39, 1000, 312.0, 311.0334, 1.4163, 3.9547, 1.4537, 0.0432),
    ("two", 0.39, 5000, 1560.0, 1559.5414, 3.1008, 10.5482, 4.9546, 0.0485),
    ("two", 0.40, 1000, 320.0, 317.5285, 1.3259, 2.4715, 0.0, 0.0394),
    ("two", 0.40, 5000, 1600.0, 1594.4724, 3.0692, 5.5276, 0.0, 0.0419),
    ("two", 0.41, 1000, 324.0, 323.0278, 1.4338, 3.9298, 1.4485, 0.0373),
    ("two", 0.41, 5000, 1620.0, 1619.536, 3.1322, 10.4996, 4.9501, 0.038),
    ("ten", 0.49, 1000, 349.0, 348.5588, 0.3068, 4.0495, 1.5646, 0.0003),
    ("ten", 0.49, 5000, 1745.0, 1744.6785, 0.7364, 9.722, 4.1645, 0.0003),
    ("ten", 0.50, 1000, 355.0, 354.183, 0.2836, 3.6604, 1.201, 0.0003),
    ("ten", 0.50, 5000, 1775.0, 1773.3969, 0.7227, 8.4108, 2.9102, 0.0003),
    ("ten", 0.51, 1000, 360.0, 359.5588, 0.3068, 4.0094, 1.5646, 0.0003),
    ("ten", 0.51, 5000, 1800.0, 1799.6785, 0.7364, 9.6323, 4.1645, 0.0003),
]
"""From a program written before this one and without it, to four digits."""


def best_value(problem: al.Problem) -> float:
    """V(τ, b) = Σ_j π_j max over options of (reward + V(τ−1, b − cost)), for all b at once."""
    best, idle = problem.reward_means.max(axis=1), problem.default_rewards
    value = np.zeros(int(problem.budget) + 1)
    for _ in range(problem.horizon):
        bought = np.concatenate([[-np.inf], value[:-1]])
        options = np.maximum(idle[:, None] + value, best[:, None] + bought)
        value = problem.context_probs @ options
    return float(value[-1])


@st.composite
def problems_with_defaults(draw: st.DrawFn) -> al.Problem:
    problem: al.Problem = draw(unit_problems())
    defaults = [draw(GRID) for _ in problem.context_probs]
    return problem.replace(default_rewards=defaults)


@settings(max_examples=200)
@given(problem=unit_problems() | problems_with_defaults())
def test_the_optimum_is_that_of_brute_force(problem: al.Problem) -> None:
    assert al.optimal_value(problem) == pytest.approx(best_value(problem), abs=1e-9)


@pytest.mark.parametrize("budget", [0, 1, 40, 900, 1500, 2100, 2990, 3000, 4000])
@pytest.mark.parametrize("seed", [1, 2])
def test_the_optimum_is_that_of_brute_force_at_a_length_with_a_narrow_band(
    budget: int, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    means = rng.random((6, 3)).round(1)  # one digit: ties
    probs = rng.dirichlet(np.ones(6))
    defaults = rng.random(6).round(1) * (seed - 1) / 2
    problem = al.Problem(
        context_probs=probs,
        reward_means=means,
        default_rewards=defaults,
        horizon=3000,
        budget=budget,
    )
    assert al.optimal_value(problem) == pytest.approx(best_value(problem), abs=1e-6)


def test_the_optimum_of_one_and_two_rounds_by_hand() -> None:
    """π = (.4, .6), best means .8 and .4.

    T = 1, B = 1: everybody is served, .4·.8 + .6·.4 = .56. T = 2, B = 1: the unit is worth .56 in
    the last round, so the first serves .8 and skips .4: .4·.8 + .6·.56 = .656. B = 2: 2·.56.
    """
    problem = PAPER_TWO(2, 0.5)
    assert al.optimal_value(problem.replace(horizon=1)) == pytest.approx(0.56, abs=1e-12)
    assert al.optimal_value(problem) == pytest.approx(0.656, abs=1e-12)
    assert al.optimal_value(problem.replace(budget=2)) == pytest.approx(1.12, abs=1e-12)


@pytest.mark.parametrize(("horizon", "budget"), [(1, 1), (2, 1), (3, 1), (3, 2)])
def test_the_optimum_is_the_best_of_all_policies(horizon: int, budget: int) -> None:
    """A policy says for each round, budget left and context whether to serve: try them all."""
    probs, best = [0.3, 0.7], [0.5, 0.45]
    states = [(t, b, j) for t in range(horizon) for b in range(1, budget + 1) for j in (0, 1)]

    def worth(serves: dict[tuple[int, int, int], bool], t: int, b: int) -> float:
        if t == horizon or b == 0:
            return 0.0
        return sum(
            probs[j]
            * (
                best[j] + worth(serves, t + 1, b - 1)
                if serves[t, b, j]
                else worth(serves, t + 1, b)
            )
            for j in (0, 1)
        )

    policies = (
        dict(zip(states, serves, strict=True))
        for serves in product((True, False), repeat=len(states))
    )
    most = max(worth(serves, 0, budget) for serves in policies)
    problem = al.Problem(
        context_probs=probs, reward_means=[[u] for u in best], horizon=horizon, budget=budget
    )
    assert al.optimal_value(problem) == pytest.approx(most, abs=1e-12)


@pytest.mark.parametrize("ratio", [0.0, 0.1, 0.39, 0.4, 0.41, 0.9, 1.0])
def test_the_optimum_of_two_contexts_has_a_closed_form(ratio: float) -> None:
    """U* = u₁B − (u₁ − u₂)·E(B − Bin(T, π₁))⁺: the other context takes the rest."""
    problem = PAPER_TWO(700, ratio)
    budget = int(problem.budget)
    left = np.arange(budget, 0, -1)
    spare = stats.binom.pmf(np.arange(budget), 700, 0.4) @ left if budget else 0.0
    closed = 0.8 * budget - 0.4 * float(spare)
    assert al.optimal_value(problem) == pytest.approx(closed, abs=1e-8)


@given(problem=problems_with_defaults(), share=st.integers(0, 6))
def test_procrastinating_is_optimal_for_two_contexts(problem: al.Problem, share: int) -> None:
    two = al.Problem(
        context_probs=[share / 6, 1 - share / 6],
        reward_means=np.resize(problem.reward_means, (2, 2)),
        default_rewards=np.resize(problem.default_rewards, 2),
        horizon=problem.horizon,
        budget=problem.budget,
    )
    assert al.exact_value(two, al.pb()) == pytest.approx(al.optimal_value(two), abs=1e-9)


@pytest.mark.parametrize("row", REFERENCE, ids=lambda row: f"{row[0]}-{row[1]}-{row[2]}")
def test_exact_values_are_those_of_an_independent_program(row: tuple[Any, ...]) -> None:
    name, ratio, horizon, bound, optimum, *regrets = row
    problem = (PAPER_TWO if name == "two" else PAPER_TEN)(horizon, ratio)
    assert al.upper_bound(problem) == pytest.approx(bound, abs=1e-8)
    assert al.optimal_value(problem) == pytest.approx(optimum, abs=1e-4)
    for policy, regret in zip(list(KNOWING)[:4], regrets, strict=True):
        have = al.optimal_value(problem) - al.exact_value(problem, KNOWING[policy])
        assert have == pytest.approx(regret, abs=2e-4)


@pytest.mark.parametrize("name", KNOWING)
@pytest.mark.parametrize("ratio", [0.35, 0.4])
def test_exact_values_are_those_of_simulation(name: str, ratio: float) -> None:
    assert_simulated(PAPER_TWO(300, ratio), KNOWING[name])


TRUTH = al.Problem(
    context_probs=[0.2, 0.5, 0.3],
    reward_means=[[0.9, 0.2], [0.5, 0.6], [0.3, 0.4]],
    default_rewards=[0.1, 0.2, 0.0],
    horizon=200,
    budget=90,
)
BELIEVED_PROBS = (0.5, 0.2, 0.3)
BELIEVED_MEANS = [[0.3, 0.3], [0.7, 0.1], [0.2, 0.8]]  # ties, wrong order, wrong actions


@pytest.mark.parametrize(
    "policy",
    [
        al.alp(context_probs=BELIEVED_PROBS, reward_means=BELIEVED_MEANS),
        al.alp(context_probs=BELIEVED_PROBS),
        al.flp(context_probs=BELIEVED_PROBS, reward_means=BELIEVED_MEANS),
        al.flp(reward_means=BELIEVED_MEANS, override=True),
        al.rounded(reward_means=BELIEVED_MEANS, contexts=al.KnownContexts(probs=BELIEVED_PROBS)),
        al.alp(reward_means=[[0.5, 0.5]] * 3),  # everything tied but for the defaults
    ],
)
def test_exact_values_of_policies_with_wrong_statistics_are_those_of_simulation(
    policy: al.Policy,
) -> None:
    assert_simulated(TRUTH, policy)


def test_the_exact_value_of_waiting_for_the_wrong_context_is_that_of_simulation() -> None:
    assert_simulated(PAPER_TWO(300, 0.5), al.pb(reward_means=[[0.1, 0.2, 0.1], [0.3, 0.2, 0.1]]))


def assert_simulated(problem: al.Problem, policy: al.Policy) -> None:
    """4 standard errors of the mean regret, which is the reduced one."""
    regret = al.simulate(problem, policy, runs=3000, seed=5).regret
    exact = al.optimal_value(problem) - al.exact_value(problem, policy)
    assert abs(regret.mean - exact) <= 4 * regret.stderr + 1e-9


@given(problem=problems_with_defaults(), name=st.sampled_from(["alp", "flp", "rounded"]))
def test_policy_value_optimum_and_upper_bound_are_in_order(problem: al.Problem, name: str) -> None:
    exact, optimum = al.exact_value(problem, KNOWING[name]), al.optimal_value(problem)
    assert exact <= optimum + 1e-9
    assert optimum <= al.upper_bound(problem) + 1e-9
    assert exact >= problem.horizon * problem.context_probs @ problem.default_rewards - 1e-9


@pytest.mark.parametrize("cost", [0.1, 0.5, 2.5, 1 / 3, 0.123456789])
def test_where_all_costs_are_equal_only_the_number_of_actions_counts(cost: float) -> None:
    """A cost that no decimal holds may round the budget down by one action, worth up to .8."""
    unit = PAPER_TWO(1000, 0.4)
    problem = unit.replace(costs=np.full((2, 3), cost), budget=400 * cost)
    for value in (al.optimal_value, lambda problem: al.exact_value(problem, al.alp())):
        assert 0 <= value(unit) - value(problem) + 1e-6 <= 0.81
    assert al.simulate(problem, al.alp(), runs=20).regret.mean < 4  # 1.3 on average


@pytest.mark.parametrize("policy", [al.ucb_alp(), al.thrifty(), al.ealp(), al.ealp2(until=5)])
def test_the_exact_value_of_a_learner_is_refused(policy: al.Policy) -> None:
    with pytest.raises(al.NotComputable, match="needs a policy with known statistics"):
        al.exact_value(PAPER_TWO(10, 0.4), policy)


def test_the_optimum_at_costs_on_no_coarse_grid_is_refused() -> None:
    problem = PAPER_TWO(10_000, 0.4).replace(costs=[[1, 2, 3], [1, 2, 3.000001]])
    with pytest.raises(al.NotComputable, match="a coarser common grid, got costs from 1 to 3"):
        al.optimal_value(problem)


INTERRUPTED = """
import signal
import almoner as al
signal.signal(signal.SIGINT, signal.default_int_handler)  # jobs in the background ignore it
problem = al.Problem(
    context_probs=[0.4, 0.6], reward_means=[[0.8], [0.4]], horizon=1000, budget=400)
al.optimal_value(problem)

from almoner import jit
call = jit.call_interruptibly

def call_and_tell(*arguments):
    print("inside", flush=True)
    return call(*arguments)

jit.call_interruptibly = call_and_tell
al.optimal_value(problem.scaled(5_000_000))
"""


def test_ctrl_c_interrupts_a_long_computation() -> None:
    """The program would take several seconds, and a signal must not wait for its end."""
    child = subprocess.Popen(
        [sys.executable, "-c", INTERRUPTED],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert child.stdout is not None
    assert child.stdout.readline() == "inside\n"
    time.sleep(0.5)  # until the main thread waits for the kernel
    child.send_signal(signal.SIGINT)
    _, output = child.communicate(timeout=60)
    assert child.returncode != 0
    assert "KeyboardInterrupt" in output


@pytest.mark.parametrize("ratio", [0.05, 0.4, 0.93])
def test_negligible_probabilities_that_are_dropped_do_not_count(ratio: float) -> None:
    """Under alp the budget left is hypergeometric, and a round at b of τ brings v(b/τ)."""
    horizon = 1000
    problem = PAPER_TWO(horizon, ratio)
    budget, value = int(problem.budget), 0.0
    for tau in range(1, horizon + 1):
        left = np.arange(max(0, budget - horizon + tau), min(budget, tau) + 1)
        brought = np.interp(left / tau, [0, 0.4, 1], [0, 0.32, 0.56])
        value += stats.hypergeom.pmf(left, horizon, budget, tau) @ brought
    assert al.exact_value(problem, al.alp()) == pytest.approx(value, abs=1e-9)
