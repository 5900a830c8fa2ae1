"""Query plans: no statement of a store reads a log that it was not asked for.

The statements are those that the store runs, recorded, so that a new one cannot be forgotten.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pytest
from support.agents import AgentFactory, agent_factory
from support.postgres_server import fresh_database

from almoner.store import ApiKey, open_store
from almoner.store.database import Database, First, Statements
from almoner.store.events import DECIDED, REWARDED, Event
from almoner.store.sql import SqlStore
from almoner.store.sql_logs import run

LONG = 5_000
"""Decisions, each of them with a key and a reward."""

INDEXED = {
    "sqlite": re.compile(
        r"\((campaign|<expr>)=\? AND (decision=\?|decision>\?.*|key=\?|seq=\?|seq>\?|person=\?)\)"
    ),
    "postgres": re.compile(r"Index Cond: .*campaign.* = .* AND \(?\(?(decision|key|seq|person) "),
}


class Recorder:
    """A database that notes every statement that is run in it."""

    def __init__(self, database: Database) -> None:
        self.locking, self.among = database.locking, database.among
        self.alone, self.find = database.alone, database.find
        self.close = database.close
        self.database, self.noted = database, dict[str, tuple[Any, ...]]()

    @contextmanager
    def transaction(self, campaign: str = "", first: First = ()) -> Iterator[Statements]:
        with self.database.transaction(campaign, first) as statements:
            yield _Recording(statements, self.noted)

    @contextmanager
    def reading(self) -> Iterator[Statements]:
        with self.database.reading() as statements:
            yield _Recording(statements, self.noted)

    def stream(self, query: str, *values: Any) -> Iterator[Any]:
        self.noted[query] = values
        return self.database.stream(query, *values)


class _Recording:
    def __init__(self, statements: Statements, noted: dict[str, tuple[Any, ...]]) -> None:
        self._statements, self._noted = statements, noted
        self.insert, self.enqueue = statements.insert, statements.enqueue
        self.begin_migration, self.dialect = statements.begin_migration, statements.dialect

    def execute(self, statement: str, values: Sequence[Any]) -> Any:
        self._noted[statement] = tuple(values)
        return self._statements.execute(statement, values)


def recorded(factory: AgentFactory) -> tuple[Recorder, SqlStore]:
    """Return a store with a long log, and what was run in it."""
    first: Any = factory.store()
    recorder = Recorder(first._database)
    store = SqlStore(recorder)
    fill(store, factory.name)
    return recorder, store


def fill(store: SqlStore, name: str, decisions: int = LONG) -> None:
    """Write a log."""
    store.create(name, "terms")
    rows: list[Event] = []
    for number in range(decisions):
        seq = 2 * number + 1
        rows.append(Event(seq, DECIDED, 5, 3, seq, number, "new", "mail", 1, 1, 0.5, key=f"k{seq}"))
        rows.append(Event(seq + 1, REWARDED, 5, 3, seq, reward=1.0))
    with store.writing(name) as writer:
        writer.append(rows)
        writer.persons.add([(f"p{event.seq}", event.seq, 5) for event in rows[::2]])


def use(store: SqlStore, name: str, many: Sequence[int] = range(1, 4)) -> None:
    """Do everything but read a whole log, with the least and with much at a time."""
    store.campaigns(), store.terms(name), store.create(name, "other terms")
    for numbers in ([1], many):
        with store.writing(name) as writer:
            assert len(writer.histories(numbers)) <= len(numbers)
            assert len(writer.keyed([f"k{number}" for number in numbers])) <= len(numbers)
            assert len(writer.events(2 * LONG - 1)) == 1
            persons = [f"p{number}" for number in numbers]
            assert {row[0] for row in writer.persons.actions(persons)} <= {*persons}
            writer.persons.remove(numbers[:1])
            writer.persons.forget("p3")
            writer.save_snapshot("snapshot")
            assert writer.snapshot() == "snapshot"
    with store.reading(name) as reader:
        assert len(reader.events(2 * LONG - 2, 1)) == 1
        assert reader.snapshot() == "snapshot"
    assert len(list(store.events(name, 2 * LONG - 1))) == 1
    assert store.last(name) == 2 * LONG
    assert len(store.outcomes(name, after=10, through=14, last=2 * LONG)) == 4
    store.add_key(ApiKey(name, name, "decide", 1))
    store.revoke_key(name, 2)
    assert store.api_keys()


@pytest.mark.slow
@pytest.mark.parametrize("known", ["nothing", "the campaign", "another one"])
@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_every_statement_finds_what_it_wants_by_an_index(kind: str, known: str) -> None:
    """Also where a planner knows nothing of a campaign, or only of others."""
    with agent_factory(kind) as factory:
        recorder, store = recorded(factory)
        with recorder.database.transaction() as statements:
            if known != "nothing":
                run(statements, "ANALYZE")
        name = factory.name
        if known == "another one":
            name = f"{name} anew"
            fill(store, name)
        recorder.noted.clear()
        use(store, name, range(1, 800, 2))
        check_plans(recorder, kind)


def check_plans(recorder: Recorder, kind: str) -> None:
    """Explain every recorded statement, and look for the condition on an index."""
    explain = "EXPLAIN QUERY PLAN " if kind == "sqlite" else "EXPLAIN "
    seen = 0
    for statement, values in recorder.noted.items():
        if "almoner_events" not in statement and "almoner_persons" not in statement:
            continue
        with recorder.database.transaction() as statements:
            rows = run(statements, explain + statement, *values)
        plan = "\n".join(str(row[-1]) for row in rows)
        seen += 1
        if "LIMIT 1" not in statement:  # the first row of an index
            assert INDEXED[kind].search(plan), f"{statement}\n{plan}"
        assert "Seq Scan" not in plan
        assert "SCAN almoner" not in plan  # a constant row may be scanned
    assert seen >= 5


def test_postgres_finds_events_by_an_index_whatever_others_have_written() -> None:
    """From 45,000 to 90,000 events one index has a level more than another, and costs more."""
    with agent_factory("postgres") as factory:
        factory.url = fresh_database(str(factory.url))
        recorder, store = recorded(factory)
        for number in range(9):
            with recorder.database.transaction() as statements:
                run(statements, "ANALYZE")
            name = f"{factory.name} {number}"
            fill(store, name)
            recorder.noted.clear()
            use(store, name, range(1, 800, 2))
            check_plans(recorder, "postgres")


@pytest.mark.parametrize("decisions", [1, 2, 30])
def test_postgres_finds_events_by_an_index_where_it_knows_only_a_short_log(decisions: int) -> None:
    """The statistics of a store with one short log let every index on a campaign look cheap."""
    with agent_factory("postgres") as factory:
        store: Any = open_store(fresh_database(str(factory.url)))
        fill(store, "short", decisions)
        recorder = Recorder(store._database)
        with recorder.database.transaction() as statements:
            run(statements, "ANALYZE")
        fill(store, "long")
        use(SqlStore(recorder), "long", range(1, 800, 2))
        check_plans(recorder, "postgres")
        store.close()


@pytest.mark.parametrize("kind", ["sqlite"])
@pytest.mark.slow
def test_the_work_of_a_reward_does_not_grow_with_the_log(kind: str) -> None:
    """Counted in instructions of SQLite's machine, at one length and at three times that."""
    with agent_factory(kind) as factory:
        recorder, store = recorded(factory)
        counts = [steps(recorder, store, factory.name)]
        rows = [
            Event(2 * LONG + n, DECIDED, 5, 3, 2 * LONG + n, context="new")
            for n in range(1, 4 * LONG)
        ]
        with store.writing(factory.name) as writer:
            writer.append(rows)
        counts.append(steps(recorder, store, factory.name))
        assert counts[0] > 0
        assert counts[1] <= 1.2 * counts[0]


def steps(recorder: Recorder, store: SqlStore, name: str) -> int:
    """Return how many hundreds of instructions it takes to look ten decisions up."""
    count = 0

    def tick() -> int:
        nonlocal count
        count += 1
        return 0

    with recorder.database.transaction() as statements:
        connection: Any = statements
        connection.set_progress_handler(tick, 100)
    with store.writing(name) as writer:
        assert len(writer.histories(range(1, 20, 2))) == 10
    connection.set_progress_handler(None, 100)
    return count
