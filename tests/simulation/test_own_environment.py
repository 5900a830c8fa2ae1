"""Environments in Python: the same rounds as the kernels, checks of what they return."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.problems import MAY_END_UNTRIED

import almoner as al
from almoner.kernels.draws import round_key
from almoner.kernels.environment import draw_context, streams_of
from almoner.kernels.reward_noise import draw_reward
from almoner.scenarios import scenario
from almoner.simulation.replications import environment_of, root_key

SEED = 3
TWO = scenario("paper-two").scaled(200)
UNEQUAL = scenario("heterogeneous").scaled(200)
DEFAULTS = scenario("hillstrom-email").scaled(200)


class Kernels:
    """The kernels' own contexts and noise of replication 0, as an environment in Python."""

    def __init__(self, problem: al.Problem) -> None:
        self.environment = environment_of(problem)[0]
        self.streams = streams_of(root_key(SEED), 0)

    def contexts(self, rng: np.random.Generator, horizon: int) -> list[int]:
        keys = [np.uint64(round_key(np.uint64(self.streams.contexts), t)) for t in range(horizon)]
        return [draw_context(self.environment, key) for key in keys]

    def reward(self, rng: np.random.Generator, t: int, context: int, action: int) -> float:
        key = np.uint64(round_key(np.uint64(self.streams.rewards), t - 1))
        return draw_reward(self.environment, context, action, key)


class Coin:
    """Two contexts, rewards of the probability ``level``."""

    def __init__(self, level: float = 0.5) -> None:
        self.level = level

    def contexts(self, rng: np.random.Generator, horizon: int) -> Any:
        return rng.choice(2, size=horizon, p=[0.4, 0.6])

    def reward(self, rng: np.random.Generator, t: int, context: int, action: int) -> float:
        return float(rng.random() < self.level)


@pytest.mark.parametrize("name", [name for name in al.RECIPES if "pb" not in name])
@pytest.mark.parametrize("problem", [TWO, UNEQUAL, DEFAULTS], ids=["two", "unequal", "defaults"])
def test_compiled_policies_decide_as_in_the_simulator(problem: al.Problem, name: str) -> None:
    compiled = al.trace(problem, name, seed=SEED)
    own = al.trace(Kernels(problem), name, terms=problem, seed=SEED)
    for field in ("contexts", "actions", "probabilities", "rewards", "budget_left"):
        np.testing.assert_array_equal(getattr(own, field), getattr(compiled, field))
    assert own.unusable == compiled.unusable


class FirstCome:
    """Serve everybody while there is money."""

    def decide(self, arrival: al.Arrival) -> int:
        return 0 if arrival.budget_left >= 1 else al.SKIP

    def learn(self, arrival: al.Arrival, action: int, reward: float) -> None:
        pass


def test_policies_in_python_decide_as_in_the_simulator() -> None:
    own = al.trace(Kernels(TWO), FirstCome(), terms=TWO, seed=SEED)
    plain = al.trace(TWO, FirstCome(), seed=SEED)
    np.testing.assert_array_equal(own.rewards, plain.rewards)
    np.testing.assert_array_equal(own.budget_left, plain.budget_left)


def test_noise_is_the_same_under_every_policy() -> None:
    first = al.trace(Coin(), "ucb_alp", terms=TWO, seed=SEED)
    second = al.trace(Coin(), "greedy", terms=TWO, seed=SEED)
    np.testing.assert_array_equal(first.contexts, second.contexts)
    both = (first.actions != al.SKIP) & (second.actions != al.SKIP)
    assert both.sum() > 20
    np.testing.assert_array_equal(first.rewards[both], second.rewards[both])
    other = al.trace(Coin(), "ucb_alp", terms=TWO, seed=SEED, run=1)
    assert (other.contexts != first.contexts).any()


def test_runs_add_up_what_traces_show() -> None:
    runs = al.simulate(Coin(), "ucb_alp", terms=TWO, runs=4, seed=SEED, marks=[1, 100])
    traces = [al.trace(Coin(), "ucb_alp", terms=TWO, seed=SEED, run=run) for run in range(4)]
    assert runs.reward.values.tolist() == [trace.rewards.sum() for trace in traces]
    assert runs.spend.tolist() == [TWO.budget - trace.budget_left[-1] for trace in traces]
    assert runs.budget_left[:, 1].tolist() == [trace.budget_left[98] for trace in traces]
    assert runs.regret.values == pytest.approx(al.optimal_value(TWO) - runs.reward.values)
    assert runs.curve.values[:, -1] == pytest.approx(runs.regret.values)
    assert runs.pairs[:, al.SKIP].sum() == np.mean([(t.actions == al.SKIP).sum() for t in traces])
    assert runs.pairs.sum() == pytest.approx(TWO.horizon)


def test_means_replace_rewards_where_they_are_told() -> None:
    class Told(Coin):
        def mean(self, t: int, context: int, action: int) -> float:
            return self.level

    runs = al.simulate(Told(0.25), "ucb_alp", terms=TWO, runs=3, seed=SEED)
    assert runs.reward.values == pytest.approx(0.25 * runs.spend)
    assert runs.reward_drawn.tolist() != runs.reward.values.tolist()


@MAY_END_UNTRIED
def test_estimates_agree_with_the_problem_itself() -> None:
    class Same(Coin):
        def mean(self, t: int, context: int, action: int) -> float:
            return float(TWO.reward_means[context, action]) if action != al.SKIP else 0.0

        def reward(self, rng: np.random.Generator, t: int, context: int, action: int) -> float:
            return float(rng.random() < self.mean(t, context, action))

    own = al.simulate(Same(), "ucb_alp", terms=TWO, runs=200, seed=1).regret
    kernels = al.simulate(TWO, "ucb_alp", runs=2000, seed=2).regret
    assert abs(own.mean - kernels.mean) < 4 * np.hypot(own.stderr, kernels.stderr)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"contexts": lambda rng, horizon: [0, 1]}, "200 whole numbers, one for each round"),
        ({"contexts": lambda rng, horizon: [0.5] * horizon}, "whole numbers"),
        ({"contexts": lambda rng, horizon: [2] * horizon}, "numbers from 0 to 1"),
        ({"reward": lambda rng, t, context, action: 1.5}, "a number from 0 to 1, got 1.5"),
        ({"reward": lambda rng, t, context, action: np.nan}, "clip or rescale"),
        ({"reward": lambda rng, t, context, action: None}, "a number from 0 to 1, got None"),
        ({"mean": lambda t, context, action: np.nan}, "mean must return a finite number, got nan"),
        ({"mean": lambda t, context, action: "low"}, "a finite number, got 'low' in round"),
        ({"mean": 0.5}, "its mean is no method; make it one, or rename it"),
    ],
)
def test_bad_answers_are_refused(change: dict[str, Any], sentence: str) -> None:
    environment = Coin()
    vars(environment).update(change)
    with pytest.raises(al.InvalidInput, match=sentence):
        al.simulate(environment, "ucb_alp", terms=TWO, runs=1)


def test_bad_arguments_are_refused() -> None:
    loose: Any = al.simulate
    with pytest.raises(al.InvalidInput, match="give terms=Problem"):
        loose(Coin(), "ucb_alp")
    with pytest.raises(al.InvalidInput, match="it has no contexts"):
        loose(type("Half", (), {"reward": lambda self: 0})(), "ucb_alp", terms=TWO)
    with pytest.raises(al.InvalidInput, match="it has no reward; or give a Problem"):
        loose(type("Half", (), {"contexts": lambda self: 0})(), "ucb_alp", terms=TWO)
    with pytest.raises(al.InvalidInput, match=r"call it: Coin\(\)"):
        loose(Coin, "ucb_alp", terms=TWO)
    with pytest.raises(al.InvalidInput, match="terms must be left out on a problem"):
        loose(TWO, "ucb_alp", terms=TWO)
    with pytest.raises(al.InvalidInput, match="estimator must be left out on an environment"):
        loose(Coin(), "ucb_alp", terms=TWO, estimator="raw")


class Steady:
    """An environment with a setting."""

    def __init__(self, chance: float) -> None:
        self.chance = chance

    def contexts(self, rng: np.random.Generator, horizon: int) -> Any:
        return rng.choice(1, size=horizon)

    def reward(self, rng: np.random.Generator, t: int, context: int, action: int) -> float:
        return float(rng.random() < self.chance)


def test_policies_are_compared_on_equal_environments() -> None:
    terms = al.Problem(context_probs=[1.0], reward_means=[[0.5]], horizon=40, budget=20)
    first, second, other = (
        al.simulate(Steady(chance), "rounded", terms=terms, runs=3) for chance in (0.5, 0.5, 0.6)
    )
    assert first.compare(second).difference.mean == 0.0
    with pytest.raises(al.InvalidInput, match="runs on the same environment, got two"):
        first.compare(other)
