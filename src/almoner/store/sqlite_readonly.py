"""Read-only access to an SQLite file, which creates nothing beside it."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

from almoner.errors import StoreError
from almoner.store.sqlite_connection import Connection, open_file

__all__ = ["ReadOnlyFile"]


class ReadOnlyFile:
    """Opens a file for reading only.

    To read a store that nobody has open, SQLite would create a write-ahead log and an index beside
    it, or fail without the permission to. So the file is opened as immutable. It is, as long as
    writers append to their log only; once a checkpoint has moved the log into the file, everything
    read is refused. A store that has a log already is read as its writers do.
    """

    def __init__(self, path: str, file: Path) -> None:
        self._path, self._file = path, file
        self._stamp = self._stamp_of()
        self._at_rest = not any(self._stamp_of(end)[0] for end in ("-wal", "-journal"))

    def connect(self) -> Connection:
        """Open the file."""
        query = "?mode=ro" + "&immutable=1" * self._at_rest
        connection = open_file(self._file.as_uri() + query, uri=True)
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
        """Refuse everything read so far if an immutable file was written to."""
        if self._at_rest and self._stamp_of() != self._stamp:
            raise StoreError(
                f"the store {self._path!r} was written to while it was being read; try again"
            )

    def _stamp_of(self, end: str = "") -> tuple[int, int]:
        try:
            status = os.stat(f"{self._file}{end}")
        except OSError:  # there is no such file
            return 0, 0
        return status.st_size, status.st_mtime_ns
