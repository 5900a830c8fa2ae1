"""The unit in which costs are counted, however fine, changes no decision."""

from __future__ import annotations

import numpy as np
import pytest

import almoner as al

COSTS = np.array([[0.3, 0.7], [0.5, 1.1]])
PROBLEM = al.Problem(
    context_probs=[0.5, 0.5],
    reward_means=[[0.6, 0.8], [0.3, 0.5]],
    costs=COSTS,
    horizon=400,
    budget=120,
)
POLICIES = {
    "alp": al.alp(),
    "thrifty": al.thrifty(),
    "epsilon_first_alp": al.epsilon_first_alp(test="usable"),
    "flp": al.flp(override=True),
}


@pytest.mark.parametrize("name", POLICIES)
@pytest.mark.parametrize(
    ("costs", "budget"),
    [
        pytest.param(COSTS * (1 + 3e-16), 120, id="a last bit: a unit of 1e-15"),
        pytest.param(COSTS * 1e-9, 120e-9, id="tiny amounts"),
        pytest.param(COSTS * 1e12 + [[1, 0], [0, 0]], 120e12, id="huge amounts, no common divisor"),
    ],
)
def test_the_same_costs_on_another_grid(name: str, costs: np.ndarray, budget: float) -> None:
    """The money left after the last round may differ by a rounding; no earlier choice may."""
    policy = POLICIES[name]
    other = PROBLEM.replace(costs=costs, budget=budget)
    assert al.solve(other).value == pytest.approx(al.solve(PROBLEM).value, rel=1e-9)
    assert al.solve(other).probabilities == pytest.approx(al.solve(PROBLEM).probabilities, abs=1e-8)
    here, there = (al.trace(problem, policy, seed=3) for problem in (PROBLEM, other))
    assert there.actions[:350].tolist() == here.actions[:350].tolist()
