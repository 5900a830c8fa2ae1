"""Rows of a log as an audit reads them: their columns, and those that each kind leaves empty."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from operator import itemgetter
from typing import Any

from almoner.store.events import (
    AMENDED,
    CANCELLED,
    CLOSED,
    DECIDED,
    EXPIRED,
    PAUSED,
    RESUMED,
    REWARDED,
    SETTLED,
    Event,
    EventRow,
)

__all__ = [
    "OFFER",
    "REPEATED",
    "Fault",
    "UnusedColumns",
    "event_of",
    "first_misnumbered",
]

TIMES = range(-62_135_596_800_000_000, 253_402_300_800_000_000)
"""Microseconds since 1970 in the years 1 to 9999, as dates can be."""

REPEATED = ("round", "context", "action", "cost", "reserve")
"""Columns that a row repeats of the decision it refers to."""

OFFER = slice(Event._fields.index("context"), Event._fields.index("reserve") + 1)
"""The columns of an offer: context, action, cost and reserve of a decision."""

_USED = {
    DECIDED: ("decision", *REPEATED, "probability", "price", "reason", "key", "available"),
    SETTLED: ("decision", *REPEATED, "reason", "bill", "charged", "detail"),
    EXPIRED: ("decision", *REPEATED, "bill", "charged"),
    REWARDED: ("decision", *REPEATED, "reason", "reward"),
    CANCELLED: ("decision", *REPEATED),
    PAUSED: (),
    RESUMED: (),
    CLOSED: (),
    AMENDED: ("detail",),
}
"""Columns that a row of each kind uses beside those of every row."""

_ASSIGNED = {DECIDED: ("detail",), REWARDED: ("probability", "reason", "detail")}
"""Columns that rows use beside these in a campaign with a hold-out, exploration or persons."""

_REPEATS_ROW = (REWARDED, SETTLED)
"""Kinds of rows that repeat the scores or features of their decision, to be learned from."""

_WIDTH, _AT = len(Event._fields), Event._fields.index("at")


class Fault(Exception):
    """Inconsistency of a row; the message goes on after the number and the kind of the event."""


def event_of(row: EventRow) -> Event:
    """Return the event of a row, which has a checksum after the columns of the event."""
    return Event._make(row[:_WIDTH])


def first_misnumbered(rows: Iterable[EventRow], first: int) -> tuple[int, Fault] | None:
    """Return the index of the first row with another number than is due, or with no valid time.

    And what is wrong with it. ``first`` is the number due of the first row.
    """
    due, start, stop = first, TIMES.start, TIMES.stop
    for row in rows:
        at = row[_AT]
        if row[0] != due:
            return due - first, Fault(f"follows event {due - 1}")
        if type(at) is not int or not start <= at < stop:
            return due - first, Fault(f"has no valid time: {at!r}")
        due += 1
    return None


class UnusedColumns:
    """Columns that rows of one kind leave empty."""

    def __init__(self, kind: str, *, assigned: bool, on_rows: bool = False) -> None:
        used = ("seq", "kind", "at", "left", *_USED[kind])
        if assigned:
            used += _ASSIGNED.get(kind, ())
        if on_rows and kind in _REPEATS_ROW:
            used += ("detail",)
        self.kind = kind
        self._names = [name for name in Event._fields if name not in used]
        self._values = _getter([*map(Event._fields.index, self._names)])
        self._empty = (None,) * len(self._names)

    def check(self, row: EventRow) -> None:
        """Refuse a row with a value in one of these columns."""
        values = self._values(row)
        if values == self._empty:
            return
        for name, value in zip(self._names, values, strict=True):
            if value is not None:
                raise Fault(f"must have no {name}, has {value!r}")


def _getter(columns: list[int]) -> Callable[[EventRow], Any]:
    """Return a function that gets columns of a row: by a slice if it can, in half the time."""
    first, last = columns[0], columns[-1]
    if columns == [*range(first, last + 1)]:
        return itemgetter(slice(first, last + 1))
    return itemgetter(*columns)
