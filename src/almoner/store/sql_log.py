"""Log of one campaign in SQL: locked for a transaction, read, appended to along its hash chain."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from almoner.errors import UnknownCampaign
from almoner.store.base import ALL
from almoner.store.database import Database, Statements
from almoner.store.events import Event
from almoner.store.hash_chain import Head, marked, root

__all__ = ["COLUMNS", "SELECT", "LogReader", "LogWriter", "head", "lock", "only", "run"]

CHUNK = 500
"""Values in one statement, at most: databases limit them."""

COLUMNS = ", ".join(f'"{name}"' for name in Event._fields)
SELECT = f"SELECT {COLUMNS} FROM almoner_events WHERE campaign = ? AND "  # noqa: S608
_INTO = f"almoner_events (campaign, {COLUMNS}, checksum)"
_UNCHAINED = "SELECT id, 0, NULL FROM almoner_campaigns WHERE name = ?"
# Both rows are locked: of one that is not, PostgreSQL returns the state before the wait.
_CHAINED = (
    "SELECT id, seq, checksum FROM almoner_campaigns JOIN almoner_heads ON campaign = id "
    "WHERE name = ?"
)


def run(transaction: Statements, statement: str, *values: Any) -> list[Any]:
    """Execute a statement; return its rows, if it has any.

    The cursor is in no variable: the traceback of an interrupt would keep it, and with it SQLite
    would keep a closed connection and its locks.
    """
    return transaction.execute(statement, values).fetchall()  # type: ignore[no-any-return]


def head(transaction: Statements, name: str) -> Head | None:
    """Return the head of a campaign's log; None if it is missing."""
    rows = run(transaction, _CHAINED, name)
    return Head(*rows[0][1:]) if rows else None


def lock(transaction: Statements, database: Database, name: str, *, chained: bool) -> LogWriter:
    """Lock a campaign; return the writer of its log."""
    locking = database.locking
    rows = run(transaction, (_CHAINED if chained else _UNCHAINED) + locking, name)
    if rows:
        return LogWriter(transaction, database.among, rows[0][0], Head(*rows[0][1:]))
    campaign = only(run(transaction, _UNCHAINED + locking, name), name)
    return LogWriter(transaction, database.among, campaign, None)


def only(rows: list[Any], name: str) -> int:
    """Return the id of a campaign from the rows of a query; refuse a campaign that has none."""
    if not rows:
        raise UnknownCampaign(f"there is no campaign {name!r} in this store")
    return int(rows[0][0])


class LogReader:
    """Reads the log of a campaign within a transaction."""

    def __init__(self, transaction: Statements, campaign: int) -> None:
        self._transaction, self._campaign = transaction, campaign

    def events(self, after: int, limit: int = ALL) -> list[Event]:
        """Return the events after one of them, in their order."""
        query = f"{SELECT}seq > ? ORDER BY seq LIMIT ?"
        rows = run(self._transaction, query, self._campaign, after, limit)
        return [Event._make(row) for row in rows]

    def snapshot(self) -> str | None:
        """Return the snapshot; None if there is none."""
        query = "SELECT body FROM almoner_snapshots WHERE campaign = ?"
        rows = run(self._transaction, query, self._campaign)
        return str(rows[0][0]) if rows else None


class LogWriter(LogReader):
    """Reads and appends to the log of a campaign within a transaction."""

    def __init__(
        self, transaction: Statements, among: str, campaign: int, head: Head | None
    ) -> None:
        super().__init__(transaction, campaign)
        self._find, self._head = among, head

    def histories(self, decisions: Sequence[int]) -> dict[int, list[Event]]:
        """Return the events of decisions by id, in their order."""
        histories: dict[int, list[Event]] = {}
        # Sorted here: with ORDER BY, SQLite would walk the whole log in that order.
        for event in sorted(self._among("decision", decisions)):
            histories.setdefault(event.decision or 0, []).append(event)
        return histories

    def keyed(self, keys: Sequence[str]) -> dict[str, Event]:
        """Return the decisions made with keys."""
        return {event.key or "": event for event in self._among("key", keys)}

    def append(self, events: Sequence[Event]) -> None:
        """Add events, chained to the head of the log and not to its last row.

        So an audit finds a last row that was removed before these were added.
        """
        if not events:
            return
        before = (self._head and self._head.checksum) or self._root()
        marks = marked(before, events)
        rows = zip(events, marks, strict=True)
        self._transaction.insert(_INTO, [(self._campaign, *event, mark) for event, mark in rows])
        self._head = Head(events[-1].seq, marks[-1])
        # UPDATE, not an upsert: an audit must see that the row is missing.
        update = "UPDATE almoner_heads SET seq = ?, checksum = ? WHERE campaign = ?"
        run(self._transaction, update, *self._head, self._campaign)

    def _root(self) -> str:
        query = "SELECT name, terms FROM almoner_campaigns WHERE id = ?"
        return root(*run(self._transaction, query, self._campaign)[0])

    def save_snapshot(self, text: str | None) -> None:
        """Replace the snapshot, or remove it."""
        run(self._transaction, "DELETE FROM almoner_snapshots WHERE campaign = ?", self._campaign)
        if text is not None:
            insert = "INSERT INTO almoner_snapshots VALUES (?, ?)"
            run(self._transaction, insert, self._campaign, text)

    def _among(self, column: str, wanted: Sequence[Any]) -> list[Event]:
        rows: list[Any] = []
        for start in range(0, len(wanted), CHUNK):
            part = wanted[start : start + CHUNK]
            values = ", ".join("?" * len(part))
            query = self._find.format(columns=COLUMNS, column=column, values=values)
            rows += run(self._transaction, query, self._campaign, *part)
        return [Event._make(row) for row in rows]
