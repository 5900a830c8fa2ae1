"""Connection to an SQLite file, with inserts of many rows by few statements."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from functools import cache
from itertools import chain, compress
from typing import Any

from almoner.store.sqlite_file import Identity

__all__ = ["Connection", "open_file"]

PATIENCE = 60.0
"""Seconds to wait for another process that is writing."""

INSERT_ROWS = 64
"""Rows inserted by one statement, or else a smaller power of two, so that few statements are kept
prepared. With a statement for each row, threads would contend for the interpreter after each."""


class Connection(sqlite3.Connection):
    """A connection that knows which write-ahead log it has open."""

    dialect = "sqlite"
    log: Identity | None = None

    def begin_migration(self) -> None:
        """Do nothing: no statement has a time limit, and the whole file is locked already."""

    def enqueue(self, statement: str, values: Sequence[Any], /) -> None:
        """Execute a statement at once: there is no way to a server to save."""
        self.execute(statement, values).close()

    def insert(self, into: str, rows: Sequence[Sequence[Any]]) -> None:
        """Insert rows into the columns of a table, ``table (column, …)``."""
        start = 0
        while start < len(rows):
            size = min(INSERT_ROWS, 1 << (len(rows) - start).bit_length() - 1)
            columns = [*zip(*rows[start : start + size], strict=True)]
            empty = (None,) * size
            # sqlite3 takes eight times as long to bind a None as to bind a number.
            used = tuple([column != empty for column in columns])
            values = chain.from_iterable(zip(*compress(columns, used), strict=True))
            self.execute(_insert(into, size, used), [*values])
            start += size


def open_file(database: str, *, uri: bool = False) -> Connection:
    """Open a connection that begins its transactions itself, and may be used by any thread."""
    return sqlite3.connect(
        database,
        uri=uri,
        timeout=PATIENCE,
        isolation_level=None,
        check_same_thread=False,
        factory=Connection,
    )


@cache
def _insert(into: str, rows: int, used: tuple[bool, ...]) -> str:
    table, columns = into.removesuffix(")").split(" (")
    names = [*compress(columns.split(", "), used)]
    row = f"({', '.join('?' * len(names))})"
    return f"INSERT INTO {table} ({', '.join(names)}) VALUES {', '.join([row] * rows)}"  # noqa: S608
