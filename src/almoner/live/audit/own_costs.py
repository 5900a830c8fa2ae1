"""Costs of arrivals' own in the log: read from details, and the offers that they allow."""

from __future__ import annotations

import json
from typing import Any

from almoner.live.audit.rows import Fault
from almoner.live.terms.terms import Terms

__all__ = ["own_costs", "present_offers"]

_FIRST = '{"costs":'
"""The beginning of a detail with costs: they come first."""
_PARTS = {"costs", "probabilities"}


def own_costs(detail: str | None, terms: Terms) -> dict[str, int] | None:
    """Return the costs that the arrival of a decision had, in units by action; None if none.

    Costs of unknown actions, or other than whole units of at least 0, are refused.
    """
    if not isinstance(detail, str) or not detail.startswith(_FIRST):
        return None
    table = json.loads(detail)
    if not set(table) <= _PARTS:
        raise Fault(f"has a detail that cannot be read: {detail!r}")
    costs: Any = table["costs"]
    if not isinstance(costs, dict):
        raise Fault(f"has costs that cannot be read: {costs!r}")
    for action, cost in costs.items():
        if action not in terms.costs or type(cost) is not int or cost < 0:
            raise Fault(f"has the cost {cost!r} for the action {action!r}")
    return costs


def present_offers(
    terms: Terms, context: str, own: dict[str, int] | None
) -> dict[str, tuple[int, int]]:
    """Return expected cost and reserve of each action, as an arrival in a context had them."""
    pairs = zip(terms.costs_in(context), terms.reserves_in(context), strict=True)
    offers = dict(zip(terms.actions, pairs, strict=True))
    for action, given in (own or {}).items():
        cost, reserve = offers[action]
        offers[action] = given, given if cost == reserve else max(reserve, given)
    return offers
