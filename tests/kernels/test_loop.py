"""The loop against plain Python, and what it draws against the law of the problem."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import almoner as al
from almoner.kernels.draws import round_key
from almoner.kernels.loop import draw_context, draw_reward, make_world, play

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
DRAWS = 20_000


def keys() -> list[np.uint64]:
    return [np.uint64(round_key(np.uint64(9), t)) for t in range(DRAWS)]


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
    dispatcher: Any = play
    priced = [str(signature[4]) for signature in dispatcher.signatures]
    assert sorted(hulls.split("(")[0] for hulls in priced) == ["Hulls", "none"]


@given(weights=st.lists(st.integers(0, 50) | st.floats(0, 1), min_size=1, max_size=12).filter(any))
def test_the_alias_table_holds_the_context_probabilities(weights: list[float]) -> None:
    """Column i of J gives itself with chance cut/J and its other with (1 − cut)/J."""
    probs = np.array(weights) / sum(weights)
    nothing = np.zeros((len(probs), 1))
    world = make_world(probs, nothing, nothing[:, 0], 1.0, np.zeros((len(probs), 2)))
    implied = world.cuts / len(probs)
    np.add.at(implied, world.aliases[:, 1], (1 - world.cuts) / len(probs))
    assert world.cuts.min() >= 0.0
    assert world.cuts.max() <= 1.0
    np.testing.assert_allclose(implied, probs, rtol=0, atol=1e-14)
    assert np.all(implied[probs == 0] == 0)


def test_contexts_come_as_often_as_they_should() -> None:
    probs = np.array([0.05, 0.0, 0.6, 0.35])
    nothing = np.zeros((4, 1))
    world = make_world(probs, nothing, nothing[:, 0], 1.0, np.zeros((4, 2)))
    counts = np.bincount([draw_context(world, key) for key in keys()], minlength=4)
    errors = np.sqrt(probs * (1 - probs) / DRAWS)
    assert counts[1] == 0
    assert np.all(np.abs(counts / DRAWS - probs) <= 4 * errors)  # 4 standard errors


@pytest.mark.parametrize("spread", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("mean", [0.0, 0.15, 0.5, 0.9, 1.0])
def test_rewards_have_the_mean_and_the_spread_of_the_problem(spread: float, mean: float) -> None:
    """The variance is spread · m(1 − m). 4 standard errors; its own is taken from the draws."""
    world = make_world(np.ones(1), np.array([[mean]]), np.zeros(1), spread, np.zeros((1, 2)))
    rewards = np.array([draw_reward(world, 0, 0, key) for key in keys()])
    variance = spread * mean * (1 - mean)
    squares = (rewards - mean) ** 2
    assert rewards.min() >= 0.0
    assert rewards.max() <= 1.0
    assert abs(rewards.mean() - mean) <= 4 * math.sqrt(variance / DRAWS) + 1e-15
    assert abs(squares.mean() - variance) <= 4 * squares.std() / math.sqrt(DRAWS) + 1e-15
    if spread == 1.0:
        assert set(rewards) <= {0.0, 1.0}


if __name__ == "__main__":
    with np.errstate(over="ignore"):  # SplitMix64 is arithmetic modulo 2⁶⁴
        print(json.dumps(small_cases()))
