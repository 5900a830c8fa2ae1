"""Costs of each pair for a report: expected, declared and billed."""

from __future__ import annotations

from math import isnan

from almoner.live.state.campaign_state import Campaign

__all__ = ["expected_costs", "learned_costs", "stopped_costs"]


def expected_costs(campaign: Campaign, context: str) -> list[int]:
    """Return the expected cost of each action in a context: declared, or learned."""
    declared = zip(campaign.terms.actions, campaign.terms.costs_in(context), strict=True)
    learned = {name: cost for name, cost, _ in campaign.policy.offers[context]}
    return [learned.get(name, cost) for name, cost in declared]


def stopped_costs(campaign: Campaign, now: int) -> dict[tuple[int, str], float]:
    """Return the expected cost of the pairs of stopped actions whose costs are learned.

    The policy does not plan with these, and has no costs of them.
    """
    terms, bills = campaign.terms, campaign.evidence.bills
    stopped = [name for name in terms.stopped if name in terms.learned_costs]
    if bills is None or not stopped:
        return {}
    costs = bills.expected(now, campaign.contexts).costs
    return {
        (row, name): terms.unit.amount(costs.item(row, bills.columns[name]))
        for row in campaign.contexts.values()
        for name in stopped
    }


def learned_costs(campaign: Campaign, now: int) -> dict[tuple[int, str], dict[str, float | None]]:
    """Return declared cost and mean bill of the pairs whose costs are learned."""
    terms, bills, amount = campaign.terms, campaign.evidence.bills, campaign.terms.unit.amount
    if bills is None:
        return {}
    means = bills.means(now, len(campaign.contexts))
    pairs = {}
    for context, row in campaign.contexts.items():
        for name, cost in zip(terms.actions, terms.costs_in(context), strict=True):
            if name in terms.learned_costs:
                mean = means.item(row, bills.columns[name])
                billed = None if isnan(mean) else amount(round(mean))
                pairs[row, name] = {"declared": amount(cost), "billed": billed}
    return pairs
