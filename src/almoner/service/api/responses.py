"""Types of JSON responses, beside the library's own `Decision`, `Settlement` and `Report`.

Money is an amount in the campaign's currency, rewards and prices are in the unit of its rewards,
time is in ISO 8601.
"""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from almoner.live.decision import Decision
from almoner.live.export import LoggedDecision
from almoner.live.reports.open_decisions import OpenReserve
from almoner.live.reports.report import CurvePoint, Report
from almoner.live.state.campaign_state import Campaign
from almoner.live.terms.action import PerContext
from almoner.live.terms.terms import CHARGE, RELEASE, Terms
from almoner.live.times.closing_time import ClosingTime
from almoner.live.times.durations import in_words

__all__ = [
    "ActionCost",
    "ActionPlan",
    "AmendmentPreview",
    "CampaignList",
    "CampaignStatus",
    "CampaignView",
    "ContextPlan",
    "Curve",
    "Decisions",
    "ErrorAnswer",
    "Forgotten",
    "Health",
    "Latest",
    "ListedCampaign",
    "OpenDecisions",
    "Plan",
]


class ErrorAnswer(Struct, kw_only=True):
    """An error: a code for programs, a sentence for people."""

    error: str
    message: str


class CampaignStatus(Struct, kw_only=True):
    """The status of a campaign."""

    name: str
    status: str


CampaignStatus.__name__ = "State"  # its name in the OpenAPI document, for generated clients


class ActionCost(Struct, kw_only=True):
    """The expected cost of an action, its reserve, when that expires, and if it was stopped."""

    cost: float | dict[str, float]
    reserve: float | dict[str, float]
    expires: str | None = None
    on_expiry: str | None = None
    stopped: bool = False
    learn_cost: bool = False


class AmendmentPreview(Struct, kw_only=True):
    """A change of a campaign in words, and its reports as it is and as it would be."""

    changes: list[str]
    before: Report
    after: Report


class OpenDecisions(Struct, kw_only=True):
    """Decisions whose reserve is not settled, oldest first."""

    decisions: list[OpenReserve]


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
            left=amount(ledger.left),
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
        )


def _per_person(terms: Terms) -> dict[str, int | str] | None:
    if terms.per_person is None:
        return None
    return {"actions": terms.per_person[0], "every": in_words(terms.per_person[1])}


class Forgotten(Struct, kw_only=True):
    """A person was forgotten: how many actions had been kept of them."""

    actions: int


class ListedCampaign(Struct, kw_only=True):
    """A campaign in the list; the status is broken where its log cannot be read."""

    name: str
    status: str
    budget: float | None = None
    spent: float | None = None
    reserved: float | None = None
    left: float | None = None
    arrivals: int | None = None
    arrivals_left: float | None = None
    currency: str | None = None
    message: str | None = None


class CampaignList(Struct, kw_only=True):
    """All campaigns of the store, oldest first."""

    campaigns: list[ListedCampaign]


class Decisions(Struct, kw_only=True):
    """The decisions of a batch, in the order of its contexts."""

    decisions: list[Decision]


class Curve(Struct, kw_only=True):
    """The course of a campaign so far, in a few hundred points."""

    points: list[CurvePoint]


class Latest(Struct, kw_only=True):
    """The latest decisions, newest first."""

    decisions: list[LoggedDecision]


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


class ActionPlan(Struct, kw_only=True):
    """One action in one context: its guessed or inherited mean, and its planned probability."""

    action: str
    cost: float
    reserve: float
    mean: float
    planned: float


class ContextPlan(Struct, kw_only=True):
    """One context: its share of the arrivals, and the planned share of them that is served."""

    context: str
    share: float
    served: float
    actions: list[ActionPlan]


class Plan(Struct, kw_only=True):
    """The optimum of the static LP for the guesses.

    ``value`` is the expected reward of an arrival and ``total`` that of all of them; ``spend`` is
    their expected cost; the ``price`` is the gain from one more unit of money, and it jumps at the
    ``boundaries``, which are budgets per arrival like the ``ratio``. ``inherited`` is the number of
    rewards that the campaign would begin with.
    """

    budget: float
    arrivals: float
    ratio: float
    price: float
    value: float
    total: float
    spend: float
    boundaries: list[float]
    contexts: list[ContextPlan]
    inherited: float = 0.0


class Health(Struct, kw_only=True):
    """The state of the service."""

    status: str
