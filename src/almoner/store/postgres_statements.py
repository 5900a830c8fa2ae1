"""Statements in a transaction of PostgreSQL, of which several go to the server at once.

A way to the server and back takes longer than most statements. So statements without rows wait for
the next one with rows, or for the commit, and go with it as one query of several statements: the
server runs them in their order and stops at the first error. A COPY may be one of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import compress
from typing import Any

import psycopg
from psycopg import errors, generators
from psycopg.pq import ExecStatus

from almoner.store.database import First

__all__ = ["PostgresStatements", "Script"]


class Script:
    """The statements of a connection that wait to be sent, their values written into them."""

    def __init__(self, connection: psycopg.Connection[Any]) -> None:
        self._connection = connection
        self._mogrify: Callable[..., str] = psycopg.ClientCursor(connection).mogrify
        self._waiting: list[str] = []
        self._copied: list[bytes] = []  # the data of each COPY among them

    def clear(self) -> None:
        """Drop what waits: it is of a transaction that was interrupted."""
        self._waiting, self._copied = [], []

    def add(self, statement: str, values: Sequence[Any] = ()) -> None:
        """Add a statement; ``?`` stands for a value, and no statement has one in a text."""
        self._waiting.append(self._bound(statement, values))

    def copy(self, into: str, rows: Sequence[Sequence[Any]]) -> None:
        """Add a COPY of rows into the columns of a table, ``table (column, …)``."""
        table, names = into.removesuffix(")").split(" (")
        columns = [*zip(*rows, strict=True)]
        used = [column.count(None) < len(column) for column in columns]
        self._waiting.append(
            f"COPY {table} ({', '.join(compress(names.split(', '), used))}) FROM STDIN"
        )
        texts = [_texts(column) for column in compress(columns, used)]
        lines = ["\t".join(line) for line in zip(*texts, strict=True)]
        self._copied.append(("\n".join(lines) + "\n").encode())

    def rows(self, statements: First) -> list[list[Any]]:
        """Send all statements that wait, and these; return the rows of each of these."""
        if self._copied:
            self.run()
        texts = [*self._waiting, *[self._bound(*statement) for statement in statements]]
        self._waiting = []
        cursor = self._connection.execute(";".join(texts).encode())
        for _ in range(len(texts) - len(statements)):
            cursor.nextset()
        rows = []
        for _ in statements:
            rows.append(cursor.fetchall() if cursor.description else [])
            cursor.nextset()
        return rows

    def run(self) -> str:
        """Send all statements that wait; return what the server says of the last one."""
        text, data = ";".join(self._waiting), self._copied
        self.clear()
        with self._connection.lock:
            return str(self._connection.wait(self._exchange(text.encode(), data)))

    def _exchange(self, text: bytes, data: list[bytes]) -> Any:
        """Send a query of several statements, and the data that the server then asks for."""
        connection, status, error = self._connection.pgconn, b"", None
        remaining = iter(data)
        connection.send_query(text)
        yield from generators.send(connection)
        while (result := (yield from generators.fetch(connection))) is not None:
            if result.status == ExecStatus.COPY_IN:
                connection.put_copy_data(next(remaining))
                connection.put_copy_end()
                yield from generators.send(connection)
            elif result.status == ExecStatus.FATAL_ERROR:
                error = errors.error_from_result(result)  # after which it may close the connection
            status = result.command_status or b""
        if error is not None:
            raise error
        return status.decode()

    def _bound(self, statement: str, values: Sequence[Any]) -> str:
        return self._mogrify(statement.replace("?", "%s"), values) if values else statement


class _Rows:
    """The rows of a statement that was executed before."""

    __slots__ = ("_rows",)

    def __init__(self, rows: list[Any]) -> None:
        self._rows = rows

    def fetchall(self) -> list[Any]:
        return self._rows


class PostgresStatements:
    """A transaction of which the ``first`` statements go to the server along with its BEGIN."""

    dialect = "postgresql"

    def __init__(
        self, script: Script, begin: str, first: First, prolong: Callable[[], None]
    ) -> None:
        self._script, self._prolong = script, prolong
        script.clear()
        script.add(begin)
        if first:
            rows = script.rows(first)
        else:
            rows = []
            script.run()
        self._first = {
            (statement, tuple(values)): found
            for (statement, values), found in zip(first, rows, strict=True)
        }

    def begin_migration(self) -> None:
        """Let statements take long, and wait only briefly for locks that block others."""
        self._prolong()

    def execute(self, statement: str, values: Sequence[Any]) -> _Rows:
        """Execute a statement, and those enqueued before it."""
        if self._first:
            rows = self._first.pop((statement, tuple(values)), None)
            if rows is not None:
                return _Rows(rows)
            self._first.clear()  # what follows may change their rows
        return _Rows(self._script.rows([(statement, values)])[0])

    def enqueue(self, statement: str, values: Sequence[Any], /) -> None:
        """Execute a statement without rows with the next one, or with the commit."""
        self._script.add(statement, values)

    def insert(self, into: str, rows: Sequence[Sequence[Any]]) -> None:
        """Enqueue a COPY of rows, which takes the server half the time of an INSERT."""
        if rows:
            self._script.copy(into, rows)


def _texts(column: Sequence[Any]) -> list[str]:
    """Return the values of a column as COPY reads them."""
    kinds = {*map(type, column)}
    if str in kinds:  # most columns of text repeat a few values
        texts = {value: _text(value) for value in {*column}}
        return [texts[value] for value in column]
    if type(None) in kinds:
        return [NULL if value is None else repr(value) for value in column]
    return [*map(repr, column)]


def _text(value: str | None) -> str:
    return NULL if value is None else value.translate(_ESCAPED)


NULL = r"\N"
_ESCAPED = str.maketrans({"\\": r"\\", "\t": r"\t", "\n": r"\n", "\r": r"\r"})
