"""Open decisions as evidence of costs: their bills, and their part of shared reserves."""

from __future__ import annotations

from almoner.live.costs.bills import Bills
from almoner.live.costs.shared_reserves import SharedReserves
from almoner.live.policy.detail import has_own_costs
from almoner.store.events import Event, EventRow

__all__ = ["add_reserve", "end_reserve"]

_DETAIL = Event._fields.index("detail")


def add_reserve(bills: Bills, shared: SharedReserves | None, row: int, decided: EventRow) -> None:
    """Add a decision for an action, in the context of a row."""
    _, _, at, _, _, _, _, action, cost, reserve = decided[:10]
    bills.add(row, action, at)
    if shared is not None and has_own_costs(decided[_DETAIL]):
        shared.add_given(decided[0], cost=cost or 0, reserve=reserve or 0)
    elif shared is not None:
        shared.add(row, action, at, cost=cost or 0, reserve=reserve or 0)


def end_reserve(
    bills: Bills,
    shared: SharedReserves | None,
    row: int,
    event: Event,
    *,
    deadline: int | None,
    at: int,
) -> None:
    """Add an event that ends the reserve of a decision, or a bill that comes after its end.

    ``deadline`` is that of the decision, None if its reserve does not end by itself or has ended
    before, and ``at`` its time.
    """
    bills.end(row, event, deadline, at)
    if shared is None or event.reason is not None:
        return
    if not shared.remove_given(event.decision or 0):
        cost, reserve = event.cost or 0, event.reserve or 0
        lifetime = None if deadline is None else deadline - at
        shared.remove(row, event.action or "", at, lifetime, cost=cost, reserve=reserve)
