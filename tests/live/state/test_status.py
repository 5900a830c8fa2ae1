"""Pausing, resuming and closing a campaign."""

from __future__ import annotations

import pytest
from support.agents import AgentFactory, observable_state, refused, replayed_state

import almoner as al


def test_a_paused_campaign_skips_and_does_not_count(factory: AgentFactory) -> None:
    agent = factory.create()
    agent.decide("new")
    agent.pause()
    assert agent.status == factory.open().status == "paused"
    skip = agent.decide("returning")
    assert (skip.action, skip.reason, skip.probability, skip.reserved) == (None, "paused", 1.0, 0.0)
    assert (skip.why, skip.price) == ("the campaign is paused", None)
    assert agent.look(lambda c: (c.arrivals, c.state.context_counts.tolist())) == (1, [1.0, 0.0])
    agent.resume()
    assert agent.status == "running"
    assert agent.decide("returning").action == "mail"
    assert observable_state(agent) == observable_state(factory.open()) == replayed_state(agent)


def test_a_pause_moves_nothing_in_the_stream_of_decisions(memory: AgentFactory) -> None:
    """Decisions after a pause are the same as without it."""
    one, two = (memory.create(name=name, budget=20, policy="ucb-ealp") for name in "ab")
    for number in range(30):
        if number == 9:
            two.pause()
            assert [two.decide("new").reason for _ in range(4)] == ["paused"] * 4
            two.resume()
        ours, theirs = one.decide("new"), two.decide("new")
        assert (ours.action, ours.probability) == (theirs.action, theirs.probability)


def test_rewards_and_settlements_are_taken_while_paused(factory: AgentFactory) -> None:
    agent = factory.create()
    one, two = agent.decide("new"), agent.decide("new")
    agent.pause()
    agent.reward(one.id, 1)
    agent.settle(one.id, cost=1)
    agent.cancel(two.id)
    assert agent.ledger == (60_000_000, 1_000_000, 0, 0)


def test_a_closed_campaign_stays_closed_but_hears_what_became_of_it(factory: AgentFactory) -> None:
    agent = factory.create()
    decision = agent.decide("new")
    agent.end()
    for opened in (agent, factory.open()):
        assert opened.status == "closed"
        skip = opened.decide("new")
        assert (skip.reason, skip.why) == ("closed", "the campaign is closed")
        for wake in (opened.resume, opened.pause):
            with refused(opened, al.Conflict, "closed for good; open another one"):
                wake()
    agent.settle(decision.id, cost=0.5)
    agent.reward(decision.id, 1)
    assert agent.ledger == (60_000_000, 500_000, 0, 0)
    assert observable_state(agent) == replayed_state(agent)


@pytest.mark.parametrize("switch", ["pause", "resume", "end"])
def test_switching_twice_is_switching_once(switch: str, factory: AgentFactory) -> None:
    agent = factory.create()
    getattr(agent, switch)()
    before = observable_state(agent)
    getattr(agent, switch)()
    getattr(factory.open(), switch)()
    assert observable_state(agent) == before
    assert len(before["log"]) == (switch != "resume")  # it was running already


def test_a_paused_campaign_can_be_closed(factory: AgentFactory) -> None:
    agent = factory.create()
    agent.pause()
    agent.end()
    assert [event.kind for event in agent.events()] == ["paused", "closed"]


def test_a_key_asked_for_during_a_pause_stays_a_skip(factory: AgentFactory) -> None:
    """The same key is the same decision: ask with a new one once the campaign goes on."""
    agent = factory.create()
    agent.pause()
    skip = agent.decide("new", key="visit-1")
    agent.resume()
    assert agent.decide("new", key="visit-1") == skip
    assert agent.decide("new", key="visit-1, again").action == "mail"


def test_an_unknown_context_is_refused_even_when_nothing_is_decided(factory: AgentFactory) -> None:
    agent = factory.create()
    agent.pause()
    with refused(agent, al.InvalidInput, "context must be one of"):
        agent.decide("nobody")
    with refused(agent, al.InvalidInput, "available action must be one of"):
        agent.decide("new", available=["fax"])
