"""The store in SQL, the same for every database: a `Database` says how to run a statement."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any, Protocol

from almoner.errors import UnknownCampaign
from almoner.events import Event
from almoner.process import Process
from almoner.store.base import ApiKey
from almoner.store.migrations import migrate

__all__ = ["Database", "ReadOnly", "SqlStore", "Statements"]

CHUNK = 500
"""How many ids to ask for at a time: databases limit the variables of a statement."""

_COLUMNS = ", ".join(f'"{name}"' for name in Event._fields)
_SELECT = f"SELECT {_COLUMNS} FROM almoner_events WHERE campaign = ? AND "  # noqa: S608
_INTO = f"almoner_events (campaign, {_COLUMNS})"


class Statements(Protocol):
    """What can be run inside a transaction; ``?`` stands for a value."""

    def run(self, statement: str, *values: Any) -> list[Any]:
        """Run a statement and return its rows."""

    def insert(self, into: str, rows: Sequence[Sequence[Any]]) -> None:
        """Insert rows into the columns of a table, ``table (column, …)``."""


class Database(Protocol):
    """A connection, and how its transactions begin and end."""

    locking: str
    """What to add to a SELECT to lock the row it finds, where a transaction locks less than all."""

    alone: tuple[str, ...]
    """What to run first in a transaction that changes tables or adds a campaign."""

    def transaction(self, campaign: str = "") -> AbstractContextManager[Statements]:
        """Begin a transaction: committed at the end, undone on an error, all errors StoreError.

        Those on different campaigns do not wait for each other, where the database can do that.
        """

    def stream(self, query: str, *values: Any) -> Iterator[Any]:
        """Yield the rows of a query, beside any transaction."""

    def close(self) -> None:
        """Close all connections."""


class ReadOnly:
    """A database whose transactions may do nothing but read; they lock nothing either."""

    locking = ""
    alone: tuple[str, ...] = ()

    def __init__(self, database: Database) -> None:
        self._database = database
        self.stream, self.close = database.stream, database.close

    @contextmanager
    def transaction(self, campaign: str = "") -> Iterator[Statements]:
        """Begin a transaction."""
        with self._database.transaction(campaign) as transaction:
            transaction.run("SET TRANSACTION READ ONLY")
            yield transaction


class SqlStore:
    """Campaigns in the tables of a database; ``prepare`` gets or checks the tables first."""

    def __init__(
        self,
        database: Database,
        prepare: Callable[[Callable[..., Any]], None] = migrate,
    ) -> None:
        self._database = database
        self._process = Process()
        self._ids: dict[str, int] = {}
        try:
            with self._alone() as transaction:
                prepare(transaction.run)
        except BaseException:
            database.close()
            raise

    def campaigns(self) -> list[str]:
        """Return the names of all campaigns, oldest first."""
        with self._transaction() as transaction:
            rows = transaction.run("SELECT name FROM almoner_campaigns ORDER BY id")
        return [str(name) for (name,) in rows]

    def terms(self, name: str) -> str | None:
        """Return the terms of a campaign; None if there is no such campaign."""
        with self._transaction() as transaction:
            rows = transaction.run("SELECT terms FROM almoner_campaigns WHERE name = ?", name)
        return str(rows[0][0]) if rows else None

    def create(self, name: str, terms: str) -> str:
        """Create a campaign unless it exists; return the terms that it has now."""
        with self._alone() as transaction:
            transaction.run(
                "INSERT INTO almoner_campaigns SELECT coalesce(max(id), 0) + 1, "
                "CAST(? AS TEXT), CAST(? AS TEXT) FROM almoner_campaigns WHERE true "
                "ON CONFLICT DO NOTHING",
                name,
                terms,
            )
            rows = transaction.run("SELECT terms FROM almoner_campaigns WHERE name = ?", name)
        return str(rows[0][0])

    @contextmanager
    def writing(self, name: str) -> Iterator[_Writer]:
        """Begin a transaction on a campaign's log."""
        with self._transaction(name) as transaction:
            rows = transaction.run(
                f"SELECT id FROM almoner_campaigns WHERE name = ?{self._database.locking}",  # noqa: S608
                name,
            )
            yield _Writer(transaction, _only(rows, name))

    def events(self, name: str, after: int = 0) -> Iterator[Event]:
        """Yield the events of a campaign after one of them, without holding up writers."""
        self._process.check()
        campaign = self._id(name)
        rows = self._database.stream(f"{_SELECT} seq > ? ORDER BY seq", campaign, after)
        return map(Event._make, rows)

    def api_keys(self) -> list[ApiKey]:
        """Return all keys to the service, oldest first, revoked ones included."""
        query = "SELECT name, digest, permits, created, revoked FROM almoner_api_keys"
        with self._transaction() as transaction:
            return [ApiKey._make(row) for row in transaction.run(f"{query} ORDER BY created, name")]

    def add_key(self, key: ApiKey) -> bool:
        """Keep a key; return whether its name was free."""
        insert = "INSERT INTO almoner_api_keys (name, digest, permits, created, revoked)"
        with self._transaction() as transaction:
            added = transaction.run(
                f"{insert} VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING RETURNING name", *key
            )
        return bool(added)

    def revoke_key(self, name: str, at: int) -> bool:
        """Mark a key as revoked, unless it is already; return whether there is one."""
        update = "UPDATE almoner_api_keys SET revoked = coalesce(revoked, ?) WHERE name = ?"
        with self._transaction() as transaction:
            return bool(transaction.run(f"{update} RETURNING name", at, name))

    def close(self) -> None:
        """Let go of files and connections; committed events stay.

        In a forked child nothing is done: to close a connection says goodbye on the parent's.
        """
        if self._process.is_current():
            self._database.close()

    def _transaction(self, campaign: str = "") -> AbstractContextManager[Statements]:
        self._process.check()
        return self._database.transaction(campaign)

    @contextmanager
    def _alone(self) -> Iterator[Statements]:
        with self._transaction() as transaction:
            for statement in self._database.alone:
                transaction.run(statement)
            yield transaction

    def _id(self, name: str) -> int:
        if name not in self._ids:
            with self._transaction() as transaction:
                rows = transaction.run("SELECT id FROM almoner_campaigns WHERE name = ?", name)
            self._ids[name] = _only(rows, name)
        return self._ids[name]


class _Writer:
    def __init__(self, transaction: Statements, campaign: int) -> None:
        self._transaction, self._campaign = transaction, campaign

    def events(self, after: int) -> list[Event]:
        return self._select("seq > ? ORDER BY seq", after)

    def histories(self, decisions: Sequence[int]) -> dict[int, list[Event]]:
        found: dict[int, list[Event]] = {}
        # Sorted here: asked for an order, SQLite walks the whole log in that order instead.
        for event in sorted(self._among("decision", decisions)):
            found.setdefault(event.decision or 0, []).append(event)
        return found

    def keyed(self, keys: Sequence[str]) -> dict[str, Event]:
        return {event.key or "": event for event in self._among("key", keys)}

    def append(self, events: Sequence[Event]) -> None:
        self._transaction.insert(_INTO, [(self._campaign, *event) for event in events])

    def snapshot(self) -> str | None:
        query = "SELECT body FROM almoner_snapshots WHERE campaign = ?"
        rows = self._transaction.run(query, self._campaign)
        return str(rows[0][0]) if rows else None

    def save_snapshot(self, text: str | None) -> None:
        self._transaction.run("DELETE FROM almoner_snapshots WHERE campaign = ?", self._campaign)
        if text is not None:
            insert = "INSERT INTO almoner_snapshots VALUES (?, ?)"
            self._transaction.run(insert, self._campaign, text)

    def _among(self, column: str, wanted: Sequence[Any]) -> list[Event]:
        found: list[Event] = []
        for start in range(0, len(wanted), CHUNK):
            part = wanted[start : start + CHUNK]
            places = ", ".join("?" * len(part))
            found += self._select(f'"{column}" IN ({places})', *part)
        return found

    def _select(self, where: str, *values: Any) -> list[Event]:
        rows = self._transaction.run(_SELECT + where, self._campaign, *values)
        return [Event._make(row) for row in rows]


def _only(rows: list[Any], name: str) -> int:
    if not rows:
        raise UnknownCampaign(f"there is no campaign {name!r} in this store")
    return int(rows[0][0])
