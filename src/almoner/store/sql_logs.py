"""Logs of campaigns in SQL: read, locked for a transaction, appended to along their hash chains."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache, cached_property, partial
from operator import attrgetter
from typing import Any

from almoner.concurrency.process import Process
from almoner.errors import BrokenLedger, UnknownCampaign
from almoner.store.base import ALL, PersonRow
from almoner.store.checked_log import CheckedLog
from almoner.store.database import Database, First, Statements, run
from almoner.store.events import DECIDED, ENDS, Event
from almoner.store.hash_chain import Head, marked, root
from almoner.store.migrations import (
    CHAINED,
    DETAILED,
    FOLLOWS,
    INDEXED,
    LOOKUPS,
    MIGRATIONS,
    PERSONS,
)
from almoner.store.persons import SqlPersons

__all__ = ["LogReader", "LogWriter", "SqlLogs", "run"]

CHUNK = 500
"""Values in one statement, at most: databases limit them."""

_COLUMNS = ", ".join(f'"{name}"' for name in Event._fields)
_UNDETAILED = _COLUMNS.replace('"detail"', "NULL")
_INTO = f"almoner_events (campaign, {_COLUMNS}, checksum)"
_UNCHAINED = "SELECT id, 0, NULL FROM almoner_campaigns WHERE name = ?"
# Both rows are locked: of one that is not, PostgreSQL returns the state before the wait.
_CHAINED = (
    "SELECT id, seq, checksum FROM almoner_campaigns JOIN almoner_heads ON campaign = id "
    "WHERE name = ?"
)


class SqlLogs:
    """The logs of campaigns in the tables of a database."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._version = len(MIGRATIONS)  # of the tables; earlier ones are only read
        self._process = Process()
        self._ids: dict[str, int] = {}
        self._person_keys: dict[int, str] = {}
        self._tails: dict[str, First] = {}

    @property
    def _chained(self) -> bool:
        """Return whether events have checksums."""
        return self._version >= CHAINED

    @cached_property
    def _locked(self) -> str:
        """Return the query that locks a campaign."""
        return (_CHAINED if self._chained else _UNCHAINED) + self._database.locking

    @property
    def _columns(self) -> str:
        """Return the columns of an event, as a SELECT of these tables has them."""
        return _COLUMNS if self._version >= DETAILED else _UNDETAILED

    def terms(self, name: str) -> str | None:
        """Return the terms of a campaign; None if there is no such campaign."""
        with self._database.reading() as transaction:
            rows = run(transaction, "SELECT terms FROM almoner_campaigns WHERE name = ?", name)
        return str(rows[0][0]) if rows else None

    @contextmanager
    def writing(self, name: str) -> Iterator[LogWriter]:
        """Begin a transaction on a campaign's log."""
        lock = (self._locked, (name,))
        with self._database.transaction(name, [lock, *self._tails.get(name, ())]) as transaction:
            campaign, head = self._lock(transaction, name)
            writer = LogWriter(transaction, self._database.among, campaign, head, self._person_keys)
            yield writer
        self._tails[name] = writer.next_tail()

    @contextmanager
    def reading(self, name: str) -> Iterator[LogReader]:
        """Begin a transaction on a campaign's log that only reads."""
        campaign = self._id(name)
        with self._database.reading() as transaction:
            yield LogReader(transaction, campaign, self._columns)

    def events(self, name: str, after: int = 0) -> Iterator[Event]:
        """Yield the events of a campaign after one of them; no writer waits meanwhile."""
        query = _after(self._columns)
        blocks = self._database.stream(query, self._id(name), after)
        return map(Event._make, self._rows(blocks))

    def last(self, name: str) -> int:
        """Return the ``seq`` of the last event of a campaign; 0 if there is none."""
        campaign = self._id(name)
        query = "SELECT seq FROM almoner_events WHERE campaign = ? ORDER BY seq DESC LIMIT 1"
        with self._database.reading() as transaction:
            rows = run(transaction, query, campaign)
        return int(rows[0][0]) if rows else 0

    def outcomes(self, name: str, *, after: int, through: int, last: int) -> list[Event]:
        """Return all events about the decisions after one and up to another, by decision."""
        campaign = self._id(name)
        # A range of the primary key and one of almoner_once; the plus keeps planners to those.
        lookup = LOOKUPS["decision"] if self._version >= INDEXED else "campaign"
        query = f"""
            SELECT {self._columns} FROM almoner_events
            WHERE campaign = ? AND seq > ? AND seq <= ? AND NOT {FOLLOWS}
            UNION ALL
            SELECT {self._columns} FROM almoner_events
            WHERE {lookup} = ? AND decision > ? AND decision <= ? AND {FOLLOWS} AND +seq <= ?
        """  # noqa: S608
        values = campaign, after, min(through, last), campaign, after, through, last
        with self._database.reading() as transaction:
            rows = run(transaction, query, *values)
        return sorted(map(Event._make, rows), key=attrgetter("decision", "kind"))

    def persons(self, name: str) -> list[PersonRow]:
        """Return the rows of all persons of a campaign, by person and decision."""
        if self._version < PERSONS:
            return []
        campaign = self._id(name)
        query = f"""
            SELECT person, decision, at FROM almoner_persons
            WHERE {LOOKUPS["person"]} = ? ORDER BY person, decision
        """  # noqa: S608
        with self._database.reading() as transaction:
            return [tuple(row) for row in run(transaction, query, campaign)]

    def switches(self, name: str, *, last: int) -> list[Event]:
        """Return the events up to ``last`` that are about the campaign, not about a decision."""
        campaign = self._id(name)
        lookup = LOOKUPS["decision"] if self._version >= INDEXED else "campaign"
        query = f"""
            SELECT {self._columns} FROM almoner_events
            WHERE {lookup} = ? AND decision IS NULL AND {FOLLOWS} AND +seq <= ?
        """  # noqa: S608
        with self._database.reading() as transaction:
            rows = run(transaction, query, campaign, last)
        return sorted(Event._make(row) for row in rows)

    def unsettled(self, name: str, *, until: int, after: int, limit: int) -> list[Event]:
        """Return decisions with money reserved that were made until a time, oldest first."""
        campaign = self._id(name)
        lookup = LOOKUPS["decision"] if self._version >= INDEXED else "campaign"
        kinds = ", ".join("?" * len(ENDS))
        query = f"""
            SELECT {self._columns} FROM almoner_events
            WHERE campaign = ? AND seq > ? AND kind = ? AND reserve > 0 AND at <= ?
            AND NOT EXISTS (
                SELECT 1 FROM almoner_events AS later
                WHERE later.{lookup} = ? AND later.decision = almoner_events.seq
                AND later.{FOLLOWS} AND later.kind IN ({kinds})
            )
            ORDER BY seq LIMIT ?
        """  # noqa: S608
        values = (campaign, after, DECIDED, until, campaign, *ENDS, limit)
        with self._database.reading() as transaction:
            rows = run(transaction, query, *values)
        return [Event._make(row) for row in rows]

    def checked_log(self, name: str) -> CheckedLog:
        """Return all events of a campaign for an audit that checks their checksums, if any."""
        column = "checksum" if self._chained else "NULL"
        query = (
            f"SELECT {self._columns}, {column} FROM almoner_events WHERE campaign = ? ORDER BY seq"  # noqa: S608
        )
        blocks = self._database.stream(query, self._id(name))
        if not self._chained:
            return CheckedLog(blocks)
        start = root(name, self.terms(name) or "")
        return CheckedLog(blocks, start, partial(self._head, name))

    def _rows(self, blocks: Iterable[list[Any]]) -> Iterator[Any]:
        """Yield the rows of blocks; a forked child gets none, not even of a block read before."""
        for rows in blocks:
            for row in rows:
                self._process.check()
                yield row

    def _head(self, name: str) -> Head | None:
        with self._database.reading() as transaction:
            rows = run(transaction, _CHAINED, name)
        return _head(rows[0]) if rows else None

    def _lock(self, transaction: Statements, name: str) -> tuple[int, Head | None]:
        """Lock a campaign; return its id and the head of its log, None if that is missing."""
        # As `run` does, without a call into another module: every decision comes through here.
        rows = transaction.execute(self._locked, (name,)).fetchall()
        if rows:
            return rows[0][0], _head(rows[0])
        return _only(run(transaction, _UNCHAINED + self._database.locking, name), name), None

    def _id(self, name: str) -> int:
        self._process.check()
        if name not in self._ids:
            with self._database.reading() as transaction:
                rows = run(transaction, "SELECT id FROM almoner_campaigns WHERE name = ?", name)
            self._ids[name] = _only(rows, name)
        return self._ids[name]


class LogReader:
    """Reads the log of a campaign within a transaction."""

    def __init__(self, transaction: Statements, campaign: int, columns: str = _COLUMNS) -> None:
        self._transaction, self._campaign, self._query = transaction, campaign, _after(columns)
        self._limit: int | None = None  # of events read last

    def _run(self, statement: str, *values: Any) -> list[Any]:
        """Execute a statement, as `run` does, without a call into another module."""
        return self._transaction.execute(statement, values).fetchall()  # type: ignore[no-any-return]

    def events(self, after: int, limit: int = ALL) -> list[Event]:
        """Return the events after one of them, in their order."""
        self._limit = limit
        rows = self._run(f"{self._query} LIMIT ?", self._campaign, after, limit)
        return [Event._make(row) for row in rows]

    def snapshot(self) -> str | None:
        """Return the snapshot; None if there is none."""
        query = "SELECT body FROM almoner_snapshots WHERE campaign = ?"
        rows = self._run(query, self._campaign)
        return str(rows[0][0]) if rows else None


class LogWriter(LogReader):
    """Reads and appends to the log of a campaign within a transaction."""

    def __init__(
        self,
        transaction: Statements,
        among: str,
        campaign: int,
        head: Head | None,
        person_keys: dict[int, str],
    ) -> None:
        super().__init__(transaction, campaign)
        self._find, self._head, self._person_keys = among, head, person_keys

    @cached_property
    def persons(self) -> SqlPersons:
        """The rows of persons."""
        return SqlPersons(self._transaction, self._find, self._campaign, self._person_keys)

    def histories(self, decisions: Sequence[int]) -> dict[int, list[Event]]:
        """Return the events of decisions by id, in their order."""
        histories: dict[int, list[Event]] = {}
        events = self._among("seq", decisions, f"NOT {FOLLOWS}")
        if events:
            events += self._among("decision", decisions, FOLLOWS)
        # Sorted here: with ORDER BY, SQLite would walk the whole log in that order.
        for event in sorted(events):
            histories.setdefault(event.decision or 0, []).append(event)
        return histories

    def keyed(self, keys: Sequence[str]) -> dict[str, Event]:
        """Return the decisions made with keys."""
        return {event.key or "": event for event in self._among("key", keys, "true")}

    def append(self, events: Sequence[Event]) -> None:
        """Add events, chained to the head of the log and not to its last row.

        So an audit finds a last row that was removed before these were added.
        """
        if not events:
            return
        before = (self._head and self._head.checksum) or self._root()
        marks = marked(before, events)
        rows = zip(events, marks, strict=True)
        self._transaction.insert(_INTO, [(self._campaign, *event, mark) for event, mark in rows])
        self._head = Head(events[-1].seq, marks[-1])
        # UPDATE, not an upsert: an audit must see that the row is missing.
        update = "UPDATE almoner_heads SET seq = ?, checksum = ? WHERE campaign = ?"
        self._transaction.enqueue(update, (*self._head, self._campaign))

    def next_tail(self) -> First:
        """Return the statement by which the next transaction reads what follows this one's end."""
        if self._head is None or not self._head.seq or self._limit is None:
            return ()
        return [(f"{self._query} LIMIT ?", (self._campaign, self._head.seq - 1, self._limit))]

    def _root(self) -> str:
        query = "SELECT name, terms FROM almoner_campaigns WHERE id = ?"
        return root(*self._run(query, self._campaign)[0])

    def save_snapshot(self, text: str | None) -> None:
        """Replace the snapshot, or remove it."""
        delete = "DELETE FROM almoner_snapshots WHERE campaign = ?"
        self._transaction.enqueue(delete, (self._campaign,))
        if text is not None:
            insert = "INSERT INTO almoner_snapshots VALUES (?, ?)"
            self._transaction.enqueue(insert, (self._campaign, text))

    def _among(self, column: str, wanted: Sequence[Any], condition: str) -> list[Event]:
        rows: list[Any] = []
        for start in range(0, len(wanted), CHUNK):
            part = wanted[start : start + CHUNK]
            values = ", ".join("?" * len(part))
            query = self._find.format(
                columns=_COLUMNS,
                table="almoner_events",
                lookup=LOOKUPS[column],
                column=column,
                condition=condition,
                values=values,
            )
            rows += self._run(query, self._campaign, *part)
        return [Event._make(row) for row in rows]


@cache
def _after(columns: str) -> str:
    """Return the query of the events of a campaign after one of them."""
    return f"SELECT {columns} FROM almoner_events WHERE campaign = ? AND seq > ? ORDER BY seq"  # noqa: S608


def _head(row: Any) -> Head:
    _, seq, checksum = row
    if not isinstance(seq, int):
        raise BrokenLedger(f"the record of the last event has the number {seq!r}, which is none")
    return Head(seq, checksum)


def _only(rows: list[Any], name: str) -> int:
    if not rows:
        raise UnknownCampaign(f"there is no campaign {name!r} in this store")
    if not isinstance(rows[0][0], int):
        raise BrokenLedger(f"campaign {name!r}: its id is {rows[0][0]!r}, which is no number")
    return rows[0][0]
