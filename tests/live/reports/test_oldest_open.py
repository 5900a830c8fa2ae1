"""The oldest open decisions, compared with a search through the log."""

from __future__ import annotations

import pytest
from support.agents import AgentFactory
from support.shop import DAY, Clock

import almoner as al
from almoner.live.reports import oldest_open


@pytest.mark.parametrize("kept", [4, 1_000])
def test_the_oldest_open_decisions_are_those_of_the_log(
    kept: int, factory: AgentFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(oldest_open, "KEPT", kept)
    clock = Clock()
    coupon = al.Action(cost=1, reserve=2, expires="1 day")
    actions = {"coupon": coupon, "mail": 1}
    agent = factory.create(actions=actions, budget=400, horizon=400, clock=clock)

    def compare() -> None:
        rows = agent.reporter.oldest_open(agent.first_id, 3)
        assert rows == agent.open_decisions()[:3] == agent.open_decisions(limit=3)

    compare()
    made = []
    for number in range(40):
        clock.now += 600
        made.append(agent.decide("new", available=["mail" if number % 3 else "coupon"]))
        compare()
    for number in (0, 1, 39, 2, 5, 4, 3, 6, 20, 7, 8, 10, 9, 12):
        agent.settle(made[number].id, cost=1)
        compare()
    clock.now += DAY - 3_000  # most coupons expire, which the log does not have yet
    compare()
    assert agent.reporter.oldest_open(agent.first_id, 3)[0].action == "mail"
    agent.decide("new")
    compare()
    for decision in made:
        if any(row.id == decision.id for row in agent.open_decisions()):
            agent.cancel(decision.id)
            compare()


def test_an_action_that_reserves_nothing_is_not_open(factory: AgentFactory) -> None:
    """A free mail has no bill to wait for, and must not hide the decisions that have one."""
    agent = factory.create(actions={"mail": 0, "coupon": 5})
    for _ in range(5):
        agent.decide("new", available=["mail"])
    coupon = agent.decide("new", available=["coupon"])
    assert [row.id for row in agent.open_decisions()] == [coupon.id]
    assert [row.id for row in agent.reporter.oldest_open(agent.first_id, 5)] == [coupon.id]
    assert agent.report().open == 1
    free = agent.decide("new", available=["mail"])
    agent.settle(free.id, cost=0)
    agent.settle(coupon.id, cost=5)
    assert (agent.report().open, agent.open_decisions()) == (0, [])
