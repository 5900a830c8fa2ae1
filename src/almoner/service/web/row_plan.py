"""Preview of a campaign on rows on the create page: how far its budget goes, before any price."""

from __future__ import annotations

from typing import Any

from markupsafe import Markup

from almoner.live.terms.terms import ROWS, Terms
from almoner.service.web.formatting import exact, figure, isolated, money_format, percent
from almoner.service.web.notices import never_affordable
from almoner.service.web.plan_preview import Fact

__all__ = ["row_plan_view"]


def row_plan_view(terms: Terms) -> dict[str, Any]:
    """Return the context of the template ``row_plan.html``."""
    amount, arrivals = terms.unit.amount, terms.expected_arrivals
    budget, unit = amount(terms.budget), f" {terms.currency}" if terms.currency else ""
    costs = zip(terms.actions, map(amount, terms.costs_in(ROWS)), strict=True)
    reserves = [*zip(terms.actions, map(amount, terms.reserves_in(ROWS)), strict=True)]
    money = money_format([budget, *(reserve for _, reserve in reserves)], terms.currency)
    return {
        "rows": "scores" if terms.scores else "features",
        "budget": exact(budget),
        "notices": never_affordable(reserves, budget, money),
        "facts": [
            Fact("Budget per arrival", f"{figure(budget / arrivals)}{unit}", _of(arrivals)),
            *(_reach(name, cost, budget / arrivals, unit) for name, cost in costs),
        ],
    }


def _of(arrivals: float) -> str:
    return f"for {figure(arrivals)} arrivals"


def _reach(name: str, cost: float, ratio: float, unit: str) -> Fact:
    """Return the share of arrivals that the budget pays one action for, at its expected cost."""
    share = 1.0 if cost <= ratio else ratio / cost
    note = (
        f"of arrivals could get it, at {figure(cost)}{unit}" if cost else "of arrivals: it is free"
    )
    return Fact(Markup("Only “{}”").format(isolated(name)), percent(share), note)
