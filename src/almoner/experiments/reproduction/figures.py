"""Reproduction of every figure: run its tasks, save their rows, draw them, write the report."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from almoner import checks
from almoner.experiments.reproduction import boundaries, paper, unequal
from almoner.experiments.reproduction.concentration import concentration
from almoner.experiments.reproduction.report import write_report
from almoner.experiments.reproduction.served import served
from almoner.experiments.rows import BUDGETS, RESULTS, SERVED, Columns, Row, read_rows, write_rows
from almoner.experiments.runner import Progress, Task, run_tasks

__all__ = ["FIGURES", "FULL_RUNS", "QUICK_RUNS", "draw", "report", "reproduce"]

FULL_RUNS, QUICK_RUNS = 5000, 200
"""Replications: as many as the paper's, and as many as two minutes allow, compilation included."""


@dataclass(frozen=True, kw_only=True)
class FigureSpec:
    """A figure: its subject, the tasks whose rows it is drawn from, and the function that draws it.

    Attributes
    ----------
    about
        Its subject, in a line.
    tasks
        Function from ``runs``, ``seed`` and ``quick`` to the tasks.
    draw
        The name of a function of `almoner.plots`, and its arguments for each file, by the suffix
        of the file's name.
    derive
        Function that computes further rows from those of the tasks, if any.
    columns
        The columns of the rows.
    """

    about: str
    tasks: Callable[..., Sequence[Task]]
    draw: tuple[str, Mapping[str, Mapping[str, Any]]]
    derive: Callable[[list[Row]], list[Row]] | None = None
    columns: Columns = field(default_factory=lambda: RESULTS)


def _paper(name: str) -> FigureSpec:
    contexts, knowledge = name.split("-")
    files: dict[str, dict[str, Any]] = {"": {"against": "oracle"}}
    if contexts == "ten":  # the paper had no exact optimum for ten contexts
        files = {"": {"against": "upper bound"}, "-oracle": {"against": "oracle"}}
    return FigureSpec(
        about=f"{contexts} contexts, rewards {knowledge}: regret against the horizon",
        tasks=lambda **options: paper.panels(name, **options).cells(),
        draw=("regret_figure", files),
    )


FIGURES: dict[str, FigureSpec] = {
    **{name: _paper(name) for name in paper.PANELS},
    "crossing": FigureSpec(
        about="UCB-ALP against UCB-PB at ρ = 0.41, over long horizons",
        tasks=lambda **options: paper.crossing(**options).cells(),
        draw=("regret_figure", {"": {"against": "oracle", "log": True}}),
    ),
    "concentration": FigureSpec(
        about="budget left over rounds left, and the hypergeometric law",
        tasks=concentration,
        draw=("concentration_figure", {"": {}}),
        columns=BUDGETS,
    ),
    "boundary": FigureSpec(
        about="regret at a boundary, over three decades of T",
        tasks=lambda quick, **_: boundaries.boundary(quick=quick).cells(),
        draw=("boundary_figure", {"": {}}),
        derive=boundaries.limits,
    ),
    "ratio": FigureSpec(
        about="regret over the whole range of budgets",
        tasks=lambda quick, **_: boundaries.ratio(quick=quick).cells(),
        draw=("ratio_figure", {"": {}}),
    ),
    "unequal": FigureSpec(
        about="unequal costs, beside a boundary and on one",
        tasks=unequal.heterogeneous,
        draw=(
            "regret_figure",
            {
                "": {"against": "oracle", "leave_out": [*unequal.SHARES, *unequal.LITERAL]},
                "-tests": {
                    "against": "oracle",
                    "leave_out": [*unequal.SHARES, "alp", "ucb_alp", "horizon_alp"],
                },
            },
        ),
    ),
    "email": FigureSpec(
        about="e-mails to customers who visit without one too",
        tasks=lambda **options: unequal.email(**options).cells(),
        draw=("regret_figure", {"": {"against": "upper bound"}}),
    ),
    "routing": FigureSpec(
        about="prompts to a cheap or a strong model, at real prices",
        tasks=lambda **options: unequal.routing(**options).cells(),
        draw=("regret_figure", {"": {"against": "upper bound"}}),
    ),
    "served": FigureSpec(
        about="contexts served and skipped (numbers only)",
        tasks=served,
        draw=("regret_figure", {}),
        columns=SERVED,
    ),
    "wider": FigureSpec(
        about="UCB-ALP against UCB-PB with wider indices (numbers only)",
        tasks=lambda **options: paper.wider(**options).cells(),
        draw=("regret_figure", {}),
    ),
    "printed": FigureSpec(
        about="ε-First exactly as printed, exploring for a·log T rounds (numbers only)",
        tasks=lambda **options: unequal.printed(**options).cells(),
        draw=("regret_figure", {}),
    ),
}
"""Every figure by name, the paper's four first."""


def reproduce(
    figures: Sequence[str] = (),
    *,
    out: str | Path,
    runs: int | None = None,
    seed: int = 0,
    quick: bool = False,
    jobs: int | None = None,
    dask: str | None = None,
    progress: Progress | None = None,
    formats: Sequence[str] | None = None,
) -> list[Path]:
    """Regenerate figures, the rows behind them and the report; return the files, rows first.

    Parameters
    ----------
    figures
        Names from `FIGURES`; all if left out.
    out
        Folder of all files. The same call resumes what is missing.
    runs
        Replications of results that are not computed exactly: 5,000, or 200 if quick.
    seed
        Determines all random draws.
    quick
        Fewer runs and shorter horizons: two minutes instead of half an hour.
    jobs, dask, progress
        See `run_tasks`.
    formats
        Formats of the files to draw: svg, pdf and png, or svg and png if quick.
    """
    names = list(dict.fromkeys(checks.choice("figure", name, FIGURES) for name in figures))
    names = names or list(FIGURES)
    command = _command(figures, runs=runs, seed=seed, quick=quick)
    runs = checks.whole("runs", (QUICK_RUNS if quick else FULL_RUNS) if runs is None else runs)
    seed = checks.whole("seed", seed, low=0)
    out = Path(out)
    tasks = {name: FIGURES[name].tasks(runs=runs, seed=seed, quick=quick) for name in names}
    everything = [task for name in names for task in tasks[name]]
    results = iter(run_tasks(everything, out / "cells", jobs=jobs, dask=dask, progress=progress))
    written = []
    for name in names:
        rows = [row for _ in tasks[name] for row in next(results)]
        spec, path = FIGURES[name], out / f"{name}.csv"
        write_rows(rows + (spec.derive(rows) if spec.derive else []), path, columns=spec.columns)
        written.append(path)
    if formats is None:
        formats = ("svg", "png") if quick else ("svg", "pdf", "png")
    for name in names:
        written += draw(name, out, formats=formats)
    written.append(report(names, out, command=command))
    return written


def _command(figures: Sequence[str], *, runs: int | None, seed: int, quick: bool) -> str:
    """Return the command line that computes the same rows."""
    words = ["almoner reproduce", *figures]
    if quick:
        words.append("--quick")
    if runs is not None:
        words.append(f"--runs {runs}")
    if seed:
        words.append(f"--seed {seed}")
    return " ".join(words)


def report(
    names: Sequence[str],
    folder: str | Path,
    *,
    path: str | Path | None = None,
    command: str = "almoner reproduce",
) -> Path:
    """Write the report on the rows that `reproduce` saved in the folder.

    The page is ``reproduction.md`` in the same folder, or ``path``, with links to the figures.
    """
    folder = Path(folder)
    rows: list[Row] = []
    budgets: list[Row] = []
    served_rows: list[Row] = []
    for name in names:
        columns = FIGURES[checks.choice("figure", name, FIGURES)].columns
        saved = read_rows(folder / f"{name}.csv", columns=columns)
        kinds = {id(BUDGETS): budgets, id(SERVED): served_rows}
        kinds.get(id(columns), rows).extend(saved)
    path = folder / "reproduction.md" if path is None else Path(path)
    figures = Path(os.path.relpath(folder, path.parent)).as_posix()
    return write_report(
        rows, path, budgets=budgets, served=served_rows, command=command, figures=figures
    )


def draw(
    name: str, folder: str | Path, *, formats: Sequence[str] = ("svg", "pdf", "png")
) -> list[Path]:
    """Draw a figure from the rows that `reproduce` saved in the folder, beside them."""
    from almoner import plots

    spec, folder = FIGURES[checks.choice("figure", name, FIGURES)], Path(folder)
    rows = read_rows(folder / f"{name}.csv", columns=spec.columns)
    function = getattr(plots, spec.draw[0])
    return [
        path
        for suffix, arguments in spec.draw[1].items()
        for path in plots.save_figure(
            function(rows, **arguments), folder / f"{name}{suffix}", formats=formats
        )
    ]
