"""SQLite: one file, for any number of threads and processes on one machine."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from itertools import chain, compress
from pathlib import Path
from threading import RLock
from typing import Any

from almoner.errors import StoreError

__all__ = ["SqliteDatabase"]

PATIENCE = 60.0
"""Seconds to wait for another process that is writing."""

SETTINGS = ("journal_mode = WAL", "synchronous = FULL", "fullfsync = ON", "foreign_keys = ON")
"""A commit is on the disk before it returns; on macOS that takes fullfsync."""

AT_ONCE = 64
"""Rows inserted by one statement, or else a smaller power of two: few statements to keep prepared.
One for each row would have threads fight for the interpreter after every row."""

FETCHED = 1000
"""Rows of a long log to read before they are handed on."""


class SqliteDatabase:
    """A connection to one file.

    A commit is on the disk before it returns (write-ahead log, synchronous=FULL): with anything
    less, a power cut could take back what callers were told.

    If ``read_only``, the right to read the file is enough, and nothing in it is changed.
    """

    locking = ""
    alone: tuple[str, ...] = ()

    def __init__(self, path: str, *, read_only: bool = False) -> None:
        self._path = path
        self._reading = _Reading(path) if read_only else None
        # IMMEDIATE: to begin by reading and find out at the first write that another process was
        # faster would fail, instead of wait.
        self._begin = "BEGIN" if read_only else "BEGIN IMMEDIATE"
        self._lock = RLock()  # one transaction at a time in this process; SQLite sees to others
        self._connection = self._connect()

    @contextmanager
    def transaction(self) -> Iterator[_Statements]:
        """Begin a transaction."""
        with self._lock, self._as_store_errors():
            self._connection.execute(self._begin)
            try:
                yield _Statements(self._connection)
                self._connection.execute("COMMIT")
            except BaseException:
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise

    def stream(self, query: str, *values: Any) -> Iterator[Any]:
        """Yield the rows of a query, on a connection of its own."""
        with self._as_store_errors():
            connection = self._connect()
            try:
                cursor = connection.execute(query, values)
                while rows := cursor.fetchmany(FETCHED):
                    self._refuse_changes()
                    yield from rows
            finally:
                connection.close()

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._connection.close()

    def _connect(self) -> sqlite3.Connection:
        with self._as_store_errors():
            if self._reading is not None:
                return self._reading.connect()
            folder = Path(self._path).parent
            if not folder.is_dir():
                raise StoreError(
                    f"the store {self._path!r} cannot be opened: there is no folder "
                    f"{str(folder)!r}; create it first"
                )
            connection = sqlite3.connect(
                self._path, timeout=PATIENCE, isolation_level=None, check_same_thread=False
            )
            try:
                for setting in SETTINGS:
                    connection.execute(f"PRAGMA {setting}").close()
            except BaseException:
                connection.close()
                raise
            return connection

    @contextmanager
    def _as_store_errors(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as reason:
            self._refuse_changes()
            raise StoreError(f"the store {self._path!r} failed: {reason}") from reason
        self._refuse_changes()

    def _refuse_changes(self) -> None:
        if self._reading is not None:
            self._reading.refuse_changes()


class _Reading:
    """How a file is read by one who may not write, or does not want to.

    To read a store that nobody has open, SQLite would make a log and an index beside it, and leave
    them there; where it may not, it would fail. So it is told that the file does not change. That
    is so while a writer puts all it writes into its log; once it moves that into the file, what was
    read is refused. A store that has a log already is read as its writers do.
    """

    def __init__(self, path: str) -> None:
        self._path, self._file = path, Path(path).resolve()
        self._stamp = self._look()
        self._at_rest = not any(self._look(end)[0] for end in ("-wal", "-journal"))

    def connect(self) -> sqlite3.Connection:
        """Open the file."""
        connection = sqlite3.connect(
            self._file.as_uri() + "?mode=ro" + "&immutable=1" * self._at_rest,
            uri=True,
            timeout=PATIENCE,
            isolation_level=None,
            check_same_thread=False,
        )
        try:
            connection.execute("PRAGMA schema_version").close()
        except BaseException as reason:
            connection.close()
            code = getattr(reason, "sqlite_errorcode", None)
            if code == sqlite3.SQLITE_CANTOPEN:  # the file itself is open: this is about its log
                raise StoreError(
                    f"the store {self._path!r} cannot be read where it is: a part of it is in "
                    f"{self._file.name + '-wal'!r}, which takes the right to write to the folder; "
                    "copy both files to a folder of yours"
                ) from reason
            raise
        return connection

    def refuse_changes(self) -> None:
        """Refuse what was read of a file that was not to change, and did."""
        if self._at_rest and self._look() != self._stamp:
            raise StoreError(
                f"the store {self._path!r} was written to while it was being read; try again"
            )

    def _look(self, end: str = "") -> tuple[int, int]:
        try:
            found = os.stat(f"{self._file}{end}")
        except OSError:  # there is none, or none any more
            return 0, 0
        return found.st_size, found.st_mtime_ns


class _Statements:
    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def run(self, statement: str, *values: Any) -> list[Any]:
        return self._connection.execute(statement, values).fetchall()

    def insert(self, into: str, rows: Sequence[Sequence[Any]]) -> None:
        start = 0
        while start < len(rows):
            size = min(AT_ONCE, 1 << (len(rows) - start).bit_length() - 1)
            columns = [*zip(*rows[start : start + size], strict=True)]
            empty = (None,) * size
            # To bind a None takes sqlite3 eight times as long as to bind a number.
            used = tuple([column != empty for column in columns])
            values = chain.from_iterable(zip(*compress(columns, used), strict=True))
            self._connection.execute(_insert(into, size, used), [*values])
            start += size


@cache
def _insert(into: str, rows: int, used: tuple[bool, ...]) -> str:
    table, columns = into.removesuffix(")").split(" (")
    names = [*compress(columns.split(", "), used)]
    row = f"({', '.join('?' * len(names))})"
    return f"INSERT INTO {table} ({', '.join(names)}) VALUES {', '.join([row] * rows)}"  # noqa: S608
