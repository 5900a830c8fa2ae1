"""Auditor: recomputes balances and decisions from the events of a log, refuses inconsistencies.

It shares no code with campaign and ledger, so that a mistake in them shows here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter, length_hint

from almoner.errors import BrokenLedger
from almoner.live.audit.amendments import amended_terms
from almoner.live.audit.assignment import AssignmentAuditor
from almoner.live.audit.decision_record import OUTCOMES, DecisionRecord
from almoner.live.audit.decisions import DecisionAuditor
from almoner.live.audit.money import MoneyAuditor
from almoner.live.audit.outcomes import OutcomeAuditor
from almoner.live.audit.rows import Fault, UnusedColumns, event_of, first_misnumbered
from almoner.live.terms.terms import Terms
from almoner.store.events import AMENDED, CLOSED, DECIDED, PAUSED, RESUMED, Event, EventRow

__all__ = ["Audit", "Auditor"]

_KIND = itemgetter(Event._fields.index("kind"))


@dataclass(frozen=True, kw_only=True)
class Audit:
    """Summary of an audit; money in whole units of the campaign.

    ``spent + reserved + left == budget`` holds after every event. With a risk reserves may exceed
    the budget, and ``left`` is the money neither spent nor expected to be. Learned costs are only
    checked to be between 0 and the reserve, and actions that a risk has admitted to be such that
    it could, whatever the ages of the open decisions.
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
    """State of a campaign after the events checked so far.

    Attributes
    ----------
    terms, last
        The present terms, and the number of the last event.
    record
        The decisions and their outcomes.
    """

    def __init__(self, name: str, terms: Terms) -> None:
        self.name, self.terms, self.last = name, terms, 0
        self._money = MoneyAuditor(terms)
        self._assignment = AssignmentAuditor(terms, self._money.pace)
        self.record = DecisionRecord(timed=terms.reward_window is not None)
        parts = terms, self.record, self._money, self._assignment
        self._decisions = DecisionAuditor(*parts)
        self._outcomes = outcomes = OutcomeAuditor(*parts)
        checks: dict[str, Callable[[Iterable[EventRow], UnusedColumns], None]] = {
            DECIDED: self._decisions.check,
            **dict.fromkeys(OUTCOMES, outcomes.check),
            **dict.fromkeys((PAUSED, RESUMED, CLOSED, AMENDED), self._check_changes),
        }
        needed = {"assigned": self._assignment.is_needed, "on_rows": terms.on_rows}
        self._kinds = {
            kind: (check, UnusedColumns(kind, **needed)) for kind, check in checks.items()
        }

    def check(self, rows: Sequence[EventRow]) -> None:
        """Check events that follow those before; raise `BrokenLedger` at an inconsistency.

        Rows are those of `almoner.store.checked_log`: the columns of an event and a checksum.
        """
        misnumbered = first_misnumbered(rows, self.last + 1)
        if misnumbered is None:
            self._check_runs(rows)
        else:
            index, fault = misnumbered
            self._check_runs(rows[:index])
            raise self._broken(rows[index], fault)

    def _check_runs(self, rows: Sequence[EventRow]) -> None:
        """Check numbered rows; those of one kind that follow each other take one call."""
        self.record.extend(len(rows))
        remaining = iter(rows)
        try:
            for kind, run in groupby(remaining, _KIND):
                if kind not in self._kinds:
                    raise Fault(f"is of the unknown kind {kind!r}")
                check, unused = self._kinds[kind]
                check(run, unused)
        except (Fault, TypeError, ValueError, LookupError) as fault:
            raise self._broken(rows[-1 - length_hint(remaining)], fault) from fault
        self.last += len(rows)

    def _broken(self, row: EventRow, fault: Exception) -> BrokenLedger:
        """Return the error for a row."""
        known = isinstance(fault, Fault)  # other exceptions: of a value of another type
        what = fault if known else f"cannot be booked on these terms: {fault}"
        return BrokenLedger(f"campaign {self.name!r}: event {row[0]} ({row[1]}) {what}")

    def _check_changes(self, run: Iterable[EventRow], unused: UnusedColumns) -> None:
        """Check events that change the status or the terms."""
        decisions = self._decisions
        for row in run:
            if decisions.status == CLOSED:
                raise Fault("comes after the campaign was closed for good")
            event = event_of(row)
            if event.kind == AMENDED:
                self._use(amended_terms(self.terms, event, rounds=decisions.rounds))
            else:
                decisions.status = event.kind
            self._money.check(row)
            unused.check(row)

    def _use(self, terms: Terms) -> None:
        """Go on with other terms."""
        self.terms = self._assignment.terms = terms
        self._money.amend(terms)
        self._decisions.amend(terms)
        self._outcomes.amend(terms)

    def summary(self, *, sealed_from: int | None = None) -> Audit:
        """Return the balances after the last event."""
        money = self._money
        return Audit(
            name=self.name,
            events=self.last,
            decisions=self.record.decisions,
            budget=self.terms.budget,
            spent=money.spent,
            reserved=money.reserved,
            left=money.left,
            overrun=money.overrun,
            sealed_from=sealed_from,
        )

    def repeated_keys(self) -> set[int]:
        """Return the digests of keys that occur more than once: of equal keys, or by chance."""
        return self._decisions.keys.repeated()
