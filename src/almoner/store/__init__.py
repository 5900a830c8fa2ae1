"""Where logs are kept: in memory, in an SQLite file, or on a PostgreSQL server."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from almoner import checks
from almoner.errors import StoreError
from almoner.store.base import ApiKey, Store, Writer

__all__ = ["ApiKey", "Store", "Writer", "open_store"]

SQLITE, POSTGRES = "sqlite:///", ("postgresql://", "postgres://")


def open_store(url: Any, *, create: bool = True) -> Store:
    """Open the store that a URL names; tables, and a file if ``create``, are made where missing."""
    if url == "memory:":
        from almoner.store.memory import MemoryStore

        return MemoryStore()
    from almoner.store.sql import SqlStore

    path = url.removeprefix(SQLITE) if isinstance(url, str) and url.startswith(SQLITE) else ""
    if path not in ("", ":memory:"):  # there every connection would have a memory of its own
        from almoner.store.sqlite import SqliteDatabase

        if not create and not Path(path).exists():
            raise StoreError(f"there is no store {path!r}; check the path")
        return SqlStore(SqliteDatabase(path))
    if isinstance(url, str) and url.startswith(POSTGRES):
        try:
            from almoner.store.postgres import PostgresDatabase
        except ImportError:
            raise StoreError(
                "PostgreSQL needs the driver psycopg, which is not installed; "
                "run pip install 'almoner[postgres]'"
            ) from None
        return SqlStore(PostgresDatabase(url))
    remedy = "write memory:, sqlite:///path/to/file.db or postgresql://host/database"
    if isinstance(url, str):  # a password is for nobody's log
        url = re.sub(r"://[^/]*@", "://…@", url)
    raise checks.refuse("a store", "be a URL", url, remedy)
