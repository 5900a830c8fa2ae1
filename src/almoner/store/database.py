"""Protocol of an SQL database: transactions, and the statements in which databases differ."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

__all__ = ["Database", "First", "ReadOnly", "Statements", "run"]

First = Sequence[tuple[str, Sequence[Any]]]
"""The statements, with their values, that a transaction is likely to execute first.

They only read or lock, and a database may send them along with the beginning of the transaction. So
a way to the server is saved for those that are then executed indeed, in this order.
"""


class Statements(Protocol):
    """A connection inside a transaction; ``?`` stands for a value.

    ``dialect`` is ``"sqlite"`` or ``"postgresql"``.
    """

    @property
    def dialect(self) -> str:
        """The name of the database in which they run."""

    def execute(self, statement: str, values: Sequence[Any], /) -> Any:
        """Execute a statement; return a cursor, whose ``fetchall`` may be empty."""

    def insert(self, into: str, rows: Sequence[Sequence[Any]]) -> None:
        """Insert rows into the columns of a table, ``table (column, …)``."""

    def enqueue(self, statement: str, values: Sequence[Any], /) -> None:
        """Execute a statement without rows before the next one, or before the commit."""

    def begin_migration(self) -> None:
        """Let the statements to come take long, and wait only briefly for locks that block others.

        Until the end of the transaction.
        """


def run(transaction: Statements, statement: str, *values: Any) -> list[Any]:
    """Execute a statement; return its rows, if it has any.

    The cursor is in no variable: the traceback of an interrupt would keep it, and with it SQLite
    would keep a closed connection and its locks.
    """
    return transaction.execute(statement, values).fetchall()  # type: ignore[no-any-return]


class Database(Protocol):
    """Connections to a database, and the statements in which databases differ."""

    locking: str
    """Clause that makes a SELECT lock its rows, if a transaction does not lock everything."""

    among: str
    """Statement that selects rows of a campaign by an index: a template for ``{columns}``, the
    ``{table}``, the ``{column}`` of the index, its expression ``{lookup}`` of the campaign, a
    ``{condition}`` of the index, and placeholders of the ``{values}``."""

    find: str
    """Query that returns a row if a table of the given name exists."""

    alone: tuple[str, ...]
    """Statements that begin a transaction which changes tables or adds a campaign."""

    def transaction(
        self, campaign: str = "", first: First = ()
    ) -> AbstractContextManager[Statements]:
        """Begin a transaction: committed at the end, undone on an error, all errors StoreError.

        Transactions on different campaigns run at the same time, if the database can do that.
        """

    def reading(self) -> AbstractContextManager[Statements]:
        """Begin a transaction that sees one committed state; it locks nothing and never waits."""

    def stream(self, query: str, *values: Any) -> Iterator[list[Any]]:
        """Yield the rows of a query in blocks, none of them empty, beside any transaction."""

    def close(self) -> None:
        """Close all connections."""


class ReadOnly:
    """A database all of whose transactions only read."""

    locking = ""
    alone: tuple[str, ...] = ()

    def __init__(self, database: Database) -> None:
        self.among, self.find = database.among, database.find
        self.reading, self.stream, self.close = database.reading, database.stream, database.close

    def transaction(
        self, campaign: str = "", first: First = ()
    ) -> AbstractContextManager[Statements]:
        """Begin a transaction that only reads."""
        return self.reading()
