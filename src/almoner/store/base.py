"""Protocol of a store: campaigns by name, each with its terms and its log.

A store knows nothing of budgets or policies. It promises four things: events that a `Writer`
appends are all there after its ``with`` block, or none of them; one writer at a time writes a
campaign; a `Reader` sees one committed state and waits for no writer; and committed events survive
a crash (the store in memory ends with its process). `almoner.testing.check_store` checks all of
them but crashes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from typing import NamedTuple, Protocol

from almoner.errors import StoreError
from almoner.store.checked_log import CheckedLog
from almoner.store.events import Event

__all__ = [
    "ALL",
    "IDS",
    "ApiKey",
    "MissingStore",
    "PersonRow",
    "Persons",
    "Reader",
    "Store",
    "Writer",
]

ALL = 2**62
"""A limit of events that no log reaches."""


IDS = 1_000_000_000
"""Ids of decisions that each campaign of a store has for itself: more than a log has events."""


class ApiKey(NamedTuple):
    """A key of the HTTP service, stored as a digest; times in microseconds since 1970."""

    name: str
    digest: str
    permits: str
    created: int
    revoked: int | None = None


class MissingStore(StoreError):
    """There is no store at the place that a URL names."""


class Reader(Protocol):
    """A campaign's log and snapshot as they were committed at one moment."""

    def events(self, after: int, limit: int = ALL) -> list[Event]:
        """Return up to ``limit`` events after one of them, in their order."""

    def snapshot(self) -> str | None:
        """Return the last snapshot, if any."""


PersonRow = tuple[str, int, int]
"""The digest of a person, a decision in which they got an action, and its time."""


class Persons(Protocol):
    """The actions that persons got in a campaign, by digest; no part of its log."""

    def key(self) -> str:
        """Return the campaign's random key for digests, in hexadecimal digits; never changed."""

    def actions(self, persons: Sequence[str]) -> list[PersonRow]:
        """Return the rows of these persons."""

    def add(self, rows: Sequence[PersonRow]) -> None:
        """Add rows, at most one for a decision."""

    def remove(self, decisions: Sequence[int]) -> None:
        """Remove the rows of these decisions, where they have any."""

    def forget(self, person: str) -> int:
        """Remove all rows of a person; return their number."""


class Writer(Reader, Protocol):
    """The exclusive right to write a campaign's log, for one transaction."""

    @property
    def persons(self) -> Persons:
        """The actions of persons, written in the same transaction."""

    def histories(self, decisions: Sequence[int]) -> dict[int, list[Event]]:
        """Return all events of each existing decision, the decision itself first."""

    def keyed(self, keys: Sequence[str]) -> dict[str, Event]:
        """Return the decisions made with these keys."""

    def append(self, events: Sequence[Event]) -> None:
        """Append events, numbered on from the last one."""

    def save_snapshot(self, text: str | None) -> None:
        """Replace the snapshot; None removes it."""


class Store(Protocol):
    """Campaigns with their terms and logs, and the keys of the HTTP service."""

    def campaigns(self) -> list[str]:
        """Return the names of all campaigns, oldest first."""

    def terms(self, name: str) -> str | None:
        """Return the terms of a campaign; None if there is no such campaign."""

    def create(self, name: str, terms: str) -> str:
        """Create a campaign unless it exists; return its terms."""

    def first_id(self, name: str) -> int:
        """Return the number to which a campaign adds ``seq`` for the id of a decision.

        It is a multiple of `IDS` of its own for every campaign but the first, and 0 for that one
        and for campaigns that an older version created.
        """

    def campaign_with(self, first_id: int) -> str | None:
        """Return the campaign whose ids begin after ``first_id``; None unless there is just one."""

    def writing(self, name: str) -> AbstractContextManager[Writer]:
        """Begin a transaction on a campaign's log: committed at the end, undone on an error."""

    def reading(self, name: str) -> AbstractContextManager[Reader]:
        """Begin a transaction that only reads: it locks nothing and waits for no writer."""

    def events(self, name: str, after: int = 0) -> Iterator[Event]:
        """Yield the events of a campaign after one of them; no writer waits meanwhile."""

    def last(self, name: str) -> int:
        """Return the ``seq`` of the last event of a campaign; 0 if there is none."""

    def outcomes(self, name: str, *, after: int, through: int, last: int) -> list[Event]:
        """Return all events about the decisions after one and up to another, by decision.

        Events after ``last`` are left out, so that all pages are of one state of the log. No
        transaction is open between two pages, so that no writer and no vacuum waits for a reader.
        """

    def switches(self, name: str, *, last: int) -> list[Event]:
        """Return the events up to ``last`` that are about the campaign, not about a decision."""

    def unsettled(self, name: str, *, until: int, after: int, limit: int) -> list[Event]:
        """Return decisions with money reserved that were made until a time, oldest first.

        Those after the number ``after`` in the log, at most ``limit``.
        """

    def checked_log(self, name: str) -> CheckedLog:
        """Return all events of a campaign for an audit that checks their checksums, if any."""

    def persons(self, name: str) -> list[PersonRow]:
        """Return the rows of all persons of a campaign, by person and decision."""

    def api_keys(self) -> list[ApiKey]:
        """Return all keys of the service, oldest first, revoked ones included."""

    def add_key(self, key: ApiKey) -> bool:
        """Add a key; return whether its name was free."""

    def revoke_key(self, name: str, at: int) -> bool:
        """Mark a key as revoked, unless it is already; return whether there is one."""

    def close(self) -> None:
        """Close files and connections."""
