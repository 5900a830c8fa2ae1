"""The experiment at unequal costs: the paper's lengths of exploration, horizon by horizon."""

from __future__ import annotations

import math

import pytest

import almoner as al
from almoner.experiments.reproduction.unequal import (
    HORIZONS,
    LOG_FACTORS,
    explore_log,
    heterogeneous,
)


def test_every_horizon_explores_for_its_own_multiple_of_log_t() -> None:
    cells = [cell for cell in heterogeneous(runs=10) if cell.policy_name.startswith("explore_log")]
    assert len(cells) == 2 * len(HORIZONS) * len(LOG_FACTORS)
    for cell in cells:
        factor = int(cell.policy_name.removeprefix("explore_log_"))
        horizon = cell.problem.horizon
        rounds = math.ceil(factor * math.log(horizon))
        assert cell.policy == al.epsilon_first_alp(rounds=rounds, update=False)


@pytest.mark.parametrize("horizon", [2, 100])
def test_exploration_is_no_longer_than_the_horizon(horizon: int) -> None:
    problem = al.Problem(
        context_probs=[1.0],
        reward_means=[[0.5, 0.9]],
        costs=[1, 2],
        horizon=horizon,
        budget=horizon,
    )
    for policy in explore_log(horizon).values():
        assert isinstance(policy.rewards, al.ExploreFirst)
        assert 1 <= (policy.rewards.rounds or 0) <= horizon
        assert al.trace(problem, policy).budget_left[-1] >= 0
