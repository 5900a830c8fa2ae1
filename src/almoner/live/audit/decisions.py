"""Audit of decisions: their offers, arrivals, probabilities, and the status of the campaign."""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import lru_cache

from almoner.live.audit.assignment import AssignmentAuditor
from almoner.live.audit.decision_record import DecisionRecord
from almoner.live.audit.keys import KeyDigests
from almoner.live.audit.money import MoneyAuditor
from almoner.live.audit.offers import OfferAuditor
from almoner.live.audit.own_costs import check_row, own_costs, present_offers
from almoner.live.audit.rows import OFFER, Fault, UnusedColumns, event_of
from almoner.live.terms.terms import Terms
from almoner.live.times.closing_time import ClosingTime
from almoner.store.events import RESUMED, Event, EventRow

__all__ = ["DecisionAuditor"]

_OF_OUTCOMES = slice(Event._fields.index("bill"), Event._fields.index("detail") + 1)
"""The columns of bills, rewards and details: empty in most decisions."""
_EMPTY = (None,) * 4
_DETAIL = Event._fields.index("detail")


class DecisionAuditor:
    """Checks decisions, and adds them to the record and to the money.

    Attributes
    ----------
    rounds
        The number of arrivals counted so far.
    status
        The kind of the last event that changed the status: of a new campaign, which is running,
        ``"resumed"``.
    keys
        The keys of the decisions.
    """

    def __init__(
        self,
        terms: Terms,
        record: DecisionRecord,
        money: MoneyAuditor,
        assignment: AssignmentAuditor,
    ) -> None:
        self._record, self._money, self._assignment = record, money, assignment
        self._offers = OfferAuditor(terms, record.offers)
        self.rounds, self.status, self.keys = 0, RESUMED, KeyDigests()
        self._use(terms)

    def _use(self, terms: Terms) -> None:
        self._terms = terms
        self._is_timed = isinstance(terms.horizon, ClosingTime)
        self._has_rules = bool(
            terms.default is not None
            or self._assignment.is_needed
            or terms.expires
            or terms.reward_window is not None
        )

    def amend(self, terms: Terms) -> None:
        """Go on with other terms."""
        self._offers.amend(terms)
        self._use(terms)

    def check(self, run: Iterable[EventRow], unused: UnusedColumns) -> None:
        """Check consecutive decisions."""
        offers, money, record, add_key = self._offers, self._money, self._record, self.keys.add
        valid, offered, rounds = offers.valid, record.offered, record.rounds
        running, due, horizon = self.status == RESUMED, self.rounds, self._terms.horizon
        doubtful = self._is_timed or not running
        paced, has_rules = money.is_paced, self._has_rules
        for row in run:
            (
                seq, _, at, left, decision, counted, _, action, cost, reserve, probability, _, _,
                key, available, _, _, _, detail, _,
            ) = row  # fmt: skip
            if decision != seq:
                raise Fault(f"calls itself decision {decision}")
            offer, own = row[OFFER], None
            if detail is not None:
                own = own_costs(detail, self._terms)
            elif self._terms.on_rows:
                check_row(detail, self._terms)
            number = valid.get(offer) if own is None else None
            if number is None:
                number = offers.add(offer, own)
            if available is not None:
                allowed = _listed(available)
                if action is not None and action not in allowed:
                    raise Fault(f"takes {action!r}, which was not available")
            if action is not None and (doubtful or counted is None or counted >= horizon):
                self._check_action(at, counted)
            if running:  # arrivals are counted, one after the other
                if counted != due:
                    raise Fault(f"is arrival {counted}, where {due} was due")
                rounds[seq] = counted
                due += 1
            elif counted is not None:
                raise Fault(f"counts an arrival while the campaign is {self.status}")
            if key is not None:
                add_key(key)
            if not 0.0 < (probability or 0.0) <= 1.0:
                raise Fault(f"has the probability {probability}")
            if has_rules:
                self._check_rules(event_of(row), own)
            if action is not None:
                money.check_admission(cost, reserve)
                money.reserve(cost, reserve)
            offered[seq] = number
            if left != money.free or left < 0 or paced:
                money.check(row)
            if row[_OF_OUTCOMES] != _EMPTY:
                unused.check(row if own is None else (*row[:_DETAIL], None))
        self.rounds = due

    def _check_action(self, at: int, counted: int | None) -> None:
        """Refuse an action taken while the campaign is not running, or beyond its horizon."""
        if self.status != RESUMED:
            raise Fault(f"takes an action while the campaign is {self.status}")
        horizon = self._terms.horizon
        if isinstance(horizon, ClosingTime):
            if at / 1e6 >= horizon.at.timestamp():
                raise Fault(f"takes an action after {horizon.at.isoformat()}, the end")
        elif counted is not None and counted >= horizon:
            raise Fault(f"takes an action in arrival {counted}, beyond the {horizon}")

    def _check_rules(self, event: Event, own: dict[str, int] | None) -> None:
        """Check a decision by the rules that only some campaigns have; note its deadlines."""
        terms = self._terms
        if terms.default is not None and event.action is None and event.round is not None:
            self._refuse_skip(event, terms.default, own)
        if self._assignment.is_needed:
            fault = self._assignment.decision_fault(event, self._money.left, own)
            if fault is not None:
                raise Fault(fault)
        self._money.set_deadline(event)
        if terms.reward_window is not None:
            self._record.times[event.seq] = event.at

    def _refuse_skip(self, event: Event, default: str, own: dict[str, int] | None) -> None:
        """Refuse a skip for want of money, where the budget would have paid for the default."""
        offered = event.available is None or default in _listed(event.available)
        reserve = present_offers(self._terms, event.context or "", own)[default][1]
        if offered and event.reason in ("policy", "budget") and reserve <= self._money.left:
            raise Fault(f"skips an arrival that {default!r} would have served")


@lru_cache(1_000)
def _listed(available: str) -> list[str]:
    """Return the actions that an arrival allowed."""
    names = json.loads(available)
    if not isinstance(names, list):
        raise TypeError(f"{available} is no list of actions")
    return names
