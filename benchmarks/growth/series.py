"""Series of costs by size, and the exponents of their growth."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from benchmarks.table import Row, duration

__all__ = ["GrowthPoint", "as_rows", "exponent", "fastest", "grouped", "points"]

ENOUGH = 0.1
"""CPU seconds of all measurements of a point: longer ones are measured once after the warm-up."""


@dataclass(frozen=True, kw_only=True)
class GrowthPoint:
    """CPU seconds of an operation at one size: of rounds, contexts, actions, runs or events."""

    operation: str
    size: str
    value: int
    seconds: float


def points(operation: str, size: str, times: Mapping[int, float]) -> list[GrowthPoint]:
    """Return the points of one operation in one size."""
    return [
        GrowthPoint(operation=operation, size=size, value=value, seconds=seconds)
        for value, seconds in times.items()
    ]


def fastest(action: Callable[[], object]) -> float:
    """Return the CPU seconds of a call that is warm: the least of those within a tenth of a second.

    There is one measurement of a call that takes longer: a point is one of several in a fit.
    """
    best, spent = float("inf"), 0.0
    while spent < ENOUGH:
        start = time.process_time()
        action()
        seconds = time.process_time() - start
        best, spent = min(best, seconds), spent + max(seconds, 1e-6)
    return best


def exponent(series: Sequence[GrowthPoint]) -> float:
    """Return the slope of a line through the logarithms of cost and size, by least squares.

    >>> squares = points("a square", "side", {1: 2.0, 10: 200.0, 100: 20000.0})
    >>> round(exponent(squares), 9)
    2.0
    """
    values, seconds = (np.log([getattr(point, name) for point in series]) for name in FITTED)
    return float(np.polyfit(values, seconds, 1)[0])


FITTED = ("value", "seconds")


def grouped(all_points: Iterable[GrowthPoint]) -> list[list[GrowthPoint]]:
    """Return the points of each operation in each size, in the order of their first ones."""
    series: dict[tuple[str, str], list[GrowthPoint]] = {}
    for point in all_points:
        series.setdefault((point.operation, point.size), []).append(point)
    return list(series.values())


def as_rows(all_points: Iterable[GrowthPoint]) -> list[Row]:
    """Return a row for each series, for the table in the terminal."""
    return [
        Row(
            what=f"{series[0].operation}, in {series[0].size}",
            figure=f"exponent {exponent(series):.2f}",
            remark=", ".join(f"{point.value:,}: {duration(point.seconds)}" for point in series),
        )
        for series in grouped(all_points)
    ]
