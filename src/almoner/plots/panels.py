"""Panels: where axes stand, how a line is drawn, and how it is named at its end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, NullLocator

from almoner.plots.style import ink, look

__all__ = ["draw_line", "label_y", "name_ends", "panel_axes", "plain", "spread", "thousands"]

WIDE, COLUMN = 7.2, 3.4
"""Inches: the text width of a page, and one of two columns."""

LABEL_SIZE, LABEL_GAP, LABEL_ROOM = 7.5, 9.0, 53.0
"""Points: type of the names at line ends, from one to the next, and the room for the longest."""

BAND = 2
"""Standard errors on either side of a mean."""

End = tuple[str, str, float, float]
"""A name, its colour, and where its line ends."""


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

    ``room`` is for names right of each panel, in points; ``left`` and ``above`` are inches for
    what stands left of the first panel and above them all.
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
    for place in range(count):
        row, column = (place, 0) if stacked else (0, place)
        box = (
            (left + column * (panel + apart)) / width,
            (lower + (rows - 1 - row) * (lower + inner + upper)) / height,
            panel / width,
            inner / height,
        )
        beside = share and place > 0
        axes = figure.add_axes(box, sharey=panels[0] if beside else None)
        if beside and not stacked:
            axes.tick_params(axis="y", labelleft=False, length=0)
        panels.append(axes)
    return figure, panels


def label_y(panels: Sequence[Axes], text: str, *, stacked: bool) -> None:
    """Say what the heights are: once, or below one another at every panel."""
    for axes in panels if stacked else panels[:1]:
        axes.set_ylabel(text)


def draw_line(axes: Axes, curve: Sequence[Mapping[str, Any]], x: str, marker: str = "o") -> End:
    """Draw one policy with its band, and return the name for its end."""
    name, colour, dashes = look(curve[0]["policy"])
    places = [row[x] for row in curve]
    means = [row["regret_mean"] for row in curve]
    errors = [BAND * (row["regret_stderr"] or 0) for row in curve]
    if any(errors):
        low = [mean - error for mean, error in zip(means, errors, strict=True)]
        high = [mean + error for mean, error in zip(means, errors, strict=True)]
        axes.fill_between(places, low, high, color=colour, alpha=0.25, linewidth=0)
    axes.plot(places, means, color=colour, ls=dashes, marker=marker)
    return name, colour, places[-1], means[-1]


def name_ends(axes: Axes, ends: Sequence[End]) -> None:
    """Write each name right of its line's end, moved apart where they would overlap.

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
    for (name, colour, x, y), here in zip(ends, placed, strict=True):
        at = float(axes.transData.transform((x, y))[0] - box.x0) * scale
        axes.annotate(
            name,
            xy=(x, max(y, axes.get_ylim()[0])),
            xytext=(max(at, box.width * scale) + 7, here),
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
    """Move rising places apart to at least ``gap``, as little as possible, within [0, high].

    Less ``gap`` for each place before it, a place only has to rise: pools of places that would
    fall share their mean (isotonic regression).

    Examples
    --------
    >>> spread([1.0, 2.0, 50.0], gap=10, high=100)
    [0.0, 10.0, 50.0]
    """
    pools: list[list[float]] = []
    for place, want in enumerate(wanted):
        pools.append([want - place * gap])
        while len(pools) > 1 and _mean(pools[-2]) > _mean(pools[-1]):
            pools[-2:] = [pools[-2] + pools[-1]]
    rising = [_mean(pool) for pool in pools for _ in pool]
    top = high - (len(rising) - 1) * gap
    return [min(max(want, 0.0), top) + place * gap for place, want in enumerate(rising)]


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def plain(axis: Any) -> None:
    """Number a log axis 0.1, 1, 10, without the lines between."""
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_locator(NullLocator())


def thousands(axis: Any) -> None:
    """Number an axis of rounds: 500, 1k, 10k."""
    axis.set_major_formatter(
        FuncFormatter(lambda value, _: f"{value / 1000:g}k" if value >= 1000 else f"{value:g}")
    )
    axis.set_minor_locator(NullLocator())
