"""Expected cost of the open decisions in the past, for the curve of a campaign with a risk.

The ledger has their expected costs as of each decision; the campaign plans with less, as those
without a bill are expected to cost less the older they are (`almoner.live.reports.open_costs`).
"""

from __future__ import annotations

from collections.abc import Iterable
from copy import deepcopy
from math import ceil
from typing import Any

from almoner.live.costs.bills import Bills
from almoner.live.costs.open_reserves import add_reserve, end_reserve
from almoner.live.costs.shared_reserves import SharedReserves
from almoner.live.state.expiring_reserves import ExpiringReserves
from almoner.live.terms.terms import Terms
from almoner.store.events import Event, EventRow

__all__ = ["AgedCosts"]


class AgedCosts:
    """The open decisions of a campaign with a risk, folded from its log."""

    def __init__(self, terms: Terms) -> None:
        self._bills = Bills(terms)
        self._shared = SharedReserves(terms, self._bills.columns)
        self._expiring = ExpiringReserves(terms)
        self._rows = {name: row for row, name in enumerate(terms.known_contexts)}

    def amend(self, terms: Terms) -> None:
        """Go on with other terms."""
        for part in (self._bills, self._shared, self._expiring):
            part.amend(terms)

    def decided(self, decisions: Iterable[EventRow]) -> None:
        """Add decisions for actions."""
        for decision in decisions:
            self._expiring.decided(decision)
            add_reserve(self._bills, self._shared, self._row(decision[6]), decision)

    def ended(self, event: Event) -> None:
        """Add an event that ends a reserve, or a bill that comes after its end."""
        deadline, decision = self._expiring.entry(event.decision or 0)
        at = event.at if decision is None else decision.at
        row = self._row(event.context or "")
        end_reserve(self._bills, self._shared, row, event, deadline=deadline, at=at)
        self._expiring.discard(event.decision or 0)

    def planned(self, now: int) -> int:
        """Return the expected cost of the open decisions at a time, in units."""
        self._shared.age(now, self._bills.expected(now, self._rows))
        return ceil(self._shared.expected)

    def planned_meanwhile(self, now: int) -> int:
        """Return the same without a trace: ages depend on when they were computed last."""
        aged = deepcopy(self._shared)
        aged.age(now, self._bills.expected(now, self._rows))
        return ceil(aged.expected)

    def to_dict(self) -> dict[str, Any]:
        """Return the state as plain values, for a snapshot."""
        rows = len(self._rows)
        return {
            "contexts": [*self._rows],
            "bills": self._bills.to_dict(rows),
            "shared": self._shared.to_dict(rows),
            "expiring": self._expiring.to_list(),
        }

    def restore(self, table: dict[str, Any], terms: Terms) -> None:
        """Restore the result of `to_dict`; ``terms`` are those after the last event."""
        self.amend(terms)
        self._rows = {name: row for row, name in enumerate(table["contexts"])}
        self._bills.restore(table["bills"])
        self._shared.restore(table["shared"])
        self._expiring.restore(table["expiring"])

    def _row(self, context: str) -> int:
        """Return the row of a context, a new one if it has not arrived before."""
        return self._rows.setdefault(context, len(self._rows))
