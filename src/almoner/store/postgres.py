"""PostgreSQL database: one server, for any number of processes on any number of machines."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from functools import cached_property
from time import monotonic
from typing import Any

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from almoner.concurrency.process import Process
from almoner.errors import StoreError
from almoner.store.connections import Pool
from almoner.store.database import First
from almoner.store.postgres_statements import PostgresStatements, Script

__all__ = ["PostgresDatabase"]

ADVISORY_LOCK = 0x616C6D6F6E6572
"""Key of the advisory lock: "almoner" in ASCII."""

PATIENCE = 60
"""Seconds to wait for another process that is writing, and after which the server undoes a
transaction in which our process has stopped."""

MIGRATION_PATIENCE = 10
"""Seconds to wait for others who use a table that is to be changed."""

FETCH_ROWS = 1000
"""Rows of a long log that are fetched at a time."""

CONNECTIONS, READERS = 8, 4
"""Largest numbers of connections to write, and for transactions that only read; each long read of a
log has another one."""

SILENCE = PATIENCE + 10.0
"""Seconds without a byte from the server after which a connection is given up.

A proxy or a firewall may keep a connection open and forward nothing: it acknowledges keep-alive
probes, and the server's time limits do not arrive. Longer than the server lets a statement wait for
a lock."""

LIMITS = {
    "connect_timeout": "10",
    "keepalives": "1",
    "keepalives_idle": "30",
    "keepalives_interval": "10",
    "keepalives_count": "3",
    "tcp_user_timeout": "30000",
}
"""Parameters for lost packets, unless the URL sets them: seconds to connect, seconds of keep-alive
probes, and milliseconds until sent data must be acknowledged."""


class PostgresDatabase:
    """Connections to one server, opened again after they were lost."""

    locking = " FOR UPDATE"
    # Not IN: for a campaign without statistics the planner expects few rows, and would use only
    # the campaign's part of an index. OFFSET 0 keeps it from joining in another order.
    among = """
        SELECT {columns} FROM (SELECT CAST(? AS BIGINT) AS id) AS one
        CROSS JOIN unnest(ARRAY[{values}]) AS wanted (value)
        CROSS JOIN LATERAL (
            SELECT * FROM {table}
            WHERE {lookup} = one.id AND {column} = wanted.value AND {condition} OFFSET 0
        ) AS found
    """
    find = "SELECT 1 WHERE to_regclass(CAST(? AS TEXT)) IS NOT NULL"
    alone: tuple[str, ...] = (f"SELECT pg_advisory_xact_lock({ADVISORY_LOCK})",)

    def __init__(self, url: str) -> None:
        self._url = url
        self._pool = Pool(self, CONNECTIONS, self._begin)
        self._readers = Pool(self, READERS, self._begin_reading)
        self.transaction = self._pool.transaction
        self.reading = self._readers.concurrent_transaction

    def stream(self, query: str, *values: Any) -> Iterator[list[Any]]:
        """Yield the rows of a query in blocks, on a connection of its own."""
        process = Process()
        try:
            connection = _ImpatientConnection.connect(self._conninfo())
            cursor = connection.cursor(name="almoner")
            try:
                cursor.execute(_translate(query), values)
                while rows := cursor.fetchmany(FETCH_ROWS):
                    yield rows
                    process.check()
            finally:
                if process.is_current():  # in a forked child they are the parent's
                    with closing(connection):
                        cursor.close()
        except psycopg.Error as error:
            raise self.as_store_error(error) from error

    def close(self) -> None:
        """Close all connections."""
        self._pool.close()
        self._readers.close()

    def connect(self) -> psycopg.Connection[Any]:
        """Open a connection."""
        connection = _ImpatientConnection.connect(self._conninfo(), autocommit=True)
        try:
            connection.execute(
                "SELECT set_config('synchronous_commit', 'on', false) "
                "WHERE current_setting('synchronous_commit') = 'off'"
            )
            connection.execute(
                f"SET lock_timeout = '{PATIENCE}s'; "
                f"SET idle_in_transaction_session_timeout = '{PATIENCE}s'"
            )
        except BaseException:
            connection.close()
            raise
        # Prepared while a log is short, a statement would keep a plan that reads all of it, and
        # take ever longer as the log grows. (Nor do poolers keep prepared statements.)
        connection.prepare_threshold = None
        return connection

    def was_lost(self, connection: psycopg.Connection[Any], error: Exception) -> bool:
        """Return whether an error says that the server has ended the connection."""
        return isinstance(error, psycopg.OperationalError) and connection.closed

    def commit(self, connection: _ImpatientConnection) -> None:
        """Commit a transaction; a failed one the server would roll back and report no error."""
        connection.script.add("COMMIT")
        status = connection.script.run()
        if status != "COMMIT":
            raise StoreError(f"the PostgreSQL store failed: it answered COMMIT with {status}")

    def as_store_error(self, error: BaseException) -> BaseException:
        """Return the error to raise for one of psycopg."""
        if not isinstance(error, psycopg.Error):
            return error
        lines = str(error).strip().splitlines()
        failed = StoreError(
            f"the PostgreSQL store failed: {lines[0] if lines else type(error).__name__}"
        )
        failed.__cause__ = error
        return failed

    def _begin(self, connection: _ImpatientConnection, first: First) -> PostgresStatements:
        """Begin a transaction that may write.

        READ COMMITTED, whatever the server's default: it must see events that were committed while
        it waited for the campaign's lock.
        """
        connection.patient = False
        begin = "BEGIN ISOLATION LEVEL READ COMMITTED"
        return PostgresStatements(connection.script, begin, first, connection.begin_migration)

    def _begin_reading(self, connection: _ImpatientConnection, first: First) -> PostgresStatements:
        begin = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
        return PostgresStatements(connection.script, begin, first, connection.begin_migration)

    def _conninfo(self) -> str:
        """Return the URL with those of `LIMITS` that it does not set."""
        parameters = conninfo_to_dict(self._url)
        limits = {name: value for name, value in LIMITS.items() if name not in parameters}
        return make_conninfo(self._url, **limits)


class _ImpatientConnection(psycopg.Connection[Any]):
    """A connection that waits no longer than `SILENCE` for data, unless ``patient``."""

    patient = False

    @cached_property
    def script(self) -> Script:
        """The statements that wait to be sent."""
        return Script(self)

    def begin_migration(self) -> None:
        """Let statements take long: to create an index the server sends nothing until it is done.

        While it waits to change a table, nobody else can use that: so it gives up early.
        """
        self.patient = True
        self.execute(f"SET LOCAL lock_timeout = '{MIGRATION_PATIENCE}s'")

    def wait(self, gen: Any, *args: Any, **kwargs: Any) -> Any:
        """Run a generator of the driver, which waits for the server."""
        return super().wait(gen if self.patient else _bounded(gen), *args, **kwargs)


def _bounded(gen: Any) -> Any:
    """Yield from the driver's generator; raise after `SILENCE` seconds without data.

    The driver sends 0 each time that it has waited for a while in vain.
    """
    try:
        wants = next(gen)
        last_data = monotonic()
        while True:
            ready = yield wants
            if ready:
                last_data = monotonic()
            elif monotonic() - last_data > SILENCE:
                raise psycopg.OperationalError(f"no answer from the server in {SILENCE:g} s")
            wants = gen.send(ready)
    except StopIteration as end:
        return end.value


def _translate(statement: str) -> Any:
    """Replace our placeholders by the driver's; no statement has a question mark in a text."""
    return statement.replace("?", "%s")
