"""Rows of persons in memory, whose changes can be undone until they are committed."""

from __future__ import annotations

from collections.abc import Sequence
from secrets import token_hex

from almoner.store.base import PersonRow

__all__ = ["MemoryPersons"]


class MemoryPersons:
    """The actions that persons got in a campaign, by digest and decision.

    ``version`` grows with every change, before it is made, so that an interrupt at any bytecode
    leaves a version that was not committed. ``changed`` are those that can be undone.
    """

    def __init__(self) -> None:
        self.version = 0
        self._key = token_hex()
        self._rows: dict[str, dict[int, int]] = {}
        self._owners: dict[int, str] = {}
        self.changed: list[tuple[str, dict[int, int]]] = []  # persons, as they were before

    def key(self) -> str:
        """Return the campaign's random key for digests."""
        return self._key

    def actions(self, persons: Sequence[str]) -> list[PersonRow]:
        """Return the rows of persons."""
        return [
            (person, decision, at)
            for person in persons
            for decision, at in self._rows.get(person, {}).items()
        ]

    def rows(self) -> list[PersonRow]:
        """Return the rows of all persons, by person and decision."""
        return sorted(self.actions([*self._rows]))

    def add(self, rows: Sequence[PersonRow]) -> None:
        """Add rows."""
        for person, decision, at in rows:
            self._set(person, {**self._rows.get(person, {}), decision: at})

    def remove(self, decisions: Sequence[int]) -> None:
        """Remove the rows of decisions, where they have any."""
        for decision in decisions:
            person = self._owners.get(decision)
            if person is not None:
                kept = self._rows[person]
                self._set(person, {key: at for key, at in kept.items() if key != decision})

    def forget(self, person: str) -> int:
        """Remove all rows of a person; return their number."""
        count = len(self._rows.get(person, {}))
        if count:
            self._set(person, {})
        return count

    def begin(self) -> None:
        """Begin a transaction: what was changed before is final."""
        self.changed = []

    def undo(self, version: int) -> None:
        """Undo the changes of the open transaction, any part of which may be made or undone."""
        for person, before in reversed(self.changed):
            self._put(person, before)
        self.changed, self.version = [], version

    def _set(self, person: str, actions: dict[int, int]) -> None:
        self.version += 1
        self.changed.append((person, self._rows.get(person, {})))
        self._put(person, actions)

    def _put(self, person: str, actions: dict[int, int]) -> None:
        for decision in self._rows.get(person, {}):
            self._owners.pop(decision, None)
        for decision in actions:
            self._owners[decision] = person
        self._rows[person] = actions
        if not actions:
            del self._rows[person]
