"""Panels of a figure: layout of axes, lines with error bands, labels at line ends."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, NullLocator

from almoner.plots.style import ink, look

__all__ = [
    "draw_line",
    "label_ends",
    "label_y",
    "panel_axes",
    "plain_numbers",
    "spread",
    "thousands",
]

WIDE, COLUMN = 7.2, 3.4
"""Inches: the text width of a page, and one of two columns."""

LABEL_SIZE, LABEL_GAP, LABEL_ROOM = 7.5, 9.0, 53.0
"""Points: font size and spacing of the labels at line ends, and the room for the longest."""

BAND = 2
"""Half-width of an error band, in standard errors."""

End = tuple[str, str, float, float]
"""Label, colour, and x and y of the end of a line."""


def panel_axes(
    count: int,
    *,
    stacked: bool,
    room: float = LABEL_ROOM,
    share: bool = True,
    left: float = 0.62,
    above: float = 0.0,
) -> tuple[Figure, list[Axes]]:
    """Return a figure with panels of equal size.

    ``room`` is the space for labels right of each panel, in points; ``left`` and ``above`` are the
    margins left of the first panel and above all panels, in inches.
    """
    stacked = stacked or count == 1
    rows, columns = (count, 1) if stacked else (1, count)
    width, right = COLUMN if stacked else WIDE, room / 72
    lower, upper, inner = 0.42, 0.24, 1.7
    apart = right if share else right + left
    panel = (width - left - right - (columns - 1) * apart) / columns
    height = rows * (lower + inner + upper) + above
    figure = Figure(figsize=(width, height))
    FigureCanvasAgg(figure)
    panels: list[Axes] = []
    for i in range(count):
        row, column = (i, 0) if stacked else (0, i)
        box = (
            (left + column * (panel + apart)) / width,
            (lower + (rows - 1 - row) * (lower + inner + upper)) / height,
            panel / width,
            inner / height,
        )
        beside = share and i > 0
        axes = figure.add_axes(box, sharey=panels[0] if beside else None)
        if beside and not stacked:
            axes.tick_params(axis="y", labelleft=False, length=0)
        panels.append(axes)
    return figure, panels


def label_y(panels: Sequence[Axes], text: str, *, stacked: bool) -> None:
    """Label the y axis: once side by side, at every panel if stacked."""
    for axes in panels if stacked else panels[:1]:
        axes.set_ylabel(text)


def draw_line(
    axes: Axes,
    curve: Sequence[Mapping[str, Any]],
    x: str,
    marker: str = "o",
    *,
    y: str = "regret_mean",
    error: str = "regret_stderr",
) -> End:
    """Draw the line of one policy with its error band, and return the label for its end."""
    name, colour, dashes = look(curve[0]["policy"])
    xs = [row[x] for row in curve]
    means = [row[y] for row in curve]
    errors = [BAND * (row[error] or 0) for row in curve]
    if any(errors):
        low = [mean - error for mean, error in zip(means, errors, strict=True)]
        high = [mean + error for mean, error in zip(means, errors, strict=True)]
        axes.fill_between(xs, low, high, color=colour, alpha=0.25, linewidth=0)
    axes.plot(xs, means, color=colour, ls=dashes, marker=marker)
    return name, colour, xs[-1], means[-1]


def label_ends(axes: Axes, ends: Sequence[End]) -> None:
    """Write each label right of its line's end, moved apart where labels would overlap.

    Axes limits must not change afterwards.
    """
    scale = 72 / axes.figure.dpi
    box = axes.get_window_extent()
    ends = sorted(ends, key=lambda end: end[3])
    wanted = [
        float(axes.transData.transform((x, max(y, axes.get_ylim()[0])))[1] - box.y0) * scale
        for _, _, x, y in ends
    ]
    placed = spread(wanted, gap=LABEL_GAP, high=box.height * scale)
    for (name, colour, x, y), height in zip(ends, placed, strict=True):
        at = float(axes.transData.transform((x, y))[0] - box.x0) * scale
        axes.annotate(
            name,
            xy=(x, max(y, axes.get_ylim()[0])),
            xytext=(max(at, box.width * scale) + 7, height),
            textcoords="axes points",
            va="center",
            color=ink(colour),
            fontsize=LABEL_SIZE,
            annotation_clip=False,
            arrowprops={
                "arrowstyle": "-",
                "color": colour,
                "lw": 0.5,
                "relpos": (0, 0.5),
                "shrinkA": 0.5,
                "shrinkB": 1,
            },
        )


def spread(wanted: Sequence[float], *, gap: float, high: float) -> list[float]:
    """Move rising positions apart to at least ``gap``, as little as possible, within [0, high].

    Minus ``gap`` times its index, a position only has to be non-decreasing: an isotonic regression,
    which replaces pools of falling positions by their mean.

    Examples
    --------
    >>> spread([1.0, 2.0, 50.0], gap=10, high=100)
    [0.0, 10.0, 50.0]
    """
    pools: list[list[float]] = []
    for i, position in enumerate(wanted):
        pools.append([position - i * gap])
        while len(pools) > 1 and _mean(pools[-2]) > _mean(pools[-1]):
            pools[-2:] = [pools[-2] + pools[-1]]
    rising = [_mean(pool) for pool in pools for _ in pool]
    top = high - (len(rising) - 1) * gap
    return [min(max(position, 0.0), top) + i * gap for i, position in enumerate(rising)]


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def plain_numbers(axis: Any) -> None:
    """Format the ticks of a logarithmic axis as 0.1, 1, 10, without minor ticks."""
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_locator(NullLocator())


def thousands(axis: Any) -> None:
    """Format the ticks of an axis of rounds as 500, 1k, 10k."""
    axis.set_major_formatter(
        FuncFormatter(lambda value, _: f"{value / 1000:g}k" if value >= 1000 else f"{value:g}")
    )
    axis.set_minor_locator(NullLocator())
