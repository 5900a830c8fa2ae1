"""Figure of value against budget: a line for each policy on rows, and one for the optimum."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import matplotlib
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator

from almoner.plots.panels import draw_line, label_ends, panel_axes, plain_numbers
from almoner.plots.style import STYLE, look

__all__ = ["frontier_figure"]


def frontier_figure(rows: Iterable[Mapping[str, Any]]) -> Figure:
    """Draw reward per row against budget per row, with bands of ±2 standard errors.

    Parameters
    ----------
    rows
        The rows of a `Frontier`. Budgets of 0 have no place on the logarithmic axis.
    """
    curves: dict[str, list[Mapping[str, Any]]] = {}
    for row in rows:
        if row["budget"] > 0:
            curves.setdefault(row["policy"], []).append(row)
    with matplotlib.rc_context(STYLE):
        longest = max((len(look(policy)[0]) for policy in curves), default=0)
        figure, (axes,) = panel_axes(1, stacked=True, room=16 + 4.4 * longest, share=False)
        axes.set_xscale("log")
        ends = [
            draw_line(axes, curve, "budget_per_row", y="reward_per_row", error="stderr_per_row")
            for curve in curves.values()
        ]
        axes.set_xlabel("budget per row")
        axes.set_ylabel("reward per row")
        axes.xaxis.set_major_locator(LogLocator(subs=_marks(curves)))
        for axis in (axes.xaxis, axes.yaxis):
            plain_numbers(axis)
        label_ends(axes, ends)
    return figure


def _marks(curves: Mapping[str, list[Mapping[str, Any]]]) -> tuple[int, ...]:
    """Return the marks of each decade: three where few decades leave the room."""
    budgets = [row["budget_per_row"] for curve in curves.values() for row in curve]
    return (1, 2, 5) if max(budgets, default=1.0) < 100 * min(budgets, default=1.0) else (1,)
