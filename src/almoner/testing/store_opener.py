"""Shared parts of the checks of a store: its opener, a log, and `require`."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from almoner.store.base import Store
from almoner.store.events import DECIDED, REWARDED, Event

__all__ = ["DECISION", "LOG", "REWARD", "SKIP", "TERMS", "Opener", "require"]

TERMS = '{"text": "Grüße 🌷"}'
DECISION = Event(
    seq=1,
    kind=DECIDED,
    at=2**50,
    left=2**52,
    decision=1,
    round=0,
    context="Grüße 🌷",
    action="a\tb\n\\N",
    cost=1,
    reserve=2,
    probability=0.1,
    price=1e-300,
    key="k ? %s",
    available="[]",
)
SKIP = Event(seq=2, kind=DECIDED, at=6, left=3, decision=2, context="new", reason="paused")
REWARD = Event(seq=3, kind=REWARDED, at=7, left=3, decision=1, reward=0.1 + 0.2)
LOG = [DECISION, SKIP, REWARD]
"""Values that are easily changed on their way to a database and back."""


class Opener:
    """Opens the store, and closes it after use unless every call returns the same open store."""

    def __init__(self, open_store: Callable[[], Store]) -> None:
        self._open, (first, second) = open_store, (open_store(), open_store())
        self._shared = first is second
        if not self._shared:
            first.close()
            second.close()

    @contextmanager
    def store(self) -> Iterator[Store]:
        """Open the store."""
        store = self._open()
        try:
            yield store
        finally:
            if not self._shared:
                store.close()

    @contextmanager
    def campaign(self) -> Iterator[tuple[Store, str]]:
        """Open the store with a new campaign in it."""
        with self.store() as store:
            name = f"check {secrets.token_hex(8)}"
            store.create(name, TERMS)
            yield store, name


def require(holds: bool, fault: str) -> None:
    """Raise an AssertionError with the fault of a store, unless ``holds``."""
    if not holds:
        raise AssertionError(fault)
