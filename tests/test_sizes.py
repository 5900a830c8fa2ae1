"""Horizons of 10⁹ and 10⁵ contexts: an answer, or one sentence, in bounded time and memory."""

from __future__ import annotations

import subprocess
import sys

import pytest

SETTING = """
import resource
resource.setrlimit(resource.RLIMIT_AS, (4 * 10**9, 4 * 10**9))
import numpy as np
import almoner as al
from almoner import bounds

def long(horizon, budget, costs=(1, 1)):
    return al.Problem(context_probs=[0.4, 0.6], reward_means=[[0.8], [0.4]],
        costs=[[c] for c in costs], horizon=horizon, budget=budget)

def wide(horizon, costs=(1, 1)):
    means = np.random.default_rng(1).random((10**5, 2))
    return al.Problem(context_probs=np.full(10**5, 1e-5), reward_means=means,
        costs=costs, horizon=horizon, budget=horizon // 2)

PROBLEMS = [long(10**9, 4e8), long(10**9, 10), long(10**13, 10), long(10**9, 4e8, (1, 2)),
    long(10**9, 10, (1e-6, 1e6)), wide(10**3), wide(10**3, (1, 2)), wide(10**9)]
for problem in PROBLEMS:
    try:
        {call}
        print("answered")
    except al.NotComputable as refusal:
        print(refusal)
"""

ALWAYS = [
    "al.solve(problem)",
    "al.upper_bound(problem)",
    "bounds.general_alp_regret(problem)",
    "bounds.exploration_length(problem)",
    "bounds.epsilon_first_regret(problem)",
]
"""Everything that follows from the plan alone."""

ANSWERED = {"al.optimal_value(problem)": 1, "al.exact_value(problem, 'alp')": 0}
"""Of dynamic programming only the optimum of 10⁵ contexts with equal costs, in 10³ rounds."""


def answers(call: str) -> list[str]:
    """Return an answer or a refusal for each of the problems."""
    child = subprocess.run(
        [sys.executable, "-c", SETTING.replace("{call}", call)],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert child.returncode == 0, child.stderr
    return child.stdout.splitlines()


def test_whatever_follows_from_the_plan_is_answered() -> None:
    assert set(answers("; ".join(ALWAYS))) == {"answered"}


@pytest.mark.parametrize("call", ANSWERED)
def test_dynamic_programming_of_that_size_is_refused_in_a_sentence(call: str) -> None:
    said = answers(call)
    refusals = [line for line in said if " needs " in line and ", got " in line and "; " in line]
    assert len(refusals) == len(said) - ANSWERED[call]
    assert said.count("answered") == ANSWERED[call]


def test_bounds_for_equal_costs_are_answered_or_refused() -> None:
    names = ["alp_regret", "ucb_alp_regret", "ranking_errors", "action_regret", "truncation_round"]
    said = answers("; ".join(f"bounds.{name}(problem)" for name in names))
    refused = "the bounds need every action to cost the same, got costs from "
    assert all(line == "answered" or line.startswith(refused) for line in said)
    assert said.count("answered") == 5


def test_a_trace_too_long_to_keep_is_refused() -> None:
    said = answers("al.trace(problem, 'alp') if problem.horizon > 1000 else None")
    refused = [line for line in said if line.startswith("trace needs fewer rounds, got horizon=1")]
    assert len(refused) == 6


def test_a_simulation_that_would_take_days_is_refused() -> None:
    said = answers("al.simulate(problem.replace(horizon=10**12), 'alp', against='upper bound')")
    assert all(line.startswith("simulate needs fewer rounds, got horizon=1") for line in said)
