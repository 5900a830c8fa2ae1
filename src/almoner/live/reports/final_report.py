"""Final report of a campaign: whether it has worked, what that has cost, and other budgets."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from almoner.kernels.state import OVERALL_MEAN
from almoner.live.estimates.estimates import optimum, pair_means
from almoner.live.estimates.lift import Difference, Estimate, compare, group_mean, stratified_lift
from almoner.live.estimates.lift_tally import LiftTally
from almoner.live.reports.history import History
from almoner.live.reports.make_report import present_estimates
from almoner.live.state.campaign_state import Campaign
from almoner.live.terms.reward_scale import RewardScale
from almoner.live.terms.terms import Terms
from almoner.live.times.closing_time import ClosingTime

__all__ = [
    "BudgetPoint",
    "FinalReport",
    "GroupReport",
    "LiftReport",
    "in_digits",
    "make_final_report",
    "sentences",
]

MULTIPLES = (0.25, 0.5, 1.0, 1.5, 2.0, 4.0)
"""The budgets of the curve, as multiples of the campaign's."""

MORE, LESS, UNCLEAR = "more", "less", "unclear"
"""Verdicts: the interval of the lift is above 0, below it, or contains it."""

UNEVEN = 0.2
"""Difference of the shares of arrivals with a reward from which on two groups are not alike."""


@dataclass(frozen=True, kw_only=True)
class GroupReport:
    """Arrivals with the campaign or without it.

    ``mean`` is the reward of an arrival, with a 95 % interval from ``low`` to ``high``;
    ``rewarded`` arrivals have a reward, and ``open`` ones count as 0 until one comes (a skip whose
    reward is known counts as that). Estimated from exploration, the arrivals without the campaign
    are the same ones.
    """

    arrivals: int
    rewarded: int
    open: int
    mean: float
    low: float
    high: float


@dataclass(frozen=True, kw_only=True)
class LiftReport:
    """The reward of an arrival with the campaign less that without it.

    Attributes
    ----------
    method
        ``"holdout"``: arrivals that were held out are compared with the others. ``"explore"``:
        actions with skips of arrivals that were as likely to be skipped.
    with_campaign, without
        The two groups.
    lift, low, high
        The lift of an arrival, with its 95 % interval. Arrivals are taken to be independent:
        the interval is too narrow where the same persons come again and again.
    extra, extra_low, extra_high
        The same for all arrivals with the campaign together.
    cost, cost_low, cost_high
        Money spent, or planned for open decisions, for each extra unit of reward; None where the
        interval has no such end, and ``cost`` too unless the lift is above 0 beyond doubt.
    verdict
        ``"more"`` or ``"less"`` if the interval is above or below 0, ``"unclear"`` otherwise.
    warning
        A reason to doubt the comparison; None if there is none.
    """

    method: str
    with_campaign: GroupReport
    without: GroupReport
    lift: float
    low: float
    high: float
    extra: float
    extra_low: float
    extra_high: float
    cost: float | None
    cost_low: float | None
    cost_high: float | None
    verdict: str
    warning: str | None


@dataclass(frozen=True, kw_only=True)
class BudgetPoint:
    """The reward of all arrivals to be expected of another budget, by the present estimates.

    ``budget`` is ``multiple`` times that of the campaign, and ``extra`` the difference to it.
    """

    multiple: float
    budget: float
    reward: float
    extra: float


@dataclass(frozen=True, kw_only=True)
class FinalReport:
    """Whether a campaign has worked, so far or at its end.

    Attributes
    ----------
    arrivals, served, rewarded, reward
        Arrivals, actions taken, rewards that have come, and their sum.
    budget, spent, planned
        Money: all of it, that of bills, and the expected cost of open decisions.
    lift
        The comparison with no campaign; None without a hold-out, exploration, or enough arrivals.
    missing
        The reason why there is no lift; None if there is one.
    budgets
        The plan at other budgets.
    reward_range, currency
        The range of rewards, None for 0 to 1, and the currency of money and of rewards in a range.
    """

    name: str
    status: str
    arrivals: int
    served: int
    rewarded: int
    reward: float
    budget: float
    spent: float
    planned: float
    lift: LiftReport | None
    missing: str | None
    budgets: list[BudgetPoint]
    reward_range: tuple[float, float] | None = None
    currency: str | None = None

    @property
    def money_unit(self) -> str:
        """The currency after an amount of money, with a space before it; may be empty."""
        return f" {self.currency}" if self.currency else ""

    @property
    def reward_unit(self) -> str:
        """The currency after an amount of reward, which only rewards in a range have."""
        return "" if self.reward_range is None else self.money_unit


def make_final_report(name: str, campaign: Campaign, history: History) -> FinalReport:
    """Return the final report of a campaign and its history, both after the same event."""
    ledger, amount = campaign.ledger, campaign.terms.unit.amount
    lift = missing = None
    if history.lift is None:
        missing = "there is nothing to compare with: open the next campaign with holdout=0.1"
    else:
        lift = _lift(history.lift, campaign.terms, amount(ledger.committed))
        if lift is None:
            missing = "there are not enough arrivals with and without the campaign yet"
    return FinalReport(
        name=name,
        status=campaign.status,
        arrivals=campaign.arrivals,
        served=history.taken.total(),
        rewarded=history.rewarded,
        reward=history.total,
        budget=amount(ledger.budget),
        spent=amount(ledger.spent),
        planned=amount(ledger.planned),
        lift=lift,
        missing=missing,
        budgets=_budgets(campaign, history),
        reward_range=campaign.terms.reward_range,
        currency=campaign.terms.currency,
    )


def _lift(tally: LiftTally, terms: Terms, money: float) -> LiftReport | None:
    """Return the lift, for which ``money`` was spent or is planned."""
    reached, held_out = tally.reached, tally.held_out
    if reached.arrivals == 0:
        return None
    first = group_mean(reached)
    if terms.holdout > 0:
        if held_out.arrivals == 0:
            return None
        lift = compare(reached, held_out)
        without = _group(
            group_mean(held_out), held_out.arrivals, tally.rewarded_held_out, terms.scale
        )
    else:
        stratified = stratified_lift(tally.actions, tally.skips, reached.arrivals)
        if stratified is None:
            return None
        lift = stratified
        ends = Estimate(first.mean - lift.value, first.mean - lift.high, first.mean - lift.low)
        without = _group(ends, reached.arrivals, tally.rewarded, terms.scale)
    with_campaign = _group(first, reached.arrivals, tally.rewarded, terms.scale)
    lift = Difference(*map(terms.scale.gain, lift))
    extra = Difference(*(value * reached.arrivals for value in lift))
    return LiftReport(
        method="holdout" if terms.holdout > 0 else "explore",
        with_campaign=with_campaign,
        without=without,
        lift=lift.value,
        low=lift.low,
        high=lift.high,
        extra=extra.value,
        extra_low=extra.low,
        extra_high=extra.high,
        cost=money / extra.value if extra.low > 0 else None,
        cost_low=money / extra.high if extra.high > 0 else None,
        cost_high=money / extra.low if extra.low > 0 else None,
        verdict=MORE if lift.low > 0 else LESS if lift.high < 0 else UNCLEAR,
        warning=_warning(with_campaign, without),
    )


def _group(estimate: Estimate, arrivals: int, rewarded: int, scale: RewardScale) -> GroupReport:
    return GroupReport(
        arrivals=arrivals,
        rewarded=rewarded,
        open=arrivals - rewarded,
        mean=scale.value(estimate.mean),
        low=scale.value(estimate.low),
        high=scale.value(estimate.high),
    )


def _warning(first: GroupReport, second: GroupReport) -> str | None:
    """Return a warning if rewards are told of one group more often than of the other."""
    shares = first.rewarded / first.arrivals, second.rewarded / second.arrivals
    if abs(shares[0] - shares[1]) < UNEVEN:
        return None
    return (
        f"rewards have come for {shares[0]:.0%} of the arrivals with the campaign and for "
        f"{shares[1]:.0%} of those without it: report the rewards of skips as those of actions, or "
        "the comparison is not fair"
    )


def _budgets(campaign: Campaign, history: History) -> list[BudgetPoint]:
    """Return the expected reward of all arrivals at multiples of the budget.

    Arrivals that are held out get nothing, and the others have the money to themselves.
    """
    terms, amount, budget = campaign.terms, campaign.terms.unit.amount, campaign.ledger.budget
    horizon, share = terms.horizon, 1 - terms.holdout
    arrivals = horizon.arrivals if isinstance(horizon, ClosingTime) else float(horizon)
    overall = campaign.state.fit.item(OVERALL_MEAN) if campaign.window is not None else None
    learned = pair_means(campaign.policy.pair_statistics(), overall=overall)
    estimates = present_estimates(campaign, history, learned, 0.0)
    reserves = np.array([terms.reserves_in(context) for context in campaign.contexts], np.int64)
    reserves[:, [name in terms.stopped for name in terms.actions]] = np.iinfo(np.int64).max
    idle = float(estimates.context_probs @ estimates.default_rewards)

    def reward(multiple: float) -> float:
        ratio = amount(budget) * multiple / (share * arrivals)
        plan = optimum(estimates, reserves=reserves, funds=int(budget * multiple), ratio=ratio)
        sum_of_shares = arrivals * (share * plan.value + (1 - share) * idle)
        return terms.scale.total(sum_of_shares, count=arrivals)

    own = reward(1.0)
    return [
        BudgetPoint(
            multiple=multiple,
            budget=amount(budget) * multiple,
            reward=reward(multiple),
            extra=reward(multiple) - own,
        )
        for multiple in MULTIPLES
    ]


def sentences(report: FinalReport) -> Iterator[str]:
    """Yield the report on the lift in sentences for people."""
    lift = report.lift
    if lift is None:
        yield f"Whether the campaign has worked cannot be said: {report.missing}."
        return
    first, second = lift.with_campaign, lift.without
    unit, money = report.reward_unit, report.money_unit
    yield (
        f"An arrival brings {_number(first.mean)}{unit} with the campaign and "
        f"{_number(second.mean)}{unit} without it: a lift of {_number(lift.lift)}{unit}, "
        f"95\N{NO-BREAK SPACE}% interval {_number(lift.low)} to {_number(lift.high)}{unit}."
    )
    if lift.verdict == MORE:
        low, extra, high = map(in_digits, (lift.extra_low, lift.extra, lift.extra_high))
        least, cost, most = map(in_digits, (lift.cost_low, lift.cost, lift.cost_high))
        yield (
            f"That is {extra}{unit} more in all ({low} to {high}{unit}), at {cost}{money} for each "
            f"extra {unit.strip() or 'unit'} of reward ({least} to {most}{money})."
        )
    elif lift.verdict == LESS:
        yield "The campaign has brought less than nothing: an arrival brings more without it."
    else:
        yield "The lift is not distinguishable from 0."
    waiting = first.open + (second.open if lift.method == "holdout" else 0)
    if waiting:
        yield f"{waiting:,} arrivals have no reward yet; they count as if none came."
    if lift.warning is not None:
        yield lift.warning[0].upper() + lift.warning[1:] + "."


def in_digits(value: float | None) -> str:
    """Return a sum with four digits, or whole.

    >>> in_digits(12.3456), in_digits(12345.6)
    ('12.35', '12,346')
    """
    value = 0.0 if value is None else value
    return f"{value:,.0f}" if 1e4 <= abs(value) < 1e15 else f"{value:,.4g}"


def _number(value: float) -> str:
    """Return a number with three digits, or whole, and a proper minus sign."""
    text = f"{value:,.0f}" if 1e3 <= abs(value) < 1e15 else f"{value:.3g}"
    return text.replace("-", "\N{MINUS SIGN}")
