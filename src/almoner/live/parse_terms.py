"""Parse the terms of a campaign as a person writes them: checks, money to units, defaults."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any

from almoner import checks
from almoner.errors import InvalidTerms
from almoner.live.closing_time import ClosingTime
from almoner.live.durations import duration
from almoner.live.names import name_list
from almoner.live.pace import parse_pace
from almoner.live.terms import (
    CHARGE,
    LEARNED,
    RELEASE,
    SKIP_NAME,
    Action,
    PerContext,
    Terms,
    in_context,
)
from almoner.money import Denomination, denomination
from almoner.policy.base import Policy
from almoner.policy.contexts import EmpiricalContexts, TruncatedContexts
from almoner.policy.recipes import recipe
from almoner.policy.rewards import ExploreFirst, KnownRewards

__all__ = ["make_terms", "parse_term"]

UNIT_REACH = 10**15
"""The largest unit, and one over the smallest: costs and amounts stay finite numbers."""


def make_terms(
    *,
    contexts: Iterable[str],
    actions: Mapping[str, Any],
    horizon: Any,
    budget: Any,
    policy: Policy | str = "thrifty",
    unit: Any = "0.000001",
    default_rewards: Any = None,
    new_contexts: bool = False,
    seed: int = 0,
    reward_window: Any = None,
    pace: Any = None,
    default: str | None = None,
) -> Terms:
    """Check and convert the terms of a campaign; see `almoner.Agent.open` for their meaning."""
    names, money = _contexts(contexts), _unit(unit)
    values = {
        "actions": actions,
        "horizon": horizon,
        "budget": budget,
        "policy": policy,
        "default_rewards": default_rewards,
        "new_contexts": new_contexts,
        "seed": seed,
        "reward_window": reward_window,
        "pace": pace,
        "default": default,
    }
    fields: dict[str, Any] = {}
    for term, value in values.items():
        fields |= parse_term(term, value, names, money)
    terms = Terms(contexts=names, unit=money, **fields)
    _refuse_contradictions(terms)
    return terms


def parse_term(
    term: str, value: Any, contexts: tuple[str, ...], money: Denomination
) -> dict[str, Any]:
    """Check one term; return the fields of `Terms` that it determines."""
    if term == "contexts":
        return {term: _contexts(value)}
    if term == "unit":
        return {term: _unit(value)}
    if term == "actions":
        costs, reserves = _costs(value, contexts, money)
        return {"costs": costs, "reserves": reserves, **_expiries(value)}
    if term == "horizon":
        return {term: _horizon(value)}
    if term == "budget":
        return {term: money.units(term, value, error=InvalidTerms)}
    if term == "policy":
        return {term: value if isinstance(value, Policy) else recipe(value)}
    if term == "default_rewards":
        return {term: _defaults(value, contexts)}
    if term == "pace":
        return {term: parse_pace(value, money)}
    if term == "default":
        return {term: checks.plain(value)}  # which of the actions: see _refuse_default
    if term == "seed":
        return {term: checks.whole(term, value, low=0, error=InvalidTerms)}
    if term == "reward_window":
        return {term: None if value is None else duration(term, value)}
    checks.flag(term, value, error=InvalidTerms)
    return {term: value}


def _contexts(contexts: Any) -> tuple[str, ...]:
    names = name_list("contexts", contexts)
    if not names:
        raise InvalidTerms(
            "contexts must name at least one context; with new_contexts=True others may follow"
        )
    return names


def _unit(unit: Any) -> Denomination:
    money = denomination(unit, error=InvalidTerms)
    if not Fraction(1, UNIT_REACH) <= Fraction(money.top, money.bottom) <= UNIT_REACH:
        rule = f"be between 1/{UNIT_REACH:g} and {UNIT_REACH:g}"
        raise checks.refuse("unit", rule, unit, error=InvalidTerms)
    return money


def _horizon(horizon: Any) -> int | ClosingTime:
    if isinstance(horizon, ClosingTime):
        return horizon
    remedy = "give a number of arrivals, or a ClosingTime"
    return checks.whole("horizon", horizon, error=InvalidTerms, remedy=remedy)


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


def _defaults(value: Any, contexts: tuple[str, ...]) -> dict[str, float] | str | None:
    if value is None or (isinstance(value, str) and value == LEARNED):
        return checks.plain(value)  # type: ignore[no-any-return]
    if not isinstance(value, Mapping):
        rule = f"be a number for each context by name, or {LEARNED!r}"
        raise checks.refuse("default_rewards", rule, value, error=InvalidTerms)
    checks.known_keys("default_rewards", value, required=contexts, error=InvalidTerms)
    return {
        context: checks.number(
            f"the default reward of {context!r}", value[context], low=0, high=1, error=InvalidTerms
        )
        for context in contexts
    }


def _refuse_default(terms: Terms) -> None:
    """Refuse a default that is no action, and terms that have no meaning beside one."""
    checks.choice("default", terms.default, terms.actions, error=InvalidTerms)
    if terms.default_rewards is not None:
        raise InvalidTerms(
            "default and default_rewards exclude each other: with a default action nobody is "
            "skipped whom it could serve, and its rewards are learned; leave one of them out"
        )


def _refuse_contradictions(terms: Terms) -> None:
    policy = terms.policy
    if terms.default is not None:
        _refuse_default(terms)
    if (terms.default is not None or terms.pace is not None) and isinstance(
        policy.rewards, ExploreFirst
    ):
        raise InvalidTerms(
            "a policy that explores first does not plan with the money of a pace or beside a "
            "default; leave both out, or choose another policy, such as thrifty()"
        )
    by_context = any(
        isinstance(units, dict) for units in (*terms.costs.values(), *terms.reserves.values())
    )
    if terms.new_contexts and (
        by_context
        or isinstance(terms.default_rewards, dict)
        or isinstance(policy.rewards, KnownRewards)
        or not isinstance(policy.contexts, EmpiricalContexts)
    ):
        raise InvalidTerms(
            "new_contexts=True needs costs and a policy that say nothing of single contexts; give "
            "one cost for each action, no default_rewards by context, and a policy that learns "
            "both rewards and context shares, such as thrifty()"
        )
    counted = (
        isinstance(policy.rewards, ExploreFirst) and policy.rewards.test != "none"
    ) or policy.contexts == TruncatedContexts()
    if isinstance(terms.horizon, ClosingTime) and counted:
        raise InvalidTerms(
            "this policy tests its knowledge against the number of rounds, which a closing time "
            "does not tell; give horizon= a number, or choose another policy, such as thrifty()"
        )
