"""Charts of the campaign page: title, caption, legend, and the data as a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from almoner.live.reports.report import CurvePoint, Report
from almoner.service.web.chart_captions import ratio_caption, reward_caption, spend_caption
from almoner.service.web.chart_series import complete, promised_per_arrival, ratio_left
from almoner.service.web.formatting import Money, count, rate
from almoner.service.web.reward_format import RewardFormat

__all__ = ["Chart", "charts"]

TABLE_ROWS = 12
"""Rows of the table beside a chart; the log has every decision."""


@dataclass(frozen=True, kw_only=True)
class Chart:
    """Chart, drawn by the script under ``name``; legend entries are line kinds and labels.

    ``changes`` of the campaign are marked in it.
    """

    name: str
    title: str
    caption: str
    legend: list[tuple[str, str]]
    header: list[str]
    rows: list[list[str]]
    changes: int = 0


def charts(
    report: Report,
    horizon: float,
    curve: Sequence[CurvePoint],
    money: Money,
) -> list[Chart]:
    """Return the charts of a campaign; the horizon may be a forecast.

    The plan that promises rewards goes by the means of contexts: a campaign on rows has none.
    """
    points = _thinned(complete(report, curve))
    drawn = [
        _spend(report, horizon, points, money),
        *([_reward(report, horizon, points)] if report.rows is None else []),
        _ratio(report, horizon, points),
    ]
    return [replace(chart, changes=len(report.amendments)) for chart in drawn]


def _spend(report: Report, horizon: float, points: list[CurvePoint], money: Money) -> Chart:
    def line(arrivals: int) -> str:
        return money(report.budget * min(1.0, arrivals / horizon))

    return Chart(
        name="spend",
        title="Spend against the straight line",
        caption=spend_caption(report, horizon, money, line=line(report.arrivals)),
        legend=[
            ("spent", "spent"),
            ("committed", "spent or expected to be"),
            ("line", "straight line to the budget"),
        ],
        header=["Arrivals", "Spent", "Or expected", "Straight line"],
        rows=[
            [
                count(point.arrivals),
                money(point.spent),
                money(point.spent + point.planned),
                line(point.arrivals),
            ]
            for point in points
        ],
    )


def _reward(report: Report, horizon: float, points: list[CurvePoint]) -> Chart:
    rewards = RewardFormat.of(report)

    def promised(arrivals: int) -> float:
        return promised_per_arrival(report, horizon) * min(arrivals, horizon)

    return Chart(
        name="reward",
        title="Reward against the plan’s promise",
        caption=reward_caption(report, promised=promised(report.arrivals)),
        legend=[("reward", "reward so far"), ("promise", "promised by the plan")],
        header=["Arrivals", "Reward so far", "Promised"],
        rows=[
            [
                count(point.arrivals),
                rewards.total(point.reward),
                rewards.promise(promised(point.arrivals)),
            ]
            for point in points
        ],
    )


def _ratio(report: Report, horizon: float, points: list[CurvePoint]) -> Chart:
    return Chart(
        name="ratio",
        title="Budget per arrival to come",
        caption=ratio_caption(report, ratio=ratio_left(report, horizon, points[-1])),
        legend=[
            ("ratio", "budget per arrival to come"),
            ("start", "at the start"),
            *([("boundary", "boundaries of the plan")] if report.rows is None else []),
        ],
        header=["Arrivals", "Budget per arrival to come"],
        rows=[
            [count(point.arrivals), _or_dash(ratio_left(report, horizon, point))]
            for point in points
        ],
    )


def _thinned(points: list[CurvePoint]) -> list[CurvePoint]:
    """Return evenly spaced points with both ends, as many as the table has rows."""
    if len(points) <= TABLE_ROWS:
        return points
    last = len(points) - 1
    return [points[round(row * last / (TABLE_ROWS - 1))] for row in range(TABLE_ROWS)]


def _or_dash(value: float | None) -> str:
    return "–" if value is None else rate(value)
