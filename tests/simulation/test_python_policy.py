"""Policies in Python: independent programs to check the kernels, and policies of users.

Nothing here imports `almoner.kernels`. Lane 0 of a round decides whether to serve, lane 1 which of
the tied actions; tied contexts are served at a common rate.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.problems import PAPER_TEN, PAPER_TWO, unit_problems

import almoner as al

TIE = 1e-12


def pick(row: list[float], arrival: al.Arrival) -> int:
    """Return the best entry of a row, one of the tied at random."""
    tied = [action for action, value in enumerate(row) if value >= max(row) - TIE]
    return tied[int(arrival.uniform(1) * len(tied))]


class Learner:
    """Counts and sums of rewards, as lists."""

    def __init__(self, problem: al.Problem) -> None:
        contexts, actions = problem.reward_means.shape
        self.counts = [[0] * actions for _ in range(contexts)]
        self.sums = [[0.0] * actions for _ in range(contexts)]
        self.arrivals = [0] * contexts
        self.probs: list[float] = problem.context_probs.tolist()

    def learn(self, arrival: al.Arrival, action: int, reward: float) -> None:
        self.counts[arrival.context][action] += 1
        self.sums[arrival.context][action] += reward


class UcbAlp(Learner):
    """The paper's Algorithm 1: indices, a ranking of contexts, and the LP at b/τ."""

    def index(self, context: int, action: int, t: int) -> float:
        count = self.counts[context][action]
        if count == 0:
            return 1.0
        return self.sums[context][action] / count + math.sqrt(math.log(t) / (2 * count))

    def decide(self, arrival: al.Arrival) -> int:
        if arrival.budget_left < 1:
            return al.SKIP
        table = [
            [self.index(context, action, arrival.round) for action in range(len(row))]
            for context, row in enumerate(self.counts)
        ]
        share = self.share([max(row) for row in table], arrival)
        if arrival.uniform(0) < share:
            return pick(table[arrival.context], arrival)
        return al.SKIP

    def share(self, values: list[float], arrival: al.Arrival) -> float:
        """Fill the ratio from the best context down; contexts that tie share what is left."""
        room = arrival.budget_left / arrival.rounds_left
        if room >= 1:
            return 1.0
        todo = sorted(range(len(values)), key=lambda context: -values[context])
        while True:
            group = [j for j in todo if values[j] >= values[todo[0]] - TIE]
            weight = sum(self.probs[j] for j in group)
            if arrival.context in group:
                return min(1.0, max(0.0, room / weight))
            room -= weight
            todo = todo[len(group) :]


class WilsonEager(Learner):
    """Section 7 of our reading: Wilson index, empirical shares, eager rounding."""

    def index(self, context: int, action: int, plays_left: float) -> float:
        count = self.counts[context][action]
        if count == 0:
            return 1.0
        p, x = self.sums[context][action] / count, plays_left / count
        if p == 1:
            return 1 + 1e-9 * count
        d = math.log(1 + x / (5 + 1.5 * math.log(1 + x))) / count
        return (p + d + math.sqrt(d**2 + 2 * d * p * (1 - p))) / (1 + 2 * d)

    def row(self, context: int, arrival: al.Arrival) -> list[float]:
        share = self.arrivals[context] / arrival.round
        plays_left = max(1.0, min(share * arrival.rounds_left, arrival.budget_left))
        return [
            self.index(context, action, plays_left) for action in range(len(self.counts[context]))
        ]

    def decide(self, arrival: al.Arrival) -> int:
        present = arrival.context
        self.arrivals[present] += 1
        if arrival.budget_left < 1:
            return al.SKIP
        row = self.row(present, arrival)
        value = max(row)
        if value <= 0:
            return al.SKIP
        others = [j for j, seen in enumerate(self.arrivals) if seen and j != present]
        values = {j: max(self.row(j, arrival)) for j in others}
        ahead = sum(self.arrivals[j] for j in others if values[j] > value + TIE)
        # out of the arrivals so far, because their shares would round one half up or down
        room = arrival.budget_left / arrival.rounds_left * arrival.round - ahead
        seen = zip(self.sums[present], self.counts[present], strict=True)
        mean = max([total / count for total, count in seen if count], default=0.0)
        if (
            arrival.budget_left >= arrival.rounds_left
            or ahead == 0
            or room >= self.arrivals[present] / 2
            or (room > 0 and any(mean < values[j] < value - TIE for j in others))
        ):
            return pick(row, arrival)
        return al.SKIP


PAIRS: dict[str, tuple[type[UcbAlp | WilsonEager], al.Policy]] = {
    "ucb_alp": (UcbAlp, al.ucb_alp()),
    "wilson_eager": (WilsonEager, al.wilson_eager()),
}
RARE = al.Problem(
    context_probs=[0.9, 0.04, 0.03, 0.03],
    reward_means=[[0.3], [0.35], [0.6], [0.2]],
    horizon=400,
    budget=60,
)


def assert_same_actions(problem: al.Problem, name: str, seed: int) -> None:
    plain, compiled = PAIRS[name]
    one, two = al.trace(problem, plain(problem), seed=seed), al.trace(problem, compiled, seed=seed)
    np.testing.assert_array_equal(one.contexts, two.contexts)
    np.testing.assert_array_equal(one.actions, two.actions)
    np.testing.assert_array_equal(one.rewards, two.rewards)
    np.testing.assert_array_equal(one.budget_left, two.budget_left)


@pytest.mark.slow
@pytest.mark.parametrize("name", PAIRS)
@pytest.mark.parametrize(
    "problem",
    [PAPER_TWO(1000, 0.4), PAPER_TWO(300, 0.41), PAPER_TEN(800, 0.5), PAPER_TEN(300, 0.3), RARE],
    ids=["two", "two-short", "ten", "ten-short", "rare"],
)
def test_a_second_program_takes_the_same_actions(name: str, problem: al.Problem) -> None:
    for seed in range(3):
        assert_same_actions(problem, name, seed)


@pytest.mark.slow
@pytest.mark.parametrize("name", PAIRS)
def test_a_second_program_takes_the_same_actions_on_any_problem(name: str) -> None:
    @settings(max_examples=60)
    @given(problem=unit_problems(), seed=st.integers(0, 999))
    def check(problem: al.Problem, seed: int) -> None:
        assert_same_actions(problem.scaled(3 * problem.horizon), name, seed)

    check()


def test_simulate_gives_the_same_numbers_for_both_programs() -> None:
    problem, marks = PAPER_TWO(200, 0.4), [1, 30, 200]
    finished: list[int] = []
    one = al.simulate(
        problem, UcbAlp(problem), runs=3, seed=5, marks=marks, progress=finished.append
    )
    two = al.simulate(problem, al.ucb_alp(), runs=3, seed=5, marks=marks)
    for column in ("reward", "reward_drawn", "spend", "budget_left"):
        np.testing.assert_allclose(getattr(one, column), getattr(two, column), rtol=1e-12)
    np.testing.assert_allclose(one.regret.values, two.regret.values, rtol=1e-9)
    assert sum(finished) == 3


class Scripted:
    """Takes given actions in turn, and records arrivals and rewards."""

    def __init__(self, *actions: Any) -> None:
        self.actions, self.memory = actions, list[tuple[int, float]]()

    def decide(self, arrival: al.Arrival) -> Any:
        return self.actions[(arrival.round - 1) % len(self.actions)]

    def learn(self, arrival: al.Arrival, action: int, reward: float) -> None:
        self.memory.append((arrival.round, reward))
        assert len(self.memory) == sum(
            self.actions[t % len(self.actions)] != al.SKIP for t in range(arrival.round)
        )


def test_every_replication_starts_from_a_copy() -> None:
    policy = Scripted(0, al.SKIP, 2)
    runs = al.simulate(PAPER_TWO(30, 1.0), policy, runs=4)
    assert policy.memory == []  # and learn found it empty at the start of each replication
    assert runs.spend.tolist() == [20.0] * 4


def test_a_python_policy_sees_the_round_and_the_budget_left() -> None:
    seen: list[al.Arrival] = []

    class Watcher:
        def decide(self, arrival: al.Arrival) -> int:
            seen.append(arrival)
            return int(arrival.budget_left >= 0.5) or al.SKIP

        def learn(self, arrival: al.Arrival, action: int, reward: float) -> None:
            assert action == 1

    problem = PAPER_TWO(4, 0.5).replace(costs=np.full((2, 3), 0.5), budget=1.2)
    al.trace(problem, Watcher())
    assert [arrival.round for arrival in seen] == [1, 2, 3, 4]
    assert [arrival.rounds_left for arrival in seen] == [4, 3, 2, 1]
    np.testing.assert_allclose([arrival.budget_left for arrival in seen], [1.2, 0.7, 0.2, 0.2])
    assert len({arrival.uniform(lane) for arrival in seen for lane in (0, 1, 2)}) == 12


@pytest.mark.parametrize(
    ("policy", "sentence"),
    [
        (Scripted(0), "that the budget still affords, got action 0 at cost 1 with 0 left"),
        (Scripted(3), "decide must return an action from 0 to 2 or SKIP, got 3"),
        (Scripted(-2), "got -2"),
        (Scripted(None), "got None"),
        (Scripted(0.5), "got 0.5"),
        (object(), "an object with decide and learn, got <object .* without decide; use a recipe"),
    ],
)
def test_invalid_decisions_of_a_python_policy_are_refused(policy: Any, sentence: str) -> None:
    with pytest.raises(al.InvalidPolicy, match=sentence):
        al.simulate(PAPER_TWO(10, 0.4), policy, runs=1)


def test_a_policy_without_learn_is_refused() -> None:
    class Deaf:
        def decide(self, arrival: al.Arrival) -> int:
            return al.SKIP

    deaf: Any = Deaf()
    with pytest.raises(al.InvalidPolicy, match="without learn"):
        al.trace(PAPER_TWO(10, 0.4), deaf)
