"""The compiled loop against the same functions in plain Python."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import almoner as al
from almoner.kernels.loop import play

SMALL = [
    al.Problem(
        context_probs=[0.3, 0.7],
        reward_means=[[0.2, 0.8, 0.8], [0.5, 0.1, 0.3]],
        horizon=40,
        budget=17,
    ),
    al.Problem(
        context_probs=[0.5, 0.1, 0.0, 0.4],
        reward_means=[[0.3, 0.6], [0.9, 0.0], [1.0, 1.0], [0.6, 0.4]],
        horizon=48,
        budget=20,
        reward_spread=0.3,
    ),
]


def applicable(problem: al.Problem) -> list[str]:
    two = len(problem.context_probs) == 2
    return [name for name in al.RECIPES if two or name not in ("pb", "ucb_pb")]


def small_cases() -> dict[str, Any]:
    """Return everything that happens in one replication of every recipe on both problems."""
    cases = {}
    for number, problem in enumerate(SMALL):
        for name in applicable(problem):
            done = al.trace(problem, al.recipe(name), seed=5, run=number)
            cases[f"{name} on problem {number}"] = {
                "contexts": done.contexts.tolist(),
                "actions": done.actions.tolist(),
                "probabilities": done.probabilities.tolist(),
                "rewards": done.rewards.tolist(),
                "budget_left": done.budget_left.tolist(),
            }
    return cases


@pytest.fixture(scope="module")
def plain_cases() -> Any:
    """The same from plain Python: this very file, run with the compiler switched off."""
    done = subprocess.run(
        [sys.executable, __file__],
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def compiled_cases() -> Any:
    return small_cases()


CASES = [f"{name} on problem {n}" for n in (0, 1) for name in applicable(SMALL[n])]


@pytest.mark.parametrize("case", CASES)
def test_the_compiled_loop_does_what_its_python_does(
    case: str, compiled_cases: Any, plain_cases: Any
) -> None:
    have, want = compiled_cases[case], plain_cases[case]
    for column in ("contexts", "actions", "budget_left"):
        assert have[column] == want[column]
    for column in ("probabilities", "rewards"):  # logarithms and powers may differ in a last bit
        np.testing.assert_allclose(have[column], want[column], rtol=1e-12, atol=1e-14)


@pytest.mark.filterwarnings("ignore::almoner.UntriedPairs")  # a tenth of 40 rounds
def test_all_recipes_on_all_shapes_run_one_of_two_compiled_loops() -> None:
    """One where the best action is served or skipped, one where options compete at a price."""
    for problem in SMALL:
        for name in applicable(problem):
            al.simulate(problem, al.recipe(name), runs=2, marks=[1, 7], threads=2)
            al.trace(problem, al.recipe(name))
    step: Any = play
    priced = [str(signature[4]) for signature in step.for_python.signatures]
    assert sorted(hulls.split("(")[0] for hulls in priced) == ["Hulls", "none"]


if __name__ == "__main__":
    with np.errstate(over="ignore"):  # SplitMix64 is arithmetic modulo 2⁶⁴
        print(json.dumps(small_cases()))
