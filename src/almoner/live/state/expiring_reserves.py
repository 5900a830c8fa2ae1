"""Reserves that end by themselves: released or charged at the deadline of their action."""

from __future__ import annotations

from almoner.live.costs.ledger import Ledger
from almoner.live.state.fold import ledger_after
from almoner.live.terms.terms import Terms
from almoner.live.times.deadlines import Deadlines, OpenDecision
from almoner.store.events import EXPIRED, Event, EventRow

__all__ = ["ExpiringReserves"]


class ExpiringReserves(Deadlines):
    """The open decisions whose reserves end by themselves, with the bills that they end with."""

    def __init__(self, terms: Terms) -> None:
        super().__init__()
        self.amend(terms)

    def amend(self, terms: Terms) -> None:
        """Go on with other terms; open decisions keep their deadlines and how they end."""
        self._expires, self._charged = terms.expires, terms.charged

    def decided(self, decided: EventRow) -> None:
        """Add a decision, if its reserve ends by itself."""
        seq, _, at, _, _, counted, context, action, cost, reserve = decided[:10]
        expires = self._expires.get(action)
        if expires is not None:
            bill = reserve if action in self._charged else 0
            decision = OpenDecision(seq, at, counted, context, action, cost, reserve, bill)
            self.add(at + expires, decision)

    def ledger_at(self, ledger: Ledger, now: int) -> Ledger:
        """Return the ledger after all reserves that end by now."""
        for decision in self.due(now):
            ledger, _ = ledger_after(ledger, EXPIRED, decision, decision.bill)
        return ledger

    def events(self, ledger: Ledger, *, seq: int, now: int) -> list[Event]:
        """Return the events of reserves that end by now, to follow the event ``seq``."""
        events = list[Event]()
        for decision in self.due(now):
            ledger, charged = ledger_after(ledger, EXPIRED, decision, decision.bill)
            events.append(
                Event(
                    seq=seq + 1 + len(events),
                    kind=EXPIRED,
                    at=now,
                    left=ledger.left,
                    decision=decision.seq,
                    round=decision.round,
                    context=decision.context,
                    action=decision.action,
                    cost=decision.cost,
                    reserve=decision.reserve,
                    bill=decision.bill,
                    charged=charged,
                )
            )
        return events
