"""Figures of regret, of budgets left and of boundaries, each from rows of results."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from almoner.plots.panels import (
    LABEL_ROOM,
    LABEL_SIZE,
    draw_line,
    label_ends,
    label_y,
    panel_axes,
    plain_numbers,
    thousands,
)
from almoner.plots.style import BLACK, GREY, STYLE, look

__all__ = [
    "boundary_figure",
    "concentration_figure",
    "ratio_figure",
    "regret_figure",
    "save_figure",
]

Rows = Iterable[Mapping[str, Any]]

ON_BOUNDARY = 1e-9
"""Largest distance from a boundary that counts as on it."""


def regret_figure(
    rows: Rows,
    *,
    against: str,
    stacked: bool = False,
    log: bool = False,
    leave_out: Collection[str] = (),
) -> Figure:
    """Draw regret against the horizon, a panel for each ratio, with bands of ±2 standard errors.

    Parameters
    ----------
    rows
        Results of one problem.
    against
        The benchmark of the rows to draw: ``"oracle"`` or ``"upper bound"``.
    stacked
        Panels below one another, as wide as a column, instead of side by side.
    log
        Whether the axis of horizons is logarithmic.
    leave_out
        Policies not to show.
    """
    rows = [row for row in rows if row["against"] == against and row["policy"] not in leave_out]
    ratios = sorted({row["ratio"] for row in rows})
    with matplotlib.rc_context(STYLE):
        longest = max((len(look(row["policy"])[0]) for row in rows), default=0)
        room = max(LABEL_ROOM, 14 + 4.4 * longest)  # 4.4 points per letter, and the leader line
        figure, panels = panel_axes(len(ratios), stacked=stacked, room=room)
        drawn = []
        for axes, ratio in zip(panels, ratios, strict=True):
            shown = [row for row in rows if row["ratio"] == ratio]
            edge = min(row["boundary_distance"] for row in shown) < ON_BOUNDARY
            axes.set_title(f"ρ = {ratio:.2f}" + (", a boundary" if edge else ""), loc="left")
            axes.set_xlabel("horizon T")
            axes.set_xscale("log" if log else "linear")
            thousands(axes.xaxis)
            drawn.append([draw_line(axes, curve, "horizon") for curve in _curves(shown)])
        label_y(panels, f"regret against the {against}", stacked=stacked)
        top = panels[0].get_ylim()[1]
        panels[0].set_ylim(-0.02 * top, top)  # keeps a line at zero apart from the axis
        for axes, ends in zip(panels, drawn, strict=True):
            axes.set_xlim(left=None if log else 0)
            label_ends(axes, ends)
    return figure


def concentration_figure(rows: Rows, *, stacked: bool = False) -> Figure:
    """Draw quantiles of budget left / rounds left against rounds left, with the law's."""
    rows = list(rows)
    policies = list(dict.fromkeys(row["policy"] for row in rows))
    with matplotlib.rc_context(STYLE):
        figure, panels = panel_axes(
            len(policies), stacked=stacked, room=10, above=0.36 if stacked else 0.2
        )
        for axes, policy in zip(panels, policies, strict=True):
            _draw_quantiles(axes, policy, _levels(row for row in rows if row["policy"] == policy))
        label_y(panels, "budget left / rounds left", stacked=stacked)
        handles, names = panels[0].get_legend_handles_labels()
        figure.legend(
            handles,
            names,
            loc="upper center",
            ncols=2 if stacked else 4,
            frameon=False,
            fontsize=LABEL_SIZE,
            borderaxespad=0.1,
        )
    return figure


def _draw_quantiles(axes: Axes, policy: str, levels: dict[float, dict[str, list[float]]]) -> None:
    """Draw one policy: simulated quantiles as bands, the law and its tail bound as lines."""
    name, colour, _ = look(policy)
    rounds = levels[0.5]["rounds_left"]
    for low, high, alpha in ((0.01, 0.99, 0.2), (0.1, 0.9, 0.35)):
        axes.fill_between(
            rounds,
            levels[low]["simulated"],
            levels[high]["simulated"],
            color=colour,
            alpha=alpha,
            linewidth=0,
            label=f"simulated, {100 * low:.0f} % to {100 * high:.0f} %",
        )
    for level, columns in levels.items():
        label = "hypergeometric law" if level == 0.5 else None
        axes.plot(rounds, columns["law"], color=BLACK, lw=0.6, label=label)
    for level in (0.01, 0.99):
        label = "bound on the 1 % tails" if level == 0.01 else None
        axes.plot(rounds, levels[level]["bound"], color=GREY, lw=0.8, ls="--", label=label)
    axes.set_title(name, loc="left")
    axes.set_xscale("log")
    axes.set_xlim(max(rounds), min(rounds))
    axes.set_ylim(0, 1)
    thousands(axes.xaxis)
    axes.set_xlabel("rounds left")


def boundary_figure(rows: Rows, *, stacked: bool = False) -> Figure:
    """Draw regret at a boundary over decades of T: of order √T, or bounded; limits dashed."""
    rows = list(rows)
    with matplotlib.rc_context(STYLE):
        figure, panels = panel_axes(2, stacked=stacked, room=62, share=False)
        for axes, against in zip(panels, ("oracle", "upper bound"), strict=True):
            shown = [row for row in rows if row["against"] == against]
            axes.set_xscale("log")
            axes.set_yscale("log")
            ends = [draw_line(axes, curve, "horizon") for curve in _curves(shown, method="exact")]
            for curve in _curves(shown, method="limit"):
                _, colour, _ = look(curve[0]["policy"])
                times = [row["horizon"] for row in curve]
                values = [row["regret_mean"] for row in curve]
                axes.plot(times, values, color=colour, lw=0.9, ls=(0, (2, 2)))
                name = f"{values[-1] / times[-1] ** 0.5:.3f} √T"
                ends.append((name, colour, times[-1], values[-1]))
            axes.set_title(f"against the {against}", loc="left")
            axes.set_xlabel("horizon T")
            thousands(axes.xaxis)
            plain_numbers(axes.yaxis)
            label_ends(axes, ends)
        label_y(panels, "regret", stacked=stacked)
    return figure


def ratio_figure(rows: Rows, *, stacked: bool = False, floor: float = 1e-4) -> Figure:
    """Draw regret against the oracle over the budget, a panel for each problem, log scale.

    Boundaries are grey lines. Values below ``floor`` are not shown.
    """
    rows = [row for row in rows if row["against"] == "oracle"]
    problems = list(dict.fromkeys(row["problem"] for row in rows))
    with matplotlib.rc_context(STYLE):
        figure, panels = panel_axes(len(problems), stacked=stacked, left=0.72)
        drawn = []
        for axes, problem in zip(panels, problems, strict=True):
            shown = [row for row in rows if row["problem"] == problem]
            axes.set_yscale("log")
            for edge in {row["ratio"] for row in shown if row["boundary_distance"] < ON_BOUNDARY}:
                axes.axvline(edge, color="#cccccc", lw=2, zorder=0)
            axes.grid(visible=False, axis="x")
            drawn.append([draw_line(axes, curve, "ratio", marker="") for curve in _curves(shown)])
            axes.set_xlim(0, 1)
            plain_numbers(axes.yaxis)
            axes.set_title(f"{problem}, T = {shown[0]['horizon']:,}", loc="left")
            axes.set_xlabel("budget per round ρ")
        panels[0].set_ylim(bottom=floor)
        for axes, ends in zip(panels, drawn, strict=True):
            label_ends(axes, ends)
        label_y(panels, "regret against the oracle", stacked=stacked)
    return figure


def save_figure(
    figure: Figure, stem: str | Path, *, formats: Sequence[str] = ("svg", "pdf", "png")
) -> list[Path]:
    """Save a figure in each format; the same rows give the same bytes."""
    paths = [Path(f"{stem}.{kind}") for kind in formats]
    undated = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}
    with matplotlib.rc_context(STYLE):
        for kind, path in zip(formats, paths, strict=True):
            figure.savefig(path, dpi=200, metadata=undated.get(kind))
    return paths


def _curves(rows: Rows, method: str = "") -> list[list[Mapping[str, Any]]]:
    """Return the rows of each policy, in the order in which policies appear."""
    curves: dict[str, list[Mapping[str, Any]]] = {}
    for row in rows:
        if row["method"] == method or (not method and row["method"] != "limit"):
            curves.setdefault(row["policy"], []).append(row)
    return list(curves.values())


def _levels(rows: Rows) -> dict[float, dict[str, list[float]]]:
    """Return the columns of each quantile level."""
    levels: dict[float, dict[str, list[float]]] = {}
    for row in rows:
        columns = levels.setdefault(row["level"], {})
        for name in ("rounds_left", "simulated", "law", "bound"):
            columns.setdefault(name, []).append(row[name])
    return levels
