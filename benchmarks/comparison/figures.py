"""Figures of ``docs/benchmarks.md``, from its rows: routing by budget, and regret by problem."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import matplotlib
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator

from almoner.plots.figures import save_figure
from almoner.plots.panels import LABEL_SIZE, WIDE, draw_line, label_ends, plain_numbers
from almoner.plots.style import (
    BLACK,
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    PURPLE,
    SKY,
    STYLE,
    VERMILION,
)
from benchmarks.comparison.published import PUBLISHED
from benchmarks.comparison.routing import SCORES
from benchmarks.comparison.rows import FOLDER, Learner, Routing
from benchmarks.comparison.tables import in_full, learner_ratios
from benchmarks.learner.rows import read

__all__ = ["draw"]

FIGURES = Path(__file__).parents[2] / "docs" / "figures"

LEFT_OUT = ("fixed_rate", "greedy_scores", "dual_descent, step × 10")
"""Policies far below the others, and one that would hide them."""

MARKS = {
    "thrifty": ("thrifty", "o", GREEN),
    "wilson_eager": ("Wilson, eager", "s", SKY),
    "thompson_rounded": ("Thompson", "D", PURPLE),
    "kl_ucb_rounded": ("KL-UCB", "^", ORANGE),
    "ucb_rounded": ("UCB", "v", VERMILION),
    "ucb_alp": ("UCB-ALP", "P", BLUE),
    "epsilon_first_alp": ("ε-first", "X", GREY),
    "PrimalDualBwK": ("PrimalDualBwK", "d", BLACK),
    "LagrangeBwK": ("LagrangeBwK", "*", BLACK),
}
"""Name, marker and colour of each policy that learns."""


def draw(*, folder: Path = FIGURES, formats: Sequence[str] = ("svg",)) -> list[Path]:
    """Draw both figures."""
    return [
        *save_figure(routing_figure(), folder / "benchmark-routing", formats=formats),
        *save_figure(learners_figure(), folder / "benchmark-learners", formats=formats),
    ]


def routing_figure() -> Figure:
    """Draw the share of the hindsight optimum over the budget per prompt."""
    curves: dict[str, list[dict[str, object]]] = {}
    for row in read("routing", Routing, folder=FOLDER):
        if row.prompts == SCORES and row.policy not in LEFT_OUT:
            curves.setdefault(row.policy, []).append(
                {
                    "policy": row.policy,
                    "budget": row.budget,
                    "share": row.reward / row.optimum,
                    "error": row.stderr / row.optimum,
                }
            )
    curves["ParetoBandit, published"] = [
        {
            "policy": "ParetoBandit, published",
            "budget": budget,
            "share": theirs.reward / theirs.optimum,
            "error": 0.0,
        }
        for budget, theirs in PUBLISHED.items()
    ]
    with matplotlib.rc_context(STYLE):
        figure, axes = _axes(left=0.6, right=1.7, height=2.6)
        axes.set_xscale("log")
        ends = [
            draw_line(axes, curve, "budget", y="share", error="error") for curve in curves.values()
        ]
        axes.set_xlabel("budget per prompt")
        axes.set_ylabel("share of the hindsight optimum")
        axes.set_ylim(0.9, 0.985)
        axes.xaxis.set_minor_locator(NullLocator())
        axes.set_xticks(list(PUBLISHED), [in_full(budget) for budget in PUBLISHED])
        label_ends(axes, ends)
    return figure


def _axes(*, left: float, right: float, height: float) -> tuple[Figure, Axes]:
    """Return a figure of the width of a page with one panel; margins and height are in inches."""
    below, above = 0.42, 0.12
    total = below + height + above
    figure = Figure(figsize=(WIDE, total))
    FigureCanvasAgg(figure)
    box = (left / WIDE, below / total, (WIDE - left - right) / WIDE, height / total)
    return figure, figure.add_axes(box)


def learners_figure() -> Figure:
    """Draw the regret of each policy over that of `thrifty`, a line for each problem."""
    rows = read("learners", Learner, folder=FOLDER)
    problems = list(dict.fromkeys(row.problem for row in rows))
    with matplotlib.rc_context(STYLE):
        figure, axes = _axes(left=2.0, right=1.3, height=0.24 * len(problems))
        axes.set_xscale("log")
        for policy, ratios in learner_ratios(rows).items():
            name, marker, colour = MARKS[policy]
            values = [ratios[problem] for problem in problems]
            axes.plot(
                values, range(len(problems)), marker=marker, ls="", color=colour, ms=4, label=name
            )
        axes.set_yticks(range(len(problems)), problems)
        axes.invert_yaxis()
        axes.set_xlabel("regret over that of thrifty")
        axes.set_xticks([0.5, 1, 2, 5, 10, 20, 50])
        plain_numbers(axes.xaxis)
        axes.legend(
            loc="center left", bbox_to_anchor=(1.01, 0.5), frameon=False, fontsize=LABEL_SIZE
        )
    return figure
