"""Audit of the money of a campaign: reserves, bills, and reserves that expire."""

from __future__ import annotations

import json
from math import sqrt

from almoner.live.audit.pace import SLACK, AuditedPace
from almoner.live.audit.rows import Fault, event_of
from almoner.live.terms.terms import CHARGE, RELEASE, Terms
from almoner.store.events import CANCELLED, EXPIRED, Event, EventRow

__all__ = ["MoneyAuditor"]


class MoneyAuditor:
    """Balances after the events checked so far, in whole units.

    Attributes
    ----------
    spent, reserved, overrun
        The money charged, the reserves of open decisions, and the sum by which bills exceeded
        their reserves.
    free
        The budget without the money spent and reserved; with a risk, without the money spent and
        the expected costs of open decisions, which may exceed the budget.
    """

    def __init__(self, terms: Terms) -> None:
        self._terms, self.pace = terms, AuditedPace(terms)
        self.is_paced = self.pace.is_needed
        self._shared = terms.risk > 0
        self._level = terms.evidence_of_risk
        self._largest = 0
        self.spent = self.reserved = self.overrun = 0
        self.free = terms.budget
        # Deadlines and bills of open decisions whose reserves expire; bills and charges of those
        # that have expired.
        self._deadlines: dict[int, tuple[int, int]] = {}
        self._expired: dict[int, tuple[int, int]] = {}

    @property
    def left(self) -> int:
        """Money that a new action could reserve; with a risk, money not expected to be spent."""
        return max(0, self.free) if self._shared else self.free

    def amend(self, terms: Terms) -> None:
        """Go on with other terms."""
        self.free += terms.budget - self._terms.budget
        self._terms = self.pace.terms = terms

    def check(self, row: EventRow) -> None:
        """Refuse an overspent budget, a broken rule of pace, and other money recorded as left.

        It refuses no row that records the ``free`` money as left, unless the campaign ``is_paced``.
        """
        event = event_of(row)
        if self.is_paced:
            fault = self.pace.check(event, self.spent + self.reserved)
            if fault is not None:
                raise Fault(fault)
        taken = self.spent + (0 if self._shared else self.reserved)
        if taken > self._terms.budget:
            raise Fault(f"overspends the budget by {taken - self._terms.budget}")
        if event.left != self.left:
            raise Fault(f"says that {event.left} is left, where {self.left} is")

    def check_admission(self, cost: int, reserve: int) -> None:
        """Refuse an action of a campaign with a risk that no state of its open decisions admits.

        If not all reserves fit the budget, Bernstein's bound must. It is not computed anew, as it
        depends on what was learned of bills, but it is never less than for this decision alone.
        """
        if not self._shared:
            return
        budget = self._terms.budget
        self._largest = max(self._largest, reserve)
        q = self._level * self._largest / 3
        alone = cost + q + sqrt(q * q + 2 * self._level * cost * reserve)
        in_full = self.spent + self.reserved + reserve
        if in_full > budget and self.spent + alone > budget * (1 + SLACK):
            raise Fault(
                f"is taken with {self.spent} of {budget} spent and {self.reserved} reserved, which "
                f"no risk of {self._terms.risk:g} admits"
            )

    def reserve(self, cost: int, reserve: int) -> None:
        """Add the reserve of an action."""
        self.reserved += reserve
        self.free -= cost if self._shared else reserve

    def set_deadline(self, decided: Event) -> None:
        """Note when the reserve of a decision expires, if it does, and what it has cost then."""
        terms, action = self._terms, decided.action or ""
        if action in terms.expires:
            bill = (decided.reserve or 0) if action in terms.charged else 0
            self._deadlines[decided.seq] = decided.at + terms.expires[action], bill

    def end(self, event: Event, *, late: bool) -> None:
        """Check an event that ends a reserve, or a bill that comes after its end."""
        if late:
            self._settle_late(event)
            return
        if event.detail is not None and not self._terms.on_rows:  # which repeat the row
            raise Fault(f"must have no detail, has {event.detail!r}")
        if "paid" in json.loads(event.detail or "{}"):
            raise Fault(f"refunds a reserve that has not expired: {event.detail}")
        cost, reserve = event.cost or 0, event.reserve or 0
        self.reserve(-cost, -reserve)
        deadline, due = self._deadlines.pop(event.decision or 0, (None, 0))
        if event.kind == EXPIRED:
            self._expire(event, deadline, due)
        if event.kind != CANCELLED:
            self._settle(event, reserve)

    def _expire(self, event: Event, deadline: int | None, due: int) -> None:
        """Refuse the end of a reserve before its time, and a bill other than the one due."""
        decision, bill = event.decision or 0, event.bill
        if deadline is None or event.at < deadline:
            raise Fault(f"ends the reserve of decision {decision} before its time")
        if bill != due:
            raise Fault(f"has the bill {bill} of a reserve that has expired, not {due}")
        self._expired[decision] = due, event.charged or 0

    def _settle_late(self, event: Event) -> None:
        """Check a bill that comes after the reserve of its decision has expired."""
        (due, paid), reason = self._expired.pop(event.decision or 0), event.reason
        if reason != (CHARGE if due else RELEASE):
            raise Fault(f"says that the reserve has ended as {reason!r}, where the bill was {due}")
        refunded = json.loads(event.detail or "{}").get("paid", due)
        if refunded != paid:
            raise Fault(f"refunds {refunded} for a reserve that has expired, not the {paid} paid")
        self.spent -= paid
        self.free += paid
        self._settle(event, due)

    def _settle(self, event: Event, reserve: int) -> None:
        """Check a bill for which ``reserve`` was set aside, and add the part of it charged."""
        bill, charged = event.bill, event.charged
        if bill is None or bill < 0:
            raise Fault(f"has the bill {bill}")
        due = min(bill, self._terms.budget - self.spent if self._shared else self.free)
        if charged != due:
            raise Fault(f"charges {charged} for a bill of {bill}, not {due}")
        self.spent += due
        self.free -= due
        self.overrun += max(0, bill - reserve)
