"""Terms: what a campaign was opened with, and keeps to.

`make_terms` checks what a person wrote; `Terms` holds it as the ledger and the kernels want it,
money in whole units, and goes through JSON and back.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from datetime import datetime
from decimal import Decimal
from fractions import Fraction
from typing import Any

from almoner import checks
from almoner.errors import BrokenLedger, DifferentTerms, InvalidTerms
from almoner.live.closing_time import ClosingTime
from almoner.money import Denomination, denomination
from almoner.policy.base import Policy
from almoner.policy.contexts import EmpiricalContexts, TruncatedContexts
from almoner.policy.recipes import recipe
from almoner.policy.rewards import ExploreFirst, KnownRewards

__all__ = [
    "LEARNED",
    "NAME_LIMIT",
    "NAME_RULE",
    "SKIP_NAME",
    "Action",
    "Terms",
    "campaign_name",
    "is_name",
    "make_terms",
    "refuse_differences",
]

LEARNED = "learned"
"""What ``default_rewards`` is where skipping has a reward that must be learned."""

NAME_LIMIT = 200
"""A longer name is a mistake."""

PAIRS_LIMIT = 100_000
"""Contexts × actions of a campaign: each costs memory and time in every decision."""

UNIT_REACH = 10**15
"""The largest unit, and one over the smallest: prices and amounts stay numbers."""

SKIP_NAME = "skip"
"""What doing nothing is called in exports; no action may be called that."""

Priced = int | dict[str, int]
"""Units: one number for all contexts, or one for each by name."""


@dataclass(frozen=True, kw_only=True)
class Action:
    """What an action costs.

    Parameters
    ----------
    cost
        What it is expected to cost: one amount, or one for each context by name.
    reserve
        The most it can cost, if that is more: held from the decision until it is settled.

    Examples
    --------
    >>> Action(cost=0.004, reserve=0.02)
    Action(cost=0.004, reserve=0.02)
    """

    cost: Any
    reserve: Any = None


@dataclass(frozen=True, kw_only=True)
class Terms:
    """The terms of a campaign, money in whole units of ``unit``.

    ``costs`` and ``reserves`` are those of the actions by name, in the order of the actions.
    """

    contexts: tuple[str, ...]
    costs: dict[str, Priced]
    reserves: dict[str, Priced]
    horizon: int | ClosingTime
    budget: int
    policy: Policy
    unit: Denomination
    default_rewards: dict[str, float] | str | None
    new_contexts: bool
    seed: int

    @property
    def actions(self) -> tuple[str, ...]:
        """The names of the actions."""
        return tuple(self.costs)

    def offers_in(self, context: str) -> list[tuple[str, int, int]]:
        """Return the actions in a context: name, expected cost and reserve of each."""
        return [*zip(self.actions, self.costs_in(context), self.reserves_in(context), strict=True)]

    def costs_in(self, context: str) -> list[int]:
        """Return what each action is expected to cost in a context."""
        return [_in_context(priced, context) for priced in self.costs.values()]

    def reserves_in(self, context: str) -> list[int]:
        """Return what each action may cost at most in a context."""
        return [_in_context(priced, context) for priced in self.reserves.values()]

    def written(self) -> dict[str, Any]:
        """Return the terms as `make_terms` takes them."""

        def amount(priced: Priced) -> Any:
            if isinstance(priced, dict):
                return {context: amount(units) for context, units in priced.items()}
            return Decimal(priced * self.unit.top) / self.unit.bottom

        return {
            "contexts": self.contexts,
            "actions": {
                name: Action(cost=amount(cost), reserve=amount(self.reserves[name]))
                for name, cost in self.costs.items()
            },
            "horizon": self.horizon,
            "budget": amount(self.budget),
            "policy": self.policy,
            "unit": Decimal(self.unit.top) / self.unit.bottom,
            "default_rewards": self.default_rewards,
            "new_contexts": self.new_contexts,
            "seed": self.seed,
        }

    def opened(self, now: datetime) -> Terms:
        """Return the same terms with what is known only when the campaign is created."""
        if not isinstance(self.horizon, ClosingTime):
            return self
        return replace(self, horizon=self.horizon.opened(now))

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        timed = isinstance(self.horizon, ClosingTime)
        return {
            **{field.name: getattr(self, field.name) for field in fields(self)},
            "contexts": list(self.contexts),
            "horizon": self.horizon.to_dict() if timed else self.horizon,  # type: ignore[union-attr]
            "policy": self.policy.to_dict(),
            "unit": list(self.unit),
        }

    @classmethod
    def from_json(cls, text: str) -> Terms:
        """Build terms from the JSON that a store keeps."""
        try:
            return cls.from_dict(json.loads(text))
        except ValueError as reason:
            raise BrokenLedger(
                f"the stored terms of the campaign cannot be read: {reason}"
            ) from None

    @classmethod
    def from_dict(cls, table: Any) -> Terms:
        """Build terms from what `to_dict` returned."""
        try:
            horizon = table["horizon"]
            timed = isinstance(horizon, dict)
            return cls(
                **{
                    **table,
                    "contexts": tuple(table["contexts"]),
                    "horizon": ClosingTime.from_dict(horizon) if timed else horizon,
                    "policy": Policy.from_dict(table["policy"]),
                    "unit": Denomination(*table["unit"]),
                }
            )
        except (KeyError, TypeError) as reason:
            raise BrokenLedger(
                f"the stored terms of the campaign cannot be read: {reason}"
            ) from None


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
) -> Terms:
    """Check the terms of a campaign as a person writes them; see `almoner.Agent.open`."""
    names, money = _contexts(contexts), _unit(unit)
    given = {
        "actions": actions,
        "horizon": horizon,
        "budget": budget,
        "policy": policy,
        "default_rewards": default_rewards,
        "new_contexts": new_contexts,
        "seed": seed,
    }
    read = [_read(term, value, names, money) for term, value in given.items()]
    terms = Terms(contexts=names, unit=money, **{k: v for part in read for k, v in part.items()})
    _refuse_contradictions(terms)
    return terms


def refuse_differences(stored: Terms, campaign: str, given: dict[str, Any]) -> None:
    """Refuse terms that differ from those of the campaign, and name the first that does."""
    known = stored.written()
    checks.known_keys("the campaign", given, required=(), optional=list(known), error=InvalidTerms)
    for term in ("unit", "contexts", *given):  # these two first: the others are read in them
        if given.get(term) is None:
            continue
        fields = _read(term, given[term], stored.contexts, stored.unit)
        asked = replace(stored, **fields)
        if isinstance(stored.horizon, ClosingTime) and stored.horizon.opens is not None:
            asked = asked.opened(stored.horizon.opens)
        now = asked.written()[term]
        if now != known[term]:
            what, was, got = _difference(term, known[term], now)
            raise DifferentTerms(
                f"campaign {campaign!r} was opened with {what}={was}, got {what}={got}; leave it "
                "out to resume the campaign, or choose another name"
            )


def _read(term: str, value: Any, contexts: tuple[str, ...], money: Denomination) -> dict[str, Any]:
    """Return what one term, checked, means for the fields of `Terms`."""
    if term == "contexts":
        return {term: _contexts(value)}
    if term == "unit":
        return {term: _unit(value)}
    if term == "actions":
        costs, reserves = _prices(value, contexts, money)
        return {"costs": costs, "reserves": reserves}
    if term == "horizon":
        return {term: _horizon(value)}
    if term == "budget":
        return {term: money.units(term, value, error=InvalidTerms)}
    if term == "policy":
        return {term: value if isinstance(value, Policy) else recipe(value)}
    if term == "default_rewards":
        return {term: _defaults(value, contexts)}
    if term == "seed":
        return {term: checks.whole(term, value, low=0, error=InvalidTerms)}
    checks.flag(term, value, error=InvalidTerms)
    return {term: value}


def _difference(what: str, was: Any, got: Any) -> tuple[str, str, str]:
    """Return where two values of a term differ, as closely as it can be said, and both there."""
    if isinstance(was, Action) and isinstance(got, Action):
        part = "cost" if was.cost != got.cost else "reserve"
        return _difference(f"{what}.{part}", getattr(was, part), getattr(got, part))
    if isinstance(was, Mapping) and isinstance(got, Mapping):
        if set(was) != set(got):
            return what, str(list(was)), str(list(got))
        name = next(name for name in was if was[name] != got[name])
        return _difference(f"{what}[{name!r}]", was[name], got[name])
    return what, _shown(was), _shown(got)


def _shown(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{name!r}: {_shown(one)}" for name, one in value.items()) + "}"
    return f"{value:f}" if isinstance(value, Decimal) else repr(value)


def _contexts(contexts: Any) -> tuple[str, ...]:
    names = _names("contexts", contexts)
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


def _prices(
    actions: Any, contexts: tuple[str, ...], money: Denomination
) -> tuple[dict[str, Priced], dict[str, Priced]]:
    if not isinstance(actions, Mapping) or not actions:
        remedy = 'write them like {"coupon": 5.0}'
        raise checks.refuse("actions", "be a table of costs by name", actions, remedy, InvalidTerms)
    costs: dict[str, Priced] = {}
    reserves: dict[str, Priced] = {}
    if SKIP_NAME in actions:
        raise InvalidTerms(
            f"an action must not be called {SKIP_NAME!r}, which is always possible and free; "
            "give it another name, and see default_rewards for what it brings"
        )
    for name in _names("actions", list(actions)):
        action = actions[name]
        if not isinstance(action, Action):
            action = Action(cost=action)
        costs[name] = _priced(f"the cost of {name!r}", action.cost, contexts, money)
        reserves[name] = costs[name]
        if action.reserve is not None:
            what = f"the reserve of {name!r}"
            reserves[name] = _priced(what, action.reserve, contexts, money)
            for context in contexts or ("",):
                if _in_context(reserves[name], context) < _in_context(costs[name], context):
                    raise checks.refuse(
                        what, "be no less than its cost", action.reserve, error=InvalidTerms
                    )
    return costs, reserves


def _priced(what: str, value: Any, contexts: tuple[str, ...], money: Denomination) -> Priced:
    if value is None:
        raise InvalidTerms(
            f"{what} is missing; every action needs its price: what is free is a skip"
        )
    if not isinstance(value, Mapping):
        return money.units(what, value, above=0, error=InvalidTerms)
    checks.known_keys(what, value, required=contexts, error=InvalidTerms)
    return {
        context: money.units(f"{what} for {context!r}", value[context], above=0, error=InvalidTerms)
        for context in contexts
    }


def _in_context(priced: Priced, context: str) -> int:
    return priced[context] if isinstance(priced, dict) else priced


def _defaults(given: Any, contexts: tuple[str, ...]) -> dict[str, float] | str | None:
    if given is None or (isinstance(given, str) and given == LEARNED):
        return checks.plain(given)  # type: ignore[no-any-return]
    if not isinstance(given, Mapping):
        rule = f"be a number for each context by name, or {LEARNED!r}"
        raise checks.refuse("default_rewards", rule, given, error=InvalidTerms)
    checks.known_keys("default_rewards", given, required=contexts, error=InvalidTerms)
    return {
        context: checks.number(
            f"the default reward of {context!r}", given[context], low=0, high=1, error=InvalidTerms
        )
        for context in contexts
    }


def _refuse_contradictions(terms: Terms) -> None:
    policy = terms.policy
    by_context = any(
        isinstance(priced, dict) for priced in (*terms.costs.values(), *terms.reserves.values())
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


NAME_RULE = f"1 to {NAME_LIMIT} characters, none of them NUL or half of a surrogate pair"
"""What `is_name` asks for, in words."""


def is_name(value: object) -> bool:
    """Return whether this can be a name: short enough, and text that every store can hold."""
    return (
        isinstance(value, str)
        and 0 < len(value) <= NAME_LIMIT
        and "\0" not in value
        and (value.isascii() or not any("\ud800" <= letter <= "\udfff" for letter in value))
    )


def _names(name: str, value: Any) -> tuple[str, ...]:
    unordered = isinstance(value, (set, frozenset))  # another process would see another order
    if isinstance(value, (str, Mapping)) or unordered or not isinstance(value, Iterable):
        raise checks.refuse(name, "be a list of names", value, error=InvalidTerms)
    names = tuple(value)
    for entry in names:
        if not is_name(entry):
            raise checks.refuse(name, f"be names of {NAME_RULE}", entry, error=InvalidTerms)
    return checks.names(name, names, count=len(names), error=InvalidTerms)


def campaign_name(name: Any) -> str:
    """Return the name of a campaign; refuse what cannot be one."""
    name = checks.plain(name)
    fits = isinstance(name, str) and 0 < len(name) <= NAME_LIMIT and name.isprintable()
    if not fits or "/" in name:
        rule = f"be a text of 1 to {NAME_LIMIT} printable characters without a slash"
        raise checks.refuse("name", rule, name, error=InvalidTerms)
    return name  # type: ignore[no-any-return]
