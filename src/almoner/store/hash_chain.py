"""Hash chain of a log: checksums of events, each of which covers the checksum before it too.

Events that are written together share a checksum, up to `GROUP` of them: the last one carries it,
and the others carry an empty one. The chain starts from a digest of the campaign's name and terms.
Its head, the number and the checksum of the last event, is kept in a table of its own and written
in the same transaction. So an audit finds an event that was changed, removed, added or moved
without the chain, the last one included. The checksums hold no secret: somebody who can write the
store can compute all of them and the head anew, and an older copy of a whole store is a valid one.

Events are encoded by ``marshal`` in its version 2, which writes a value in one way only: numbers in
binary, texts in UTF-8, nothing by reference. A column that is added later goes to the end of
`Event`, and is encoded where it is not empty, so that old rows keep their checksums.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from hashlib import sha256
from marshal import dumps
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np

from almoner.store.events import EventRow

__all__ = ["GROUP", "Head", "are_linked", "link", "links", "marked", "root", "trimmed"]

GROUP = 64
"""Largest number of events that share a checksum: one for each would take a microsecond more."""

DIGITS = 32
"""Length of a checksum: the beginning of a SHA-256, for which processors have instructions, in
hexadecimal digits, as sqlite3 takes twice as long for bytes as for text."""

FORMAT = 2
"""The version of marshal's format: from 3 on, equal values can be written in different ways."""

COLUMNS = 18
"""The columns that are encoded even if they are empty."""

_ENCODED = itemgetter(slice(COLUMNS))
_LIST_OF_ONE = dumps([None], FORMAT)[:-1].decode()  # before the text of the only row
_NEGATIVE_ZERO, _ZERO = dumps(-0.0, FORMAT), dumps(0.0, FORMAT)


class Head(NamedTuple):
    """The end of a log: the number of events, and the checksum of the last if it has one."""

    seq: int
    checksum: str | None


def root(name: str, terms: str) -> str:
    """Return the checksum from which the chain of a campaign starts."""
    return sha256(dumps((name, terms), FORMAT)).hexdigest()[:DIGITS]


def link(before: str, events: Sequence[Sequence[Any]]) -> str:
    """Return the checksum of events that follow one with the checksum ``before``."""
    return links([before], [[*map(_columns, events)]])[0]


def links(befores: Iterable[str], groups: Iterable[list[EventRow]]) -> list[str]:
    """Return the checksums of groups of `trimmed` rows, each by the checksum before it."""
    # SQLite stores -0.0 as 0.0.
    texts = [dumps(group, FORMAT).replace(_NEGATIVE_ZERO, _ZERO) for group in groups]
    return [
        sha256(before.encode() + text).hexdigest()[:DIGITS]
        for before, text in zip(befores, texts, strict=True)
    ]


def are_linked(before: str, rows: Sequence[EventRow], checksums: Sequence[str]) -> bool:
    """Return whether `trimmed` rows have these checksums, each of its own, without a doubt.

    All are computed at once from those stored: faster than each after the one before it. False may
    also mean that a row has a -0.0, which is rare, and takes long to look for.
    """
    befores = _LIST_OF_ONE.join((before, *checksums[:-1], ""))
    if {*map(len, (before, *checksums))} != {DIGITS} or not befores.isascii():
        return False
    # All at once and cut again, as an array of bytes: faster than each.
    starts = np.frombuffer(befores.encode(), f"V{DIGITS + len(_LIST_OF_ONE)}").tolist()
    texts = [dumps(row, FORMAT) for row in rows]
    digests = [sha256(start + text).digest() for start, text in zip(starts, texts, strict=True)]
    table = np.frombuffer(b"".join(digests), np.uint8).reshape(len(rows), -1)
    return table[:, : DIGITS // 2].tobytes().hex() == "".join(checksums)


def trimmed(rows: Sequence[EventRow], width: int) -> list[EventRow]:
    """Return the first ``width`` columns of rows, without empty ones beyond `COLUMNS`."""
    for column in range(COLUMNS, width):
        if {*map(itemgetter(column), rows)} != {None}:
            return [_columns(row[:width]) for row in rows]
    return [*map(_ENCODED, rows)]


def marked(before: str, events: Sequence[Sequence[Any]]) -> list[str]:
    """Return the checksum column of events: empty for all but the last of each group."""
    marks: list[str] = []
    for start in range(0, len(events), GROUP):
        group = events[start : start + GROUP]
        before = link(before, group)
        marks += [""] * (len(group) - 1)
        marks.append(before)
    return marks


def _columns(event: Sequence[Any]) -> EventRow:
    width = len(event)
    while width > COLUMNS and event[width - 1] is None:
        width -= 1
    return tuple(event[:width])  # marshal refuses an Event, which is a subclass of tuple
