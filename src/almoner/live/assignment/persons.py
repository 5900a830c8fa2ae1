"""Persons: how many actions each may get, kept as keyed hashes outside the log.

A store keeps a random key for every campaign. A person is known by a digest under that key, and
only while actions of theirs are kept: a row for each, in a table of its own, so that forgetting a
person leaves the log and its checksums as they are. The hold-out needs no row: whether a person is
held out is a function of the key and the person. Where some are, the log has the group of a person,
one of a few which each is that of many.
"""

from __future__ import annotations

import hmac
from collections.abc import Iterable
from hashlib import sha256
from typing import Any

from almoner import checks
from almoner.errors import InvalidInput
from almoner.live.terms.names import NAME_RULE, is_name
from almoner.live.terms.terms import Terms
from almoner.store.base import Persons

__all__ = ["Visitor", "Visitors", "person_name"]

GROUPS = 64
"""Groups of persons in the log: few enough to tell nobody apart, and enough for a variance."""

DIGITS = 32
"""Hexadecimal digits of a digest: 128 bits, so that two persons never share one."""


def person_name(person: Any) -> str:
    """Return the name of a person; refuse a value that cannot be one, without repeating it."""
    person = checks.plain(person)
    if is_name(person):
        return person  # type: ignore[no-any-return]
    got = f"a text of {len(person)}" if isinstance(person, str) else f"a {type(person).__name__}"
    raise InvalidInput(f"person must be a text of {NAME_RULE}, got {got}")


class Visitor:
    """A person during one transaction.

    Attributes
    ----------
    digest
        The name under which the store knows the person.
    draw
        A number in [0, 1), always the same for the person: below the share of the hold-out, the
        person is held out.
    group
        One of the groups of persons that the log tells apart where some are held out, always the
        same for the person: see `almoner.live.estimates.clusters`.
    actions
        The times of the actions that count, by decision.
    """

    __slots__ = ("actions", "digest", "draw", "group", "limit")

    def __init__(self, digest: str, draw: float, group: int, limit: int | None) -> None:
        self.digest, self.draw, self.group, self.limit = digest, draw, group, limit
        self.actions: dict[int, int] = {}

    @property
    def has_enough(self) -> bool:
        """Whether the person gets no further action now."""
        return self.limit is not None and len(self.actions) >= self.limit


class Visitors:
    """The persons of one transaction, and the rows to add for them at its end."""

    def __init__(self, persons: Persons, terms: Terms, now: int) -> None:
        self._persons, self._now = persons, now
        self._limit = None if terms.per_person is None else terms.per_person[0]
        self._since = now - (0 if terms.per_person is None else terms.per_person[1])
        self._by_name: dict[str, Visitor] = {}
        self._by_decision: dict[int, Visitor] = {}

    def look_up(self, names: Iterable[str]) -> None:
        """Fetch the actions of persons that still count, all at once."""
        key = bytes.fromhex(self._persons.key())
        for name in names:
            text = name.encode()
            digest = hmac.digest(key, b"person\0" + text, sha256).hex()[:DIGITS]
            drawn = hmac.digest(key, b"holdout\0" + text, sha256)
            draw = (int.from_bytes(drawn[:8], "big") >> 11) * 2.0**-53
            self._by_name[name] = Visitor(digest, draw, drawn[8] % GROUPS, self._limit)
        if self._limit is None or not self._by_name:
            return
        visitors = {visitor.digest: visitor for visitor in self._by_name.values()}
        for digest, decision, at in self._persons.actions(sorted(visitors)):
            if at > self._since:
                visitors[digest].actions[decision] = at

    def named(self, name: str) -> Visitor:
        """Return a person who was looked up."""
        return self._by_name[name]

    def acted(self, visitor: Visitor, decision: int) -> None:
        """Record that a person gets an action."""
        if self._limit is not None:
            visitor.actions[decision] = self._now
            self._by_decision[decision] = visitor

    def cancelled(self, decision: int) -> None:
        """Remove an action that was cancelled: it does not count."""
        self._by_decision.pop(decision, None)
        for visitor in self._by_name.values():
            visitor.actions.pop(decision, None)
        if self._limit is not None:
            self._persons.remove([decision])

    def forget(self, name: str) -> int:
        """Remove the rows of a person, also of this transaction; return their number."""
        self.save()
        visitor = self.named(name)
        visitor.actions.clear()
        return self._persons.forget(visitor.digest)

    def save(self) -> None:
        """Write the rows of the actions that persons got."""
        rows = [(who.digest, decision, self._now) for decision, who in self._by_decision.items()]
        if rows:
            self._persons.add(rows)
        self._by_decision.clear()
