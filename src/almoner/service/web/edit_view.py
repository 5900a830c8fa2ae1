"""Views of the edit page: the terms that can be changed, and a change before it is made."""

from __future__ import annotations

import json
from math import ceil
from typing import Any

from almoner.live.reports.report import Report
from almoner.live.state.campaign_state import Campaign
from almoner.live.state.status import Status
from almoner.live.times.closing_time import ClosingTime
from almoner.live.transactions.amendment import least_budget
from almoner.service.api.campaign_view import ActionCost, CampaignView
from almoner.service.api.responses import AmendmentPreview
from almoner.service.web.action_colours import action_colours
from almoner.service.web.formatting import figure, money_format
from almoner.service.web.plan_preview import Fact
from almoner.service.web.reward_format import RewardFormat
from almoner.service.web.views import served_row

__all__ = ["amendment_view", "edit_view"]


def edit_view(name: str, campaign: Campaign, now: int) -> dict[str, Any]:
    """Return the context of the template ``edit.html``."""
    view, horizon = CampaignView.of(name, campaign, now), campaign.terms.horizon
    timed = isinstance(horizon, ClosingTime)
    least = _rounded_up(campaign.terms.unit.amount(least_budget(campaign, now)), view.budget)
    return {
        "name": name,
        "closed": campaign.status == Status.CLOSED,
        "budget": _number(view.budget),
        "spent": view.spent,
        "reserved": view.reserved,
        "least": least,
        "shared": campaign.terms.risk > 0,
        "closes": view.closes,
        "expected": horizon.arrivals if isinstance(horizon, ClosingTime) else 0.0,
        "horizon": None if timed else horizon,
        "seen": campaign.arrivals,
        "money": money_format([view.budget, view.spent, view.reserved, least], view.currency),
        "all_learned": campaign.terms.learn_cost,
        "actions": [_action(action, terms) for action, terms in view.actions.items()],
    }


def amendment_view(preview: AmendmentPreview) -> dict[str, Any]:
    """Return the context of the template ``amendment.html``."""
    return {
        "changes": preview.changes,
        "sides": [_side("Now", preview.before), _side("After the change", preview.after)],
    }


def _side(title: str, report: Report) -> dict[str, Any]:
    if report.rows is not None:
        return _row_side(title, report)
    colours = action_colours(report.contexts)
    rewards = RewardFormat.of(report)
    to_come = (
        f"{figure(report.value * report.arrivals_left)}{' ' * bool(rewards.unit)}{rewards.unit}"
    )
    return {
        "title": title,
        "facts": [
            *_means(report),
            Fact("Reward to come", to_come, "as estimated now"),
            Fact("Price", figure(report.price), rewards.price_note),
        ],
        "colours": colours,
        "rows": [served_row(report, context, colours) for context in report.contexts],
    }


def _row_side(title: str, report: Report) -> dict[str, Any]:
    """Return the facts of a campaign on rows, which has a price in place of a plan by context."""
    funds, unit = _funds(report), f" {report.currency}" if report.currency else ""
    ratio = funds / report.arrivals_left if report.arrivals_left > 0 else 0.0
    note = "the price follows it, from the next arrival on"
    return {
        "title": title,
        "facts": [*_means(report), Fact("For each of them", f"{figure(ratio)}{unit}", note)],
        "colours": None,
        "rows": [],
    }


def _means(report: Report) -> list[Fact]:
    """Return the money and the arrivals of a side."""
    unit = f" {report.currency}" if report.currency else ""
    left = f"{figure(_funds(report))}{unit} not spent or planned"
    return [
        Fact("Budget", f"{figure(report.budget)}{unit}", left),
        Fact("Arrivals to come", figure(report.arrivals_left), "by the horizon or forecast"),
    ]


def _funds(report: Report) -> float:
    return report.budget - report.spent - report.planned


def _action(name: str, terms: ActionCost) -> dict[str, Any]:
    cost, reserve = terms.cost, None if terms.reserve == terms.cost else terms.reserve
    amounts = {"cost": cost, "reserve": reserve}
    return {
        "name": name,
        "cost": None if isinstance(cost, dict) else _number(cost),
        "reserve": None
        if isinstance(reserve, dict)
        else ""
        if reserve is None
        else _number(reserve),
        "by_context": json.dumps({k: v for k, v in amounts.items() if isinstance(v, dict)}),
        "expires": terms.expires or "",
        "on_expiry": "charge" if terms.on_expiry == "charge" else "",
        "learn_cost": terms.learn_cost,
        "stopped": terms.stopped,
    }


def _rounded_up(least: float, budget: float) -> float:
    """Return the least budget in hundredths; exact if they are above the present budget."""
    rounded = ceil(least * 100) / 100
    return rounded if rounded <= budget else least


def _number(value: float) -> str:
    """Return a number as an input of a form shows it."""
    return repr(value).removesuffix(".0")
