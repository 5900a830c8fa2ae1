"""The events that a process commits reach its reports in memory, not by way of the store."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from support.agents import AgentFactory, FailingTransactions, rewind, use

import almoner as al
from almoner.live.reports.history import History
from almoner.live.transactions import recent_events
from almoner.live.transactions.recent_events import RecentEvents, rows_after
from almoner.store import Reader, Store
from almoner.store.base import ALL
from almoner.store.events import DECIDED, Event

MANY: dict[str, Any] = {"horizon": 5_000, "budget": 9_000.0}
VIEWERS = 10
TIP = 1
"""Each read begins with the event that was folded last, to see that it is still there."""


class CountedReads:
    """Counts the events that readers of a store get from it."""

    def __init__(self, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
        self.events = 0
        begin = store.reading

        @contextmanager
        def reading(name: str) -> Iterator[Reader]:
            with begin(name) as reader:
                yield CountedReader(reader, self)

        monkeypatch.setattr(store, "reading", reading)

    def since(self) -> int:
        """Return the number of events read since the last call."""
        events, self.events = self.events, 0
        return events


class CountedReader:
    def __init__(self, reader: Reader, reads: CountedReads) -> None:
        self._reader, self._reads, self.snapshot = reader, reads, reader.snapshot

    def events(self, after: int, limit: int = ALL) -> list[Event]:
        events = self._reader.events(after, limit)
        self._reads.events += len(events)
        return events


@pytest.fixture
def agent(factory: AgentFactory) -> al.Agent:
    return factory.create(**MANY)


@pytest.fixture
def reads(agent: al.Agent, monkeypatch: pytest.MonkeyPatch) -> CountedReads:
    """Count the reads of an agent that was asked for a report and has written since."""
    counted = CountedReads(agent.store, monkeypatch)
    use(agent, 1)
    agent.report()
    assert counted.since() >= 40, "the first report reads the log"
    return counted


@pytest.mark.slow
def test_viewers_read_no_event_of_their_own_process_from_the_store(
    factory: AgentFactory, agent: al.Agent, reads: CountedReads
) -> None:
    for number in range(3):
        use(agent, number)
        for _ in range(VIEWERS):
            agent.report()
            agent.reporter.curve()
            agent.reporter.view(lambda campaign: campaign.ledger)
        assert reads.since() == 3 * VIEWERS * TIP
    other = factory.open()
    assert (agent.report(), agent.reporter.curve()) == (other.report(), other.reporter.curve())


def test_reports_know_of_other_processes(
    factory: AgentFactory, agent: al.Agent, reads: CountedReads
) -> None:
    """Events of others come from the store, unless a transaction of this process has read them."""
    other = factory.open()
    reads.since()  # which has read the log
    agent.decide("new")
    other.decide_many(["returning"] * 5)
    seen = agent.report()
    assert reads.since() == TIP + 5
    assert seen == other.report()
    reads.since()
    agent.decide("new")
    other.decide_many(["returning"] * 5)
    agent.decide("new")
    seen = agent.report()
    assert reads.since() == TIP
    assert seen == other.report()


def test_a_view_keeps_the_history_up_to_date(agent: al.Agent, reads: CountedReads) -> None:
    use(agent, 2)
    agent.reporter.view(lambda campaign: campaign.seq)
    use(agent, 3)
    assert agent.report().arrivals == 120
    assert reads.since() == 2 * TIP


def test_a_transaction_that_failed_is_in_no_report(agent: al.Agent, reads: CountedReads) -> None:
    before, failing = agent.report(), FailingTransactions(agent.store)
    failing.left = 1
    with pytest.raises(al.StoreError, match="disk is full"):
        agent.decide("new")
    assert agent.report() == before
    agent.decide("returning")
    assert agent.report().arrivals == before.arrivals + 1
    assert agent.report() == al.Agent.open(agent.store, name=agent.name).report()


def test_events_of_a_log_that_was_rewound_are_dropped(
    factory: AgentFactory, agent: al.Agent, reads: CountedReads
) -> None:
    last = agent.look(lambda campaign: campaign.seq)
    agent.decide_many(["new"] * 4)
    rewind(factory, last + 1)
    other = factory.open()
    other.decide_many(["returning"] * 3)
    agent.decide_many(["new"] * 2)
    assert agent.report() == other.report()
    agent.decide_many(["new"] * 4)
    rewind(factory, last)
    assert agent.report() == factory.open().report()


def test_an_agent_far_behind_its_log_leaves_no_gap_unnoticed(
    factory: AgentFactory, agent: al.Agent, reads: CountedReads, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("almoner.live.transactions.catch_up.CATCH_UP", 3)
    agent.decide("new")
    other = factory.open()
    other.decide_many(["returning"] * 20)
    agent.decide("new")
    assert agent.report() == other.report()


def test_a_buffer_is_empty_while_nobody_watches(agent: al.Agent) -> None:
    agent.decide_many(["new"] * 3)
    assert agent.reporter._recent.buffer is None
    agent.report()
    agent.decide("new")
    assert agent.reporter._recent.buffer is not None
    assert len(agent.reporter._recent.buffer.rows) == 2


def test_a_full_buffer_is_dropped_until_the_next_report(
    agent: al.Agent, reads: CountedReads, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recent_events, "LIMIT", 5 * recent_events.ROW)
    agent.decide_many(["new"] * 4)
    assert agent.report().arrivals == 44
    assert reads.since() == TIP
    agent.decide_many(["new"] * 4)
    agent.decide("new")
    assert agent.reporter._recent.buffer is None
    assert agent.report().arrivals == 49
    assert reads.since() == TIP + 5
    agent.decide("new", available=["mail"] * 300)
    assert agent.reporter._recent.buffer is None, "long lists of actions count"


def numbered(*seqs: int) -> list[Event]:
    return [Event(seq, DECIDED, at=0, left=0) for seq in seqs]


def test_a_buffer_holds_consecutive_events() -> None:
    recent = RecentEvents()
    recent.extend(numbered(1, 2))
    assert recent.take() == [], "nobody had asked"
    recent.extend(numbered(2, 3))
    recent.extend(numbered(3, 4, 5))
    assert recent.take() == numbered(2, 3, 4, 5)
    recent.extend(numbered(5, 6))
    recent.extend(numbered(8, 9))
    recent.extend([])
    assert recent.take() == numbered(8, 9), "after a gap it begins anew"
    recent.extend(numbered(5, 6))
    recent.extend([numbered(6)[0]._replace(at=1), *numbered(7)])
    assert [row[0] for row in recent.take()] == [6, 7], "6 is not the event that it was"
    assert recent.take() == []


def test_rows_after_an_event() -> None:
    rows = numbered(4, 5, 6)
    assert rows_after(rows[0], rows) == rows[1:]
    assert rows_after(rows[2], rows) == []
    assert rows_after(rows[1]._replace(at=1), rows) == ()
    assert rows_after(None, rows) == ()
    for elsewhere in numbered(3, 7):
        assert rows_after(elsewhere, rows) == ()
    assert rows_after(None, numbered(1, 2)) == numbered(1, 2)
    assert rows_after(None, []) == rows_after(rows[0], []) == ()


def test_a_history_does_not_depend_on_the_size_of_its_batches(
    memory: AgentFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("almoner.live.reports.curve.POINTS", 16)
    agent = memory.create(horizon=70, budget=60.0, default_rewards="learned")
    draw = random.Random(3)  # noqa: S311
    for number in range(4):
        use(agent, number)
        agent.pause()
        agent.decide_many(["new", "returning"])
        agent.resume()
        for skip in agent.decide_many(["new"] * 3, available=[]):
            agent.reward(skip.id, draw.random())
    events = list(agent.events())
    single, batches, whole = (History(agent.terms) for _ in range(3))
    for event in events:
        single.apply([event])
    while batches.seq < len(events):
        batches.apply(events[batches.seq : batches.seq + draw.randrange(1, 20)])
    whole.apply(events)
    restored, middle = History(agent.terms), History(agent.terms)
    middle.apply(events[:100])
    restored.restore(json.loads(json.dumps(middle.to_dict())), agent.terms)
    restored.apply(events[100:])
    assert contents(single) == contents(batches) == contents(whole) == contents(restored)


def contents(history: History) -> str:
    """Return everything that reports read, dictionaries in their order."""
    values = {
        name: value for name, value in vars(history).items() if name not in ("curve", "oldest_open")
    }
    return repr((values, vars(history.oldest_open), history.curve.points()))
