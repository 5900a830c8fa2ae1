"""Rows of persons in SQL: the actions that each got, by keyed hash, outside the hash chain."""

from __future__ import annotations

from collections.abc import Sequence

from almoner.store.base import PersonRow
from almoner.store.database import Statements, run
from almoner.store.migrations import LOOKUPS

__all__ = ["SqlPersons"]

CHUNK = 500
"""Values in one statement, at most."""


class SqlPersons:
    """The rows of one campaign, within a transaction; ``among`` is that of the `Database`."""

    def __init__(
        self, transaction: Statements, among: str, campaign: int, keys: dict[int, str]
    ) -> None:
        self._transaction, self._find, self._campaign = transaction, among, campaign
        self._keys = keys

    def key(self) -> str:
        """Return the campaign's key of hashes; it is read once in a process."""
        if self._campaign not in self._keys:
            query = "SELECT person_key FROM almoner_campaigns WHERE id = ?"
            self._keys[self._campaign] = str(run(self._transaction, query, self._campaign)[0][0])
        return self._keys[self._campaign]

    def actions(self, persons: Sequence[str]) -> list[PersonRow]:
        """Return the rows of persons."""
        rows: list[PersonRow] = []
        for start in range(0, len(persons), CHUNK):
            part = persons[start : start + CHUNK]
            query = self._find.format(
                columns="person, decision, at",
                table="almoner_persons",
                lookup=LOOKUPS["person"],
                column="person",
                condition="true",
                values=", ".join("?" * len(part)),
            )
            rows += map(tuple, run(self._transaction, query, self._campaign, *part))
        return rows

    def add(self, rows: Sequence[PersonRow]) -> None:
        """Add rows."""
        into = "almoner_persons (campaign, person, decision, at)"
        self._transaction.insert(into, [(self._campaign, *row) for row in rows])

    def remove(self, decisions: Sequence[int]) -> None:
        """Remove the rows of decisions, where they have any."""
        delete = "DELETE FROM almoner_persons WHERE campaign = ? AND decision = ?"
        for decision in decisions:
            run(self._transaction, delete, self._campaign, decision)

    def forget(self, person: str) -> int:
        """Remove all rows of a person; return their number."""
        delete = (
            f"DELETE FROM almoner_persons WHERE {LOOKUPS['person']} = ? AND person = ? "  # noqa: S608
            "RETURNING decision"
        )
        return len(run(self._transaction, delete, self._campaign, person))
