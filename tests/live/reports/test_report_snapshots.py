"""Snapshots keep the history of a campaign, so that a new process reports on a long log at once."""

from __future__ import annotations

import hashlib
import json
import logging
import random
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from support.agents import (
    AgentFactory,
    agent_factory,
    assert_reports_are_of_the_log,
    observable_state,
    use,
)
from support.clock import Clock

import almoner as al
from almoner.live.audit import audit
from almoner.live.reports.history import History
from almoner.live.reports.reporter import Reporter


@pytest.fixture(autouse=True)
def _snapshots_are_frequent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("almoner.live.transactions.catch_up.SNAPSHOT_EVERY", 10)


def saved(agent: al.Agent) -> str:
    with agent.store.reading(agent.name) as reader:
        return reader.snapshot() or ""


def save(agent: al.Agent, text: str) -> None:
    with agent.store.writing(agent.name) as writer:
        writer.save_snapshot(text)


def fresh_reporter(agent: al.Agent) -> Reporter:
    return Reporter(agent.store, agent.name, agent.opening_terms, agent.now)


def counts_in(text: str) -> dict[str, Any]:
    """Return the counts of reports in a snapshot."""
    return json.loads(json.loads(text)["counts"]["body"])  # type: ignore[no-any-return]


def with_counts(text: str, body: str) -> str:
    """Return a snapshot with other counts and their checksum."""
    counts = {"checksum": hashlib.sha256(body.encode()).hexdigest(), "body": body}
    return json.dumps({**json.loads(text), "counts": counts})


@pytest.fixture
def sqlite() -> Iterator[AgentFactory]:
    """Yield a factory of agents whose snapshots have counts: those in memory need none."""
    with agent_factory("sqlite") as fresh:
        yield fresh


def test_a_first_report_reads_no_more_than_what_came_after_the_snapshot(
    sqlite: AgentFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    agent = sqlite.create()
    use(agent, 1)
    expected, last, saved_at = (
        agent.report(),
        len([*agent.events()]),
        counts_in(saved(agent))["seq"],
    )
    folds: list[int] = []
    apply: Callable[..., None] = History.apply

    def counted(self: History, events: Any) -> None:
        folds.extend(event[0] for event in events)
        apply(self, events)

    monkeypatch.setattr(History, "apply", counted)
    assert fresh_reporter(agent).report() == expected
    assert folds == [*range(saved_at + 1, last + 1)]
    assert_reports_are_of_the_log(agent)


def test_a_snapshot_without_counts_is_read_by_nobody_and_replaced(sqlite: AgentFactory) -> None:
    """As one of an older version: its log is folded once more."""
    agent = sqlite.create()
    use(agent, 1)
    old = {key: value for key, value in json.loads(saved(agent)).items() if key != "counts"}
    save(agent, json.dumps(old))
    before, report = observable_state(agent), agent.report()
    assert fresh_reporter(agent).report() == report
    audit(agent.store, agent.name)
    again = sqlite.open()
    assert observable_state(again) == before
    use(again, 2)
    assert counts_in(saved(again))["seq"] > json.loads(old["body"])["seq"]
    assert_reports_are_of_the_log(again)


@pytest.mark.parametrize(
    "body", ["{}", "[]", "5", '{"seq": 3}', '{"counters": {"taken": 3}}', '"', "[" * 100_000]
)
def test_damaged_counts_are_ignored_and_reported(
    body: str, sqlite: AgentFactory, caplog: pytest.LogCaptureFixture
) -> None:
    agent = sqlite.create()
    use(agent, 1)
    before, report = observable_state(agent), agent.report()
    save(agent, with_counts(saved(agent), body))
    with caplog.at_level(logging.WARNING, "almoner"):
        assert fresh_reporter(agent).report() == report
    assert "a damaged snapshot is ignored, the log is read instead" in caplog.text
    again = sqlite.open()
    assert observable_state(again) == before
    assert again.report() == report


def test_an_audit_compares_the_counts_with_the_log(sqlite: AgentFactory) -> None:
    agent = sqlite.create()
    use(agent, 1)
    audit(agent.store, agent.name)
    counts = counts_in(saved(agent))
    counts["counters"]["arrivals"][0][1] += 1
    save(agent, with_counts(saved(agent), json.dumps(counts)))
    with pytest.raises(al.BrokenLedger, match="is not what the log says; delete the snapshot"):
        audit(agent.store, agent.name)


def test_counts_of_another_event_are_ignored(sqlite: AgentFactory) -> None:
    agent = sqlite.create()
    use(agent, 1)
    early = json.dumps(counts_in(saved(agent)))
    use(agent, 2)
    save(agent, with_counts(saved(agent), early))
    assert_reports_are_of_the_log(agent)


CAMPAIGNS: dict[str, dict[str, Any]] = {
    "plain": {},
    "a window": {"reward_window": "1 hour"},
    "learned default rewards and a hold-out": {"default_rewards": "learned", "holdout": 0.3},
    "a hold-out of persons, a window": {"holdout": 0.3, "reward_window": "1 hour"},
    "exploration": {"explore": 0.5, "default_rewards": {"new": 0.25, "returning": 0.5}},
    "a risk": {"risk": 0.05},
    "new contexts and a pace": {"new_contexts": True, "pace": "even"},
    "expiring reserves": {
        "actions": {
            "coupon": al.Action(cost=1, expires="20 minutes", on_expiry="charge"),
            "mail": al.Action(cost=0.5, expires="50 minutes", learn_cost=True),
        }
    },
}


@pytest.mark.parametrize("terms", CAMPAIGNS.values(), ids=CAMPAIGNS)
def test_reports_from_a_snapshot_are_those_of_the_whole_log(
    terms: dict[str, Any], sqlite: AgentFactory
) -> None:
    """Also after amendments, with persons, and with a clock that is set back now and then."""
    draw, clock = random.Random(5), Clock()  # noqa: S311
    agent = sqlite.create(clock=clock, horizon=400, **terms)
    for number in range(60):
        clock.now += draw.choice([1, 400, 900, -30])
        persons = [draw.choice(["ann", "bob", "cem"]) for _ in range(3)]
        for decision in agent.decide_many(["new", "returning", "new"], persons=persons):
            if draw.random() < 0.5 and (decision.action or "learned" in terms.values()):
                agent.reward(decision.id, draw.random())
            if decision.action and draw.random() < 0.3:
                agent.settle(decision.id, cost=0.25)
        if number % 20 == 9:
            agent.amend(budget=65 + number, note="more", by="the boss")
            assert_reports_are_of_the_log(agent)
    assert_reports_are_of_the_log(agent)
    audit(agent.store, agent.name)
