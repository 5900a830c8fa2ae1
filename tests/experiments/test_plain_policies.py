"""Policies in Python in sweeps."""

from __future__ import annotations

from pathlib import Path

import pytest

import almoner as al
from almoner.experiments.plain_policies import describe
from almoner.experiments.sweep import Sweep, run_sweep
from almoner.scenarios import scenario


class Share:
    """Serve everybody, with action 2, while there is money above a share of the budget."""

    def __init__(self, least: float) -> None:
        self.least = least

    def decide(self, arrival: al.Arrival) -> int:
        return 2 if arrival.budget_left >= self.least else al.SKIP

    def learn(self, arrival: al.Arrival, action: int, reward: float) -> None:
        pass


def sweep_of(least: float) -> Sweep:
    return Sweep.from_dict(
        {
            "problems": ["scenario:paper-two"],
            "policies": {"mine": Share(least), "theirs": "UCB-ALP"},
            "horizons": [100],
            "runs": 3,
        }
    )


def test_rows_are_those_of_simulate(tmp_path: Path) -> None:
    rows = run_sweep(sweep_of(1.0), tmp_path, jobs=1)
    problem = scenario("paper-two").scaled(100)
    mine = al.simulate(problem, Share(1.0), runs=3, seed=0)
    assert [row["policy"] for row in rows] == ["mine", "mine", "theirs", "theirs"]
    assert rows[0]["regret_mean"] == pytest.approx(mine.regret.mean)
    again = run_sweep(sweep_of(1.0), tmp_path, jobs=1)
    assert again == rows


def test_a_changed_policy_is_another_cell(tmp_path: Path) -> None:
    rows = run_sweep(sweep_of(1.0), tmp_path, jobs=1)
    other = run_sweep(sweep_of(30.0), tmp_path, jobs=1)
    assert rows[0]["regret_mean"] < other[0]["regret_mean"]
    assert describe(Share(1.0)) == describe(Share(1.0)) != describe(Share(2.0))
    assert describe(al.alp()) == al.alp().to_dict()


def test_an_object_without_methods_is_refused() -> None:
    with pytest.raises(al.InvalidInput, match="must be a Policy"):
        Sweep(problems={"two": scenario("paper-two")}, policies={"bad": 3})  # type: ignore[dict-item]
