"""Compute the final report of a campaign: the lift, its cost, and the plan at other budgets."""

from __future__ import annotations

import numpy as np

from almoner.live.estimates.lift import Difference, Estimate, compare, stratified_lift
from almoner.live.estimates.lift_tally import LiftTally
from almoner.live.estimates.plans import plan_at
from almoner.live.reports.final_report import (
    LESS,
    MORE,
    UNCLEAR,
    BudgetPoint,
    FinalReport,
    GroupReport,
    LiftReport,
)
from almoner.live.reports.history import History
from almoner.live.reports.make_report import present_estimates, present_means
from almoner.live.reports.open_costs import open_costs
from almoner.live.state.campaign_state import Campaign
from almoner.live.terms.reward_scale import RewardScale
from almoner.live.terms.terms import Terms

__all__ = ["make_final_report"]

MULTIPLES = (0.25, 0.5, 1.0, 1.5, 2.0, 4.0)
"""The budgets of the curve, as multiples of the campaign's."""

UNEVEN = 0.2
"""Difference of the shares of arrivals with a reward from which on two groups are not alike."""


def make_final_report(name: str, campaign: Campaign, history: History, now: int) -> FinalReport:
    """Return the final report of a campaign and its history, both after the same event."""
    ledger, amount = campaign.ledger, campaign.terms.unit.amount
    planned = open_costs(campaign, now).planned
    lift = missing = None
    if history.lift is None:
        missing = f"nothing was held out to compare with; {_remedy(campaign.terms)}"
    else:
        history.lift.end_windows(now)
        lift = _lift(history.lift, campaign.terms, amount(ledger.spent + planned))
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
        planned=amount(planned),
        lift=lift,
        missing=missing,
        budgets=_budgets(campaign, history),
        reward_range=campaign.terms.reward_range,
        currency=campaign.terms.currency,
    )


def _remedy(terms: Terms) -> str:
    """Return what to do for a lift, which takes arrivals without the campaign."""
    if terms.default is not None:  # which excludes a hold-out
        return (
            f"as {terms.default!r} is taken in place of skipping, compare with a campaign that has "
            "no other action, on arrivals chosen by lot"
        )
    return "open the next campaign with holdout=0.1"


def _lift(tally: LiftTally, terms: Terms, money: float) -> LiftReport | None:
    """Return the lift, for which ``money`` was spent or is planned."""
    reached, held_out = tally.reached, tally.held_out
    if reached.arrivals == 0:
        return None
    first = tally.mean(held=False)
    if terms.holdout > 0:
        if held_out.arrivals == 0:
            return None
        second = tally.mean(held=True)
        lift = compare(first, second)
        without = _group(second, held_out.arrivals, tally.rewarded_held_out, terms.scale)
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
    """Return the expected reward of all arrivals at multiples of the budget."""
    terms, amount, budget = campaign.terms, campaign.terms.unit.amount, campaign.ledger.budget
    arrivals = terms.expected_arrivals
    estimates = present_estimates(campaign, history, present_means(campaign), 0.0)
    reserves = np.array([terms.reserves_in(context) for context in campaign.contexts], np.int64)
    reserves[:, [name in terms.stopped for name in terms.actions]] = np.iinfo(np.int64).max

    def reward(multiple: float) -> float:
        ratio = amount(budget) * multiple / arrivals
        funds = int(budget * multiple)
        plan = plan_at(terms, estimates, reserves=reserves, funds=funds, ratio=ratio)
        return terms.scale.total(arrivals * plan.value, count=arrivals)

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
