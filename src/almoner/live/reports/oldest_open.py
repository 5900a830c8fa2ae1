"""Numbers of the oldest open decisions, without a search through the log for each page."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from typing import Any

from almoner.store.base import Store

__all__ = ["ANY_TIME", "OldestOpen"]

ANY_TIME = 2**62
"""A time after all others, in microseconds: another process may have a clock that is ahead."""

KEPT = 1_000
"""Open decisions kept in memory; later ones are searched for when these have ended."""


class OldestOpen:
    """Numbers of the oldest open decisions of a log, followed event by event."""

    def __init__(self) -> None:
        self._numbers: dict[int, None] = {}
        self._through = 0
        self._more = False

    def extend(self, seqs: Iterable[int]) -> None:
        """Add decisions with a reserve in their order, later than all others."""
        if self._more:
            return
        for seq in seqs:
            if len(self._numbers) >= KEPT:
                self._more = True
                return
            self._numbers[seq] = None
            self._through = max(seq, self._through)

    def end(self, seq: int) -> None:
        """Remove a decision whose reserve has ended."""
        self._numbers.pop(seq, None)

    def first(self, store: Store, name: str, limit: int) -> list[int]:
        """Return the oldest ones, at most ``limit``; each part of the log is searched once."""
        if self._more and len(self._numbers) < limit:
            rows = store.unsettled(name, until=ANY_TIME, after=self._through, limit=KEPT)
            self._numbers.update(dict.fromkeys(event.seq for event in rows))
            self._through = max(self._through, *self._numbers, 0)
            self._more = len(rows) == KEPT
        return [*islice(self._numbers, limit)]

    def to_list(self) -> list[Any]:
        """Return plain values for a snapshot."""
        return [[*self._numbers], self._through, self._more]

    def restore(self, values: list[Any]) -> None:
        """Restore the result of `to_list`."""
        numbers, self._through, self._more = values
        self._numbers = dict.fromkeys(numbers)
