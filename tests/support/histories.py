"""Concurrent histories: operations with the times of their call and return, checked for order.

A history is linearizable if every operation can be assigned one moment between its call and its
return, such that the answers equal those of sequential execution. The log gives that order, so
checking needs no search: each operation is compared with the part of the log that it can have seen.
"""

from __future__ import annotations

import json
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from decimal import ROUND_CEILING, Decimal
from typing import Any, NamedTuple

from almoner.store.base import IDS
from almoner.store.events import CANCELLED, DECIDED, PAUSED, RESUMED, REWARDED, SETTLED, Event
from support.money_model import MoneyModel

STATUS = {PAUSED: "paused", RESUMED: "running"}
FOLLOW_UPS = {"settle": SETTLED, "reward": REWARDED, "cancel": CANCELLED}
REFUSALS = {"Conflict", "UnknownDecision"}
STATUS_CHANGES = {"pause": PAUSED, "resume": RESUMED}


class Balances(NamedTuple):
    """A read of the campaign: number of events, status, and balances in cents."""

    seq: int
    status: str
    spent: int
    reserved: int
    left: int


@dataclass(eq=False)
class Operation:
    """One call: arguments, times of call and return, and the answer or the error."""

    verb: str
    arguments: dict[str, Any]
    called: int
    returned: int
    answer: Any = None
    error: str | None = None
    after: int = field(default=0, init=False)
    """Last event that it must have seen, as an operation that returned before the call had."""
    before: int = field(default=0, init=False)
    """Last event that it can have seen: the next was appended by a call made after its return."""

    def arrivals(self) -> list[tuple[str, str | None]]:
        """Return the contexts and keys of the arrivals to decide for."""
        if self.verb == "decide":
            return [(self.arguments["context"], self.arguments["key"])]
        if self.verb == "decide_many":
            return [*zip(self.arguments["contexts"], self.arguments["keys"], strict=True)]
        return []

    def decisions(self) -> list[Any]:
        """Return the decisions in the answer."""
        if self.error is not None or self.verb not in {"decide", "decide_many"}:
            return []
        return [self.answer] if self.verb == "decide" else list(self.answer)


def cents(amount: Any) -> int:
    """Return a bill in cents, rounded up."""
    return int((Decimal(amount) * 100).to_integral_value(ROUND_CEILING))


def check(history: Iterable[Operation], log: Sequence[Event], *, budget: int, horizon: int) -> None:
    """Raise AssertionError unless the history is linearizable in the order of the log."""
    numbered = [_with_numbers(operation) for operation in history]
    _Checker(numbered, log).run(MoneyModel(budget=budget, horizon=horizon))


def _with_numbers(operation: Operation) -> Operation:
    """Return an operation with the numbers of the log in place of the ids of the store."""
    if "id" in operation.arguments:
        number = operation.arguments["id"] % IDS
        operation.arguments = {**operation.arguments, "id": number}
    answers = operation.answer if isinstance(operation.answer, list) else [operation.answer]
    numbered = [
        replace(answer, id=answer.id % IDS) if hasattr(answer, "id") else answer
        for answer in answers
    ]
    operation.answer = numbered if isinstance(operation.answer, list) else numbered[0]
    return operation


class _Checker:
    def __init__(self, history: list[Operation], log: Sequence[Event]) -> None:
        self.history, self.log = history, log
        self.by_decision = {(event.kind, event.decision): event for event in log if event.decision}
        self.by_key = {event.key: event for event in log if event.key}
        self.claims: dict[int, list[Operation]] = defaultdict(list)
        """Operations whose answer reports an event, by its seq: one of them appended it."""

    def run(self, model: MoneyModel) -> None:
        self.events_are_unique()
        for operation in self.history:
            for event in self.events_of(operation):
                self.claims[event.seq].append(operation)
        self.bound()
        balances = self.replay(model)
        for operation in self.history:
            self.was_in_order(operation)
            if operation.error is not None:
                assert self.refused_rightly(operation), f"no reason to refuse {operation}"
            elif operation.verb == "read":
                assert operation.after <= operation.answer.seq <= operation.before, operation
                assert operation.answer == balances[operation.answer.seq], operation
            elif operation.verb in STATUS_CHANGES:
                seen = balances[operation.after : operation.before + 1]
                assert STATUS[STATUS_CHANGES[operation.verb]] in {book.status for book in seen}, (
                    operation
                )

    def events_are_unique(self) -> None:
        assert [event.seq for event in self.log] == list(range(1, len(self.log) + 1))
        about = [event for event in self.log if event.decision]
        assert len(self.by_decision) == len(about), "an event happened twice"
        keyed = [event for event in self.log if event.key]
        assert len(self.by_key) == len(keyed), "a key was decided for twice"

    def events_of(self, operation: Operation) -> list[Event]:
        """Return the events that an answer reports, after asserting that the log has them."""
        events = []
        pairs = zip(operation.decisions(), operation.arrivals(), strict=bool(operation.decisions()))
        for decision, (context, key) in pairs:
            event = self.by_decision.get((DECIDED, decision.id))
            assert event is not None, f"{decision} is lost"
            assert (event.context, event.key) == (context, key), (
                f"{decision} belongs to another arrival"
            )
            assert (decision.context, decision.action) == (event.context, event.action)
            events.append(event)
        if operation.verb in FOLLOW_UPS and operation.error is None:
            event = self.by_decision.get((FOLLOW_UPS[operation.verb], operation.arguments["id"]))
            assert event is not None, f"{operation} is lost"
            events.append(event)
        return events

    def bound(self) -> None:
        """Set ``after`` and ``before`` of each operation."""
        returned = sorted(self.history, key=lambda operation: operation.returned)
        times, latest = [operation.returned for operation in returned], [0]
        for operation in returned:
            latest.append(max(latest[-1], self.seen(operation)))
        for operation in self.history:
            operation.after = latest[bisect_left(times, operation.called)]
        first_by: dict[int, int] = {}  # by index among the calls: the first event appended later
        called = sorted(self.history, key=lambda operation: operation.called)
        appended = self.certainly_appended()
        first = len(self.log) + 1
        for index in range(len(called), -1, -1):
            if index < len(called):
                first = min(first, appended.get(id(called[index]), first))
            first_by[index] = first
        times = [operation.called for operation in called]
        for operation in self.history:
            operation.before = first_by[bisect_left(times, operation.returned)] - 1

    def seen(self, operation: Operation) -> int:
        """Return the last event that an operation had certainly seen when it returned."""
        if operation.verb == "read" and operation.error is None:
            return int(operation.answer.seq)
        return max((event.seq for event in self.events_of(operation)), default=0)

    def certainly_appended(self) -> dict[int, int]:
        """Return, by operation identity, the first event that only it can have appended."""
        appended: dict[int, int] = {}
        for seq, operations in self.claims.items():
            possible = [operation for operation in operations if operation.after < seq]
            if len(possible) == 1:
                appended[id(possible[0])] = min(seq, appended.get(id(possible[0]), seq))
        return appended

    def was_in_order(self, operation: Operation) -> None:
        """Assert that an answer reports no event after those the operation can have seen."""
        for event in self.events_of(operation):
            assert event.seq <= operation.before, f"{operation} was overtaken by a later call"

    def replay(self, model: MoneyModel) -> list[Balances]:
        """Apply all answers to the model in log order; return the balances after each event."""
        balances = [_balances(0, model)]
        for event in self.log:
            claims = self.claims.get(event.seq, [])
            if event.kind in STATUS:
                verb = "pause" if event.kind == PAUSED else "resume"
                claims = [call for call in self.history if call.verb == verb and call.error is None]
                assert model.status != STATUS[event.kind], "an event of status that changes nothing"
                model.status = STATUS[event.kind]
            authors = [call for call in claims if call.after < event.seq <= call.before]
            assert authors, f"no operation can have appended {event}"
            if event.kind == DECIDED:
                self.decided(model, event, claims)
            elif event.kind in FOLLOW_UPS.values():
                _follow_up(model, event, claims)
            balances.append(_balances(event.seq, model))
        return balances

    def decided(self, model: MoneyModel, event: Event, claims: list[Operation]) -> None:
        assert event.key is not None or len(claims) == 1, f"{event} was answered twice"
        available = None if event.available is None else json.loads(event.available)
        assert any(call.arguments["available"] == available for call in claims), event
        answers = [each for call in claims for each in call.decisions() if each.id == event.seq]
        for answer in answers:  # the first is new to the model, the others repeat its key
            model.decided(answer, available, event.key)

    def refused_rightly(self, operation: Operation) -> bool:
        """Return whether the operation can have seen a reason in the log for its refusal."""
        if operation.error not in REFUSALS:
            return False
        if operation.arrivals():
            context_of_key = {
                event.key: event.context
                for event in self.by_key.values()
                if event.seq <= operation.before
            }
            return operation.error == "Conflict" and any(
                key is not None and context_of_key.setdefault(key, context) != context
                for context, key in operation.arrivals()
            )
        number = operation.arguments["id"]
        decided = self.by_decision.get((DECIDED, number))
        if operation.error == "UnknownDecision":
            return decided is None or decided.seq > operation.after
        if decided is None or decided.seq > operation.before:
            return False
        history = {
            kind: event
            for kind in (SETTLED, REWARDED, CANCELLED)
            if (event := self.by_decision.get((kind, number))) and event.seq <= operation.before
        }
        if operation.verb == "cancel":
            return decided.action is None or SETTLED in history or REWARDED in history
        if operation.verb == "reward":
            other = REWARDED in history and history[REWARDED].reward != operation.arguments["value"]
            return other or CANCELLED in history
        other = SETTLED in history and history[SETTLED].bill != cents(operation.arguments["cost"])
        return decided.action is None or other or CANCELLED in history


def _follow_up(model: MoneyModel, event: Event, claims: list[Operation]) -> None:
    entry = model.entries[event.decision or 0]
    for claim in claims:
        if event.kind == SETTLED:
            bill = cents(claim.arguments["cost"])
            assert entry.may_be_settled(bill), claim
            model.settled(entry, bill, claim.answer)
        elif event.kind == REWARDED:
            assert entry.may_be_rewarded(claim.arguments["value"]), claim
            entry.reward = claim.arguments["value"]
        else:
            assert entry.may_be_cancelled(), claim
            model.cancelled(entry, claim.answer)


def _balances(seq: int, model: MoneyModel) -> Balances:
    return Balances(seq, model.status, model.spent, model.reserved, model.left)
