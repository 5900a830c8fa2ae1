"""Figure of the frontier of mean and tail, from its rows."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import matplotlib

from almoner.plots.figures import save_figure
from almoner.plots.panels import LABEL_SIZE, label_y, panel_axes
from almoner.plots.style import BLACK, STYLE, ink, look

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from benchmarks.learner.frontier import Point

__all__ = ["draw"]

FIGURES = Path(__file__).parents[2] / "docs" / "figures"

FORMER = "wilson_eager"


def draw(points: Sequence[Point], *, formats: Sequence[str] = ("svg",)) -> list[Path]:
    """Draw the mean of the worst 1 % of runs over the mean of all, a panel for each problem."""
    problems = list(dict.fromkeys(point.problem for point in points))
    with matplotlib.rc_context(STYLE):
        figure, panels = panel_axes(
            len(problems), stacked=False, share=False, room=10, left=0.52, above=0.22
        )
        for axes, problem in zip(panels, problems, strict=True):
            _draw_panel(axes, [point for point in points if point.problem == problem])
            axes.set_title(f"{problem}", loc="left")
            axes.set_xlabel("mean regret")
        label_y(panels, "regret in the tail", stacked=False)
        handles, names = panels[0].get_legend_handles_labels()
        figure.legend(
            handles,
            names,
            loc="upper center",
            ncols=4,
            frameon=False,
            fontsize=LABEL_SIZE,
            borderaxespad=0.1,
        )
    return save_figure(figure, FIGURES / "caution", formats=formats)


def _draw_panel(axes: Axes, points: Sequence[Point]) -> None:
    """Draw both measures of the tail, and label the cautions 0, 1 and 2 on the upper one."""
    _, colour, _ = look("thrifty")
    curve = [point for point in points if point.policy != FORMER]
    [former] = [point for point in points if point.policy == FORMER]
    means = [point.mean for point in curve]
    worst = [point.worst_percent for point in curve]
    axes.plot(means, worst, color=colour, marker="o", label="thrifty, mean of the worst 1 %")
    axes.plot(
        means,
        [point.q99 for point in curve],
        color=colour,
        ls=(0, (3, 1.5)),
        marker="o",
        mfc="white",
        label="99 % stay below",
    )
    tails = (
        (former.worst_percent, BLACK, "wilson_eager"),
        (former.q99, "white", "99 % stay below"),
    )
    for tail, inside, label in tails:
        axes.plot(
            [former.mean], [tail], color=BLACK, marker="s", mfc=inside, ls="", ms=4, label=label
        )
    for point in curve:
        if not point.caution.is_integer():  # the points between are too close for labels
            continue
        axes.annotate(
            f"{point.caution:g}",
            (point.mean, point.worst_percent),
            xytext=(0, 5),
            textcoords="offset points",
            ha="center",
            color=ink(colour),
            fontsize=LABEL_SIZE,
        )
    top = max(former.worst_percent, *worst)
    axes.set_ylim(0, 1.12 * top)
    axes.margins(x=0.12)
