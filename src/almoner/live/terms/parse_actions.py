"""Parse the actions of a campaign: costs and reserves in units, expiries, learned costs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from almoner import checks
from almoner.errors import InvalidTerms
from almoner.live.terms.action import Action, PerContext, in_context
from almoner.live.terms.names import name_list
from almoner.live.terms.terms import CHARGE, RELEASE, SKIP_NAME
from almoner.live.times.durations import duration
from almoner.money import Denomination

__all__ = ["parse_actions"]


def parse_actions(actions: Any, contexts: tuple[str, ...], money: Denomination) -> dict[str, Any]:
    """Check the actions; return the fields of `Terms` that they determine."""
    costs, reserves = _costs(actions, contexts, money)
    return {
        "costs": costs,
        "reserves": reserves,
        **_expiries(actions),
        "learns": _learns(actions),
    }


def _costs(
    actions: Any, contexts: tuple[str, ...], money: Denomination
) -> tuple[dict[str, PerContext], dict[str, PerContext]]:
    if not isinstance(actions, Mapping) or not actions:
        remedy = 'write them like {"coupon": 5.0}'
        raise checks.refuse("actions", "be a table of costs by name", actions, remedy, InvalidTerms)
    costs: dict[str, PerContext] = {}
    reserves: dict[str, PerContext] = {}
    if SKIP_NAME in actions:
        raise InvalidTerms(
            f"an action must not be called {SKIP_NAME!r}, which is always possible and free; "
            "give it another name, and see default_rewards for what it brings"
        )
    for name in name_list("actions", list(actions)):
        action = actions[name]
        if not isinstance(action, Action):
            action = Action(cost=action)
        costs[name] = _units(f"the cost of {name!r}", action.cost, contexts, money)
        reserves[name] = costs[name]
        if action.reserve is not None:
            label = f"the reserve of {name!r}"
            reserves[name] = _units(label, action.reserve, contexts, money)
            for context in contexts or ("",):
                if in_context(reserves[name], context) < in_context(costs[name], context):
                    raise checks.refuse(
                        label, "be no less than its cost", action.reserve, error=InvalidTerms
                    )
    return costs, reserves


def _expiries(actions: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of `Terms` about reserves that end by themselves."""
    expires: dict[str, int] = {}
    charged = []
    for name, action in actions.items():
        if not isinstance(action, Action):
            continue
        if action.expires is not None:
            expires[name] = duration(f"the expiry of {name!r}", action.expires)
        if action.on_expiry is not None:
            label = f"on_expiry of {name!r}"
            if (
                checks.choice(label, action.on_expiry, (RELEASE, CHARGE), error=InvalidTerms)
                == CHARGE
            ):
                charged.append(name)
            if action.expires is None:
                raise InvalidTerms(
                    f"{label} must come with expires, the time after which the reserve ends; give "
                    'expires="7 days", for instance'
                )
    return {"expires": expires, "charged": tuple(charged)}


def _learns(actions: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the actions whose costs are learned."""
    for name, action in actions.items():
        if isinstance(action, Action) and action.learn_cost is not None:
            checks.flag(f"learn_cost of {name!r}", action.learn_cost, error=InvalidTerms)
    return tuple(name for name, action in actions.items() if getattr(action, "learn_cost", False))


def _units(label: str, value: Any, contexts: tuple[str, ...], money: Denomination) -> PerContext:
    if value is None:
        raise InvalidTerms(f"{label} is missing; every action needs its cost, 0 if it is free")
    if not isinstance(value, Mapping):
        return money.units(label, value, error=InvalidTerms)
    checks.known_keys(label, value, required=contexts, error=InvalidTerms)
    return {
        context: money.units(f"{label} for {context!r}", value[context], error=InvalidTerms)
        for context in contexts
    }
