"""Log read for an audit: checks its hash chain on the way."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from operator import itemgetter
from typing import Any

from almoner.store.events import Event, EventRow
from almoner.store.hash_chain import GROUP, Head, are_linked, links, trimmed

__all__ = ["CheckedLog"]

_WIDTH = len(Event._fields)
_CHECKSUM = itemgetter(_WIDTH)


class CheckedLog:
    """A whole log to be read once, and its checks by `almoner.store.hash_chain`.

    Parameters
    ----------
    blocks
        All events in their order, some at a time, each followed by its checksum: empty if a later
        event of its group carries it, None if the event was written without.
    start
        The root of the chain.
    read_head
        Reads the head of the log, None if it is missing. Left out where a store has no checksums.

    Attributes
    ----------
    sealed_from
        The first event that a checksum covers; None if there is none so far.
    fault
        The first contradiction between events, checksums and head; complete once all is read.
    """

    def __init__(
        self,
        blocks: Iterable[Sequence[EventRow]],
        start: str = "",
        read_head: Callable[[], Head | None] | None = None,
    ) -> None:
        self._blocks, self._before, self._read_head = blocks, start, read_head
        self._head, self._last = Head(0, None), 0
        self._at_head: str | None = None
        self._group: list[EventRow] = []  # rows whose checksum is still to come
        self.sealed_from: int | None = None
        self.fault: str | None = None

    def chunks(self) -> Iterator[list[Event]]:
        """Yield the events, some at a time; the caller refuses numbers that are not consecutive."""
        return ([Event._make(row[:_WIDTH]) for row in rows] for rows in self.rows())

    def rows(self) -> Iterator[Sequence[EventRow]]:
        """Yield the events like `chunks`, as tuples with their checksums: faster for long logs."""
        # Before the first row is read: the log must have come at least as far as its head.
        head = self._read_head() if self._read_head is not None else None
        if head is not None:
            self._head = head
            self._at_head = self._before if head.checksum is not None else None
        for rows in self._blocks:
            yield rows
            checksums = [*map(_CHECKSUM, rows)]
            first, self._last = rows[0][0], rows[-1][0]
            if first <= self._head.seq <= self._last:
                self._at_head = checksums[self._head.seq - first]
            if self.fault is None:
                self._check(trimmed(rows, _WIDTH), checksums)
        if self._group:
            self._lacking(self._last)
        if self._read_head is not None:
            self._compare(head, self._read_head)

    def _check(self, rows: list[EventRow], checksums: list[Any]) -> None:
        """Check rows against the chain; the last ones may wait in a group for their checksum."""
        if self.sealed_from is None:
            sealed = (index for index, value in enumerate(checksums) if value is not None)
            first = next(sealed, len(rows))
            rows, checksums = rows[first:], checksums[first:]
            if not rows:
                return None
            self.sealed_from = rows[0][0]
        single = not self._group and {*map(type, checksums)} == {str} and all(checksums)
        if single and are_linked(self._before, rows, checksums):
            self._before = checksums[-1]
            return None
        rows, checksums = self._group + rows, [""] * len(self._group) + checksums
        before, start = self._before, 0
        for end, checksum in enumerate(checksums, 1):
            if checksum is None:
                return self._lacking(rows[end - 1][0])
            if checksum or end - start > GROUP:
                (before,) = links([before], [rows[start:end]])
                if before != checksum:
                    return self._report(self._changed(rows[start][0], rows[end - 1][0]))
                start = end
        self._before, self._group = before, rows[start:]
        return None

    def _lacking(self, seq: int) -> None:
        self._report(f"event {seq} has no checksum, but one before it has")

    def _changed(self, first: int, last: int) -> str:
        subject = f"event {last} does" if first == last else f"events {first} to {last} do"
        before = f"event {first - 1}" if first != self.sealed_from else "the name and the terms"
        return f"{subject} not follow from {before}: something in them was changed"

    def _compare(self, head: Head | None, read_head: Callable[[], Head | None]) -> None:
        """Report a log whose end differs from its recorded head."""
        if head is None:
            return self._report("the record of its last event is missing")
        if self._last < head.seq:
            return self._report(
                f"events are missing: the last one written was event {head.seq}, but the log ends "
                f"after event {self._last}"
            )
        if self._at_head != head.checksum:
            subject = f"event {head.seq} is" if head.seq else "its name and its terms are"
            self._report(f"{subject} not what was recorded when it was last written")
        if self._last > head.seq:  # written meanwhile, and recorded then
            now = read_head()
            if now is None or now.seq < self._last:
                self._report(f"event {self._last} was added, but not recorded as the last one")
        return None

    def _report(self, fault: str) -> None:
        self.fault = self.fault or fault
