"""Parse the terms of a campaign as a person writes them: checks, money to units, defaults."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from typing import Any

from almoner import checks
from almoner.errors import InvalidTerms
from almoner.live.terms.contradictions import refuse_contradictions
from almoner.live.terms.names import campaign_name, name_list
from almoner.live.terms.pace import parse_pace
from almoner.live.terms.parse_actions import parse_actions
from almoner.live.terms.per_person import parse_per_person
from almoner.live.terms.prior import parse_prior
from almoner.live.terms.reward_scale import (
    UNSCALED,
    RewardScale,
    parse_currency,
    parse_reward_range,
)
from almoner.live.terms.row_terms import (
    parse_features,
    row_contexts,
    row_policy,
)
from almoner.live.terms.terms import LEARNED, Terms
from almoner.live.times.closing_time import ClosingTime
from almoner.live.times.durations import duration
from almoner.money import Denomination, denomination
from almoner.policy.base import Policy
from almoner.policy.recipes import recipe

__all__ = ["make_terms", "parse_term"]

MEMORY = 0.75
"""Weight of an earlier campaign: four weekly campaigns then bring as much as one of four weeks
(benchmarks/campaigns/carry_over.py)."""

LEAST_SHARE = 1e-9
"""The least share of arrivals that are held out, or decided at random, if there are any."""

UNIT_REACH = 10**15
"""The largest unit, and one over the smallest: costs and amounts stay finite numbers."""


def make_terms(
    *,
    contexts: Iterable[str] | None = None,
    actions: Mapping[str, Any],
    horizon: Any,
    budget: Any,
    policy: Policy | str | None = None,
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
    scores: bool = False,
    features: Iterable[str] | None = None,
) -> Terms:
    """Check and convert the terms of a campaign; see `almoner.Agent.open` for their meaning."""
    on_rows = scores is not False or features is not None
    names = row_contexts(contexts) if on_rows else _contexts(contexts)
    money = _unit(unit)
    if policy is None:
        policy = row_policy(default=default, scores=features is None) if on_rows else "thrifty"
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
        "scores": scores,
    }
    optional = {
        "features": features,
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
    if term == "features":
        return {term: parse_features(value)}
    if term == "unit":
        return {term: _unit(value)}
    if term == "actions":
        return parse_actions(value, contexts, money)
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
        return {term: checks.plain(value)}  # which of the actions: see refuse_contradictions
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
    share = checks.number(term, value, low=0, high=high, error=InvalidTerms, remedy=remedy)
    if 0 < share < LEAST_SHARE:  # the probabilities that are logged would be 0
        raise checks.refuse(term, f"be 0 or at least {LEAST_SHARE:g}", value, remedy, InvalidTerms)
    return share


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
