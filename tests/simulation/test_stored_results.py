"""Compare simulations with the digests of their results that are stored in a file.

Every recipe plays every scenario. So does `thrifty` as campaigns have stored it that were opened
before its evidence was graded: they go on as they began. Contexts, actions, probabilities and
budgets must be those that were stored, to the last bit: a change of structure or of speed changes
no number.

``python tests/simulation/test_stored_results.py`` stores the digests anew, for a change that is
meant to alter results and says so in the changelog.
"""

from __future__ import annotations

import json
import warnings
from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest

from almoner.errors import InvalidPolicy, UntriedPairs
from almoner.policy.base import Policy
from almoner.policy.recipes import RECIPES
from almoner.problem import Problem
from almoner.scenarios import scenario, scenario_names
from almoner.simulation.simulate import simulate, trace

STORED = Path(__file__).parent / "stored_results.json"
HORIZON, RUNS, SEED = 400, 8, 13


def problems() -> dict[str, Problem]:
    """Return every scenario, shortened to `HORIZON` rounds with the same budget per round."""
    whole = {name: scenario(name) for name in scenario_names()}
    return {
        name: problem.scaled(HORIZON, ratio=problem.budget / problem.horizon)
        for name, problem in whole.items()
    }


FLAT = Policy.from_dict(
    {
        "rewards": {"kind": "InsuredWilson", "caution": 1.0},
        "contexts": {"kind": "EmpiricalContexts"},
        "allocation": {"kind": "EagerRounding"},
        "prior": {"kind": "Pooled"},
    }
)


def digest(problem: Problem, policy: str | Policy) -> str:
    """Return a digest of several replications and of every round of one, or the refusal."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UntriedPairs)
            runs = simulate(
                problem,
                policy,
                runs=RUNS,
                seed=SEED,
                against="upper bound",
                marks=[2, 57, HORIZON],
            )
    except InvalidPolicy as refusal:
        return str(refusal)
    played = trace(problem, policy, seed=SEED, run=RUNS)
    results = [
        *(runs.reward, runs.reward_drawn, runs.regret.values, runs.spend, runs.budget_left),
        *(played.contexts, played.actions, played.probabilities, played.rewards),
        *(played.budget_left, np.array([played.unusable])),
    ]
    return sha256(
        b"".join(np.ascontiguousarray(result).tobytes() for result in results)
    ).hexdigest()


def digests(problem: Problem) -> dict[str, str]:
    flat = {"thrifty, flat evidence": digest(problem, FLAT)}
    return {recipe: digest(problem, recipe) for recipe in RECIPES} | flat


@pytest.mark.parametrize("name", problems())
def test_results_are_those_stored(name: str) -> None:
    stored = json.loads(STORED.read_text(encoding="utf-8"))
    assert digests(problems()[name]) == stored[name]


def test_every_scenario_is_stored() -> None:
    assert list(json.loads(STORED.read_text(encoding="utf-8"))) == list(problems())


if __name__ == "__main__":
    results = {name: digests(problem) for name, problem in problems().items()}
    STORED.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
