"""Files of value against budget: the options that name them, and a figure and a table written."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from almoner.logs.frontier import LogFrontier
    from almoner.simulation.rows.frontier import Frontier

__all__ = ["frontier_file_options", "refuse_other_figures", "write_frontier"]

FORMATS = (".svg", ".pdf", ".png")
"""Endings of figures."""


def frontier_file_options(about: str = "") -> Callable[..., Callable[..., None]]:
    """Return a decorator that adds the options ``--figure`` and ``--csv``."""

    def add(command: Callable[..., None]) -> Callable[..., None]:
        path = click.Path(dir_okay=False)
        table = click.option("--csv", type=path, help=f"{about}CSV file to write.")
        figure = click.option(
            "--figure", type=path, help=f"{about}Figure to draw: SVG, PDF or PNG."
        )
        return figure(table(command))

    return add


def refuse_other_figures(figure: str | None) -> None:
    """Refuse a figure whose format the ending of its name does not tell."""
    if figure is not None and Path(figure).suffix not in FORMATS:
        raise click.UsageError(f"--figure must end in {', '.join(FORMATS)}, got {figure!r}")


def write_frontier(frontier: Frontier | LogFrontier, figure: str | None, csv: str | None) -> None:
    """Write a frontier as a figure and as a table, if they are asked for."""
    if csv is not None:
        frontier.to_csv(csv)
    if figure is not None:
        from almoner.plots import frontier_figure, save_figure

        path = Path(figure)
        formats = [path.suffix.removeprefix(".")]
        save_figure(frontier_figure(frontier.rows), path.with_suffix(""), formats=formats)
