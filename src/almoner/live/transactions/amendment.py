"""Amendments: the terms of a running campaign after a change of some of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, replace
from math import ceil
from typing import Any

from almoner import checks
from almoner.errors import Conflict, InvalidTerms
from almoner.live.state.campaign_state import Campaign
from almoner.live.state.status import Status
from almoner.live.terms.action import Action, in_context
from almoner.live.terms.contradictions import refuse_contradictions
from almoner.live.terms.names import name_list
from almoner.live.terms.parse_terms import parse_term
from almoner.live.terms.terms import PAIRS_LIMIT, Terms
from almoner.live.terms.written_terms import written_terms
from almoner.live.times.closing_time import ClosingTime

__all__ = ["Changes", "amended_terms", "least_budget"]


@dataclass(frozen=True, kw_only=True)
class Changes:
    """Changes of a campaign's terms, as a person writes them; what is None stays as it is.

    Parameters
    ----------
    budget
        The amount that may be spent in all.
    horizon
        The number of arrivals in all, for a campaign that has one.
    closes
        The new end, for a campaign with a closing time; a time with its zone.
    arrivals
        The number of arrivals expected from the opening to the end; left out, the forecast goes on.
    add
        New actions by name, as `almoner.Agent.open` takes them.
    stop, restart
        Actions that are no longer taken, and those that are taken again.
    costs
        New costs by action; an `Action` if reserve or expiry change too.
    """

    budget: Any = None
    horizon: Any = None
    closes: Any = None
    arrivals: Any = None
    add: Any = None
    stop: Any = None
    restart: Any = None
    costs: Any = None

    def __post_init__(self) -> None:
        if all(getattr(self, change.name) is None for change in fields(self)):
            names = ", ".join(change.name for change in fields(self))
            raise InvalidTerms(f"an amendment must change something; give one of {names}")
        for change in fields(self):  # they are read more than once
            value = getattr(self, change.name)
            if isinstance(value, Iterator):
                object.__setattr__(self, change.name, list(value))


def amended_terms(campaign: Campaign, changes: Changes, now: int) -> Terms:
    """Return the terms of a campaign after changes; refuse changes that cannot be made now."""
    if campaign.status == Status.CLOSED:
        raise Conflict("the campaign is closed for good; open another one")
    terms = campaign.terms
    if changes.budget is not None:
        terms = replace(terms, budget=_budget(campaign, now, changes.budget))
    terms = replace(terms, horizon=_horizon(campaign, changes, now))
    terms = _with_actions(terms, changes)
    pairs = len(campaign.contexts) * len(terms.actions)
    if pairs > PAIRS_LIMIT:
        raise InvalidTerms(
            f"contexts × actions must be at most {PAIRS_LIMIT:,}, got {len(campaign.contexts):,} × "
            f"{len(terms.actions):,}; add fewer actions"
        )
    if terms != campaign.terms:
        refuse_contradictions(terms)
        Campaign(terms)  # refuses a policy that does not fit
    return terms


def least_budget(campaign: Campaign, now: int) -> int:
    """Return the least budget to which a campaign may be amended now, in units.

    With a risk, reserves need not be kept in full: what open decisions may cost, but for the risk.
    """
    ledger, aged = campaign.ledger_at(now), campaign.evidence.aged_reserves(campaign, now)
    if aged is None:
        return ledger.spent + ledger.reserved
    return min(ledger.budget, ledger.spent + min(ledger.reserved, ceil(aged.most())))


def _budget(campaign: Campaign, now: int, value: Any) -> int:
    money, risk = campaign.terms.unit, campaign.terms.risk
    budget, least = money.units("budget", value, error=InvalidTerms), least_budget(campaign, now)
    if budget < least:
        ledger = campaign.ledger_at(now)
        spent, held = money.amounts(ledger.spent, least - ledger.spent)
        how = f"that open decisions may cost but for the risk of {risk:g}" if risk else "reserved"
        rule = f"be at least the {spent!r} spent and {held!r} {how}"
        remedy = f"the least possible now is {money.amount(least)!r}"
        raise checks.refuse("budget", rule, value, remedy, InvalidTerms)
    return budget


def _horizon(campaign: Campaign, changes: Changes, now: int) -> int | ClosingTime:
    present = campaign.terms.horizon
    if not isinstance(present, ClosingTime):
        for name in ("closes", "arrivals"):
            if getattr(changes, name) is not None:
                raise InvalidTerms(
                    f"{name} cannot be changed: the campaign ends after {present:,} arrivals, not "
                    "at a time; give horizon=…"
                )
        if changes.horizon is None:
            return present
        remedy = f"{campaign.arrivals:,} have come"
        low = max(1, campaign.arrivals)
        return checks.whole("horizon", changes.horizon, low=low, error=InvalidTerms, remedy=remedy)
    if changes.horizon is not None:
        raise InvalidTerms(
            f"horizon cannot be changed: the campaign ends at {present.at.isoformat()}, not after "
            "a number of arrivals; give closes=… or arrivals=…"
        )
    if changes.closes is None and changes.arrivals is None:
        return present
    closes = present.at if changes.closes is None else changes.closes
    moved = present.moved(closes, changes.arrivals)
    if moved.at.timestamp() * 1e6 <= now:
        remedy = "to end the campaign now, close it"
        raise checks.refuse(
            "closes", "be in the future", moved.at.isoformat(), remedy, InvalidTerms
        )
    return moved


def _with_actions(terms: Terms, changes: Changes) -> Terms:
    """Return terms with actions added, stopped, restarted, and with other costs."""
    written = written_terms(terms)["actions"]
    added = _table("add", changes.add)
    for name in added:
        if name in written:
            _refuse_repeated(terms, name, added, written, changes)
    costs = {
        checks.choice("an action of costs", name, written, error=InvalidTerms): value
        for name, value in _table("costs", changes.costs).items()
    }
    new = {name: _recosted(terms, name, value) for name, value in costs.items()}
    if added or new:
        actions = {**written, **added, **new}
        terms = replace(terms, **parse_term("actions", actions, terms.contexts, terms.unit))
    stop, restart = (_names(terms, name, getattr(changes, name)) for name in ("stop", "restart"))
    for name in stop & restart:
        raise checks.refuse("stop", "name no action to restart too", name, error=InvalidTerms)
    if terms.default in stop:
        remedy = "its cost can be changed"
        raise checks.refuse(
            "stop",
            "not name the default, which takes the place of skipping",
            terms.default,
            remedy,
            InvalidTerms,
        )
    stopped = ({*terms.stopped} | stop) - restart
    if stopped >= {*terms.actions}:
        raise InvalidTerms(
            "stop must leave an action that can be taken; to take none for a while, pause the "
            "campaign"
        )
    return replace(terms, stopped=tuple(name for name in terms.actions if name in stopped))


def _parsed(terms: Terms, name: str, actions: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of `Terms` that one action determines."""
    return parse_term("actions", {name: actions[name]}, terms.contexts, terms.unit)


def _refuse_repeated(
    terms: Terms, name: str, added: dict[str, Any], written: dict[str, Any], changes: Changes
) -> None:
    """Refuse an action to add that exists, unless the same request may have been sent twice."""
    stopped = name in terms.stopped and name not in name_list("restart", changes.restart or ())
    remedy = f"take it again with restart=[{name!r}]" if stopped else ""
    if _parsed(terms, name, added) != _parsed(terms, name, written):
        remedy += " and " * stopped + "change its cost with costs=…"
    elif not stopped or name in name_list("stop", changes.stop or ()):
        return
    rule = "name new actions, and this one is stopped" if stopped else "name new actions"
    raise checks.refuse("add", rule, name, remedy, InvalidTerms)


def _recosted(terms: Terms, name: str, value: Any) -> Action:
    """Return an action at a new cost; a reserve that was its cost follows it."""
    if isinstance(value, Action):
        return value
    action: Action = written_terms(terms)["actions"][name]
    if action.reserve == action.cost:
        return replace(action, cost=value, reserve=None)
    costs = _parsed(terms, name, {name: value})["costs"][name]
    for context in terms.contexts:
        reserve = in_context(terms.reserves[name], context)
        if in_context(costs, context) > reserve:
            rule = f"give {name!r} no more than its reserve {terms.unit.amount(reserve):g}"
            remedy = "for another reserve, give an Action with cost and reserve"
            raise checks.refuse("costs", rule, {name: value}, remedy, InvalidTerms)
    return replace(action, cost=value)


def _table(name: str, value: Any) -> dict[str, Any]:
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise checks.refuse(
            name, "be a table by action", value, 'write it like {"gift": 7}', InvalidTerms
        )
    return {checks.plain(action): entry for action, entry in value.items()}


def _names(terms: Terms, name: str, value: Any) -> set[str]:
    if value is None:
        return set()
    return {
        checks.choice(f"an action to {name}", action, terms.actions, error=InvalidTerms)
        for action in name_list(name, value)
    }
