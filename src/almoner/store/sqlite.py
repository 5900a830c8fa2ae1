"""SQLite database: one file, for any number of threads and processes on one machine."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from typing import Any

from almoner.concurrency.process import Process
from almoner.errors import StoreError
from almoner.store.connections import Pool
from almoner.store.database import First
from almoner.store.migrations import no_store
from almoner.store.sqlite_connection import Connection, open_file
from almoner.store.sqlite_file import StoreFile
from almoner.store.sqlite_readonly import ReadOnlyFile

__all__ = ["SqliteDatabase"]

SETTINGS = ("journal_mode = WAL", "synchronous = FULL", "fullfsync = ON", "foreign_keys = ON")
"""A commit is on the disk before it returns; on macOS that takes fullfsync."""

READERS = 4
"""Connections, at most, for transactions that only read."""

FETCH_ROWS = 1000
"""Rows of a long log that are fetched at a time."""


class SqliteDatabase:
    """The connections to one file.

    A commit is on the disk before it returns (write-ahead log, synchronous=FULL): with anything
    less, a power cut could undo decisions that were returned to callers.

    If ``read_only``, the permission to read the file is enough, and nothing in it is changed.
    Unless ``create``, a file without a store is refused.
    """

    locking = ""
    among = """
        SELECT {columns} FROM {table}
        WHERE {lookup} = ? AND {column} IN ({values}) AND {condition}
    """
    find = "SELECT 1 FROM sqlite_master WHERE name = ?"
    alone: tuple[str, ...] = ()

    def __init__(self, path: str, *, read_only: bool = False, create: bool = True) -> None:
        self._path, self._create = path, create
        self._file = StoreFile(path, read_only=read_only)
        self._read_only = ReadOnlyFile(path, self._file.path) if read_only else None
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
                while rows := cursor.fetchmany(FETCH_ROWS):
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

    def connect(self) -> Connection:
        """Open a connection; refuse a file other than the first one."""
        self._file.check()
        connection = self._connect() if self._read_only is None else self._read_only.connect()
        try:
            self._file.check()  # connecting may have created it
        except BaseException:
            connection.close()
            raise
        return connection

    def was_lost(self, connection: Connection, error: Exception) -> bool:
        """Return False: a file ends no connection."""
        return False

    def commit(self, connection: Connection) -> None:
        """Commit a transaction; raise if the file was replaced meanwhile.

        The events are then in a file that others no longer find by this name.
        """
        connection.execute("COMMIT")
        self._file.check()
        self._refuse_changes()

    def as_store_error(self, error: BaseException) -> BaseException:
        """Return the error to raise for one of sqlite3."""
        if not isinstance(error, sqlite3.Error):
            return error
        try:
            self._refuse_changes()
            self._file.check()
        except StoreError as cause:  # a replaced file makes SQLite fail
            return cause
        failed = StoreError(f"the store {self._path!r} failed: {error}")
        failed.__cause__ = error
        return failed

    def _begin(self, connection: Connection, first: First) -> Connection:
        """Begin a transaction that may write.

        IMMEDIATE: a transaction that begins by reading would fail at its first write, instead of
        waiting, if another process has written since.
        """
        return self._begin_as("BEGIN IMMEDIATE", connection)

    def _begin_reading(self, connection: Connection, first: First) -> Connection:
        return self._begin_as("BEGIN", connection)

    def _begin_as(self, statement: str, connection: Connection) -> Connection:
        """Begin a transaction; refuse a write-ahead log that is another file by now."""
        connection.execute(statement)
        if self._read_only is None:
            connection.log = self._file.check_log(connection.log)
        else:
            self._read_only.refuse_changes()
        return connection

    def _connect(self) -> Connection:
        folder = self._file.path.parent
        if not folder.is_dir():
            raise StoreError(
                f"the store {self._path!r} cannot be opened: there is no folder "
                f"{str(folder)!r}; create it first"
            )
        connection = open_file(str(self._file.path))
        try:
            if (
                not self._create
                and not connection.execute(self.find, ["almoner_schema"]).fetchall()
            ):
                raise no_store(repr(self._path))  # before a setting changes the file
            for setting in SETTINGS:
                connection.execute(f"PRAGMA {setting}").close()
        except BaseException:
            connection.close()
            raise
        return connection

    def _refuse_changes(self) -> None:
        if self._read_only is not None:
            self._read_only.refuse_changes()
