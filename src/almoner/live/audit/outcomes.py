"""Audit of outcomes: rewards of decisions, and events that end their reserves."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NoReturn

from almoner.live.audit.assignment import AssignmentAuditor
from almoner.live.audit.decision_record import OUTCOMES, DecisionRecord
from almoner.live.audit.money import MoneyAuditor
from almoner.live.audit.own_costs import own_costs
from almoner.live.audit.rows import OFFER, REPEATED, Fault, UnusedColumns, event_of
from almoner.live.terms.terms import Terms
from almoner.store.events import CANCELLED, EXPIRED, REWARDED, SETTLED, Event, EventRow

__all__ = ["OutcomeAuditor"]

_SILENCE = "window"
"""The reason of a reward that the campaign recorded itself, as none had come."""

_OF_DECISIONS = slice(Event._fields.index("probability"), Event._fields.index("charged") + 1)
"""The columns of decisions and bills: empty in most rewards."""
_EMPTY = (None,) * 7

_SETTLED, _CANCELLED, _EXPIRED = OUTCOMES[SETTLED], OUTCOMES[CANCELLED], OUTCOMES[EXPIRED]


class OutcomeAuditor:
    """Checks rewards, bills, cancellations and expiries against the decisions they refer to."""

    def __init__(
        self,
        terms: Terms,
        record: DecisionRecord,
        money: MoneyAuditor,
        assignment: AssignmentAuditor,
    ) -> None:
        self._record, self._money, self._assignment = record, money, assignment
        self._window, self._spreads = terms.reward_window, terms.spreads  # never amended
        self._has_rules = assignment.is_needed or self._window is not None
        self._terms = terms

    def amend(self, terms: Terms) -> None:
        """Go on with other terms."""
        self._terms = terms

    def check(self, run: Iterable[EventRow], unused: UnusedColumns) -> None:
        """Check consecutive outcomes of one kind, and add them to the record and to the money."""
        record, money = self._record, self._money
        offers, offered, rounds, outcomes = (
            record.offers, record.offered, record.rounds, record.outcomes
        )  # fmt: skip
        paced, rewarded, outcome = money.is_paced, unused.kind == REWARDED, OUTCOMES[unused.kind]
        for row in run:
            (
                seq, kind, _, left, decision, counted, _, _, _, reserve, _, _, reason, _, _, _, _,
                reward, detail, _,
            ) = row  # fmt: skip
            number = offered[decision] if 0 < (decision or 0) < seq else -1
            if number < 0:
                raise Fault(f"speaks of decision {decision}, which does not exist")
            before = outcomes[decision]
            if before:
                _check_order(kind, decision, before)
            decided = rounds[decision]
            if offers[number] != row[OFFER] or decided != (-1 if counted is None else counted):
                self._refuse_difference(event_of(row), number, decided)
            outcomes[decision] = before | outcome
            if rewarded:
                if reward is None or not 0.0 <= reward <= 1.0:
                    raise Fault(f"has the reward {reward}")
                if reason is not None or self._has_rules:
                    self._check_rules(event_of(row))
            elif reserve is None:
                raise Fault(f"speaks of decision {decision}, a skip, which has no reserve")
            else:
                money.end(event_of(row), late=bool(before & _EXPIRED))
            if left != money.free or left < 0 or paced:
                money.check(row)
            if not rewarded or row[_OF_DECISIONS] != _EMPTY or detail is not None:
                unused.check(row)
                if detail is not None and self._terms.on_rows:
                    own_costs(detail, self._terms)

    def _check_rules(self, event: Event) -> None:
        """Check a reward by the rules that only some campaigns have."""
        if self._assignment.is_needed:
            fault = self._assignment.reward_fault(event)
            if fault is not None:
                raise Fault(fault)
        self._check_window(event)

    def _check_window(self, event: Event) -> None:
        """Refuse a reward after the window of its decision, and a silence before its end."""
        decision, reason, silent = event.decision or 0, event.reason, event.reason == _SILENCE
        if not (silent or reason is None or self._spreads):  # which repeat the decision's
            raise Fault(f"has the reason {reason!r}")
        if self._window is None:
            if silent:
                raise Fault("speaks of a window, which the terms do not have")
            return
        over = event.at >= self._record.times[decision] + self._window
        if not silent and over:
            raise Fault(f"rewards decision {decision} after its window has ended")
        if silent and not over:
            raise Fault(f"ends the window of decision {decision} before its time")
        if silent and event.reward != 0.0:
            raise Fault(f"has the reward {event.reward} for silence, which is 0")

    def _refuse_difference(self, event: Event, number: int, counted: int) -> NoReturn:
        """Refuse a row that differs from its decision, and name the column."""
        decided = (None if counted < 0 else counted, *self._record.offers[number])
        for field, expected in zip(REPEATED, decided, strict=True):
            value = getattr(event, field)
            if value != expected:
                raise Fault(f"has {field} {value!r}, where its decision has {expected!r}")
        raise AssertionError("a row that differs from its decision differs in a column")


def _check_order(kind: str, decision: int, before: int) -> None:
    """Refuse an outcome that cannot come after the outcomes ``before`` of its decision."""
    outcome = OUTCOMES[kind]
    if before & outcome:
        raise Fault(f"is the second of its kind for decision {decision}")
    final = before & (_SETTLED if kind == EXPIRED else 0)
    if final or (before | outcome) & _CANCELLED:
        earlier = next(kind for kind, bit in OUTCOMES.items() if before & bit)
        raise Fault(f"comes after decision {decision} was {earlier}")
