"""Search for repeated keys of a log, by digests of eight bytes."""

from __future__ import annotations

from array import array
from collections.abc import Iterable

import numpy as np

from almoner.store.events import Event

__all__ = ["KeyDigests", "first_repetition"]


class KeyDigests:
    """Array of the digests of keys."""

    def __init__(self) -> None:
        self._digests = array("q")

    def add(self, key: str) -> None:
        """Add a key."""
        self._digests.append(hash(key))

    def repeated(self) -> set[int]:
        """Return the digests that occur more than once: of equal keys, or by chance."""
        digests = np.sort(np.frombuffer(self._digests, np.int64))
        return set(digests[1:][digests[1:] == digests[:-1]].tolist())


def first_repetition(events: Iterable[Event], digests: set[int]) -> Event | None:
    """Return the first event that repeats a key with one of these digests."""
    seen: set[str] = set()
    for event in events:
        if event.key is not None and hash(event.key) in digests:
            if event.key in seen:
                return event
            seen.add(event.key)
    return None
