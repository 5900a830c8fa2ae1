"""JSON response that describes a campaign: its terms, and where its money is."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from almoner.live.reports.open_costs import open_costs
from almoner.live.state.campaign_state import Campaign
from almoner.live.terms.action import PerContext
from almoner.live.terms.terms import CHARGE, RELEASE, Terms
from almoner.live.times.closing_time import ClosingTime
from almoner.live.times.durations import in_words

__all__ = ["ActionCost", "CampaignView"]


class ActionCost(Struct, kw_only=True):
    """The expected cost of an action, its reserve, when that expires, and if it was stopped."""

    cost: float | dict[str, float]
    reserve: float | dict[str, float]
    expires: str | None = None
    on_expiry: str | None = None
    stopped: bool = False
    learn_cost: bool = False


class CampaignView(Struct, kw_only=True):
    """A campaign: its terms, and where its money is.

    ``inherited`` is the number of rewards that it began with, by ``after`` or ``prior``.
    """

    name: str
    status: str
    contexts: list[str]
    actions: dict[str, ActionCost]
    horizon: int | None
    closes: str | None
    budget: float
    spent: float
    reserved: float
    left: float
    arrivals: int
    arrivals_left: float
    policy: dict[str, Any]
    unit: float
    default_rewards: dict[str, float] | str | None
    new_contexts: bool
    seed: int
    per_person: dict[str, int | str] | None
    holdout: float
    explore: float
    reward_window: str | None
    risk: float
    reward_range: tuple[float, float] | None = None
    currency: str | None = None
    after: str | None = None
    memory: float | None = None
    prior: dict[str, Any] | None = None
    inherited: float = 0.0
    pace: dict[str, float | str] | str | None
    default: str | None
    scores: bool = False
    features: list[str] | None = None

    @classmethod
    def of(cls, name: str, campaign: Campaign, now: int) -> CampaignView:
        """Describe a campaign as it is now."""
        terms, ledger, amount = campaign.terms, campaign.ledger, campaign.terms.unit.amount
        return cls(
            name=name,
            status=campaign.status,
            contexts=list(campaign.contexts),
            actions={action: _action_cost(terms, action) for action in terms.actions},
            horizon=None if isinstance(terms.horizon, ClosingTime) else terms.horizon,
            closes=terms.horizon.at.isoformat() if isinstance(terms.horizon, ClosingTime) else None,
            budget=amount(ledger.budget),
            spent=amount(ledger.spent),
            reserved=amount(ledger.reserved),
            left=amount(open_costs(campaign, now).left),
            arrivals=campaign.arrivals,
            arrivals_left=campaign.arrivals_left(now),
            policy=terms.policy.to_dict(),
            unit=amount(1),
            default_rewards=terms.shown_defaults,
            new_contexts=terms.new_contexts,
            seed=terms.seed,
            per_person=_per_person(terms),
            holdout=terms.holdout,
            explore=terms.explore,
            reward_window=terms.window_in_words,
            risk=terms.risk,
            reward_range=terms.reward_range,
            currency=terms.currency,
            after=terms.after,
            memory=terms.memory,
            prior=terms.prior,
            inherited=terms.inheritance.rewards,
            pace=_pace(terms),
            default=terms.default,
            scores=terms.scores,
            features=[*terms.features] or None,
        )


def _per_person(terms: Terms) -> dict[str, int | str] | None:
    if terms.per_person is None:
        return None
    return {"actions": terms.per_person[0], "every": in_words(terms.per_person[1])}


def _action_cost(terms: Terms, action: str) -> ActionCost:
    expires = terms.expires.get(action)
    return ActionCost(
        cost=_amounts(terms, terms.costs[action]),
        reserve=_amounts(terms, terms.reserves[action]),
        expires=None if expires is None else in_words(expires),
        on_expiry=None if expires is None else CHARGE if action in terms.charged else RELEASE,
        stopped=action in terms.stopped,
        learn_cost=action in terms.learned_costs,
    )


def _pace(terms: Terms) -> dict[str, float | str] | str | None:
    if not isinstance(terms.pace, dict):
        return terms.pace
    caps = {period: terms.unit.amount(cap) for period, cap in terms.pace["caps"].items()}
    return {**caps, "zone": terms.pace["zone"]}


def _amounts(terms: Terms, cost: PerContext) -> float | dict[str, float]:
    if isinstance(cost, dict):
        return {context: terms.unit.amount(units) for context, units in cost.items()}
    return terms.unit.amount(cost)
