"""Auditor: recomputes balances and decisions from the events of a log, refuses inconsistencies.

It shares no code with campaign and ledger, so that a mistake in them shows here.

Any decision can be settled, rewarded or cancelled at any time, so that arrays keep 13 bytes for
each event (the number of its offer, its round, its outcomes) and 8 for each key. Beyond that,
memory grows with the different pairs of context and action, not with the log.
"""

from __future__ import annotations

import json
from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from operator import itemgetter
from typing import Any, NoReturn

from almoner.errors import BrokenLedger
from almoner.live.audit.assignment import AssignmentAuditor
from almoner.live.audit.keys import KeyDigests
from almoner.live.audit.pace import AuditedPace
from almoner.live.terms.terms import CHARGE, RELEASE, Terms
from almoner.live.times.closing_time import ClosingTime
from almoner.store.events import (
    AMENDED,
    CANCELLED,
    CLOSED,
    DECIDED,
    EXPIRED,
    PAUSED,
    RESUMED,
    REWARDED,
    SETTLED,
    Event,
    EventRow,
)

__all__ = ["Audit", "Auditor"]

REPEATED = ("round", "context", "action", "cost", "reserve")
"""Columns that a row repeats of the decision it refers to."""

_USED = {
    DECIDED: ("decision", *REPEATED, "probability", "price", "reason", "key", "available"),
    SETTLED: ("decision", *REPEATED, "reason", "bill", "charged"),
    EXPIRED: ("decision", *REPEATED, "bill", "charged"),
    REWARDED: ("decision", *REPEATED, "reason", "reward"),
    CANCELLED: ("decision", *REPEATED),
    PAUSED: (),
    RESUMED: (),
    CLOSED: (),
    AMENDED: ("detail",),
}
UNUSED = {
    kind: [name for name in Event._fields if name not in ("seq", "kind", "at", "left", *used)]
    for kind, used in _USED.items()
}
"""Columns that a row of each kind leaves empty."""

_ASSIGNED = {DECIDED: ("detail",), REWARDED: ("probability", "reason")}
"""Columns of `UNUSED` that `AssignmentAuditor` checks."""

_OUTCOMES = {SETTLED: 1, REWARDED: 2, CANCELLED: 4, EXPIRED: 8}
"""Outcomes of a decision, as bits."""

_SILENCE = "window"
"""The reason of a reward that the campaign recorded itself, as none had come."""

AuditedOffer = tuple[str | None, str | None, int | None, int | None]
"""Context, action, cost and reserve of a decision; the last three are None for a skip."""

TIMES = range(-62_135_596_800_000_000, 253_402_300_800_000_000)
"""Microseconds since 1970 in the years 1 to 9999, as dates can be."""

UNCHANGING = (
    *("contexts", "policy", "unit", "default_rewards", "new_contexts", "seed"),
    *("reward_window", "learn_cost", "risk", "per_person", "holdout", "explore"),
    *("pace", "default"),
)
"""Fields of the terms that no amendment changes."""

DETAIL = Event._fields.index("detail")

OFFER = slice(Event._fields.index("context"), Event._fields.index("reserve") + 1)
"""The columns of an offer."""

_REASON, _COST = map(Event._fields.index, ("reason", "cost"))

OUTCOME = slice(Event._fields.index("bill"), Event._fields.index("reward") + 1)
"""The columns of a bill and of a reward."""


@dataclass(frozen=True, kw_only=True)
class Audit:
    """Summary of an audit; money in whole units of the campaign.

    ``spent + reserved + left == budget`` holds after every event. With a risk reserves may exceed
    the budget, and ``left`` is the money neither spent nor expected to be. Learned costs are only
    checked to be between 0 and the reserve, and not whether a decision was within the risk.
    ``sealed_from`` is the first event that a checksum covers; None if there is none.
    """

    name: str
    events: int
    decisions: int
    budget: int
    spent: int
    reserved: int
    left: int
    overrun: int
    sealed_from: int | None = None


class Auditor:
    """Balances and decisions after the events checked so far."""

    def __init__(self, name: str, terms: Terms) -> None:
        self.name, self.terms = name, terms
        self.last = self.decisions = self.rounds = self.spent = self.reserved = self.overrun = 0
        self._expected, self._shared = 0, terms.risk > 0  # expected costs of open decisions
        self.switched = RESUMED  # as a new campaign is: running
        self.keys = KeyDigests()
        # By event: the number of the offer that was decided on or -1, the round or -1, outcomes.
        self._offered, self._round, self._outcomes = (
            array("i", [-1]),
            array("q", [-1]),
            bytearray(1),
        )
        # Deadlines of open decisions whose reserves expire, and what was paid for expired ones.
        self._deadlines: dict[int, int] = {}
        self._expired_bills: dict[int, int] = {}
        # Times of the decisions, if rewards must come within a window.
        self._decided_at = array("q", [0])
        self._pace = AuditedPace(terms)
        # Offers with their numbers, and those of them that the present terms have.
        self._numbers: dict[AuditedOffer, int] = {}
        self._valid: dict[AuditedOffer, int] = {}
        self._offers: list[AuditedOffer] = []
        self._assignment = AssignmentAuditor(terms, self._pace)
        self._unused = {
            kind: [name for name in names if name not in _ASSIGNED.get(kind, ())]
            if self._assignment.is_needed
            else names
            for kind, names in UNUSED.items()
        }
        check = {
            DECIDED: self._decide,
            **dict.fromkeys(_OUTCOMES, self._follow_up),
            **dict.fromkeys((PAUSED, RESUMED, CLOSED), self._switch),
            AMENDED: self._amend,
        }
        # By kind: the check of a row, its unused columns, and their values.
        self._kinds = {
            kind: (check[kind], _getter([*map(Event._fields.index, names)]), (None,) * len(names))
            for kind, names in self._unused.items()
        }

    def check(self, rows: Sequence[EventRow]) -> None:
        """Check events that follow those before; raise `BrokenLedger` at an inconsistency."""
        kinds, numbered = self._kinds, self._are_numbered(rows)
        self._offered += array("i", [-1]) * len(rows)
        self._round += array("q", [-1]) * len(rows)
        self._outcomes += bytes(len(rows))
        if self.terms.reward_window is not None:
            self._decided_at += array("q", [0]) * len(rows)
        for row in rows:
            if not numbered:
                self._check_number(row)
            kind, self.last = row[1], row[0]
            check, unused, empty = kinds[kind]
            try:
                check(row)
            except (TypeError, ValueError, LookupError) as reason:  # a value of another type
                self._broken(row, f"cannot be booked on these terms: {reason}")
            left = self.terms.budget - self.spent - (0 if self._shared else self.reserved)
            if problem := self._pace.check(row, self.terms, self.spent + self.reserved):
                self._broken(row, problem)
            if left < 0:
                self._broken(row, f"overspends the budget by {-left}")
            if self._shared:
                left = self.left
            if row[3] != left:
                self._broken(row, f"says that {row[3]} is left, where {left} is")
            if unused(row) != empty:
                values = zip(self._unused[kind], unused(row), strict=True)
                field, value = next(pair for pair in values if pair[1] is not None)
                self._broken(row, f"must have no {field}, has {value!r}")

    def _are_numbered(self, rows: Sequence[EventRow]) -> bool:
        """Return whether `_check_number` refuses none of the rows: faster than one by one."""
        seqs, kinds, times = ([*map(itemgetter(column), rows)] for column in range(3))
        return (
            seqs == [*range(self.last + 1, self.last + 1 + len(rows))]
            and {*kinds} <= self._kinds.keys()
            and {*map(type, times)} == {int}
            and min(times) in TIMES
            and max(times) in TIMES
        )

    def _check_number(self, row: EventRow) -> None:
        """Refuse a row with a wrong number, an unknown kind or no valid time."""
        seq, kind, at = row[:3]
        if seq != self.last + 1:
            self._broken(row, f"follows event {self.last}")
        if kind not in self._kinds:
            self._broken(row, f"is of the unknown kind {kind!r}")
        if type(at) is not int or at not in TIMES:
            self._broken(row, f"has no valid time: {at!r}")

    @property
    def left(self) -> int:
        """Money that a new action could reserve; with a risk, money not expected to be spent."""
        if self._shared:
            return max(0, self.terms.budget - self.spent - self._expected)
        return self.terms.budget - self.spent - self.reserved

    def summary(self, *, sealed_from: int | None = None) -> Audit:
        """Return the balances after the last event."""
        return Audit(
            name=self.name,
            events=self.last,
            decisions=self.decisions,
            budget=self.terms.budget,
            spent=self.spent,
            reserved=self.reserved,
            left=self.left,
            overrun=self.overrun,
            sealed_from=sealed_from,
        )

    def acted(self, decision: int) -> bool:
        """Return whether a decision was an action that was not cancelled."""
        number = self._offered[decision] if 0 < decision <= self.last else -1
        if number < 0 or self._offers[number][1] is None:
            return False
        return not self._outcomes[decision] & _OUTCOMES[CANCELLED]

    def _switch(self, row: EventRow) -> None:
        if self.switched == CLOSED:
            self._broken(row, "comes after the campaign was closed for good")
        self.switched = row[1]

    def _amend(self, row: EventRow) -> None:
        """Go on with the terms of an amendment; refuse what no amendment may change."""
        if self.switched == CLOSED:
            self._broken(row, "comes after the campaign was closed for good")
        changes = json.loads(row[DETAIL])["terms"]
        for field in changes:
            if field in UNCHANGING:
                self._broken(row, f"changes {field}, which no amendment may")
        terms = self.terms.amended(changes)
        moved = terms.horizon != self.terms.horizon and not isinstance(terms.horizon, ClosingTime)
        if moved and terms.horizon < self.rounds:  # type: ignore[operator]
            self._broken(row, f"sets a horizon of {terms.horizon} after {self.rounds} arrivals")
        if not {*self.terms.actions} <= {*terms.actions} or not terms.active:
            self._broken(row, "removes actions")
        self.terms = self._assignment.terms = terms
        self._valid.clear()

    def _decide(self, row: EventRow) -> None:
        (
            seq,
            _,
            at,
            _,
            decision,
            counted,
            _,
            action,
            _,
            reserve,
            probability,
            _,
            _,
            key,
            available,
        ) = row[:15]
        if decision != seq:
            self._broken(row, f"calls itself decision {decision}")
        number = self._valid.get(row[OFFER])
        if number is None:
            number = self._new_offer(row)
        if available is not None:
            allowed = _listed(available)
            if action is not None and action not in allowed:
                self._broken(row, f"takes {action!r}, which was not available")
        if action is not None:
            self._act(row, at, counted)
        elif self.terms.default is not None and counted is not None:
            self._refuse_skip(row)
        if self.switched == RESUMED:  # arrivals are counted, one after the other
            if counted != self.rounds:
                self._broken(row, f"is arrival {counted}, where {self.rounds} was due")
            self.rounds += 1
        elif counted is not None:
            self._broken(row, f"counts an arrival while the campaign is {self.switched}")
        if key is not None:
            self.keys.add(key)
        if not 0.0 < (probability or 0.0) <= 1.0:
            self._broken(row, f"has the probability {probability}")
        if self._assignment.is_needed:
            fault = self._assignment.decision_fault(row, self.left)
            if fault is not None:
                self._broken(row, fault)
        self.reserved += reserve or 0
        self._expected += row[_COST] or 0
        self.decisions += 1
        self._offered[seq] = number
        if self.terms.reward_window is not None:
            self._decided_at[seq] = at
        if action in self.terms.expires:
            self._deadlines[seq] = at + self.terms.expires[action]
        if counted is not None:
            self._round[seq] = counted

    def _new_offer(self, row: EventRow) -> int:
        """Number an offer made first on these terms; refuse one that they do not have."""
        context, action, cost, reserve = offer = row[OFFER]
        terms = self.terms
        if context is None or not (context in terms.contexts or terms.new_contexts):
            self._broken(row, f"is for the undeclared context {context!r}")
        if action is None:
            if (reserve, cost) != (None, None):
                self._broken(row, "reserves money for a skip")
        elif action not in terms.costs or action in terms.stopped:
            how = "stopped" if action in terms.stopped else "unknown"
            self._broken(row, f"takes the {how} action {action!r}")
        else:
            pairs = zip(terms.costs_in(context), terms.reserves_in(context), strict=True)
            agreed = dict(zip(terms.actions, pairs, strict=True))[action]
            learned = action in terms.learned_costs and 0 <= (cost or 0) <= agreed[1]
            if reserve != agreed[1] or not (learned or cost == agreed[0]):
                self._broken(
                    row,
                    f"reserves {reserve} for an expected cost of {cost}, where the terms say "
                    f"{agreed[1]} for {agreed[0]}",
                )
        if offer not in self._numbers:
            self._numbers[offer] = len(self._offers)
            self._offers.append(offer)
        return self._valid.setdefault(offer, self._numbers[offer])

    def _act(self, row: EventRow, at: int, counted: int | None) -> None:
        """Refuse an action taken while the campaign is not running, or beyond its horizon."""
        if self.switched != RESUMED:
            self._broken(row, f"takes an action while the campaign is {self.switched}")
        horizon = self.terms.horizon
        if isinstance(horizon, ClosingTime):
            if at / 1e6 >= horizon.at.timestamp():
                self._broken(row, f"takes an action after {horizon.at.isoformat()}, the end")
        elif counted is not None and counted >= horizon:
            self._broken(row, f"takes an action in arrival {counted}, beyond the {horizon}")

    def _refuse_skip(self, row: EventRow) -> None:
        """Refuse a skip for want of money, where the budget would have paid for the default."""
        event, default = Event._make(row), self.terms.default
        offered = event.available is None or default in _listed(event.available)
        reserves = dict(
            zip(self.terms.actions, self.terms.reserves_in(event.context or ""), strict=True)
        )
        if (
            offered
            and event.reason in ("policy", "budget")
            and reserves[default or ""] <= self.left
        ):
            self._broken(row, f"skips an arrival that {default!r} would have served")

    def _follow_up(self, row: EventRow) -> None:
        _, kind, _, _, decision, counted, _, _, _, reserve = row[:10]
        bill, charged, reward = row[OUTCOME]
        number = self._offered[decision] if 0 < (decision or 0) < self.last else -1
        if number < 0:
            self._broken(row, f"speaks of decision {decision}, which does not exist")
        before, outcome = self._outcomes[decision], _OUTCOMES[kind]
        if before & outcome:
            self._broken(row, f"is the second of its kind for decision {decision}")
        final = before & (_OUTCOMES[SETTLED] if kind == EXPIRED else 0)
        if final or (before and (before | outcome) & _OUTCOMES[CANCELLED]):
            earlier = next(kind for kind, bit in _OUTCOMES.items() if before & bit)
            self._broken(row, f"comes after decision {decision} was {earlier}")
        was_counted = self._round[decision]
        was_same = self._offers[number] == row[OFFER]
        if not was_same or (-1 if counted is None else counted) != was_counted:
            self._refuse_difference(row, number, was_counted)
        self._outcomes[decision] = before | outcome
        if kind == REWARDED:
            if reward is None or not 0.0 <= reward <= 1.0:
                self._broken(row, f"has the reward {reward}")
            fault = self._assignment.reward_fault(row) if self._assignment.is_needed else None
            if fault is not None:
                self._broken(row, fault)
            self._check_window(row, decision, reward)
        elif reserve is None:
            self._broken(row, f"speaks of decision {decision}, a skip, which has no reserve")
        elif before & _OUTCOMES[EXPIRED]:
            self._settle_late(row, bill, charged)
        else:
            self.reserved -= reserve
            self._expected -= row[_COST]
            deadline = self._deadlines.pop(decision, None)
            if kind == EXPIRED:
                self._expire(row, deadline, reserve, bill)
            if kind != CANCELLED:
                self._settle(row, reserve, bill, charged)

    def _check_window(self, row: EventRow, decision: int, reward: float) -> None:
        """Refuse a reward after the window of its decision, and a silence before its end."""
        window, said = self.terms.reward_window, row[_REASON]
        silent = said == _SILENCE
        if not (silent or said is None or self.terms.spreads):  # which repeat the decision's
            self._broken(row, f"has the reason {said!r}")
        if window is None:
            if silent:
                self._broken(row, "speaks of a window, which the terms do not have")
            return
        over = row[2] >= self._decided_at[decision] + window
        if not silent and over:
            self._broken(row, f"rewards decision {decision} after its window has ended")
        if silent and not over:
            self._broken(row, f"ends the window of decision {decision} before its time")
        if silent and reward != 0.0:
            self._broken(row, f"has the reward {reward} for silence, which is 0")

    def _refuse_difference(self, row: EventRow, number: int, counted: int) -> NoReturn:
        """Refuse a row that differs from its decision, and name the column."""
        decided = (None if counted < 0 else counted, *self._offers[number])
        event = Event._make(row)
        for field, expected in zip(REPEATED, decided, strict=True):
            value = getattr(event, field)
            if value != expected:
                self._broken(row, f"has {field} {value!r}, where its decision has {expected!r}")
        raise AssertionError("a row that differs from its decision differs in a column")

    def _expire(self, row: EventRow, deadline: int | None, reserve: int, bill: int | None) -> None:
        """Refuse the end of a reserve before its time, and a bill other than the terms say."""
        if deadline is None or row[2] < deadline:
            self._broken(row, f"ends the reserve of decision {row[4]} before its time")
        due = reserve if row[7] in self.terms.charged else 0
        if bill != due:
            self._broken(row, f"has the bill {bill} of a reserve that has expired, not {due}")
        self._expired_bills[row[4]] = due

    def _settle_late(self, row: EventRow, bill: int | None, charged: int | None) -> None:
        """Check a bill that comes after the reserve of its decision has expired."""
        paid = self._expired_bills.pop(row[4])
        said = Event._make(row).reason
        if said != (CHARGE if paid else RELEASE):
            self._broken(row, f"says that the reserve has ended as {said!r}, where {paid} was paid")
        self.spent -= paid
        self._settle(row, paid, bill, charged)

    def _settle(self, row: EventRow, reserve: int, bill: int | None, charged: int | None) -> None:
        if bill is None or bill < 0:
            self._broken(row, f"has the bill {bill}")
        due = min(bill, self.terms.budget - self.spent if self._shared else self.left)
        if charged != due:
            self._broken(row, f"charges {charged} for a bill of {bill}, not {due}")
        self.spent += due
        self.overrun += max(0, bill - reserve)

    def _broken(self, row: EventRow, what: str) -> NoReturn:
        raise BrokenLedger(f"campaign {self.name!r}: event {row[0]} ({row[1]}) {what}")


def _getter(columns: list[int]) -> Callable[[EventRow], Any]:
    """Return a function that gets columns of a row: by a slice if it can, in half the time."""
    first, last = columns[0], columns[-1]
    if columns == [*range(first, last + 1)]:
        return itemgetter(slice(first, last + 1))
    return itemgetter(*columns)


@lru_cache(1_000)
def _listed(available: str) -> list[str]:
    names = json.loads(available)
    if not isinstance(names, list):
        raise TypeError(f"{available} is no list of actions")
    return names
