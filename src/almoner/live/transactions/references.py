"""References: the keys and decisions that the commands of a transaction name, and their events."""

from __future__ import annotations

from typing import Any

from almoner import checks
from almoner.errors import Conflict, UnknownDecision
from almoner.live.transactions.decision_ids import DecisionIds
from almoner.store.base import Writer
from almoner.store.events import CANCELLED, Event

__all__ = ["References"]


class References:
    """Decisions by key, and the events of decisions, from the log and from the transaction.

    Commands add to ``wanted_keys`` and ``wanted_decisions`` (numbers in the log) what is to be
    fetched, and to ``followed_keys`` the keys of decisions that are to be fetched.
    """

    def __init__(self, ids: DecisionIds) -> None:
        self._ids = ids
        self.wanted_keys, self.followed_keys = set[str](), set[str]()
        self.wanted_decisions = set[int]()
        self._by_key: dict[str, Event | None] = {}  # None: enqueued, not decided yet
        self._histories: dict[int, list[Event]] = {}
        # Of the caller whose commands are being checked:
        self._claimed_keys: dict[str, str] = {}
        self._claimed_decisions: dict[int, list[str]] = {}

    def fetch(self, writer: Writer) -> None:
        """Fetch everything that is wanted from the log, at once."""
        if self.wanted_keys:
            self._by_key.update(writer.keyed(sorted(self.wanted_keys)))
        for key in self.followed_keys & self._by_key.keys():
            self.wanted_decisions.add(self._by_key[key].seq)  # type: ignore[union-attr]
        if self.wanted_decisions:
            self._histories.update(writer.histories(sorted(self.wanted_decisions)))

    def begin_caller(self) -> None:
        """Drop the claims of the caller before."""
        self._claimed_keys.clear()
        self._claimed_decisions.clear()

    def note_enqueued(self, key: str) -> None:
        """Note that an arrival with a key is to be decided in this transaction."""
        self._by_key[key] = None

    def note_decided(self, decided: Event) -> None:
        """Note the decision of an arrival with a key."""
        self._by_key[decided.key or ""] = decided

    def note_event(self, event: Event) -> None:
        """Note an event on a decision, if one of the commands names the decision."""
        if event.decision in self._histories:
            self._histories[event.decision] = [*self._histories[event.decision], event]

    def is_enqueued(self, key: str) -> bool:
        """Return whether an arrival with a key is enqueued, and not decided yet."""
        return key in self._by_key and self._by_key[key] is None

    def decided_with(self, key: str) -> Event | None:
        """Return the decision made with a key, if there is one."""
        return self._by_key.get(key)

    def claim_key(self, key: str, context: str) -> None:
        """Refuse a key that was used for another context, by this caller or in the log."""
        earlier = self.decided_with(key)
        used = self._claimed_keys.setdefault(key, context) if earlier is None else earlier.context
        if used != context:
            raise Conflict(
                f"key {key!r} was used for context {used!r}, got context {context!r}; "
                "use a new key for a new arrival"
            )

    def claim_decision(self, decision: int, kind: str) -> None:
        """Reject a batch that repeats an operation on a decision, or mixes cancel with another."""
        kinds = self._claimed_decisions.setdefault(decision, [])
        if kind in kinds:
            raise Conflict(f"decision {decision} is {kind} twice in one batch; send it once")
        if kinds and CANCELLED in (kind, *kinds):
            raise Conflict(f"one batch cannot have decision {decision} {kinds[0]} and {kind}")
        kinds.append(kind)

    def id_of(self, event: Event | None, key: Any) -> int:
        """Return the id of the decision made with a key; refuse a key without one."""
        if event is None:
            raise UnknownDecision(
                f"there is no decision with the key {checks.shown(key)} in this campaign; use the "
                "key that decide was given"
            )
        self._histories.setdefault(event.seq, [event])  # of another caller of the transaction
        return event.seq + self._ids.first

    def history(self, decision: Any) -> dict[str, Event]:
        """Return the events of a decision by kind, the decision itself first."""
        seq = self._ids.seq(decision)
        if seq not in self._histories:
            raise self._ids.unknown(decision)
        return {event.kind: event for event in self._histories[seq]}
