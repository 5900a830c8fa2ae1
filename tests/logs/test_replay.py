"""Replay of policies on logs: exact cases, agreement with the truth, coverage, refusals."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from support.logs import WORLD, columns_of, make_log

import almoner as al

RATIO = 0.3


class Always:
    """A policy in Python that takes one action while it can, and counts its rewards."""

    def __init__(self, action: int, cost: float) -> None:
        self.action, self.cost, self.rewards = action, cost, [0.0]

    def decide(self, arrival: al.Arrival) -> int:
        return self.action if arrival.budget_left >= self.cost else al.SKIP

    def learn(self, arrival: al.Arrival, action: int, reward: float) -> None:
        self.rewards.append(reward)


def test_always_skipping_earns_the_mean_of_the_skipped_rows() -> None:
    """At uniform probabilities every row that was skipped is accepted, in order."""
    columns = columns_of(3_000, 1, design=[[1 / 3] * 3] * 3)
    log = al.Log.read(columns)
    result = al.replay(log, al.skip_always(), budget=100, runs=2)
    first = log.rewards[log.taken < 0][: result.horizon]
    assert result.value == pytest.approx(first.sum())
    assert result.spend == 0.0
    assert result.accepted == result.horizon < 1_000
    assert result.stderr == pytest.approx(math.sqrt(result.horizon) * first.std(), rel=0.5)


def test_a_policy_in_python_is_charged_and_taught_on_accepted_rows_only() -> None:
    log = al.Log.read(columns_of(3_000, 1, design=[[1 / 3] * 3] * 3))
    mail = log.actions.index("mail")
    policy = Always(mail, 1.0)
    result = al.replay(log, policy, budget=3_000, runs=2)
    first = log.rewards[log.taken == mail][: result.horizon]
    assert result.value == pytest.approx(first.sum())
    assert result.spend == result.budget == result.horizon
    assert policy.rewards == [0.0]  # every run starts from a copy
    poor = al.replay(log, policy, budget=300, runs=2)
    assert poor.spend == math.floor(poor.budget)
    with pytest.raises(al.InvalidPolicy, match="an action that the budget still affords"):
        al.replay(log, Always(log.actions.index("call"), 0.0), budget=300)


@pytest.mark.parametrize("action", ["mail", 17, -2, None, 0.0, True])
def test_a_policy_in_python_must_decide_for_an_action(action: Any) -> None:
    with pytest.raises(al.InvalidPolicy, match="decide must return an action from 0 to 1 or SKIP"):
        al.replay(make_log(3_000, 1), Always(action, 1.0), budget=300)


@pytest.mark.parametrize(("policy", "horizon"), [("rounded", None), ("thrifty", 4_000)])
def test_rare_contexts_are_left_out_of_halves(policy: str, horizon: int | None) -> None:
    """One row of a context can be in one half only; a few such rows change nothing else."""
    columns = columns_of(6_000, 1)
    rare = {name: np.append(values, values[:3]) for name, values in columns.items()}
    rare["context"] = np.append(columns["context"], ["a", "b", "c"])
    few = al.replay(al.Log.read(rare), policy, budget=2_400, horizon=horizon, runs=2)
    assert any("3 rows are left out" in warning for warning in few.basis.warnings)
    assert few.basis.rows == 6_003
    none = al.replay(al.Log.read(columns), policy, budget=2_400, horizon=horizon, runs=2)
    assert few.per_arrival == pytest.approx(none.per_arrival, abs=none.stderr / none.horizon)


def test_many_rare_contexts_are_refused() -> None:
    columns = columns_of(600, 1)
    columns["context"] = np.array([f"c{row // 2}" for row in range(600)])
    with pytest.raises(al.InvalidInput, match=r"both halves .* of 600 rows have contexts that one"):
        al.replay(al.Log.read(columns), "thrifty", budget=200, horizon=1_000)


@pytest.mark.parametrize("policy", ["rounded", "alp", "thrifty", "ucb_rounded", "thompson_rounded"])
def test_every_kind_of_policy_is_near_its_value(policy: str) -> None:
    """Learners lose something by learning, which simulation knows."""
    log = make_log(30_000, 11)
    result = al.replay(log, policy, budget=RATIO * 30_000, runs=3)
    problem = WORLD.scaled(result.horizon, ratio=RATIO)
    expected = al.simulate(problem, policy, runs=30).reward.mean
    assert result.value == pytest.approx(expected, abs=3.5 * result.stderr)
    assert result.spend <= result.budget == pytest.approx(RATIO * result.horizon)
    assert result.basis.warnings == ()


def test_replay_frontier_and_model_agree() -> None:
    log = make_log(40_000, 12)
    (point,) = al.frontier(log, budgets=[RATIO * 40_000])
    replayed = al.replay(log, "rounded", budget=RATIO * 40_000, runs=3)
    model = al.replay(log, "rounded", budget=RATIO * 40_000, horizon=40_000, runs=2)
    truth = al.solve(WORLD, ratio=RATIO).value
    error = replayed.stderr / replayed.horizon
    for value in (point.per_arrival, replayed.per_arrival, model.per_arrival):
        assert value == pytest.approx(truth, abs=3 * error)
    assert point.per_arrival == pytest.approx(replayed.per_arrival, abs=2 * error)
    assert point.per_arrival == pytest.approx(model.per_arrival, abs=2 * error)


@pytest.mark.parametrize(("policy", "horizon"), [("rounded", None), ("rounded", 3_000)])
def test_intervals_cover_the_value(policy: str, horizon: int | None) -> None:
    """95 % of 100 logs, within 3 standard errors of a share of 100."""
    logs, covered = 100, 0
    truth = al.solve(WORLD, ratio=RATIO).value
    for seed in range(logs):
        log = make_log(6_000, 3000 + seed)
        budget = RATIO * (horizon or 6_000)
        result = al.replay(log, policy, budget=budget, horizon=horizon, runs=2, seed=seed)
        covered += result.low <= truth * result.horizon <= result.high
    assert covered / logs > 0.95 - 3 * math.sqrt(0.95 * 0.05 / logs)


def test_intervals_cover_the_value_of_a_learner() -> None:
    """The same for a policy that learns, whose luck differs from log to log."""
    logs, covered = 100, 0
    horizon = al.replay(make_log(6_000, 1), "thrifty", budget=RATIO * 6_000, runs=1).horizon
    truth = al.simulate(WORLD.scaled(horizon, ratio=RATIO), "thrifty", runs=400).reward.mean
    for seed in range(logs):
        log = make_log(6_000, 7000 + seed)
        result = al.replay(log, "thrifty", budget=RATIO * 6_000, runs=2, seed=seed)
        covered += result.low <= truth <= result.high
    assert covered / logs > 0.95 - 3 * math.sqrt(0.95 * 0.05 / logs)


def test_a_model_gives_any_horizon() -> None:
    log = make_log(8_000, 13)
    result = al.replay(log, "thrifty", budget=15_000, horizon=50_000, runs=2)
    problem = WORLD.scaled(50_000, ratio=RATIO)
    expected = al.simulate(problem, "thrifty", runs=5).reward.mean
    assert result.horizon == 50_000
    assert result.value == pytest.approx(expected, abs=3.5 * result.stderr)
    assert result.spend <= result.budget == 15_000
    assert result.acceptance == 0.0


def test_rewards_in_money_are_values_in_money() -> None:
    columns = columns_of(4_000, 2)
    one = al.replay(al.Log.read(columns), "thrifty", budget=1_600, runs=2)
    euros = al.Log.read({**columns, "reward": 250 * columns["reward"]})
    assert al.replay(euros, "thrifty", budget=1_600, runs=2).value == pytest.approx(250 * one.value)
    millions = al.Log.read({**columns, "reward": 1e-6 * columns["reward"]})
    assert millions.reward_range[1] == pytest.approx(1e-6)
    value = al.replay(millions, "thrifty", budget=1_600, runs=2).value
    assert value == pytest.approx(1e-6 * one.value)


def test_the_same_seed_gives_the_same_replay() -> None:
    log = make_log(3_000, 3)
    first, second, third = (
        al.replay(log, "thrifty", budget=1_000, seed=s, runs=3) for s in (1, 1, 2)
    )
    assert first == second
    assert first.stderr != third.stderr


def test_contexts_that_lack_an_action_are_left_out_if_rare_and_refused_if_not() -> None:
    columns = columns_of(3_000, 4)
    columns["context"] = columns["context"].astype(object)
    columns["context"][:5], columns["action"][:5] = "rare", ""
    columns["cost"][:5] = 0.0
    result = al.replay(al.Log.read(columns), "thrifty", budget=900, runs=1)
    assert any("5 rows are left out" in warning for warning in result.basis.warnings)
    half = columns_of(3_000, 4, design=[[0.5, 0.5, 0.0], [0.4, 0.4, 0.2], [0.2, 0.3, 0.5]])
    with pytest.raises(al.InvalidInput, match="the log never has 'call' for 'low'"):
        al.replay(al.Log.read(half), "thrifty", budget=900)


def certain() -> al.Log:
    columns = columns_of(400, 1)
    return al.Log.read({**columns, "propensity": np.ones(400)})


@pytest.mark.parametrize(
    ("log", "arguments", "sentence"),
    [
        (certain, {}, "replay needs actions that were drawn at random"),
        (lambda: make_log(120, 1), {}, "replay needs at least 30 rounds, and 120 rows"),
        (lambda: make_log(900, 1), {"policy": "thrift"}, "did you mean 'thrifty'"),
        (lambda: make_log(900, 1), {"policy": al.thrifty}, "call it: thrifty"),
        (lambda: make_log(900, 1), {"policy": "priced"}, "decides on rows"),
        (lambda: make_log(900, 1), {"budget": -1}, "budget must be at least 0"),
        (lambda: make_log(900, 1), {"horizon": 0}, "horizon must be at least 1"),
        (lambda: make_log(900, 1), {"runs": 0}, "runs must be at least 1"),
        (lambda: "log.csv", {}, "log must be a Log"),
    ],
)
def test_conditions_are_refused(log: Any, arguments: dict[str, Any], sentence: str) -> None:
    given: dict[str, Any] = {"policy": "thrifty", "budget": 100, **arguments}
    with pytest.raises(al.InvalidInput, match=sentence):
        al.replay(log(), given.pop("policy"), **given)
