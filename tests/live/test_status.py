"""Pausing, resuming and closing a campaign."""

from __future__ import annotations

import pytest
from support.agents import Place, folded, refused, standing

import almoner as al


def test_a_paused_campaign_skips_and_does_not_count(place: Place) -> None:
    agent = place.create()
    agent.decide("new")
    agent.pause()
    assert agent.status == place.open().status == "paused"
    skip = agent.decide("returning")
    assert (skip.action, skip.reason, skip.probability, skip.reserved) == (None, "paused", 1.0, 0.0)
    assert (skip.why, skip.price) == ("the campaign is paused", None)
    assert agent.look(lambda c: (c.arrivals, c.state.context_counts.tolist())) == (1, [1.0, 0.0])
    agent.resume()
    assert agent.status == "running"
    assert agent.decide("returning").action == "mail"
    assert standing(agent) == standing(place.open()) == folded(agent)


def test_a_pause_moves_nothing_in_the_stream_of_decisions(memory: Place) -> None:
    """What is decided after a pause is what would have been decided without it."""
    one, two = (memory.create(name=name, budget=20, policy="ucb-ealp") for name in "ab")
    for number in range(30):
        if number == 9:
            two.pause()
            assert [two.decide("new").reason for _ in range(4)] == ["paused"] * 4
            two.resume()
        ours, theirs = one.decide("new"), two.decide("new")
        assert (ours.action, ours.probability) == (theirs.action, theirs.probability)


def test_rewards_and_settlements_are_taken_while_paused(place: Place) -> None:
    agent = place.create()
    one, two = agent.decide("new"), agent.decide("new")
    agent.pause()
    agent.reward(one.id, 1)
    agent.settle(one.id, cost=1)
    agent.cancel(two.id)
    assert agent.ledger == (60_000_000, 1_000_000, 0, 0)


def test_a_closed_campaign_stays_closed_but_hears_what_became_of_it(place: Place) -> None:
    agent = place.create()
    decision = agent.decide("new")
    agent.end()
    for asked in (agent, place.open()):
        assert asked.status == "closed"
        skip = asked.decide("new")
        assert (skip.reason, skip.why) == ("closed", "the campaign is closed")
        for wake in (asked.resume, asked.pause):
            with refused(asked, al.Conflict, "closed for good; open another one"):
                wake()
    agent.settle(decision.id, cost=0.5)
    agent.reward(decision.id, 1)
    assert agent.ledger == (60_000_000, 500_000, 0, 0)
    assert standing(agent) == folded(agent)


@pytest.mark.parametrize("switch", ["pause", "resume", "end"])
def test_switching_twice_is_switching_once(switch: str, place: Place) -> None:
    agent = place.create()
    getattr(agent, switch)()
    before = standing(agent)
    getattr(agent, switch)()
    getattr(place.open(), switch)()
    assert standing(agent) == before
    assert len(before["log"]) == (switch != "resume")  # it was running already


def test_a_paused_campaign_can_be_closed(place: Place) -> None:
    agent = place.create()
    agent.pause()
    agent.end()
    assert [event.kind for event in agent.events()] == ["paused", "closed"]


def test_a_key_asked_for_during_a_pause_stays_a_skip(place: Place) -> None:
    """The same key is the same decision: ask with a new one once the campaign goes on."""
    agent = place.create()
    agent.pause()
    skip = agent.decide("new", key="visit-1")
    agent.resume()
    assert agent.decide("new", key="visit-1") == skip
    assert agent.decide("new", key="visit-1, again").action == "mail"


def test_an_unknown_context_is_refused_even_when_nothing_is_decided(place: Place) -> None:
    agent = place.create()
    agent.pause()
    with refused(agent, al.InvalidInput, "context must be one of"):
        agent.decide("nobody")
    with refused(agent, al.InvalidInput, "available action must be one of"):
        agent.decide("new", available=["fax"])
