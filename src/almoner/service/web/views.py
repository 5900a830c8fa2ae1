"""Views: contexts of the templates, computed from the reports of campaigns."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from almoner.live.export import LoggedDecision
from almoner.live.reports.final_report import FinalReport
from almoner.live.reports.open_decisions import OpenReserve
from almoner.live.reports.report import Amendment, ContextReport, CurvePoint, Report
from almoner.live.terms.terms import LEARNED, SKIP_NAME
from almoner.service.api.campaign_view import CampaignView
from almoner.service.web import (
    borrowing,
    cap_text,
    chart_series,
    charts,
    formatting,
    inherited,
    notices,
    sentences,
    svg,
)
from almoner.service.web.action_colours import ActionColours, action_colours
from almoner.service.web.estimate_rows import estimate_rows, shown_actions
from almoner.service.web.formatting import Money
from almoner.service.web.lift_view import lift_view
from almoner.service.web.reward_format import RewardFormat
from almoner.service.web.row_view import row_view
from almoner.service.web.terms_view import terms_in_words

__all__ = [
    "Card",
    "broken_card",
    "campaign_view",
    "card",
    "served_row",
    "waiting_card",
]

CONTEXTS_SHOWN = 30
"""Maximal number of contexts on the page of a campaign; the JSON report has them all."""

NOT_YET = "has not come yet"


@dataclass(frozen=True, kw_only=True)
class Card:
    """Campaign in the list; without a report, the sentence says why it has none."""

    name: str
    state: str
    sentence: str
    report: Report | None = None
    horizon: float = 0.0
    pace: str = ""
    late: str = ""
    bar: svg.Bar | None = None
    money: Money = str
    reward: str = ""


def card(report: Report, horizon: float) -> Card:
    """Return the card of a campaign."""
    money = _money(report)
    return Card(
        name=report.name,
        state=sentences.state(report),
        sentence=sentences.shares(report, money),
        report=report,
        horizon=horizon,
        pace=notices.in_brief(report, horizon, money),
        late=sentences.after_horizon(report, horizon),
        bar=svg.budget_bar(report),
        money=money,
        reward=RewardFormat.of(report).total(report.reward),
    )


def broken_card(name: str, error: Exception) -> Card:
    """Return the card of a campaign that cannot be read."""
    return Card(name=name, state="broken", sentence=formatting.sentence(str(error)))


def waiting_card(name: str) -> Card:
    """Return the card of a campaign while the kernels are being compiled."""
    return Card(name=name, state="loading", sentence="Its figures come when the kernels are there.")


def campaign_view(
    report: Report,
    horizon: float,
    curve: Sequence[CurvePoint],
    latest: Sequence[LoggedDecision],
    final: FinalReport | None = None,
    oldest: Sequence[OpenReserve] = (),
    campaign: CampaignView | None = None,
) -> dict[str, Any]:
    """Return the context of the template ``campaign.html``; the horizon may be a forecast.

    With a final report, the page shows the lift and other budgets, and with the campaign its terms.
    ``oldest`` are the oldest open decisions.
    """
    learned = campaign is not None and campaign.default_rewards == LEARNED
    money = _money(report)
    by_arrivals = sorted(report.contexts, key=lambda context: -context.arrivals)
    shown = {context.context for context in by_arrivals[:CONTEXTS_SHOWN]}
    contexts = [context for context in report.contexts if context.context in shown]
    taken: Counter[str] = Counter()
    for context in contexts:
        taken.update({pair.action: pair.taken for pair in context.actions})
    colours = action_colours(contexts, taken)
    shown_pairs = shown_actions(contexts)
    rewards = RewardFormat.of(report)
    top = svg.rate_axis((pair for pairs in shown_pairs for pair in pairs), report.reward_range)
    rows = estimate_rows(contexts, shown_pairs, colours, top, rewards.low)
    return {
        "report": report,
        "horizon": horizon,
        "money": money,
        "rewards": rewards,
        "inherited": inherited.sentence(report),
        "state": sentences.state(report),
        "over": sentences.over(report),
        "late": sentences.after_horizon(report, horizon),
        "closes": formatting.moment(report.closes) if report.closes else "",
        "summary": sentences.summary(report, horizon, money),
        "notices": notices.notices(report, horizon, money),
        "shares": sentences.shares(report, money),
        "skipped": sentences.skipped(report),
        "skip_reasons": sentences.skip_reasons(report),
        "terms": [] if campaign is None else terms_in_words(campaign, report, money),
        "held_out": sentences.held_out(0.0 if campaign is None else campaign.holdout),
        "waiting": sentences.waiting(report),
        "bar": svg.budget_bar(report),
        "rows": row_view(report, curve),
        "caps": cap_text.cap_figures(report, money),
        "charts": charts.charts(report, horizon, curve, money),
        "chart_data": Markup(chart_series.chart_data(report, horizon, curve)),  # noqa: S704  # numbers only
        "colours": colours,
        "top": top,
        "mean": rewards.mean(top),
        "ticks": svg.ticks(top, rewards.low),
        "served_rows": [served_row(report, context, colours) for context in contexts],
        "contexts": rows,
        "borrowing": borrowing.explanation(rows),
        "rewards_counted": borrowing.rewards_counted,
        "hidden_contexts": len(report.contexts) - len(contexts),
        "hidden_actions": any(row.hidden for row in rows),
        "lift": None if final is None else lift_view(final, money, on_rows=report.rows is not None),
        "latest": [_decision(row, rewards, report.currency, learned) for row in latest],
        "amendments": [_amendment(amendment) for amendment in reversed(report.amendments)],
        "open": sentences.open_reserves(report),
        "oldest": [_open_decision(row) for row in oldest],
    }


def served_row(report: Report, context: ContextReport, colours: ActionColours) -> svg.ServedRow:
    """Return the plan's probabilities of a context; conditional where nothing is given out now."""
    would_be = "would be " if report.blocked or not context.share else ""
    named = _planned_names(context) if colours.others else ""
    return svg.ServedRow(
        context=context.context,
        note=f"{formatting.percent(context.share)} of arrivals" if context.share else NOT_YET,
        value=f"{formatting.percent(context.served)} {would_be}served" + named,
        bar=svg.served_bar(context.actions, colours),
    )


def _planned_names(context: ContextReport) -> Markup:
    """Return the actions planned for a context, for bars in which colours do not name them all."""
    planned = [pair for pair in context.actions if pair.planned > 0]
    names = [formatting.isolated(pair.action) for pair in planned]
    if len(planned) > 1:
        names = [
            Markup("{} {}").format(name, formatting.percent(pair.planned))
            for name, pair in zip(names, planned, strict=True)
        ]
    return Markup(": {}").format(Markup(", ").join(names)) if names else Markup()


def _money(report: Report) -> Money:
    pairs = [pair for context in report.contexts for pair in context.actions]
    declared = [pair.cost if pair.declared is None else pair.declared for pair in pairs]
    amounts = {*declared, *(pair.reserve for pair in pairs)}  # a learned cost has endless decimals
    return formatting.money_format([report.budget, *amounts], report.currency)


def _amendment(amendment: Amendment) -> dict[str, Any]:
    return {
        "at": amendment.at,
        "day": formatting.moment(amendment.at),
        "arrivals": amendment.arrivals,
        "changes": ", ".join(amendment.changes),
        "by": amendment.by,
        "note": amendment.note,
    }


def _open_decision(row: OpenReserve) -> dict[str, Any]:
    return {
        "id": row.id,
        "at": row.time,
        "day": formatting.moment(row.time),
        "context": row.context,
        "action": row.action,
        "reserved": row.reserved,
        "expires": row.expires,
        "until": formatting.moment(row.expires) if row.expires else "",
    }


def _own_cost(row: LoggedDecision, currency: str | None) -> str:
    """Return the cost that the arrival had of its own for the action taken; empty if it had none.

    It may be finer than all costs that were declared.
    """
    cost = json.loads(row.own_costs or "{}").get(row.action)
    return "" if cost is None else str(formatting.money_format([cost], currency)(cost))


def _decision(
    row: LoggedDecision, rewards: RewardFormat, currency: str | None, learned: bool
) -> dict[str, Any]:
    """Return a decision; rewards of skips are awaited where they are ``learned``."""
    skipped = row.action == SKIP_NAME
    awaits = learned and row.round is not None if skipped else not row.cancelled
    return {
        "own_cost": _own_cost(row, currency),
        "id": row.decision,
        "at": row.time,
        "clock": formatting.clock(row.time),
        "context": row.context,
        "action": None if skipped else row.action,
        "awaits": awaits,
        "why": sentences.why(row.reason),
        "note": "cancelled" if row.cancelled else "expired" if row.expired else "",
        "probability": row.probability,
        "reward": None if row.reward is None else rewards.one(row.reward),
    }
