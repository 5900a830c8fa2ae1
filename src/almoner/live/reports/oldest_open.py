"""Numbers of the oldest open decisions, without a search through the log for each page."""

from __future__ import annotations

from itertools import islice

from almoner.store.base import Store

__all__ = ["OldestOpen"]

KEPT = 1_000
"""Open decisions kept in memory; later ones are searched for when these have ended."""


class OldestOpen:
    """Numbers of the oldest open decisions of a log, followed event by event."""

    def __init__(self) -> None:
        self._numbers: dict[int, None] = {}
        self._through = 0
        self._more = False

    def add(self, seq: int) -> None:
        """Add a decision with a reserve, later than all others."""
        if self._more or len(self._numbers) >= KEPT:
            self._more = True
        else:
            self._numbers[seq] = None
            self._through = max(seq, self._through)

    def end(self, seq: int) -> None:
        """Remove a decision whose reserve has ended."""
        self._numbers.pop(seq, None)

    def first(self, store: Store, name: str, limit: int) -> list[int]:
        """Return the oldest ones, at most ``limit``; each part of the log is searched once."""
        if self._more and len(self._numbers) < limit:
            rows = store.unsettled(name, until=2**62, after=self._through, limit=KEPT)
            self._numbers.update(dict.fromkeys(event.seq for event in rows))
            self._through = max(self._through, *self._numbers, 0)
            self._more = len(rows) == KEPT
        return [*islice(self._numbers, limit)]
