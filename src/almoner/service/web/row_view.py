"""Figures of a campaign on rows for its page: values taken and left, and the price over time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from almoner.live.reports.report import CurvePoint, Report
from almoner.service.web.formatting import count, rate

__all__ = ["row_view"]

WIDTH, HEIGHT = 600, 120
"""Size of the drawing, in units of its view box."""

TABLE_ROWS = 12
"""Rows of the table beside it."""


def row_view(report: Report, curve: Sequence[CurvePoint]) -> dict[str, Any] | None:
    """Return the figures of a campaign on rows; None of a campaign with named contexts."""
    rows = report.rows
    if rows is None:
        return None
    points = [(point.arrivals, point.price) for point in curve if point.price is not None]
    top = max((price for _, price in points), default=0.0)
    first, last = (points[0], points[-1]) if points else ((0, 0.0), (0, 0.0))
    return {
        "taken": None if rows.value_taken is None else rate(rows.value_taken),
        "left": None if rows.value_left is None else rate(rows.value_left),
        "path": _path(points, top),
        "size": (WIDTH, HEIGHT),
        "caption": (
            f"The price of a unit of money was {rate(first[1])} at arrival "
            f"{count(first[0])}, {rate(top)} at most, and is {rate(last[1])} at arrival "
            f"{count(last[0])}: an arrival gets the action with the largest value less price "
            "times cost."
            if points
            else "There is no price before the first arrival."
        ),
        "points": [(count(arrivals), rate(price)) for arrivals, price in _thinned(points)],
    }


def _path(points: Sequence[tuple[int, float]], top: float) -> str:
    """Return the line of the price as the points of a polyline, from left to right."""
    if not points or top <= 0.0:
        return ""
    end = max(1, points[-1][0])
    return " ".join(
        f"{WIDTH * arrivals / end:.1f},{HEIGHT * (1 - price / top):.1f}"
        for arrivals, price in points
    )


def _thinned(points: list[tuple[int, float]]) -> list[tuple[int, float]]:
    """Return evenly spaced points with both ends, as many as the table has rows."""
    if len(points) <= TABLE_ROWS:
        return points
    last = len(points) - 1
    return [points[round(row * last / (TABLE_ROWS - 1))] for row in range(TABLE_ROWS)]
