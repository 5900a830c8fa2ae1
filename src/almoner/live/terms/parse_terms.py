"""Parse the terms of a campaign as a person writes them: checks, money to units, defaults."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from typing import Any

from almoner import checks
from almoner.errors import InvalidTerms
from almoner.live.terms.names import campaign_name, name_list
from almoner.live.terms.pace import parse_pace
from almoner.live.terms.per_person import parse_per_person
from almoner.live.terms.prior import parse_prior
from almoner.live.terms.reward_scale import (
    UNSCALED,
    RewardScale,
    parse_currency,
    parse_reward_range,
)
from almoner.live.terms.terms import (
    CHARGE,
    LEARNED,
    RELEASE,
    SKIP_NAME,
    Action,
    PerContext,
    Terms,
    in_context,
)
from almoner.live.times.closing_time import ClosingTime
from almoner.live.times.durations import duration
from almoner.money import Denomination, denomination
from almoner.policy.base import Policy
from almoner.policy.contexts import EmpiricalContexts
from almoner.policy.recipes import recipe
from almoner.policy.rewards import ExploreFirst, KnownRewards

__all__ = ["make_terms", "parse_term", "refuse_contradictions"]

MEMORY = 0.75
"""Weight of an earlier campaign: four weekly campaigns then bring as much as one of four weeks
(benchmarks/campaigns/carry_over.py)."""

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
    per_person: Any = None,
    holdout: Any = 0.0,
    explore: Any = 0.0,
    reward_window: Any = None,
    learn_cost: bool = False,
    risk: Any = 0,
    reward_range: Any = None,
    currency: str | None = None,
    after: str | None = None,
    memory: float | None = None,
    prior: Any = None,
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
        "per_person": per_person,
        "holdout": holdout,
        "explore": explore,
        "reward_window": reward_window,
        "learn_cost": learn_cost,
        "risk": risk,
        "pace": pace,
        "default": default,
    }
    optional = {
        "reward_range": reward_range,
        "currency": currency,
        "after": after,
        "memory": memory,
        "prior": prior,
    }
    fields: dict[str, Any] = {}
    for term, value in optional.items():
        if value is not None:
            fields |= parse_term(term, value, names, money)
    if after is not None:
        fields.setdefault("memory", MEMORY)
    limits = fields.get("reward_range")
    scale = UNSCALED if limits is None else RewardScale(limits[0], limits[1], currency or "")
    for term, value in values.items():
        fields |= parse_term(term, value, names, money, scale)
    terms = Terms(contexts=names, unit=money, **fields)
    refuse_contradictions(terms)
    return terms


def parse_term(
    term: str,
    value: Any,
    contexts: tuple[str, ...],
    money: Denomination,
    scale: RewardScale = UNSCALED,
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
        return {term: _defaults(value, contexts, scale)}
    if term == "per_person":
        return {term: parse_per_person(value)}
    if term in ("holdout", "explore"):
        return {term: _share(term, value)}
    if term == "pace":
        return {term: parse_pace(value, money)}
    if term == "default":
        return {term: checks.plain(value)}  # which of the actions: see _refuse_default
    if term == "seed":
        return {term: checks.whole(term, value, low=0, error=InvalidTerms)}
    if term == "risk":
        remedy = "0, the default, reserves every action in full"
        return {
            term: checks.number(term, value, low=0, high=0.5, error=InvalidTerms, remedy=remedy)
        }
    if term == "reward_window":
        return {term: None if value is None else duration(term, value)}
    if term in _PARSERS:
        return {term: _PARSERS[term](value)}
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


def _share(term: str, value: Any) -> float:
    """Return a share of the arrivals; some must be left that are not held out."""
    high, remedy = (0.9 if term == "holdout" else 1), "give a share of the arrivals, such as 0.1"
    return checks.number(term, value, low=0, high=high, error=InvalidTerms, remedy=remedy)


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
    return {"expires": expires, "charged": tuple(charged), "learns": _learns(actions)}


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


def _memory(value: Any) -> float:
    remedy = "it is the weight of what the campaign before has seen"
    return checks.number("memory", value, low=0, high=1, error=InvalidTerms, remedy=remedy)


_PARSERS: dict[str, Callable[[Any], Any]] = {
    "reward_range": parse_reward_range,
    "currency": parse_currency,
    "after": lambda value: campaign_name(value, "after"),
    "memory": _memory,
    "prior": lambda value: parse_prior(value).to_dict(),
}
"""Parsers of terms that depend on no other."""


def _defaults(
    value: Any, contexts: tuple[str, ...], scale: RewardScale
) -> dict[str, float] | str | None:
    if value is None or (isinstance(value, str) and value == LEARNED):
        return checks.plain(value)  # type: ignore[no-any-return]
    if not isinstance(value, Mapping):
        rule = f"be a number for each context by name, or {LEARNED!r}"
        raise checks.refuse("default_rewards", rule, value, error=InvalidTerms)
    checks.known_keys("default_rewards", value, required=contexts, error=InvalidTerms)
    return {
        context: scale.to_unit(
            f"the default reward of {context!r}", value[context], error=InvalidTerms
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
    if terms.learned_costs or terms.risk > 0.0:
        raise InvalidTerms(
            "default goes with neither learn_cost nor risk: the money that is set aside for it is "
            "that of declared costs and full reserves; leave default out, or the other two"
        )
    if terms.spreads or terms.per_person is not None:
        raise InvalidTerms(
            "default goes with none of holdout, explore and per_person: it serves every arrival, "
            "and these leave some without; leave default out, or the others"
        )


def refuse_contradictions(terms: Terms) -> None:
    """Refuse terms that are valid one by one, and not together."""
    policy = terms.policy
    if terms.reward_window is not None and terms.scale.low != 0:
        low, high = terms.scale.low, terms.scale.high
        raise InvalidTerms(
            "reward_window needs a reward_range that begins at 0, as silence is a reward of 0, got "
            f"reward_range=({low:g}, {high:g}); shift the rewards, or leave the window out"
        )
    if terms.default is not None:
        _refuse_default(terms)
    if (terms.default is not None or terms.pace is not None) and isinstance(
        policy.rewards, ExploreFirst
    ):
        raise InvalidTerms(
            "a policy that explores first does not plan with the money of a pace or beside a "
            "default; leave both out, or choose another policy, such as thrifty()"
        )
    if terms.memory is not None and terms.after is None:
        raise InvalidTerms(
            "memory is the weight of the campaign that after names, which is missing; give after, "
            "or leave memory out"
        )
    _refuse_rewards(terms)
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
    if isinstance(terms.horizon, ClosingTime) and terms.counts_rounds:
        raise InvalidTerms(
            "this policy tests its knowledge against the number of rounds, which a closing time "
            "does not tell; give horizon= a number, or choose another policy, such as thrifty()"
        )


def _refuse_rewards(terms: Terms) -> None:
    """Refuse a range of rewards without what other terms need it for."""
    if terms.reward_range is None:
        return
    if isinstance(terms.policy.rewards, KnownRewards):
        raise InvalidTerms(
            "a policy with known means has them from 0 to 1, whatever reward_range says; leave "
            "reward_range out and scale rewards yourself, or give the means as a prior to a policy "
            "that learns"
        )
    if terms.default_rewards is None and not 0.0 <= terms.scale.zero <= 1.0:
        raise InvalidTerms(
            f"a skip brings 0, and rewards are {terms.scale}; give default_rewards, or a "
            "reward_range that holds 0"
        )
