"""Values that an arrival gives, checked against the campaign: its context, actions and costs."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from almoner import checks
from almoner.errors import InvalidInput
from almoner.live.state.campaign_state import Campaign
from almoner.live.terms.names import NAME_RULE, is_name
from almoner.live.terms.terms import PAIRS_LIMIT
from almoner.policy.allocation import Procrastinate

__all__ = ["known_actions", "known_context", "known_costs"]


def known_context(campaign: Campaign, context: object, coming: Collection[str] = ()) -> str:
    """Return a context that may arrive; refuse one that may not.

    ``coming`` are new contexts that will be admitted before it.
    """
    context = checks.plain(context)
    if isinstance(context, str) and (context in campaign.contexts or context in coming):
        return context
    if not campaign.terms.new_contexts:
        return checks.choice("context", context, campaign.contexts)
    if not is_name(context):
        raise checks.refuse("context", f"be a name of {NAME_RULE}", context)
    count = len(campaign.contexts) + len(coming)
    if (count + 1) * len(campaign.terms.actions) > PAIRS_LIMIT:
        rule = f"be one of the {count:,} so far, as there is room for no more"
        raise checks.refuse("context", rule, context)
    return context  # type: ignore[return-value]  # is_name: it is a string


def known_actions(campaign: Campaign, available: Any) -> list[str]:
    """Return the actions that an arrival allows, checked."""
    if isinstance(available, str) or not isinstance(available, Iterable):
        raise checks.refuse("available", "be a list of actions", available)
    return [
        checks.choice("an available action", name, campaign.terms.actions) for name in available
    ]


def known_costs(campaign: Campaign, costs: Any) -> dict[str, int]:
    """Return the costs that an arrival has of its own, checked, in units rounded up."""
    if not isinstance(costs, Mapping):
        remedy = 'write them like {"coupon": 5.0}'
        raise checks.refuse("costs", "be a table of costs by action", costs, remedy)
    terms = campaign.terms
    if isinstance(terms.policy.allocation, Procrastinate):
        raise InvalidInput(
            "costs of an arrival's own need a policy that weighs costs, and Procrastinate is "
            "defined where every action costs the same; leave costs out, or open a campaign with "
            "thrifty()"
        )
    units = {}
    for name, cost in costs.items():
        action = checks.choice("an action with a cost", name, terms.actions)
        units[action] = terms.unit.units_up(f"the cost of {action!r}", cost)
    return units
