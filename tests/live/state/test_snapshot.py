"""Snapshots are a cache: missing, old or damaged, they are ignored and nothing is lost."""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Callable
from typing import Any

import pytest
from support.agents import AgentFactory, observable_state, replayed_state

import almoner as al
from almoner.live.audit import audit
from almoner.live.state.campaign_state import Campaign
from almoner.live.state.snapshot import VERSION, read_snapshot, write_snapshot

EVERY = 10


@pytest.fixture(autouse=True)
def _snapshots_are_frequent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("almoner.live.transactions.catch_up.SNAPSHOT_EVERY", EVERY)


def busy(agent: al.Agent, rounds: int = 12) -> None:
    """Append events of every kind."""
    for number in range(rounds):
        decision = agent.decide(("new", "returning")[number % 3 == 0], key=None)
        if decision.action and number % 2:
            agent.settle(decision.id, cost=0.5 + number % 3)
        elif decision.action and number % 5 == 0:
            agent.cancel(decision.id)
            continue
        agent.reward(decision.id, number % 4 / 4)


def saved(agent: al.Agent) -> str | None:
    with agent.store.writing(agent.name) as writer:
        return writer.snapshot()


def save(agent: al.Agent, text: str | None) -> None:
    with agent.store.writing(agent.name) as writer:
        writer.save_snapshot(text)


def forged(body: Any, **changes: Any) -> str:
    """Return a snapshot of any body, with a valid checksum."""
    text = body if isinstance(body, str) else json.dumps(body)
    checksum = hashlib.sha256(text.encode()).hexdigest()
    return json.dumps({"version": VERSION, "checksum": checksum, "body": text, **changes})


@pytest.mark.parametrize("policy", ["thrifty", "ucb-ealp2", "thompson-rounded", "greedy"])
def test_a_snapshot_is_where_the_log_leads(policy: str, factory: AgentFactory) -> None:
    agent = factory.create(policy=policy)
    busy(agent)
    agent.pause()
    text = saved(agent)
    assert text is not None
    campaign = Campaign(agent.terms)
    assert read_snapshot(campaign, text)
    at = campaign.seq
    assert EVERY <= at <= len(list(agent.events()))
    again = Campaign(agent.terms)
    again.apply(event for event in agent.events() if event.seq <= at)
    assert campaign.to_dict() == again.to_dict()
    campaign.apply(agent.events(after=at))
    assert campaign.to_dict() == agent.look(Campaign.to_dict)
    assert observable_state(factory.open()) == observable_state(agent) == replayed_state(agent)


FITTED = {
    "thrifty": {
        "prior_means",
        "prior_counts",
        "action_shares",
        "context_effects",
        "action_fit",
        "fit",
    },
    "insured, nothing pooled": {"fit"},
    "wilson-eager": set[str](),
}
POLICIES: dict[str, Any] = {
    "thrifty": "thrifty",
    "insured, nothing pooled": al.Policy(
        rewards=al.InsuredWilson(), contexts=al.EmpiricalContexts(), allocation=al.EagerRounding()
    ),
    "wilson-eager": "wilson-eager",
}
ALWAYS = {"counts", "sums", "pending", "context_counts", "skip_counts", "skip_sums", "clock"}


@pytest.mark.parametrize("name", FITTED)
def test_a_fit_is_kept_where_there_is_one_and_to_the_last_bit(
    name: str, memory: AgentFactory
) -> None:
    agent = memory.create(policy=POLICIES[name])
    busy(agent)
    table = agent.look(Campaign.to_dict)
    assert set(table["state"]) == ALWAYS | FITTED[name]
    again = Campaign(agent.terms)
    assert read_snapshot(again, agent.look(write_snapshot))
    assert again.to_dict() == table
    for field in FITTED[name]:
        ours, theirs = (getattr(one.state, field) for one in (again, agent.look(lambda c: c)))
        assert ours.tobytes() == theirs.tobytes(), field
        assert ours.any(), field


def test_a_snapshot_from_before_priors_is_still_read(memory: AgentFactory) -> None:
    """A policy without a prior has the same snapshot as before, and its audit agrees."""
    agent = memory.create(policy="wilson-eager")
    busy(agent)
    table = agent.look(Campaign.to_dict)
    old = {**table, "state": {name: table["state"][name] for name in ALWAYS}}
    save(agent, forged(old))
    audit(agent.store, agent.name)
    assert observable_state(memory.open()) == observable_state(agent)


def test_it_is_plain_text_with_a_version_and_a_checksum(memory: AgentFactory) -> None:
    agent = memory.create()
    busy(agent)
    table = json.loads(saved(agent) or "")
    assert sorted(table) == ["body", "checksum", "version"]
    assert (table["version"], len(table["checksum"])) == (VERSION, 64)
    assert sorted(json.loads(table["body"])) == [
        "attendance", "contexts", "expiring", "ledger", "overrun", "seq", "spending", "state",
        "status", "stopped", "terms",
    ]  # fmt: skip


def test_opening_reads_no_more_than_what_came_after_it(
    memory: AgentFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    agent = memory.create()
    busy(agent)
    agent.decide_many(["new", "new"])
    campaign = Campaign(agent.terms)
    read_snapshot(campaign, saved(agent))
    folds: list[list[int]] = []
    apply: Callable[..., None] = Campaign.apply

    def counted(self: Campaign, events: Any) -> None:
        rows = list(events)
        folds.append([event.seq for event in rows])
        apply(self, rows)

    monkeypatch.setattr(Campaign, "apply", counted)
    memory.open()
    last = len(list(agent.events()))
    assert folds == [list(range(campaign.seq + 1, last + 1))]


DAMAGED: dict[str, Callable[[str], str]] = {
    "empty": lambda text: "",
    "cut off": lambda text: text[: len(text) // 2],
    "one letter changed": lambda text: text.replace("running", "runnimg"),
    "no JSON": lambda text: "\x80pickle",
    "no table": lambda text: "[1, 2]",
    "nothing": lambda text: "null",
    "no keys": lambda text: "{}",
    "no checksum": lambda text: json.dumps({"version": VERSION, "body": "{}"}),
    "another checksum": lambda text: json.dumps({**json.loads(text), "checksum": "0" * 64}),
    "a body that is no text": lambda text: json.dumps({**json.loads(text), "body": 5}),
    "a body without anything": lambda text: forged({}),
    "a body that is a list": lambda text: forged([]),
    "a body of another shape": lambda text: forged(
        {**json.loads(json.loads(text)["body"]), "contexts": ["new"]}
    ),
    "fields of another version": lambda text: forged(
        {**json.loads(json.loads(text)["body"]), "state": {"novelty": [1]}}
    ),
    "numbers that are none": lambda text: forged(
        {**json.loads(json.loads(text)["body"]), "state": {"counts": "many"}}
    ),
    "a ledger of another length": lambda text: forged(
        {**json.loads(json.loads(text)["body"]), "ledger": [1, 2, 3, 4, 5, 6]}
    ),
    "brackets without end": lambda text: "[" * 100_000,
}


@pytest.mark.parametrize("damage", DAMAGED)
def test_a_damaged_snapshot_is_ignored_and_reported(
    damage: str, memory: AgentFactory, caplog: pytest.LogCaptureFixture
) -> None:
    agent = memory.create()
    busy(agent)
    before = observable_state(agent)
    save(agent, DAMAGED[damage](saved(agent) or ""))
    caplog.clear()
    with caplog.at_level(logging.WARNING, "almoner"):
        again = memory.open()
    assert [record.name for record in caplog.records] == ["almoner"]
    assert "a damaged snapshot is ignored, the log is read instead" in caplog.text
    assert observable_state(again) == before
    busy(again)
    assert observable_state(memory.open()) == observable_state(again) == replayed_state(again)


@pytest.mark.parametrize("change", [{"version": VERSION + 1}, {"version": 0}, {"version": None}])
def test_a_snapshot_of_another_version_is_ignored(
    change: dict[str, Any], factory: AgentFactory
) -> None:
    agent = factory.create()
    busy(agent)
    before = observable_state(agent)
    save(agent, json.dumps({**json.loads(saved(agent) or ""), **change}))
    assert observable_state(factory.open()) == before


def test_a_deleted_snapshot_is_no_loss(factory: AgentFactory) -> None:
    agent = factory.create()
    busy(agent)
    before = observable_state(agent)
    save(agent, None)
    again = factory.open()
    assert observable_state(again) == before
    busy(again)
    assert saved(again) is not None  # the next one comes by itself


def test_a_snapshot_ahead_of_the_log_is_ignored(factory: AgentFactory) -> None:
    """As after restoring a log from an older copy."""
    long, short = factory.create(), factory.create(name=factory.name + "-short")
    busy(long)
    short.decide("new")
    save(short, saved(long))
    again = factory.open(name=short.name)
    assert observable_state(again) == observable_state(short) == replayed_state(short)


def test_new_contexts_are_in_the_snapshot(factory: AgentFactory) -> None:
    agent = factory.create(new_contexts=True, contexts=["new"])
    for number in range(EVERY):
        agent.reward(agent.decide(f"context {number % 4}").id, 0.5)
    campaign = Campaign(agent.terms)
    assert read_snapshot(campaign, saved(agent))
    assert len(campaign.contexts) > 1
    assert observable_state(factory.open()) == observable_state(agent) == replayed_state(agent)


def test_what_is_written_is_read(memory: AgentFactory) -> None:
    agent = memory.create()
    busy(agent)
    text = agent.look(write_snapshot)
    campaign = Campaign(agent.terms)
    assert read_snapshot(campaign, text)
    assert write_snapshot(campaign) == text
    assert not read_snapshot(Campaign(agent.terms), None)


def test_a_snapshot_that_claims_to_be_of_no_event_is_compared_too(factory: AgentFactory) -> None:
    """An agent refuses it, and refers to the audit."""
    agent = factory.create()
    busy(agent)
    text = saved(agent)
    assert text is not None
    save(agent, forged({**json.loads(json.loads(text)["body"]), "seq": 0}))
    with pytest.raises(al.BrokenLedger, match="the snapshot after event 0 is not what the log"):
        audit(agent.store, agent.name)
