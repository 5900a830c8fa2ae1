"""Callers that share a transaction: they do not share mistakes, and a failure leaves no trace."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from support.agents import AgentFactory, FailingTransactions, observable_state, replayed_state

import almoner as al
from almoner.live.transactions.commands import Read
from almoner.live.transactions.follow_ups import Cancel, Reward, Settle
from almoner.live.transactions.transaction import Command, Decide


def test_a_transaction_that_fails_leaves_no_trace_and_the_agent_goes_on(
    factory: AgentFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("almoner.live.transactions.catch_up.SNAPSHOT_EVERY", 3)
    agent = factory.create()
    failures = FailingTransactions(agent.store)
    decision = agent.decide("new")
    for ask in (
        lambda: agent.decide("new", key="k"),
        lambda: agent.decide_many(["new", "returning"] * 5),
        lambda: agent.reward(decision.id, 1.0),
        lambda: agent.settle(decision.id, cost=99),
        lambda: agent.cancel(decision.id),
        agent.pause,
        agent.end,
    ):
        before = observable_state(agent)
        failures.left = 1
        with pytest.raises(al.StoreError, match="the disk is full"):
            ask()
        assert observable_state(agent) == before == observable_state(factory.open())
    assert agent.decide("new", key="k").id == 2
    agent.decide_many(["new", "returning"] * 5)
    agent.reward(decision.id, 1.0)
    assert observable_state(agent) == observable_state(factory.open()) == replayed_state(agent)


def test_what_came_to_nothing_is_forgotten_even_where_the_log_goes_on(
    factory: AgentFactory,
) -> None:
    """The log has the same length again, but with the events of another agent."""
    agent, other = factory.create(), factory.open()
    if other.store is agent.store:  # in memory: only one of them is to fail
        other = agent
    FailingTransactions(agent.store).left = 1
    with pytest.raises(al.StoreError):
        agent.decide_many(["new", "new", "new"])
    other.decide_many(["returning", "returning", "returning"])
    assert agent.look(lambda c: c.state.context_counts.tolist()) == [0.0, 3.0]
    assert observable_state(agent) == replayed_state(agent)


def test_a_batch_of_one_caller_is_refused_where_it_contradicts_itself(
    factory: AgentFactory,
) -> None:
    """All commands are checked before any is carried out, so each may seem fine alone."""
    agent = factory.create()
    held = agent.decide("new").id
    contradictions: list[list[Command]] = [
        [Settle(held, 1), Settle(held, 2)],
        [Reward(held, 1), Reward(held, 0)],
        [Cancel(held), Settle(held, 1)],
        [Reward(held, 1), Cancel(held)],
        [Settle(held, 1), Reward(held, float("nan"))],
    ]
    before = observable_state(agent)
    for batch in contradictions:
        alone, fine = agent.ask_all([batch, [Read(lambda campaign: campaign.seq)]])
        assert isinstance(alone, al.AlmonerError)
        assert fine == [1]
        assert observable_state(agent) == before
    (both,) = agent.ask_all([[Settle(held, 1), Reward(held, 1)]])
    assert both[0].billed == 1.0
    assert observable_state(agent) == replayed_state(agent)


def test_callers_of_one_transaction_see_each_other(factory: AgentFactory) -> None:
    """The second caller's key was decided by the first; the third's contradicts it."""
    agent = factory.create()
    first, second, third, fourth, fifth = agent.ask_all(
        [
            [Decide("new", None, "k")],
            [Decide("new", None, "k"), Decide("returning")],
            [Decide("returning", None, "k")],
            [Settle(1, 1)],
            [Read(lambda campaign: 1 / 0)],
        ]
    )
    assert first[0] == second[0]
    assert second[1].id == 2
    assert isinstance(third, al.Conflict)
    assert isinstance(fourth, al.UnknownDecision)  # ids are known once they are durable
    assert isinstance(fifth, ZeroDivisionError)
    assert agent.ledger.reserved == 2_000_000


def test_what_was_refused_stands_in_nobodys_way(factory: AgentFactory) -> None:
    """A refused batch claims neither its keys nor its decisions."""
    agent = factory.create()
    held = agent.decide("new").id
    first, second, third, fourth = agent.ask_all(
        [
            [Decide("new", None, "k"), Decide("nobody")],
            [Decide("returning", None, "k")],
            [Settle(held, 1), Reward(held, 2)],
            [Settle(held, 2)],
        ]
    )
    assert isinstance(first, al.InvalidInput)
    assert second[0].context == "returning"
    assert isinstance(third, al.InvalidInput)
    assert fourth[0].billed == 2.0
    assert observable_state(agent) == replayed_state(agent)


def test_many_threads_on_one_agent_spend_no_more_than_there_is(factory: AgentFactory) -> None:
    """Eight threads ask 25 times each for one of 90: everything that is spent is in the log."""
    agent = factory.create(actions={"mail": 1}, horizon=200, budget=90, policy="greedy")

    def work(thread: int) -> list[al.Decision]:
        done = []
        for number in range(25):
            decision = agent.decide("new", key=f"{thread}-{number}")
            agent.reward(decision.id, number % 2)
            done.append(decision)
        return done

    with ThreadPoolExecutor(8) as pool:
        decisions = [decision for done in pool.map(work, range(8)) for decision in done]
    assert len({decision.id for decision in decisions}) == 200
    served = [decision for decision in decisions if decision.action]
    assert agent.ledger == (90_000_000, 0, len(served) * 10**6, len(served) * 10**6)
    assert len(served) <= 90
    assert observable_state(agent) == observable_state(factory.open()) == replayed_state(agent)
