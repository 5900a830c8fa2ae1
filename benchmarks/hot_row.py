"""A budget in one table row with a transaction per decision: the program without almoner."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import psycopg

__all__ = ["postgres", "sqlite"]

TABLES = (
    "CREATE TABLE budget (campaign BIGINT PRIMARY KEY, unspent BIGINT NOT NULL)",
    "INSERT INTO budget VALUES (1, 1000000000)",
    "CREATE TABLE decision (campaign BIGINT, context TEXT, action TEXT, cost BIGINT)",
)
SPEND = "UPDATE budget SET unspent = unspent - 1 WHERE campaign = 1 AND unspent >= 1"
RECORD = "INSERT INTO decision VALUES (1, 'context 3', 'action 0', 1)"


@contextmanager
def sqlite(path: Path, *, connections: int) -> Iterator[list[Callable[[], None]]]:
    """Yield callers with a connection each to one SQLite file, as durable as almoner's."""

    def connected() -> sqlite3.Connection:
        connection = sqlite3.connect(
            path, timeout=60, isolation_level=None, check_same_thread=False
        )
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        return connection

    with closing(connected()) as first:
        for statement in TABLES:
            first.execute(statement)
    callers = [connected() for _ in range(connections)]
    yield [partial(_spend_sqlite, connection) for connection in callers]
    for connection in callers:
        connection.close()


def _spend_sqlite(connection: sqlite3.Connection) -> None:
    connection.execute("BEGIN IMMEDIATE")
    if connection.execute(SPEND).rowcount:
        connection.execute(RECORD)
    connection.execute("COMMIT")


@contextmanager
def postgres(url: str, *, connections: int) -> Iterator[list[Callable[[], None]]]:
    """Yield callers with a connection each to one PostgreSQL server."""
    callers = [psycopg.connect(url, autocommit=True) for _ in range(connections)]
    for statement in TABLES:
        callers[0].execute(statement)
    yield [partial(_spend_postgres, connection) for connection in callers]
    for connection in callers:
        connection.close()


def _spend_postgres(connection: psycopg.Connection[Any]) -> None:
    with connection.transaction():
        if connection.execute(SPEND, prepare=True).rowcount:
            connection.execute(RECORD, prepare=True)
