"""Costs of arrivals' own in the log: read from details, and the offers that they allow."""

from __future__ import annotations

import json
from math import isfinite
from typing import Any

from almoner.live.audit.rows import Fault
from almoner.live.terms.terms import Terms

__all__ = ["check_row", "own_costs", "present_offers"]

_FIRST = '{"costs":'
"""The beginning of a detail with costs: they come first."""
_PARTS = {"costs", "probabilities", "group", "paid"}
_ROW_PARTS = {"scores", "features", "horizon"}


def own_costs(detail: str | None, terms: Terms) -> dict[str, int] | None:
    """Return the costs that the arrival of a decision had, in units by action; None if none.

    Costs of unknown actions, or other than whole units of at least 0, are refused.
    """
    if not isinstance(detail, str) or not detail.startswith(_FIRST):
        return None
    table = json.loads(detail)
    if not set(table) <= (_PARTS | _ROW_PARTS if terms.on_rows else _PARTS):
        raise Fault(f"has a detail that cannot be read: {detail!r}")
    if terms.on_rows:
        _check_row(table, terms)
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


def check_row(detail: str | None, terms: Terms) -> None:
    """Refuse a detail without the row of an arrival, in a campaign on rows."""
    if own_costs(detail, terms) is None:
        raise Fault(f"has no row of its arrival: {detail!r}")


def _check_row(table: dict[str, Any], terms: Terms) -> None:
    """Refuse scores and features other than the terms have, or that are no finite numbers."""
    name = "scores" if terms.scores else "features"
    values = table.get(name)
    known = {*terms.actions, "skip"} if terms.scores else {*terms.features}
    if not isinstance(values, dict) or not set(values) <= known:
        raise Fault(f"has {name} that the terms do not: {values!r}")
    if name == "features" and set(values) != known:
        raise Fault(f"lacks the features {sorted(known - set(values))}")
    for key, value in values.items():
        if type(value) not in (int, float) or not isfinite(value):
            raise Fault(f"has the value {value!r} for {key!r}")
