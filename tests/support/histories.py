"""Concurrent histories: operations with the times of their call and return, checked for order.

A history is linearizable if every operation can be placed at one moment between its call and its
return, such that the answers are those of the operations done one after another. The log says what
that order is, so checking takes no search: each operation is held to the part of the log that it
can have seen.
"""

from __future__ import annotations

import json
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from decimal import ROUND_CEILING, Decimal
from typing import Any, NamedTuple

from almoner.store.events import CANCELLED, DECIDED, PAUSED, RESUMED, REWARDED, SETTLED, Event
from support.money_model import Model

STATUS = {PAUSED: "paused", RESUMED: "running"}
FOLLOW_UPS = {"settle": SETTLED, "reward": REWARDED, "cancel": CANCELLED}
REFUSALS = {"Conflict", "UnknownDecision"}
SWITCHES = {"pause": PAUSED, "resume": RESUMED}


class Books(NamedTuple):
    """What a reader sees: how many events there are, the status, and the money in cents."""

    seq: int
    status: str
    spent: int
    reserved: int
    left: int


@dataclass(eq=False)
class Operation:
    """One call: what was asked, when it was called and returned, and the answer or the error."""

    verb: str
    asked: dict[str, Any]
    called: int
    returned: int
    answer: Any = None
    error: str | None = None
    after: int = field(default=0, init=False)
    """The last event that it must have seen: operations returned with it before the call."""
    before: int = field(default=0, init=False)
    """The last event that it can have seen: the next was appended by one called after it."""

    def arrivals(self) -> list[tuple[str, str | None]]:
        """Return the contexts and keys that it asked decisions for."""
        if self.verb == "decide":
            return [(self.asked["context"], self.asked["key"])]
        if self.verb == "decide_many":
            return [*zip(self.asked["contexts"], self.asked["keys"], strict=True)]
        return []

    def decisions(self) -> list[Any]:
        """Return the decisions that it was answered."""
        if self.error is not None or self.verb not in {"decide", "decide_many"}:
            return []
        return [self.answer] if self.verb == "decide" else list(self.answer)


def cents(amount: Any) -> int:
    """Return a bill in cents, rounded up."""
    return int((Decimal(amount) * 100).to_integral_value(ROUND_CEILING))


def check(history: Iterable[Operation], log: Sequence[Event], *, budget: int, horizon: int) -> None:
    """Raise AssertionError unless the history is linearizable in the order of the log."""
    _Check(list(history), log).run(Model(budget=budget, horizon=horizon))


class _Check:
    def __init__(self, history: list[Operation], log: Sequence[Event]) -> None:
        self.history, self.log = history, log
        self.of_decision = {(event.kind, event.decision): event for event in log if event.decision}
        self.of_key = {event.key: event for event in log if event.key}
        self.claims: dict[int, list[Operation]] = defaultdict(list)
        """By event, the operations that were answered with it: one of them appended it."""

    def run(self, model: Model) -> None:
        self.events_are_unique()
        for operation in self.history:
            for event in self.events_of(operation):
                self.claims[event.seq].append(operation)
        self.bound()
        books = self.replay(model)
        for operation in self.history:
            self.was_in_order(operation)
            if operation.error is not None:
                assert self.refused_rightly(operation), f"no reason to refuse {operation}"
            elif operation.verb == "read":
                assert operation.after <= operation.answer.seq <= operation.before, operation
                assert operation.answer == books[operation.answer.seq], operation
            elif operation.verb in SWITCHES:
                seen = books[operation.after : operation.before + 1]
                assert STATUS[SWITCHES[operation.verb]] in {book.status for book in seen}, operation

    def events_are_unique(self) -> None:
        assert [event.seq for event in self.log] == list(range(1, len(self.log) + 1))
        about = [event for event in self.log if event.decision]
        assert len(self.of_decision) == len(about), "an event happened twice"
        keyed = [event for event in self.log if event.key]
        assert len(self.of_key) == len(keyed), "a key was decided for twice"

    def events_of(self, operation: Operation) -> list[Event]:
        """Return the events that an answer speaks of; all of them are in the log."""
        found = []
        pairs = zip(operation.decisions(), operation.arrivals(), strict=bool(operation.decisions()))
        for decision, (context, key) in pairs:
            event = self.of_decision.get((DECIDED, decision.id))
            assert event is not None, f"{decision} is lost"
            assert (event.context, event.key) == (context, key), f"{decision} is another's"
            assert (decision.context, decision.action) == (event.context, event.action)
            found.append(event)
        if operation.verb in FOLLOW_UPS and operation.error is None:
            event = self.of_decision.get((FOLLOW_UPS[operation.verb], operation.asked["id"]))
            assert event is not None, f"{operation} is lost"
            found.append(event)
        return found

    def bound(self) -> None:
        """Find the part of the log that each operation can have seen."""
        returned = sorted(self.history, key=lambda operation: operation.returned)
        times, latest = [operation.returned for operation in returned], [0]
        for operation in returned:
            latest.append(max(latest[-1], self.seen(operation)))
        for operation in self.history:
            operation.after = latest[bisect_left(times, operation.called)]
        first_by: dict[int, int] = {}  # by position among the calls: the first event appended later
        called = sorted(self.history, key=lambda operation: operation.called)
        appended = self.certainly_appended()
        first = len(self.log) + 1
        for place in range(len(called), -1, -1):
            if place < len(called):
                first = min(first, appended.get(id(called[place]), first))
            first_by[place] = first
        times = [operation.called for operation in called]
        for operation in self.history:
            operation.before = first_by[bisect_left(times, operation.returned)] - 1

    def seen(self, operation: Operation) -> int:
        """Return the last event that an operation has certainly seen when it returned."""
        if operation.verb == "read" and operation.error is None:
            return int(operation.answer.seq)
        return max((event.seq for event in self.events_of(operation)), default=0)

    def certainly_appended(self) -> dict[int, int]:
        """Return the first event that an operation alone can have appended, by its identity."""
        appended: dict[int, int] = {}
        for seq, operations in self.claims.items():
            possible = [operation for operation in operations if operation.after < seq]
            if len(possible) == 1:
                appended[id(possible[0])] = min(seq, appended.get(id(possible[0]), seq))
        return appended

    def was_in_order(self, operation: Operation) -> None:
        """Hold an answer to the part of the log that the operation can have seen."""
        for event in self.events_of(operation):
            assert event.seq <= operation.before, f"{operation} was overtaken by a later call"

    def replay(self, model: Model) -> list[Books]:
        """Enter all answers into the model in the order of the log; return it after each event."""
        books = [_books(0, model)]
        for event in self.log:
            claims = self.claims.get(event.seq, [])
            if event.kind in STATUS:
                verb = "pause" if event.kind == PAUSED else "resume"
                claims = [one for one in self.history if one.verb == verb and one.error is None]
                assert model.status != STATUS[event.kind], "a switch that changes nothing"
                model.status = STATUS[event.kind]
            author = [one for one in claims if one.after < event.seq <= one.before]
            assert author, f"nobody asked for {event}"
            if event.kind == DECIDED:
                self.decided(model, event, claims)
            elif event.kind in FOLLOW_UPS.values():
                _follow_up(model, event, claims)
            books.append(_books(event.seq, model))
        return books

    def decided(self, model: Model, event: Event, claims: list[Operation]) -> None:
        assert event.key is not None or len(claims) == 1, f"{event} was answered twice"
        available = None if event.available is None else json.loads(event.available)
        assert any(one.asked["available"] == available for one in claims), event
        answers = [one for claim in claims for one in claim.decisions() if one.id == event.seq]
        for answer in answers:  # the first is new to the model; the others have the same key
            model.decided(answer, available, event.key)

    def refused_rightly(self, operation: Operation) -> bool:
        """Return whether the log has a reason for a refusal that the operation can have seen."""
        if operation.error not in REFUSALS:
            return False
        if operation.arrivals():
            meant = {
                event.key: event.context
                for event in self.of_key.values()
                if event.seq <= operation.before
            }
            return operation.error == "Conflict" and any(
                key is not None and meant.setdefault(key, context) != context
                for context, key in operation.arrivals()
            )
        number = operation.asked["id"]
        decided = self.of_decision.get((DECIDED, number))
        if operation.error == "UnknownDecision":
            return decided is None or decided.seq > operation.after
        if decided is None or decided.seq > operation.before:
            return False
        history = {
            kind: event
            for kind in (SETTLED, REWARDED, CANCELLED)
            if (event := self.of_decision.get((kind, number))) and event.seq <= operation.before
        }
        if operation.verb == "cancel":
            return decided.action is None or SETTLED in history or REWARDED in history
        if operation.verb == "reward":
            other = REWARDED in history and history[REWARDED].reward != operation.asked["value"]
            return other or CANCELLED in history
        other = SETTLED in history and history[SETTLED].bill != cents(operation.asked["cost"])
        return decided.action is None or other or CANCELLED in history


def _follow_up(model: Model, event: Event, claims: list[Operation]) -> None:
    entry = model.entries[event.decision or 0]
    for claim in claims:
        if event.kind == SETTLED:
            bill = cents(claim.asked["cost"])
            assert entry.may_be_settled(bill), claim
            model.settled(entry, bill, claim.answer)
        elif event.kind == REWARDED:
            assert entry.may_be_rewarded(claim.asked["value"]), claim
            entry.reward = claim.asked["value"]
        else:
            assert entry.may_be_cancelled(), claim
            model.cancelled(entry, claim.answer)


def _books(seq: int, model: Model) -> Books:
    return Books(seq, model.status, model.spent, model.reserved, model.left)
