"""SQLite: one file, for any number of threads and processes on one machine."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from functools import cache
from itertools import chain, compress
from pathlib import Path
from typing import Any

from almoner.concurrency.process import Process
from almoner.errors import StoreError
from almoner.store.connections import Pool
from almoner.store.files import Identity, StoreFile

__all__ = ["SqliteDatabase"]

PATIENCE = 60.0
"""Seconds to wait for another process that is writing."""

SETTINGS = ("journal_mode = WAL", "synchronous = FULL", "fullfsync = ON", "foreign_keys = ON")
"""A commit is on the disk before it returns; on macOS that takes fullfsync."""

AT_ONCE = 64
"""Rows inserted by one statement, or else a smaller power of two: few statements to keep prepared.
One for each row would have threads fight for the interpreter after every row."""

READERS = 4
"""Connections, at most, for transactions that only read."""

FETCHED = 1000
"""Rows of a long log to read before they are handed on."""


class SqliteDatabase:
    """The connections to one file.

    A commit is on the disk before it returns (write-ahead log, synchronous=FULL): with anything
    less, a power cut could take back what callers were told.

    If ``read_only``, the right to read the file is enough, and nothing in it is changed.
    """

    locking = ""
    among = "SELECT {columns} FROM almoner_events WHERE campaign = ? AND {column} IN ({values})"
    find = "SELECT 1 FROM sqlite_master WHERE name = ?"
    alone: tuple[str, ...] = ()

    def __init__(self, path: str, *, read_only: bool = False) -> None:
        self._path = path
        self._file = StoreFile(path, read_only=read_only)
        self._reading = _Reading(path, self._file.path) if read_only else None
        self._pool = Pool(self, 1, self._begin)  # SQLite has one writer at a time
        self._readers = Pool(self, READERS, self._begin_reading)
        self.transaction = self._pool.transaction
        self.reading = self._readers.concurrent_transaction

    def stream(self, query: str, *values: Any) -> Iterator[list[Any]]:
        """Yield the rows of a query in blocks, on a connection of its own."""
        process = Process()
        try:
            with closing(self.connect()) as connection:
                cursor = connection.execute(query, values)
                while rows := cursor.fetchmany(FETCHED):
                    self._refuse_changes()
                    yield rows
                    process.check()
        except sqlite3.Error as error:
            raise self.as_store_error(error) from error
        self._refuse_changes()

    def close(self) -> None:
        """Close the file."""
        self._pool.close()
        self._readers.close()

    def connect(self) -> _Connection:
        """Open the file, which is the same one each time."""
        self._file.check()
        connection = self._connect() if self._reading is None else self._reading.connect()
        try:
            self._file.check()  # and has been made by now
        except BaseException:
            connection.close()
            raise
        return connection

    def was_lost(self, connection: _Connection, error: Exception) -> bool:
        """Return that a file ends no connection."""
        return False

    def commit(self, connection: _Connection) -> None:
        """Commit a transaction; if the file is another one by now, nobody is told so.

        It was written to a file that others no longer find by this name.
        """
        connection.execute("COMMIT")
        self._file.check()
        self._refuse_changes()

    def as_store_error(self, error: BaseException) -> BaseException:
        """Return the error to raise for one of the driver's."""
        if not isinstance(error, sqlite3.Error):
            return error
        try:
            self._refuse_changes()
            self._file.check()
        except StoreError as cause:  # is what made SQLite fail
            return cause
        failed = StoreError(f"the store {self._path!r} failed: {error}")
        failed.__cause__ = error
        return failed

    def _begin(self, connection: _Connection) -> _Connection:
        """Begin a transaction that may write.

        IMMEDIATE: a transaction that begins by reading would fail at its first write, instead of
        waiting, if another process has written since.
        """
        return self._begin_as("BEGIN IMMEDIATE", connection)

    def _begin_reading(self, connection: _Connection) -> _Connection:
        return self._begin_as("BEGIN", connection)

    def _begin_as(self, statement: str, connection: _Connection) -> _Connection:
        """Begin a transaction; refuse a write-ahead log that is another file by now."""
        connection.execute(statement)
        if self._reading is None:
            connection.log = self._file.check_log(connection.log)
        else:
            self._reading.refuse_changes()
        return connection

    def _connect(self) -> _Connection:
        folder = self._file.path.parent
        if not folder.is_dir():
            raise StoreError(
                f"the store {self._path!r} cannot be opened: there is no folder "
                f"{str(folder)!r}; create it first"
            )
        connection = sqlite3.connect(
            self._file.path,
            timeout=PATIENCE,
            isolation_level=None,
            check_same_thread=False,
            factory=_Connection,
        )
        try:
            for setting in SETTINGS:
                connection.execute(f"PRAGMA {setting}").close()
        except BaseException:
            connection.close()
            raise
        return connection

    def _refuse_changes(self) -> None:
        if self._reading is not None:
            self._reading.refuse_changes()


class _Connection(sqlite3.Connection):
    """A connection that knows which write-ahead log it has open."""

    log: Identity | None = None

    def insert(self, into: str, rows: Sequence[Sequence[Any]]) -> None:
        """Insert rows into the columns of a table, ``table (column, …)``."""
        start = 0
        while start < len(rows):
            size = min(AT_ONCE, 1 << (len(rows) - start).bit_length() - 1)
            columns = [*zip(*rows[start : start + size], strict=True)]
            empty = (None,) * size
            # To bind a None takes sqlite3 eight times as long as to bind a number.
            used = tuple([column != empty for column in columns])
            values = chain.from_iterable(zip(*compress(columns, used), strict=True))
            self.execute(_insert(into, size, used), [*values])
            start += size


class _Reading:
    """How a file is read by one who may not write, or does not want to.

    To read a store that nobody has open, SQLite would make a log and an index beside it, and leave
    them there; where it may not, it would fail. So it is told that the file does not change. That
    is so while a writer puts all it writes into its log; once it moves that into the file, what was
    read is refused. A store that has a log already is read as its writers do.
    """

    def __init__(self, path: str, file: Path) -> None:
        self._path, self._file = path, file
        self._stamp = self._look()
        self._at_rest = not any(self._look(end)[0] for end in ("-wal", "-journal"))

    def connect(self) -> _Connection:
        """Open the file."""
        connection = sqlite3.connect(
            self._file.as_uri() + "?mode=ro" + "&immutable=1" * self._at_rest,
            uri=True,
            timeout=PATIENCE,
            isolation_level=None,
            check_same_thread=False,
            factory=_Connection,
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


@cache
def _insert(into: str, rows: int, used: tuple[bool, ...]) -> str:
    table, columns = into.removesuffix(")").split(" (")
    names = [*compress(columns.split(", "), used)]
    row = f"({', '.join('?' * len(names))})"
    return f"INSERT INTO {table} ({', '.join(names)}) VALUES {', '.join([row] * rows)}"  # noqa: S608
