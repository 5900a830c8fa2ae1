"""Reports and pages read a campaign without its write lock, each from one prefix of its log."""

from __future__ import annotations

from collections.abc import Callable
from threading import Event, Thread
from typing import Any, NoReturn

import pytest
from support.agents import AgentFactory, rewind, use
from support.interrupts import elsewhere
from support.waiting import wait_until

import almoner as al
from almoner.live.export import decisions
from almoner.live.reports.history import History
from almoner.live.reports.make_report import make_report
from almoner.live.reports.report import Report
from almoner.live.state.campaign_state import Campaign
from almoner.store import Store

VIEWERS = 10


def viewers_of(agent: al.Agent) -> dict[str, Callable[[], Any]]:
    """Return everything that a page asks of a campaign."""
    return {
        "report": agent.report,
        "curve": agent.reporter.curve,
        "view": lambda: agent.reporter.view(lambda campaign: campaign.ledger),
        "latest": lambda: list(decisions(agent)),
        "campaigns": agent.store.campaigns,
        "terms": lambda: agent.store.terms(agent.name),
        "api keys": agent.store.api_keys,
    }


def refuse_writing(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """Refuse every transaction that can write, of the store and of its database."""

    def refuse(*arguments: Any) -> NoReturn:
        raise AssertionError("a viewer has asked for the write lock")

    monkeypatch.setattr(store, "writing", refuse)
    database = getattr(store, "_database", None)
    if database is not None:
        monkeypatch.setattr(database, "transaction", refuse)


def test_viewers_never_ask_for_the_write_lock(
    factory: AgentFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    agent = factory.create()
    agent.reward(agent.decide("new").id, 1.0)
    refuse_writing(agent.store, monkeypatch)
    for view in viewers_of(agent).values():
        view()


def test_viewers_wait_for_no_transaction(factory: AgentFactory) -> None:
    """They see what was committed before, however long another connection keeps writing."""
    agent = factory.create()
    agent.decide("new")
    before = {name: view() for name, view in viewers_of(agent).items()}
    [event] = agent.events()
    other = factory.store()
    with other.writing(factory.name) as writer:
        writer.append([event._replace(seq=2, decision=2, round=1, left=58_000_000)])
        for name, view in viewers_of(agent).items():
            assert elsewhere(view) == before[name], name
    assert agent.report() != before["report"]


def test_a_reader_sees_one_state_while_others_commit(factory: AgentFactory) -> None:
    agent = factory.create()
    agent.decide("new")
    with agent.store.reading(factory.name) as reader:
        assert len(reader.events(0)) == 1
        elsewhere(lambda: agent.decide_many(["new"] * 3))
        assert len(reader.events(0)) == 1
        assert reader.snapshot() is None
    assert agent.report().arrivals == 4


def reports_of_prefixes(agent: al.Agent) -> list[Report]:
    """Return the report after every event of a log, folded from the beginning."""
    campaign, history = Campaign(agent.terms), History(agent.terms)
    reports = [make_report(agent.name, campaign, history, agent.now())]
    for event in agent.events():
        campaign.apply([event])
        history.apply([event])
        reports.append(make_report(agent.name, campaign, history, agent.now()))
    return reports


@pytest.mark.slow
def test_each_report_is_that_of_one_prefix_of_the_log(factory: AgentFactory) -> None:
    """Ten viewers refresh in threads while two agents write."""
    agent = factory.create(horizon=2_000, budget=3_000.0)
    done, reports = Event(), list[Report]()

    def refresh() -> None:
        while not done.is_set():
            reports.append(agent.report())

    viewers = [Thread(target=refresh) for _ in range(VIEWERS)]
    writers = [Thread(target=use, args=(one, n)) for n, one in enumerate((agent, factory.open()))]
    for thread in viewers:
        thread.start()
    wait_until(lambda: reports, "the first report")
    for thread in writers:
        thread.start()
    for thread in writers:
        thread.join(300)
    wait_until(lambda: reports[-1].arrivals > reports[0].arrivals, "they see it grow")
    done.set()
    for thread in viewers:
        thread.join(300)
    possible = [repr(report) for report in reports_of_prefixes(agent)]
    for report in reports:
        assert report.spent + report.reserved + report.left == pytest.approx(report.budget)
        assert repr(report) in possible


def test_a_report_after_the_log_was_rewound_counts_nothing_of_the_lost_part(
    factory: AgentFactory,
) -> None:
    agent = factory.create()
    agent.decide_many(["new"] * 4)
    assert agent.report().arrivals == 4
    rewind(factory, 1)
    assert agent.report().arrivals == 1
    factory.open().decide_many(["returning"] * 3)
    report = agent.report()
    assert {context.context: context.arrivals for context in report.contexts} == {
        "new": 1, "returning": 3,
    }  # fmt: skip
    assert len(agent.reporter.curve()) == 4
    assert report == factory.open().report()


def test_a_history_is_read_a_page_at_a_time(
    memory: AgentFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("almoner.live.reports.reporter.PAGE", 7)
    agent = memory.create()
    for count in (1, 2, 20):
        agent.decide_many(["new"] * count)
        assert agent.report().arrivals == sum(agent.report().skips.values()) + agent.report().served
    assert agent.report() == memory.open().report() == reports_of_prefixes(agent)[-1]
