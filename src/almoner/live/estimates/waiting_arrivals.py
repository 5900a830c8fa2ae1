"""Arrivals that wait for a reward until their windows end, in a few bytes each."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Iterator
from itertools import islice

__all__ = ["WaitingArrivals"]

SPARE = 1_000
"""Places of arrivals that wait no more, before they are used again."""


class WaitingArrivals:
    """Queue of decisions with the ends of their windows, and whether they are held out."""

    def __init__(self) -> None:
        self._decisions, self._ends, self._held = array("q"), array("q"), bytearray()
        self._first = 0  # those before it wait no more
        self._rewarded = set[int]()  # of the others

    def __len__(self) -> int:
        return len(self._decisions) - self._first - len(self._rewarded)

    def add(self, decision: int, *, end: int, held: bool) -> None:
        """Add a decision later than all others."""
        self._decisions.append(decision)
        self._ends.append(end)
        self._held.append(held)

    def discard(self, decision: int) -> bool:
        """Remove a decision that has a reward; return whether it was waiting."""
        index = bisect_left(self._decisions, decision, self._first)
        found = index < len(self._decisions) and self._decisions[index] == decision
        if not found or decision in self._rewarded:
            return False
        self._rewarded.add(decision)
        while self._first < len(self._decisions) and self._is_rewarded():
            self._drop()
        return True

    def end(self, now: int) -> Iterator[bool]:
        """Remove the decisions whose windows end by now; yield for each whether it was held out.

        They are taken in their order: where a clock was set back, some wait for those before.
        """
        while self._first < len(self._decisions) and self._ends[self._first] <= now:
            if not self._is_rewarded():
                yield bool(self._held[self._first])
            self._drop()

    def to_list(self) -> list[list[int]]:
        """Return plain values for a snapshot: a row for each arrival that waits."""
        rows = zip(self._decisions, self._ends, self._held, strict=True)
        return [[*row] for row in islice(rows, self._first, None) if row[0] not in self._rewarded]

    def restore(self, rows: list[list[int]]) -> None:
        """Restore the result of `to_list`."""
        decisions, ends, held = zip(*rows, strict=True) if rows else ((), (), ())
        self._decisions, self._ends = array("q", decisions), array("q", ends)
        self._held, self._first, self._rewarded = bytearray(held), 0, set()

    def _is_rewarded(self) -> bool:
        return self._decisions[self._first] in self._rewarded

    def _drop(self) -> None:
        self._rewarded.discard(self._decisions[self._first])
        self._first += 1
        if self._first > SPARE and 2 * self._first > len(self._decisions):
            for column in (self._decisions, self._ends, self._held):
                del column[: self._first]
            self._first = 0
