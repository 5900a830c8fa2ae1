"""Store in SQL, the same for every `Database`: campaigns, logs, snapshots and API keys."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

from almoner.concurrency.process import Process
from almoner.errors import UnknownCampaign
from almoner.store.base import ALL, ApiKey
from almoner.store.checked_log import CheckedLog
from almoner.store.database import Database, Statements
from almoner.store.events import Event
from almoner.store.hash_chain import Head, marked, root
from almoner.store.migrations import CHAINED, migrate

__all__ = ["SqlStore", "run"]

CHUNK = 500
"""Values in one statement, at most: databases limit them."""

_COLUMNS = ", ".join(f'"{name}"' for name in Event._fields)
_SELECT = f"SELECT {_COLUMNS} FROM almoner_events WHERE campaign = ? AND "  # noqa: S608
_INTO = f"almoner_events (campaign, {_COLUMNS}, checksum)"
_UNCHAINED = "SELECT id, 0, NULL FROM almoner_campaigns WHERE name = ?"
# Both rows are locked: of one that is not, PostgreSQL returns the state before the wait.
_CHAINED = (
    "SELECT id, seq, checksum FROM almoner_campaigns JOIN almoner_heads ON campaign = id "
    "WHERE name = ?"
)


def run(transaction: Statements, statement: str, *values: Any) -> list[Any]:
    """Execute a statement; return its rows, if it has any.

    The cursor is in no variable: the traceback of an interrupt would keep it, and with it SQLite
    would keep a closed connection and its locks.
    """
    return transaction.execute(statement, values).fetchall()  # type: ignore[no-any-return]


class SqlStore:
    """Campaigns in the tables of a database; ``prepare`` migrates or checks the tables first."""

    def __init__(
        self,
        database: Database,
        prepare: Callable[..., int] = migrate,
    ) -> None:
        self._database = database
        self._process = Process()
        self._ids: dict[str, int] = {}
        try:
            with self._alone() as transaction:
                self._chained = prepare(partial(run, transaction), find=database.find) >= CHAINED
        except BaseException:
            database.close()
            raise

    def campaigns(self) -> list[str]:
        """Return the names of all campaigns, oldest first."""
        with self._database.reading() as transaction:
            rows = run(transaction, "SELECT name FROM almoner_campaigns ORDER BY id")
        return [str(name) for (name,) in rows]

    def terms(self, name: str) -> str | None:
        """Return the terms of a campaign; None if there is no such campaign."""
        with self._database.reading() as transaction:
            rows = run(transaction, "SELECT terms FROM almoner_campaigns WHERE name = ?", name)
        return str(rows[0][0]) if rows else None

    def create(self, name: str, terms: str) -> str:
        """Create a campaign unless it exists; return its terms."""
        with self._alone() as transaction:
            created = run(
                transaction,
                "INSERT INTO almoner_campaigns SELECT coalesce(max(id), 0) + 1, "
                "CAST(? AS TEXT), CAST(? AS TEXT) FROM almoner_campaigns WHERE true "
                "ON CONFLICT DO NOTHING RETURNING id",
                name,
                terms,
            )
            for (campaign,) in created:
                insert = "INSERT INTO almoner_heads (campaign, seq, checksum) VALUES (?, 0, ?)"
                run(transaction, insert, campaign, root(name, terms))
            rows = run(transaction, "SELECT terms FROM almoner_campaigns WHERE name = ?", name)
        return str(rows[0][0])

    @contextmanager
    def writing(self, name: str) -> Iterator[_Writer]:
        """Begin a transaction on a campaign's log."""
        with self._database.transaction(name) as transaction:
            yield _Writer(transaction, self._database.among, *self._lock(transaction, name))

    @contextmanager
    def reading(self, name: str) -> Iterator[_Reader]:
        """Begin a transaction on a campaign's log that only reads."""
        campaign = self._id(name)
        with self._database.reading() as transaction:
            yield _Reader(transaction, campaign)

    def events(self, name: str, after: int = 0) -> Iterator[Event]:
        """Yield the events of a campaign after one of them; no writer waits meanwhile."""
        blocks = self._database.stream(f"{_SELECT} seq > ? ORDER BY seq", self._id(name), after)
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
        # A range of the index almoner_once. The plus keeps planners from the primary key; so does
        # the subquery, since of a campaign without statistics a planner expects a single row.
        query = f"""
            SELECT {_COLUMNS} FROM almoner_events
            WHERE campaign = (SELECT CAST(? AS BIGINT)) AND decision > ? AND decision <= ?
            AND +seq <= ? ORDER BY decision, kind
        """  # noqa: S608
        with self._database.reading() as transaction:
            rows = run(transaction, query, campaign, after, through, last)
        return [Event._make(row) for row in rows]

    def checked_log(self, name: str) -> CheckedLog:
        """Return all events of a campaign for an audit that checks their checksums, if any."""
        column = "checksum" if self._chained else "NULL"
        query = f"SELECT {_COLUMNS}, {column} FROM almoner_events WHERE campaign = ? ORDER BY seq"  # noqa: S608
        blocks = self._database.stream(query, self._id(name))
        if not self._chained:
            return CheckedLog(blocks)
        start = root(name, self.terms(name) or "")
        return CheckedLog(blocks, start, partial(self._head, name))

    def api_keys(self) -> list[ApiKey]:
        """Return all keys of the service, oldest first, revoked ones included."""
        query = "SELECT name, digest, permits, created, revoked FROM almoner_api_keys"
        with self._database.reading() as transaction:
            return [
                ApiKey._make(row) for row in run(transaction, f"{query} ORDER BY created, name")
            ]

    def add_key(self, key: ApiKey) -> bool:
        """Add a key; return whether its name was free."""
        insert = "INSERT INTO almoner_api_keys (name, digest, permits, created, revoked)"
        with self._database.transaction() as transaction:
            added = run(
                transaction,
                f"{insert} VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING RETURNING name",
                *key,
            )
        return bool(added)

    def revoke_key(self, name: str, at: int) -> bool:
        """Mark a key as revoked, unless it is already; return whether there is one."""
        update = "UPDATE almoner_api_keys SET revoked = coalesce(revoked, ?) WHERE name = ?"
        with self._database.transaction() as transaction:
            return bool(run(transaction, f"{update} RETURNING name", at, name))

    def close(self) -> None:
        """Close files and connections.

        A forked child does nothing: closing a connection would end the parent's session.
        """
        if self._process.is_current():
            self._database.close()

    def _rows(self, blocks: Iterable[list[Any]]) -> Iterator[Any]:
        """Yield the rows of blocks; a forked child gets none, not even of a block read before."""
        for rows in blocks:
            for row in rows:
                self._process.check()
                yield row

    @contextmanager
    def _alone(self) -> Iterator[Statements]:
        with self._database.transaction() as transaction:
            for statement in self._database.alone:
                run(transaction, statement)
            yield transaction

    def _head(self, name: str) -> Head | None:
        with self._database.reading() as transaction:
            rows = run(transaction, _CHAINED, name)
        return Head(*rows[0][1:]) if rows else None

    def _lock(self, transaction: Statements, name: str) -> tuple[int, Head | None]:
        """Lock a campaign; return its id and the head of its log, None if that is missing."""
        locking = self._database.locking
        rows = run(transaction, (_CHAINED if self._chained else _UNCHAINED) + locking, name)
        if rows:
            return rows[0][0], Head(*rows[0][1:])
        return _only(run(transaction, _UNCHAINED + locking, name), name), None

    def _id(self, name: str) -> int:
        self._process.check()
        if name not in self._ids:
            with self._database.reading() as transaction:
                rows = run(transaction, "SELECT id FROM almoner_campaigns WHERE name = ?", name)
            self._ids[name] = _only(rows, name)
        return self._ids[name]


class _Reader:
    def __init__(self, transaction: Statements, campaign: int) -> None:
        self._transaction, self._campaign = transaction, campaign

    def events(self, after: int, limit: int = ALL) -> list[Event]:
        query = f"{_SELECT}seq > ? ORDER BY seq LIMIT ?"
        rows = run(self._transaction, query, self._campaign, after, limit)
        return [Event._make(row) for row in rows]

    def snapshot(self) -> str | None:
        query = "SELECT body FROM almoner_snapshots WHERE campaign = ?"
        rows = run(self._transaction, query, self._campaign)
        return str(rows[0][0]) if rows else None


class _Writer(_Reader):
    def __init__(
        self, transaction: Statements, among: str, campaign: int, head: Head | None
    ) -> None:
        super().__init__(transaction, campaign)
        self._find, self._head = among, head

    def histories(self, decisions: Sequence[int]) -> dict[int, list[Event]]:
        histories: dict[int, list[Event]] = {}
        # Sorted here: with ORDER BY, SQLite would walk the whole log in that order.
        for event in sorted(self._among("decision", decisions)):
            histories.setdefault(event.decision or 0, []).append(event)
        return histories

    def keyed(self, keys: Sequence[str]) -> dict[str, Event]:
        return {event.key or "": event for event in self._among("key", keys)}

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
        run(self._transaction, update, *self._head, self._campaign)

    def _root(self) -> str:
        query = "SELECT name, terms FROM almoner_campaigns WHERE id = ?"
        return root(*run(self._transaction, query, self._campaign)[0])

    def save_snapshot(self, text: str | None) -> None:
        run(self._transaction, "DELETE FROM almoner_snapshots WHERE campaign = ?", self._campaign)
        if text is not None:
            insert = "INSERT INTO almoner_snapshots VALUES (?, ?)"
            run(self._transaction, insert, self._campaign, text)

    def _among(self, column: str, wanted: Sequence[Any]) -> list[Event]:
        rows: list[Any] = []
        for start in range(0, len(wanted), CHUNK):
            part = wanted[start : start + CHUNK]
            values = ", ".join("?" * len(part))
            query = self._find.format(columns=_COLUMNS, column=column, values=values)
            rows += run(self._transaction, query, self._campaign, *part)
        return [Event._make(row) for row in rows]


def _only(rows: list[Any], name: str) -> int:
    if not rows:
        raise UnknownCampaign(f"there is no campaign {name!r} in this store")
    return int(rows[0][0])
