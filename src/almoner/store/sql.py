"""Store in SQL, the same for every `Database`: campaigns and API keys; `sql_log` has the logs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from almoner.concurrency.process import Process
from almoner.store.base import ApiKey
from almoner.store.checked_log import CheckedLog
from almoner.store.database import Database, Statements
from almoner.store.events import Event
from almoner.store.hash_chain import Head, root
from almoner.store.migrations import CHAINED, migrate
from almoner.store.sql_log import COLUMNS, SELECT, LogReader, LogWriter, head, lock, only, run

__all__ = ["SqlStore"]


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
    def writing(self, name: str) -> Iterator[LogWriter]:
        """Begin a transaction on a campaign's log."""
        with self._database.transaction(name) as transaction:
            yield lock(transaction, self._database, name, chained=self._chained)

    @contextmanager
    def reading(self, name: str) -> Iterator[LogReader]:
        """Begin a transaction on a campaign's log that only reads."""
        campaign = self._id(name)
        with self._database.reading() as transaction:
            yield LogReader(transaction, campaign)

    def events(self, name: str, after: int = 0) -> Iterator[Event]:
        """Yield the events of a campaign after one of them; no writer waits meanwhile."""
        blocks = self._database.stream(f"{SELECT} seq > ? ORDER BY seq", self._id(name), after)
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
            SELECT {COLUMNS} FROM almoner_events
            WHERE campaign = (SELECT CAST(? AS BIGINT)) AND decision > ? AND decision <= ?
            AND +seq <= ? ORDER BY decision, kind
        """  # noqa: S608
        with self._database.reading() as transaction:
            rows = run(transaction, query, campaign, after, through, last)
        return [Event._make(row) for row in rows]

    def checked_log(self, name: str) -> CheckedLog:
        """Return all events of a campaign for an audit that checks their checksums, if any."""
        column = "checksum" if self._chained else "NULL"
        query = f"SELECT {COLUMNS}, {column} FROM almoner_events WHERE campaign = ? ORDER BY seq"  # noqa: S608
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
            return head(transaction, name)

    def _id(self, name: str) -> int:
        self._process.check()
        if name not in self._ids:
            with self._database.reading() as transaction:
                rows = run(transaction, "SELECT id FROM almoner_campaigns WHERE name = ?", name)
            self._ids[name] = only(rows, name)
        return self._ids[name]
