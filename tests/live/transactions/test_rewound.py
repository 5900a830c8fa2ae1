"""A log that was restored from a copy: state folded from the lost part is dropped."""

from __future__ import annotations

import logging
from typing import Any

import pytest
from support.agents import AgentFactory, observable_state, replayed_state, rewind

import almoner as al
from almoner.store.events import Event

TEN: dict[str, Any] = {"actions": {"mail": 1.0}, "budget": 10, "horizon": 10}


def test_an_agent_that_knew_more_starts_from_what_is_left(
    factory: AgentFactory, caplog: pytest.LogCaptureFixture
) -> None:
    """Four decisions, three of them lost; others spend the rest: nothing is spent twice."""
    agent = factory.create(**TEN)
    agent.decide_many(["new"] * 4)
    rewind(factory, 1)
    other = factory.open()
    other.decide_many(["new"] * 9)
    assert other.ledger.left == 0
    assert agent.decide("new").reason in ("budget", "horizon")
    assert observable_state(agent) == observable_state(other) == replayed_state(agent)
    assert "was rewound" in caplog.text


def test_as_many_other_events_are_noticed_too(factory: AgentFactory) -> None:
    agent = factory.create(**TEN)
    agent.decide_many(["new"] * 4)
    rewind(factory, 1)
    factory.open().decide_many(["returning"] * 3)
    assert agent.look(lambda campaign: campaign.state.context_counts.tolist()) == [1, 3]


def test_a_snapshot_ahead_of_its_log_is_reported(
    factory: AgentFactory, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("almoner.live.transactions.catch_up.SNAPSHOT_EVERY", 4)
    factory.create(**TEN).decide_many(["new"] * 6)
    rewind(factory, 2)
    with caplog.at_level(logging.WARNING, "almoner"):
        agent = factory.open()
    assert agent.ledger.left == 8_000_000
    assert "events are missing, as the log ends before event 6" in caplog.text


def test_what_an_event_left_must_be_what_it_says(factory: AgentFactory) -> None:
    agent = factory.create(**TEN)
    agent.decide("new")
    forged = Event(2, "decided", 0, 9_500_000, 2, 1, "new", "mail", 1_000_000, 1_000_000, 1.0)
    with factory.store().writing(factory.name) as writer:
        writer.append([forged])
    with pytest.raises(al.BrokenLedger, match="8000000 is left, and it says 9500000"):
        agent.decide("new")


def test_a_store_that_was_lent_stays_open(factory: AgentFactory) -> None:
    store = factory.store()
    with al.Agent.open(store, name="first", **{**TEN, "contexts": ["new"]}) as first:
        first.decide("new")
    second = al.Agent.open(store, name="second", **{**TEN, "contexts": ["new"]})
    assert second.decide("new").id == second.first_id + 1
