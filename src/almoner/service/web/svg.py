"""Geometry of bars and intervals drawn as SVG, in per cent of the width.

The templates write it into SVG attributes, which a content security policy without inline styles
allows.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import NamedTuple

from almoner.live.reports.report import ActionReport, Report
from almoner.service.web.action_colours import OTHERS, ActionColours, PlannedAction

__all__ = [
    "Bar",
    "Segment",
    "ServedRow",
    "Whisker",
    "budget_bar",
    "rate_axis",
    "served_bar",
    "ticks",
    "whisker",
]

TRUSTED = 10
"""Rewards from which on the interval of a pair counts for the axis; before, it is too wide."""

TOPS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 1.0)
"""Possible ends of an axis of mean rewards."""

STEPS = (1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0)
"""Possible ends of an axis in another unit, as multiples of a power of ten."""


class Segment(NamedTuple):
    """Segment of a bar; ``kind`` names its colour in the style sheet."""

    start: float
    width: float
    kind: str


class Bar(NamedTuple):
    """Bar of the budget; ``mark`` is the position of even spending while the campaign runs."""

    segments: list[Segment]
    mark: float | None


class ServedRow(NamedTuple):
    """One context of a plan: its share of arrivals, its probabilities in words and as a bar."""

    context: str
    note: str
    value: str
    bar: list[Segment]


class Whisker(NamedTuple):
    """Mean as a dot on its confidence interval; ``cut`` if the interval exceeds the axis.

    ``diamond`` is the estimate that includes borrowed rewards, if there are any.
    """

    low: float
    high: float
    dot: float | None
    cut: bool
    diamond: float | None = None


def budget_bar(report: Report) -> Bar:
    """Return the bar of money spent, expected for open decisions, and reserved beyond that.

    The mark is the share of arrivals so far, to compare with the first two.
    """
    share = 100 / (report.budget or 1.0)
    spent, planned = share * report.spent, share * report.planned
    reserved = share * (report.reserved - report.planned)
    if report.risk:  # reserves are shared: they take nothing from what is left
        planned, reserved = min(planned, 100.0 - spent), 0.0
    total = report.arrivals + report.arrivals_left
    return Bar(
        [
            Segment(0.0, spent, "spent"),
            Segment(spent, planned, "planned"),
            Segment(spent + planned, max(0.0, reserved), "reserved"),
        ],
        100 * report.arrivals / total if 0 < report.arrivals < total else None,
    )


def served_bar(actions: Iterable[PlannedAction], colours: ActionColours) -> list[Segment]:
    """Return the planned probabilities of a context's actions, side by side, others last."""
    widths = dict.fromkeys([*colours.kinds.values(), OTHERS], 0.0)
    for action in actions:
        widths[colours.kind(action.action)] += 100 * action.planned
    segments, start = [], 0.0
    for kind, width in widths.items():
        if width > 0:
            segments.append(Segment(start, width, kind))
            start += width
    return segments


def rate_axis(pairs: Iterable[ActionReport], limits: tuple[float, float] | None = None) -> float:
    """Return the end of the common axis of all intervals: a round number above them.

    Intervals of pairs with fewer than `TRUSTED` rewards are left out; estimates are not. The axis
    begins at the least reward, and ends at the largest or before.
    """
    pairs = list(pairs)
    highs = [pair.high for pair in pairs if pair.rewarded >= TRUSTED]
    pooled = [pair.pooled for pair in pairs if pair.pooled is not None]
    if limits is not None:
        return _round_end(max(highs + pooled), *limits) if highs else limits[1]
    highest = max(highs + pooled) if highs else 1.0
    return next(top for top in TOPS if top >= highest - 1e-9)


def _round_end(highest: float, low: float, high: float) -> float:
    """Return a number of one or two digits that is no less than the highest mean."""
    if highest <= 0 or highest <= low:
        return min(0.0, high) if low < 0 else high
    power = 10.0 ** math.floor(math.log10(highest))
    step = next(step for step in STEPS if step * power >= highest * (1 - 1e-9))
    return min(high, step * power)


def whisker(action: ActionReport, top: float, start: float = 0.0) -> Whisker:
    """Return the interval of one pair on an axis from ``start`` to ``top``."""

    def position(value: float) -> float:
        return 100 * (value - start) / (top - start)

    dot, diamond = (
        None if mean is None or mean > top else position(mean)
        for mean in (action.mean, action.pooled)
    )
    low, high = (min(100.0, position(end)) for end in (action.low, action.high))
    return Whisker(low, high, dot, cut=action.high > top, diamond=diamond)


def ticks(top: float, start: float = 0.0) -> list[float]:
    """Return the ticks of an axis from ``start`` to ``top``: both ends and the middle."""
    return [start, (start + top) / 2, top]
