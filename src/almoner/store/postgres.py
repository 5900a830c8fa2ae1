"""PostgreSQL: one server, for any number of processes on any number of machines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from threading import RLock
from typing import Any

import psycopg

from almoner.errors import StoreError

__all__ = ["PostgresDatabase"]

ADVISORY_LOCK = 0x616C6D6F6E6572
"""A number that nobody else locks: our name in ASCII."""

PATIENCE = 60
"""Seconds to wait for another process that is writing; and for a process of ours that has stopped
in the midst of a transaction, before the server undoes it."""

AT_ONCE = 1000
"""How many rows to fetch at a time from a long log."""


class PostgresDatabase:
    """A connection to one server, opened again after it was lost."""

    locking = " FOR UPDATE"
    alone: tuple[str, ...] = (f"SELECT pg_advisory_xact_lock({ADVISORY_LOCK})",)

    def __init__(self, url: str) -> None:
        self._url = url
        self._lock = RLock()  # a connection has one transaction at a time
        self._connection: psycopg.Connection[Any] | None = None

    @contextmanager
    def transaction(self) -> Iterator[_Statements]:
        """Begin a transaction."""
        with self._lock, self._as_store_errors():
            connection = self._connected()
            with connection.transaction():
                yield _Statements(connection)

    def stream(self, query: str, *values: Any) -> Iterator[Any]:
        """Yield the rows of a query, on a connection of its own."""
        with (
            self._as_store_errors(),
            psycopg.connect(self._url) as connection,
            connection.cursor(name="almoner") as cursor,
        ):
            cursor.itersize = AT_ONCE
            yield from cursor.execute(_translate(query), values)

    def close(self) -> None:
        """Close the connection."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    def _connected(self) -> psycopg.Connection[Any]:
        if self._connection is None or self._connection.closed:
            self._connection = psycopg.connect(self._url, autocommit=True)
            # Whatever the server's defaults are: a transaction reads the log after it has waited
            # for its turn, and what is committed is on the disk.
            self._connection.isolation_level = psycopg.IsolationLevel.READ_COMMITTED
            self._connection.execute(
                "SELECT set_config('synchronous_commit', 'on', false) "
                "WHERE current_setting('synchronous_commit') = 'off'"
            )
            self._connection.execute(
                f"SET lock_timeout = '{PATIENCE}s'; "
                f"SET idle_in_transaction_session_timeout = '{PATIENCE}s'"
            )
            # Prepared while a log is short, a statement would keep a plan that reads all of it, and
            # take ever longer as the log grows. (And poolers do not keep statements.)
            self._connection.prepare_threshold = None
        return self._connection

    @contextmanager
    def _as_store_errors(self) -> Iterator[None]:
        try:
            yield
        except psycopg.Error as reason:
            said = str(reason).strip().splitlines()
            raise StoreError(
                f"the PostgreSQL store failed: {said[0] if said else type(reason).__name__}"
            ) from reason


class _Statements:
    def __init__(self, connection: psycopg.Connection[Any]) -> None:
        self._connection = connection

    def run(self, statement: str, *values: Any) -> list[Any]:
        cursor = self._connection.execute(_translate(statement), values)
        return cursor.fetchall() if cursor.description else []

    def insert(self, into: str, rows: Sequence[Sequence[Any]]) -> None:
        with self._connection.cursor() as cursor, cursor.copy(f"COPY {into} FROM STDIN") as copy:
            for row in rows:
                copy.write_row(row)


def _translate(statement: str) -> Any:
    """Return a statement with the driver's sign for a value; ours never contain one in a text."""
    return statement.replace("?", "%s")
