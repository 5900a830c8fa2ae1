"""Rewards: by the id of the decision, late, in any order, once."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import numpy as np
import pytest
from support.agents import AgentFactory, observable_state, refused, replayed_state

import almoner as al

NOT_REWARDS: list[Any] = [
    float("nan"), float("inf"), -float("inf"), -0.1, -1e-300, 1.0000001, 2, True, False, None, "",
    "1", "nan", [1], {}, b"1", 1j, 10**400, np.bool_(True), np.array([0.5]), np.float64("nan"),
]  # fmt: skip


def learned(agent: al.Agent) -> tuple[list[Any], list[Any]]:
    return agent.look(lambda c: (c.state.counts.tolist(), c.state.sums.tolist()))  # type: ignore[no-any-return]


def test_a_reward_is_learned_once(factory: AgentFactory) -> None:
    agent = factory.create()
    decision = agent.decide("returning")
    agent.reward(decision.id, 0.75)
    before = observable_state(agent)
    for opened in (agent, factory.open()):
        opened.reward(decision.id, 0.75)
    assert observable_state(agent) == before == replayed_state(agent)
    assert learned(agent) == ([[0, 0], [1, 0]], [[0, 0], [0.75, 0]])


def test_another_reward_is_a_conflict(factory: AgentFactory) -> None:
    agent = factory.create()
    decision = agent.decide("new")
    agent.reward(decision.id, 0.75)
    for opened in (agent, factory.open()):
        with refused(opened, al.Conflict, "was rewarded with 0.75, got reward=0.5; a reward is fi"):
            opened.reward(decision.id, 0.5)


def test_what_is_no_reward_is_refused(factory: AgentFactory) -> None:
    agent = factory.create()
    decision = agent.decide("new")
    for value in NOT_REWARDS:
        with refused(agent, al.InvalidInput, "reward must be"):
            agent.reward(decision.id, value)
    agent.reward(decision.id, 1)
    for value in NOT_REWARDS[:3]:
        with refused(agent, al.InvalidInput, "reward must be"):
            agent.reward(decision.id, value)


@pytest.mark.parametrize("value", [0, 1, 0.0, 1.0, 1e-300, np.float64(0.1), np.int64(1)])
def test_a_reward_is_kept_exactly(value: Any, factory: AgentFactory) -> None:
    agent = factory.create()
    agent.reward(agent.decide("new").id, value)
    (*_, event) = factory.open().events()
    assert (event.kind, event.reward, type(event.reward)) == ("rewarded", float(value), float)


def test_rewards_may_come_late_and_from_elsewhere(factory: AgentFactory) -> None:
    agent = factory.create()
    decisions = [agent.decide(context) for context in ("new", "returning", "new", "new")]
    other = factory.open()
    for decision in reversed(decisions):
        other.reward(decision.id, decision.id / 4)
    assert learned(agent) == learned(other) == ([[3, 0], [1, 0]], [[2.0, 0], [0.5, 0]])
    assert observable_state(agent) == observable_state(other) == replayed_state(agent)


def test_the_order_of_rewards_does_not_matter(memory: AgentFactory) -> None:
    """Sixteenths add up exactly, so even the last bit is the same.

    A pooled prior depends on the order: it is fitted to the rewards so far, from the fit before.
    """
    states = set()
    for number, order in enumerate(permutations(range(4))):
        agent = memory.create(name=f"order-{number}", policy=al.wilson_eager())
        decisions = agent.decide_many(["new", "new", "returning", "new"])
        for index in order:
            agent.reward(decisions[index].id, index / 16)
        states.add(str(agent.look(lambda c: c.to_dict())))
    assert len(states) == 1


def test_a_reward_after_the_settlement_and_one_before_it(factory: AgentFactory) -> None:
    agent = factory.create()
    first, second = agent.decide("new"), agent.decide("new")
    agent.reward(first.id, 1)
    agent.settle(first.id, cost=1)
    agent.settle(second.id, cost=1)
    agent.reward(second.id, 0)
    assert [event.kind for event in agent.events()][2:] == [
        "rewarded", "settled", "settled", "rewarded",
    ]  # fmt: skip
    assert observable_state(agent) == replayed_state(agent)


def test_a_reward_that_never_comes_does_not_distort_the_estimates(factory: AgentFactory) -> None:
    """Only every fourth reward comes: the mean is over those, not over all that was done."""
    agent = factory.create(actions={"mail": 1.0}, policy="greedy")
    decisions = [agent.decide("new") for _ in range(12)]
    for decision in decisions[::4]:
        agent.reward(decision.id, 0.75)
    assert learned(agent) == ([[3], [0]], [[2.25], [0]])
    means = agent.look(lambda campaign: campaign.policy._working[1].means.tolist())
    assert means == [[0.75], [1.0]]


def test_decisions_do_not_depend_on_what_no_reward_was_seen_of(memory: AgentFactory) -> None:
    """Two campaigns, one with rewards that never come in between, know the same of the pairs."""
    one, two = memory.create(policy="greedy"), memory.create(policy="greedy", name="two")
    for _ in range(5):
        one.reward(one.decide("new").id, 0.5)
        two.reward(two.decide("new").id, 0.5)
        two.decide("new")
    assert learned(one) == learned(two)


def test_skipping_is_rewarded_only_where_defaults_are_learned(factory: AgentFactory) -> None:
    defaults = {"nothing": None, "known": {"new": 0.2, "returning": 0.1}, "learned": "learned"}
    for case, default in defaults.items():
        agent = factory.create(name=f"{factory.name}-{case}", default_rewards=default)
        skip = agent.decide("new", available=[])
        agent.reward(skip.id, 0.5)
        counts, sums = agent.look(
            lambda c: (c.state.skip_counts.tolist(), c.state.skip_sums.tolist())
        )
        count = float(case == "learned")
        assert (counts, sums) == ([count, 0.0], [0.5 * count, 0.0])
        assert learned(agent) == ([[0, 0], [0, 0]], [[0, 0], [0, 0]])
        assert observable_state(agent) == replayed_state(agent)


def test_thompson_binarises_a_reward_by_the_round_it_was_decided_in(factory: AgentFactory) -> None:
    """The draw belongs to the decision: the order of rewards, and who folds them, is no matter."""
    agent = factory.create(policy="thompson-rounded", actions={"mail": 1.0}, budget=100)
    decisions = agent.decide_many(["new"] * 40)
    other = factory.open()
    for decision in reversed(decisions):
        other.reward(decision.id, 0.5)
    ((successes,), _) = agent.look(lambda campaign: campaign.state.sums.tolist())
    assert successes == int(successes)
    assert abs(successes - 20) <= 4 * 10**0.5  # four standard errors of 40 fair coins
    assert observable_state(agent) == replayed_state(agent)
