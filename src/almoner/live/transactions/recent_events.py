"""Recent events of a campaign in memory, handed from its transactions to its reporter.

Reading an event from a store and making it again takes longer than folding it. While reports are
requested, the transactions of the same process keep the events they commit, and the reporter reads
only the missing ones from the store: events of other processes, and those before a gap.
"""

from __future__ import annotations

from collections.abc import Sequence

from almoner.store.events import Event, EventRow

__all__ = ["RecentEvents", "rows_after"]

LIMIT = 24 * 2**20
"""Bytes to keep, roughly: the fastest campaigns write as many events in a second or two."""

ROW = 400
"""Bytes of an event, roughly, without its list of available actions, which may be long."""


class _Buffer:
    """Consecutive events and their size; plain tuples, which the garbage collector can ignore."""

    __slots__ = ("rows", "size")

    def __init__(self) -> None:
        self.rows: list[EventRow] = []
        self.size = 0

    def add(self, events: Sequence[Event]) -> None:
        self.rows += [event[:] for event in events]
        self.size += ROW * len(events)
        self.size += sum([len(event.available) for event in events if event.available])


class RecentEvents:
    """A bounded buffer of consecutive committed events; one thread adds to it, another takes them.

    It keeps nothing until events are first taken, and nothing more once it is full, as no report
    was requested for a long time. Events may be missing, as after an interrupt, but the events in
    the buffer are always consecutive.

    Attributes
    ----------
    buffer
        The events kept; None if none are to be.
    """

    def __init__(self) -> None:
        self.buffer: _Buffer | None = None

    def extend(self, events: Sequence[Event]) -> None:
        """Add committed events, of which the first one is known already or begins the log."""
        buffer = self.buffer
        if buffer is None or not events:
            return
        if buffer.rows and buffer.rows[-1] == events[0]:
            buffer.add(events[1:])
        else:
            self.buffer = buffer = _Buffer()
            buffer.add(events)
        if buffer.size > LIMIT:
            self.buffer = None

    def take(self) -> list[EventRow]:
        """Return the events kept, and keep those that follow."""
        buffer, self.buffer = self.buffer, _Buffer()
        return [] if buffer is None else buffer.rows[:]  # another thread may be adding to it


def rows_after(tip: EventRow | None, rows: Sequence[EventRow]) -> Sequence[EventRow]:
    """Return the consecutive rows after the event that was folded last, if it is among them.

    Without such an event they must begin the log.
    """
    first = rows[0][0] if rows else 0
    if tip is None:
        return rows if first == 1 else ()
    index = tip[0] - first
    if 0 <= index < len(rows) and rows[index] == tip:
        return rows[index + 1 :]
    return ()
