"""Hash chain of a log: every event is stored with a checksum of itself and the checksum before it.

The chain starts from a digest of the campaign's name and terms. Its head, the number and the
checksum of the last event, is kept in a table of its own and written in the same transaction. So an
event that was changed, removed, added or moved without the chain is found, the last one included.
The checksums hold no secret: whoever can write the store can compute all of them and the head anew,
and an older copy of a whole store is a valid store.

An event is encoded by ``marshal`` in its version 2, which writes a value in one way only: numbers
in binary, texts in UTF-8, nothing by reference. Empty columns at the end are left out, so that a
column which is added later, at the end of `Event`, leaves the checksums of old rows as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from hashlib import blake2b
from itertools import compress, islice
from marshal import dumps
from operator import ne
from typing import Any, NamedTuple

from almoner.events import Event

__all__ = ["CheckedLog", "Head", "link", "root"]

BYTES = 16
"""Length of a checksum."""

FORMAT = 2
"""The version of marshal's format: from 3 on, equal values can be written in different ways."""

CHUNK = 1_000
"""Events that `CheckedLog` hands on together."""

_NEGATIVE_ZERO, _ZERO = dumps(-0.0, FORMAT), dumps(0.0, FORMAT)


class Head(NamedTuple):
    """The end of a log: how many events it has, and the checksum of the last if it has one."""

    seq: int
    checksum: bytes | None


def root(name: str, terms: str) -> bytes:
    """Return the checksum from which the chain of a campaign starts."""
    return blake2b(dumps((name, terms), FORMAT), digest_size=BYTES).digest()


def link(before: bytes, event: Sequence[Any]) -> bytes:
    """Return the checksum of an event that follows one with the checksum ``before``."""
    width = len(event)
    while event[width - 1] is None:
        width -= 1
    # SQLite stores -0.0 as 0.0.
    encoded = dumps(event[:width], FORMAT).replace(_NEGATIVE_ZERO, _ZERO)
    return blake2b(before + encoded, digest_size=BYTES).digest()


class CheckedLog:
    """A whole log to be read once, whose checksums are checked on the way.

    Parameters
    ----------
    rows
        All events in their order, each with its checksum, or None, behind its columns.
    start
        The `root` of the chain.
    read_head
        Reads the head of the log, None if it is missing. Left out where a store has no checksums.

    Attributes
    ----------
    sealed_from
        The first event that has a checksum; None if there is none so far.
    fault
        The first contradiction between events, checksums and head; complete once all is read.
    """

    def __init__(
        self,
        rows: Iterable[Any],
        start: bytes = b"",
        read_head: Callable[[], Head | None] | None = None,
    ) -> None:
        self._rows, self._before, self._read_head = iter(rows), start, read_head
        self._start, self._head, self._last = start, Head(0, None), 0
        self._at_head: bytes | None = None
        self.sealed_from: int | None = None
        self.fault: str | None = None

    def chunks(self) -> Iterator[list[Event]]:
        """Yield the events, some at a time."""
        # Before the first row is read: the log must have come at least as far as its head.
        head = self._read_head() if self._read_head is not None else None
        if head is not None:
            self._head = head
            self._at_head = self._start if head == (0, self._start) else None
        while rows := [*islice(self._rows, CHUNK)]:
            yield self._checked(rows)
        if self._read_head is not None:
            self._compare(head, self._read_head)

    def _checked(self, rows: list[Any]) -> list[Event]:
        """Return the events of some rows; report what is wrong with their checksums."""
        events = [Event._make(row[:-1]) for row in rows]
        checksums = [row[-1] for row in rows]
        self._last = events[-1].seq
        if events[0].seq <= self._head.seq <= self._last:
            at_head = [row[-1] for row in rows if row[0] == self._head.seq]
            self._at_head = at_head[0] if at_head else None
        if None in checksums:
            self._check_some(events, checksums)
        else:
            self._check_all(events, checksums)
        return events

    def _check_all(self, events: Sequence[Event], checksums: Sequence[bytes]) -> None:
        """Check events that all have checksums, which is to be quick."""
        self.sealed_from = self.sealed_from or events[0].seq
        befores = [self._before, *checksums]
        self._before = befores.pop()
        found = [*map(link, befores, events)]
        if found != checksums:
            wrong = next(compress(events, map(ne, found, checksums)))
            self._report(self._changed(wrong))

    def _check_some(self, events: Sequence[Event], checksums: Sequence[bytes | None]) -> None:
        """Check events of which some were written without a checksum."""
        for event, checksum in zip(events, checksums, strict=True):
            if checksum is not None:
                self._check_all([event], [checksum])
            elif self.sealed_from is not None:
                what = f"event {event.seq} ({event.kind})"
                self._report(f"{what} has no checksum, but one before it has")

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

    def _changed(self, event: Event) -> str:
        what = f"event {event.seq} ({event.kind})"
        if event.seq == self.sealed_from:
            return f"{what} does not follow from the name and the terms: it, or they, were changed"
        return f"{what} does not follow from event {event.seq - 1}: one of them was changed"

    def _report(self, fault: str) -> None:
        self.fault = self.fault or fault
