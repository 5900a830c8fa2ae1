"""Charts: what the page draws over the arrivals, with the same in a sentence and in a table."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from almoner.live.report import CurvePoint, Report
from almoner.service.web.formatting import count, percent, plural, rate, total
from almoner.service.web.sentences import over, waiting

__all__ = ["Chart", "chart_data", "charts"]

TABLE_ROWS = 12
"""The table beside a chart is for reading, not for calculating: the log has every decision."""


BOUNDARIES_NAMED = 8
"""A sentence with more numbers than these is not read."""


AS_PROMISED = 0.005
"""Less than this share off the promise is on it: it rounds to 0 %."""


@dataclass(frozen=True, kw_only=True)
class Chart:
    """A chart by the name that the script draws it under, in words and as a table."""

    name: str
    title: str
    sentence: str
    legend: list[tuple[str, str]]
    header: list[str]
    rows: list[list[str]]


def charts(
    report: Report, horizon: float, curve: Sequence[CurvePoint], money: Callable[[float], str]
) -> list[Chart]:
    """Return the three charts of a campaign, whose horizon may be a forecast."""
    path = _thinned(_with_now(report, curve))
    return [
        _spend(report, horizon, path, money),
        _reward(report, horizon, path),
        _ratio(report, horizon, path),
    ]


def chart_data(report: Report, horizon: float, curve: Sequence[CurvePoint]) -> str:
    """Return the numbers of all charts as JSON, for the script that draws them."""
    path = _with_now(report, curve)
    data = {
        "horizon": horizon,
        "budget": report.budget,
        "promised": _promised_each(report, horizon),
        "start": report.ratio_start,
        "boundaries": [_short(boundary) for boundary in report.boundaries],
        "arrivals": [point.arrivals for point in path],
        "spent": [_short(point.spent) for point in path],
        "committed": [_short(point.spent + point.planned) for point in path],
        "reward": [_short(point.reward) for point in path],
        "ratio": [_short(_ratio_left(report, horizon, point)) for point in path],
    }
    return json.dumps(data, separators=(",", ":"))


def _spend(
    report: Report, horizon: float, path: list[CurvePoint], money: Callable[[float], str]
) -> Chart:
    def line(arrivals: int) -> str:
        return money(report.budget * min(1.0, arrivals / horizon))

    planned = f" and {money(report.planned)} expected for open decisions" if report.planned else ""
    return Chart(
        name="spend",
        title="Spend against the straight line",
        sentence=(
            f"After {count(min(report.arrivals, horizon))} of {count(horizon)} arrivals, "
            f"{money(report.spent)} is spent{planned}; the straight line is at "
            f"{line(report.arrivals)}."
        ),
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
            for point in path
        ],
    )


def _reward(report: Report, horizon: float, path: list[CurvePoint]) -> Chart:
    def promised(arrivals: int) -> float:
        return _promised_each(report, horizon) * min(arrivals, horizon)

    return Chart(
        name="reward",
        title="Reward against the plan’s promise",
        sentence=(
            f"{_rewards(report)}; {_compared(report, promised(report.arrivals))}. "
            "The promise is what the best plan for the present estimates would have brought."
        ),
        legend=[("reward", "reward so far"), ("promise", "promised by the plan")],
        header=["Arrivals", "Reward so far", "Promised"],
        rows=[
            [count(point.arrivals), total(point.reward), f"{promised(point.arrivals):,.1f}"]
            for point in path
        ],
    )


def _ratio(report: Report, horizon: float, path: list[CurvePoint]) -> Chart:
    now = None if over(report) else _ratio_left(report, horizon, path[-1])
    each = f"For each arrival to come there is {rate(now or 0)}, neither spent nor expected to be"
    left = "No arrival is to be served any more" if now is None else each
    return Chart(
        name="ratio",
        title="Budget per arrival to come",
        sentence=f"{left}; it was {rate(report.ratio_start)} at the start. {_jumps(report)}",
        legend=[
            ("ratio", "budget per arrival to come"),
            ("start", "at the start"),
            ("boundary", "boundaries of the plan"),
        ],
        header=["Arrivals", "Budget per arrival to come"],
        rows=[
            [count(point.arrivals), _or_dash(_ratio_left(report, horizon, point))] for point in path
        ],
    )


def _jumps(report: Report) -> str:
    found = [rate(boundary) for boundary in report.boundaries]
    if not found:
        return "The plan has no boundary: nothing is worth its cost."
    if len(found) > BOUNDARIES_NAMED:
        return f"Who is served changes at {len(found)} boundaries, from {found[0]} to {found[-1]}."
    listed = ", ".join(found[:-1]) + (" and " if len(found) > 1 else "") + found[-1]
    return f"Who is served changes at {listed}: the plan’s boundaries."


def _rewards(report: Report) -> str:
    said = f"Rewards add up to {total(report.reward)} so far"
    if report.waiting:
        return f"{said}, and {waiting(report)}"
    if report.reward_low > report.reward:
        return f"{said}, {total(report.reward_low)} with what skips are known to bring"
    return said


def _compared(report: Report, promised: float) -> str:
    """Return how rewards compare with the promise, as far as it can be said.

    Rewards that are yet to come may make up for what is missing, and a promise that counts pairs
    as 0.5 of which nothing is known is not one to be held to.
    """
    if promised <= 0:
        return "the plan promises nothing yet"
    promise = f"{promised:,.1f} is promised by now"
    if report.guessed:
        pairs = plural(report.guessed, "pair")
        return f"{promise}, with 0.5 for {pairs} of context and action without a reward"
    low, high = report.reward_low / promised - 1, report.reward_high / promised - 1
    bound = "at least " if low < high else ""
    if low > AS_PROMISED:
        return f"{promise}: {bound}{percent(low)} more"
    if high < -AS_PROMISED:
        return f"{promise}: {bound}{percent(-high)} less"
    return f"{promise}: {'those to come will decide' if bound else 'as promised'}"


def _promised_each(report: Report, horizon: float) -> float:
    return report.promised / min(report.arrivals, horizon) if report.arrivals else 0.0


def _ratio_left(report: Report, horizon: float, point: CurvePoint) -> float | None:
    coming = horizon - point.arrivals
    if coming < 1:
        return None
    return (report.budget - point.spent - point.planned) / coming


def _with_now(report: Report, curve: Sequence[CurvePoint]) -> list[CurvePoint]:
    """Return the points from nothing to now: bills and rewards come after the last arrival too."""
    now = CurvePoint(
        arrivals=report.arrivals,
        at="",
        spent=report.spent,
        reserved=report.reserved,
        planned=report.planned,
        reward=report.reward,
        price=report.price,
    )
    start = replace(now, arrivals=0, spent=0.0, reserved=0.0, planned=0.0, reward=0.0)
    begun = [point for point in curve if 0 < point.arrivals < now.arrivals]
    return [start, *begun, *([now] if now.arrivals else [])]


def _thinned(path: list[CurvePoint]) -> list[CurvePoint]:
    if len(path) <= TABLE_ROWS:
        return path
    last = len(path) - 1
    return [path[round(place * last / (TABLE_ROWS - 1))] for place in range(TABLE_ROWS)]


def _short(value: float | None) -> Any:
    return None if value is None else float(f"{value:.6g}")


def _or_dash(value: float | None) -> str:
    return "–" if value is None else rate(value)
