"""Where logs are kept: in memory, in an SQLite file, or on a PostgreSQL server."""

from __future__ import annotations

from typing import Any

from almoner import checks
from almoner.errors import StoreError
from almoner.store.base import Store, Writer

__all__ = ["Store", "Writer", "open_store"]

SQLITE, POSTGRES = "sqlite:///", ("postgresql://", "postgres://")


def open_store(url: Any) -> Store:
    """Open the store that a URL names; files and tables are created where they are missing."""
    if url == "memory:":
        from almoner.store.memory import MemoryStore

        return MemoryStore()
    from almoner.store.sql import SqlStore

    if isinstance(url, str) and url.startswith(SQLITE) and url != SQLITE:
        from almoner.store.sqlite import SqliteDatabase

        return SqlStore(SqliteDatabase(url.removeprefix(SQLITE)))
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
    raise checks.refuse("a store", "be a URL", url, remedy)
