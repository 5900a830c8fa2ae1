"""Pictures that the server draws: where their parts go, in per cent of the width.

The templates turn these into SVG, whose attributes a content security policy without inline styles
allows.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from almoner.live.report import ActionReport, ContextReport, Report

__all__ = [
    "COLOURS",
    "Bar",
    "Segment",
    "Whisker",
    "budget_bar",
    "rate_axis",
    "served_bar",
    "ticks",
    "whisker",
]

COLOURS = 6
"""How many colours for actions the style sheet has; further actions begin again."""

TRUSTED = 10
"""Intervals of fewer rewards are so wide that they do not stretch the axis of the others."""

TOPS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 1.0)
"""Where an axis of rates may end."""


class Segment(NamedTuple):
    """A part of a bar."""

    start: float
    width: float
    kind: str
    label: str = ""


class Bar(NamedTuple):
    """A bar, and where the straight line would be on it while the campaign is under way."""

    segments: list[Segment]
    mark: float | None


class Whisker(NamedTuple):
    """A mean as a dot within its interval as a line; ``cut`` where the line goes on."""

    low: float
    high: float
    dot: float | None
    cut: bool


def budget_bar(report: Report) -> Bar:
    """Return what is spent, what open decisions are expected to cost, and what else they reserve.

    The share of the arrivals gone is to be compared with the first two.
    """
    share = 100 / (report.budget or 1.0)
    spent, planned = share * report.spent, share * report.planned
    total = report.arrivals + report.arrivals_left
    return Bar(
        [
            Segment(0.0, spent, "spent"),
            Segment(spent, planned, "planned"),
            Segment(spent + planned, share * (report.reserved - report.planned), "reserved"),
        ],
        100 * report.arrivals / total if 0 < report.arrivals < total else None,
    )


def served_bar(context: ContextReport) -> list[Segment]:
    """Return the share of a context that the plan gives each action now, side by side."""
    segments, start = [], 0.0
    for place, action in enumerate(context.actions):
        if action.planned > 0:
            width = 100 * action.planned
            segments.append(Segment(start, width, str(place % COLOURS), action.action))
            start += width
    return segments


def rate_axis(contexts: Iterable[ContextReport]) -> float:
    """Return where the common axis of all intervals ends: a round number beyond what is known.

    It leaves out what little is known of pairs that were hardly tried.
    """
    pairs = [action for context in contexts for action in context.actions]
    highest = max((pair.high for pair in pairs if pair.rewarded >= TRUSTED), default=1.0)
    return next(top for top in TOPS if top >= highest - 1e-9)


def whisker(action: ActionReport, top: float) -> Whisker:
    """Return the interval of one pair on an axis from 0 to ``top``."""
    dot = None if action.mean is None or action.mean > top else 100 * action.mean / top
    low, high = (min(100.0, 100 * end / top) for end in (action.low, action.high))
    return Whisker(low, high, dot, cut=action.high > top)


def ticks(top: float) -> list[float]:
    """Return the marks of an axis from 0 to ``top``: its ends and its middle."""
    return [0.0, top / 2, top]
