"""Horizons of 10⁹ and 10⁵ contexts: a result or a refusal, in bounded time and memory."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

PLAN = [
    "solve(problem)",
    "upper_bound(problem)",
    "bounds.general_alp_regret(problem)",
    "bounds.exploration_length(problem)",
    "bounds.epsilon_first_regret(problem)",
]
"""Functions of the LP alone, which work at any size."""

UNIT = [
    f"bounds.{name}(problem)"
    for name in ("alp_regret", "ucb_alp_regret", "ranking_errors", "action_regret")
]
"""Bounds for equal costs."""

OPTIMUM, EXACT = "optimal_value(problem)", "exact_value(problem, 'alp')"
TRACE = "trace(problem.replace(horizon=10**9), 'alp')"
SIMULATE = "simulate(problem.replace(horizon=10**12), 'alp', against='upper bound')"

CHILD = """
import json, resource, sys
resource.setrlimit(resource.RLIMIT_AS, (4 * 10**9, 4 * 10**9))
import numpy as np
from almoner import *
from almoner import bounds

def long(horizon, budget, costs=(1, 1)):
    return Problem(context_probs=[0.4, 0.6], reward_means=[[0.8], [0.4]],
        costs=[[c] for c in costs], horizon=horizon, budget=budget)

def wide(horizon, costs=(1, 1)):
    means = np.random.default_rng(1).random((10**5, 2))
    return Problem(context_probs=np.full(10**5, 1e-5), reward_means=means,
        costs=costs, horizon=horizon, budget=horizon // 2)

def answer(call, problem):
    try:
        eval(call)
    except NotComputable as refusal:
        return str(refusal)
    return "answered"

problems = [long(10**9, 4e8), long(10**9, 10), long(10**13, 10), long(10**9, 4e8, (1, 2)),
    long(10**9, 10, (1e-6, 1e6)), wide(10**3), wide(10**3, (1, 2)), wide(10**9)]
calls = json.loads(sys.argv[1])
print(json.dumps({call: [answer(call, problem) for problem in problems] for call in calls}))
"""


@pytest.fixture(scope="module")
def answers() -> dict[str, list[str]]:
    """Return the result or refusal of every call on each of eight problems, from one process."""
    calls = json.dumps([*PLAN, *UNIT, OPTIMUM, EXACT, TRACE, SIMULATE])
    child = subprocess.run(
        [sys.executable, "-c", CHILD, calls],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert child.returncode == 0, child.stderr
    answers: dict[str, list[str]] = json.loads(child.stdout)
    return answers


def test_values_of_the_lp_are_computed_at_any_size(answers: dict[str, list[str]]) -> None:
    for call in PLAN:
        assert answers[call] == ["answered"] * 8


def test_bounds_for_equal_costs_are_computed_or_refused(answers: dict[str, list[str]]) -> None:
    refused = "the bounds need every action to cost the same, got costs from "
    for call in UNIT:
        assert answers[call].count("answered") == 5
        assert sum(message.startswith(refused) for message in answers[call]) == 3


def test_dynamic_programming_is_refused_in_a_sentence(answers: dict[str, list[str]]) -> None:
    """Only the optimum of 10⁵ contexts is within reach, at equal costs and in 10³ rounds."""
    for call, name, answered in (OPTIMUM, "the exact oracle", 1), (EXACT, "exact_value", 0):
        refusals = [message for message in answers[call] if message.startswith(f"{name} needs ")]
        assert all(", got " in refusal and "; " in refusal for refusal in refusals)
        assert len(refusals) == 8 - answered
        assert answers[call].count("answered") == answered


def test_a_trace_too_long_to_keep_is_refused(answers: dict[str, list[str]]) -> None:
    for message in answers[TRACE]:
        assert message.startswith("trace needs fewer rounds, got horizon=1000000000 with ")


def test_a_simulation_that_would_take_days_is_refused(answers: dict[str, list[str]]) -> None:
    for message in answers[SIMULATE]:
        assert message.startswith(
            "simulate needs fewer rounds, got horizon=1000000000000 and runs="
        )
