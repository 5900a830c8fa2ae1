"""Protocol of a store: campaigns by name, each with its terms and its log.

A store knows nothing of budgets or policies. It promises four things: events that a `Writer`
appends are all there after its ``with`` block, or none of them; one writer at a time writes a
campaign; a `Reader` sees one committed state and waits for no writer; and committed events survive
a crash (of the process, for the store in memory). `almoner.testing.check_store` checks them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from typing import NamedTuple, Protocol

from almoner.store.checked_log import CheckedLog
from almoner.store.events import Event

__all__ = ["ALL", "ApiKey", "Reader", "Store", "Writer"]

ALL = 2**62
"""A limit that no log reaches."""


class ApiKey(NamedTuple):
    """A key to the service, of which only a digest is kept; times in microseconds since 1970."""

    name: str
    digest: str
    permits: str
    created: int
    revoked: int | None = None


class Reader(Protocol):
    """A campaign's log and snapshot as they were committed at one moment."""

    def events(self, after: int, limit: int = ALL) -> list[Event]:
        """Return the events after one of them, in their order; no more than ``limit``."""

    def snapshot(self) -> str | None:
        """Return the snapshot kept last, if any."""


class Writer(Reader, Protocol):
    """The exclusive right to write a campaign's log, for one transaction."""

    def histories(self, decisions: Sequence[int]) -> dict[int, list[Event]]:
        """Return all events of each of these decisions that exists, the decision itself first."""

    def keyed(self, keys: Sequence[str]) -> dict[str, Event]:
        """Return the decisions that were made with these keys."""

    def append(self, events: Sequence[Event]) -> None:
        """Add events; their ``seq`` goes on from that of the last one."""

    def save_snapshot(self, text: str | None) -> None:
        """Keep a snapshot instead of the one before; None keeps none."""


class Store(Protocol):
    """Where campaigns are kept."""

    def campaigns(self) -> list[str]:
        """Return the names of all campaigns, oldest first."""

    def terms(self, name: str) -> str | None:
        """Return the terms of a campaign; None if there is no such campaign."""

    def create(self, name: str, terms: str) -> str:
        """Create a campaign unless it exists; return the terms that it has now."""

    def writing(self, name: str) -> AbstractContextManager[Writer]:
        """Begin a transaction on a campaign's log: committed at the end, undone on an error."""

    def reading(self, name: str) -> AbstractContextManager[Reader]:
        """Begin a transaction that only reads: it locks nothing and waits for no writer."""

    def events(self, name: str, after: int = 0) -> Iterator[Event]:
        """Yield the events of a campaign after one of them, without holding up writers."""

    def last(self, name: str) -> int:
        """Return the ``seq`` of the last event of a campaign; 0 if there is none."""

    def outcomes(self, name: str, *, after: int, through: int, last: int) -> list[Event]:
        """Return all events about the decisions after one and up to another, by decision.

        Events after ``last`` are left out, so that all pages of a log are of one moment. Nothing is
        held open between two pages: no writer and no clean-up of a database waits for a reader.
        """

    def checked_log(self, name: str) -> CheckedLog:
        """Return all events of a campaign for an audit, with a check of their checksums if any."""

    def api_keys(self) -> list[ApiKey]:
        """Return all keys to the service, oldest first, revoked ones included."""

    def add_key(self, key: ApiKey) -> bool:
        """Keep a key; return whether its name was free."""

    def revoke_key(self, name: str, at: int) -> bool:
        """Mark a key as revoked, unless it is already; return whether there is one."""

    def close(self) -> None:
        """Let go of files and connections; committed events stay."""
