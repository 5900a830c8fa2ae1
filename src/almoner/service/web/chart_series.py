"""Series of the charts: the points of a campaign up to now, as JSON for the drawing script."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace

from almoner.live.reports.report import CurvePoint, Report
from almoner.service.web.reward_format import RewardFormat

__all__ = ["chart_data", "complete", "promised_per_arrival", "ratio_left"]


HARMLESS = {ord(sign): f"\\u{ord(sign):04x}" for sign in "<>&"}
"""Escapes of the signs of HTML: a currency is the only text, and written by a person."""


def chart_data(report: Report, horizon: float, curve: Sequence[CurvePoint]) -> str:
    """Return the numbers of all charts as JSON, for the script that draws them."""
    points = complete(report, curve)
    data = {
        "horizon": horizon,
        "currency": report.currency,
        "reward_unit": RewardFormat.of(report).unit,
        "budget": report.budget,
        "promised": promised_per_arrival(report, horizon),
        "start": report.ratio_start,
        "amended": [amendment.arrivals for amendment in report.amendments],
        "boundaries": [_rounded(boundary) for boundary in report.boundaries if report.rows is None],
        "arrivals": [point.arrivals for point in points],
        "spent": [_rounded(point.spent) for point in points],
        "committed": [_rounded(point.spent + point.planned) for point in points],
        "reward": [_rounded(point.reward) for point in points],
        "ratio": [_rounded(ratio_left(report, horizon, point)) for point in points],
    }
    return json.dumps(data, separators=(",", ":")).translate(HARMLESS)


def complete(report: Report, curve: Sequence[CurvePoint]) -> list[CurvePoint]:
    """Return the points from 0 arrivals to now, which may be after the last point of the curve."""
    now = CurvePoint(
        arrivals=report.arrivals,
        at="",
        spent=report.spent,
        reserved=report.reserved,
        planned=report.planned,
        reward=report.reward,
        price=report.price,
        budget=report.budget,
        horizon=report.horizon,
    )
    first = curve[0] if curve else now
    start = replace(
        now,
        arrivals=0,
        spent=0.0,
        reserved=0.0,
        planned=0.0,
        reward=0.0,
        budget=first.budget,
        horizon=first.horizon,
    )
    between = [point for point in curve if 0 < point.arrivals < now.arrivals]
    return [start, *between, *([now] if now.arrivals else [])]


def promised_per_arrival(report: Report, horizon: float) -> float:
    """Return the reward per arrival that the plan promises."""
    return report.promised / min(report.arrivals, horizon) if report.arrivals else 0.0


def ratio_left(report: Report, horizon: float, point: CurvePoint) -> float | None:
    """Return the uncommitted budget per arrival left at a point; None at the horizon.

    Budget and horizon are those in force then; the horizon of a closing time is what its terms
    expected, corrected like the present forecast. With a risk more than the budget may be expected
    to be spent; there is nothing left then.
    """
    correction = horizon / report.horizon if report.closes else 1.0
    arrivals_left = correction * point.horizon - point.arrivals
    if arrivals_left < 1:
        return None
    return max(0.0, point.budget - point.spent - point.planned) / arrivals_left


def _rounded(value: float | None) -> float | None:
    return None if value is None else float(f"{value:.9g}")
