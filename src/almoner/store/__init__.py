"""Stores of campaigns and their logs: in memory, in an SQLite file, on a PostgreSQL server."""

from __future__ import annotations

import os
import re
from functools import partial
from typing import Any

from almoner import checks
from almoner.errors import StoreError
from almoner.store.base import ApiKey, MissingStore, Reader, Store, Writer

__all__ = ["ApiKey", "MissingStore", "Reader", "Store", "Writer", "open_store"]

SQLITE, POSTGRES = "sqlite:///", ("postgresql://", "postgres://")


def open_store(url: Any, *, create: bool = True, read_only: bool = False) -> Store:
    """Open the store of a URL and bring it up to date; if ``create``, make one where there is none.

    If ``read_only``, nothing is created or changed, and the permission to read is enough.
    """
    if url == "memory:" and (read_only or not create):
        raise StoreError(
            "a store in memory ends with the process that made it; name one that lasts, such as "
            "sqlite:///path/to/file.db"
        )
    if url == "memory:":
        from almoner.store.memory import MemoryStore

        return MemoryStore()
    from almoner.store.database import ReadOnly
    from almoner.store.migrations import migrate, refuse_unreadable
    from almoner.store.sql import SqlStore

    path = url.removeprefix(SQLITE) if isinstance(url, str) and url.startswith(SQLITE) else ""
    if path not in ("", ":memory:"):  # where every connection would have its own database
        from almoner.store.sqlite import SqliteDatabase

        if os.path.isdir(path):
            raise StoreError(f"the store {path!r} is a folder; name a file in it")
        if (read_only or not create) and not os.path.exists(path):
            raise MissingStore(f"there is no store {path!r}; check the path")
        if read_only:
            check = partial(refuse_unreadable, name=repr(path))
            return SqlStore(ReadOnly(SqliteDatabase(path, read_only=True)), check)
        return SqlStore(SqliteDatabase(path, create=create))
    if isinstance(url, str) and url.startswith(POSTGRES):
        try:
            from almoner.store.postgres import PostgresDatabase
        except ImportError:
            raise StoreError(
                "PostgreSQL needs the driver psycopg, which is not installed; "
                "run pip install 'almoner[postgres]'"
            ) from None
        if read_only:
            check = partial(refuse_unreadable, name="the database")
            return SqlStore(ReadOnly(PostgresDatabase(url)), check)
        missing = None if create else "the database"
        return SqlStore(PostgresDatabase(url), partial(migrate, missing=missing))
    remedy = "write memory:, sqlite:///path/to/file.db or postgresql://host/database"
    if isinstance(url, str):  # errors are logged, passwords must not be
        url = re.sub(r"://[^/]*@", "://…@", url)
    raise checks.refuse("a store", "be a URL", url, remedy)
