"""A log read for an audit, whose hash chain is checked on the way."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import islice
from operator import itemgetter
from typing import Any

from almoner.store.events import Event
from almoner.store.hash_chain import GROUP, Head, link

__all__ = ["CheckedLog"]

CHUNK = 1_000
"""Events that are handed on together."""


Row = tuple[Any, ...]
"""An event as a plain tuple, its number first."""

_COLUMNS = itemgetter(slice(-1))
_EVENT = partial(tuple.__new__, Event)
"""An Event of as many values as it has, in half the time of `Event._make`."""


class CheckedLog:
    """A whole log to be read once; see `almoner.store.hash_chain` for what is checked.

    Parameters
    ----------
    rows
        All events in their order, each with its checksum behind its columns: an empty one if a
        later event shares its own, None if it was written without.
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
        rows: Iterable[Any],
        start: str = "",
        read_head: Callable[[], Head | None] | None = None,
    ) -> None:
        self._rows, self._before, self._read_head = iter(rows), start, read_head
        self._head, self._last = Head(0, None), 0
        self._at_head: str | None = None
        self._group: list[Row] = []  # which a checksum is still to come for
        self.sealed_from: int | None = None
        self.fault: str | None = None

    def chunks(self) -> Iterator[list[Event]]:
        """Yield the events, some at a time; the caller refuses numbers that are not consecutive."""
        # Before the first row is read: the log must have come at least as far as its head.
        head = self._read_head() if self._read_head is not None else None
        if head is not None:
            self._head = head
            self._at_head = self._before if head.checksum is not None else None
        while rows := [*islice(self._rows, CHUNK)]:
            events = [*map(_COLUMNS, rows)]
            yield [*map(_EVENT, events)]
            checksums = [row[-1] for row in rows]
            (first, *_), (self._last, *_) = events[0], events[-1]
            if first <= self._head.seq <= self._last:
                self._at_head = checksums[self._head.seq - first]
            self._check(events, checksums)
        if self._group:
            self._report(f"event {self._last} has no checksum, but one before it has")
        if self._read_head is not None:
            self._compare(head, self._read_head)

    def _check(self, events: Sequence[Row], checksums: Sequence[str | None]) -> None:
        """Check that events follow from those before; the last may wait for their checksum."""
        group, before = self._group, self._before
        for event, checksum in zip(events, checksums, strict=True):
            if checksum is None:
                if self.sealed_from is not None:
                    self._report(f"event {event[0]} has no checksum, but one before it has")
                continue
            if self.sealed_from is None:
                self.sealed_from = event[0]
            group.append(event)
            if checksum or len(group) > GROUP:
                if link(before, group) != checksum:
                    self._report(self._changed(group[0][0], event[0]))
                before = checksum if isinstance(checksum, str) else ""
                group.clear()
        self._before = before

    def _changed(self, first: int, last: int) -> str:
        what = f"event {last} does" if first == last else f"events {first} to {last} do"
        before = f"event {first - 1}" if first != self.sealed_from else "the name and the terms"
        return f"{what} not follow from {before}: something in them was changed"

    def _compare(self, head: Head | None, read_head: Callable[[], Head | None]) -> None:
        """Report an end of the log that is not the one recorded."""
        if head is None:
            return self._report("the record of its last event is missing")
        if self._last < head.seq:
            return self._report(
                f"events are missing: the last one written was event {head.seq}, but the log ends "
                f"after event {self._last}"
            )
        if self._at_head != head.checksum:
            what = f"event {head.seq} is" if head.seq else "its name and its terms are"
            self._report(f"{what} not what was recorded when it was last written")
        if self._last > head.seq:  # written meanwhile, and recorded then
            now = read_head()
            if now is None or now.seq < self._last:
                self._report(f"event {self._last} was added, but not recorded as the last one")
        return None

    def _report(self, fault: str) -> None:
        self.fault = self.fault or fault
