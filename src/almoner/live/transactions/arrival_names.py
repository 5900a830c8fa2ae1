"""Names that an arrival gives, checked against the campaign: its context and its actions."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

from almoner import checks
from almoner.live.state.campaign_state import Campaign
from almoner.live.terms.names import NAME_RULE, is_name
from almoner.live.terms.terms import PAIRS_LIMIT

__all__ = ["known_actions", "known_context"]


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
