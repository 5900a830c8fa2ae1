"""Reproduce: every figure from nothing, through rows that are saved before anything is drawn."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from almoner import checks
from almoner.experiments.reproduction import paper, theory, unequal
from almoner.experiments.reproduction.report import write_report
from almoner.experiments.rows import BUDGETS, RESULTS, Columns, Row, read_rows, write_rows
from almoner.experiments.runner import Progress, Task, run_tasks

__all__ = ["FIGURES", "FULL_RUNS", "QUICK_RUNS", "draw", "report", "reproduce"]

FULL_RUNS, QUICK_RUNS = 5000, 200
"""As many as the paper's, and as many as two minutes allow, compilation included."""


@dataclass(frozen=True, kw_only=True)
class Spec:
    """A figure: what it is, the tasks whose rows it is drawn from, and how it is drawn.

    Attributes
    ----------
    about
        What it shows, in a line.
    tasks
        From ``runs``, ``seed`` and ``quick`` to the tasks.
    draw
        The name of the function of `almoner.plots`, and its arguments for each file, by what is
        added to the file's name.
    derive
        Rows that follow from the others, if any.
    columns
        What the rows hold.
    """

    about: str
    tasks: Callable[..., Sequence[Task]]
    draw: tuple[str, Mapping[str, Mapping[str, Any]]]
    derive: Callable[[list[Row]], list[Row]] | None = None
    columns: Columns = field(default_factory=lambda: RESULTS)


def _paper(name: str) -> Spec:
    contexts, knowledge = name.split("-")
    ways: dict[str, dict[str, Any]] = {"": {"against": "oracle"}}
    if contexts == "ten":  # as in the paper, and as it could not be done there
        ways = {"": {"against": "upper bound"}, "-oracle": {"against": "oracle"}}
    return Spec(
        about=f"{contexts} contexts, rewards {knowledge}: regret against the horizon",
        tasks=lambda **how: paper.panels(name, **how).cells(),
        draw=("regret_figure", ways),
    )


FIGURES: dict[str, Spec] = {
    **{name: _paper(name) for name in paper.PANELS},
    "crossing": Spec(
        about="UCB-ALP against UCB-PB at ρ = 0.41, over long horizons",
        tasks=lambda **how: paper.crossing(**how).cells(),
        draw=("regret_figure", {"": {"against": "oracle", "log": True}}),
    ),
    "concentration": Spec(
        about="budget left over rounds left, and the hypergeometric law",
        tasks=theory.concentration,
        draw=("concentration_figure", {"": {}}),
        columns=BUDGETS,
    ),
    "boundary": Spec(
        about="regret at a boundary, over three decades of T",
        tasks=lambda quick, **_: theory.boundary(quick=quick).cells(),
        draw=("boundary_figure", {"": {}}),
        derive=theory.limits,
    ),
    "ratio": Spec(
        about="regret over the whole range of budgets",
        tasks=lambda quick, **_: theory.ratio(quick=quick).cells(),
        draw=("ratio_figure", {"": {}}),
    ),
    "unequal": Spec(
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
    "email": Spec(
        about="e-mails to customers who visit without one too",
        tasks=lambda **how: unequal.email(**how).cells(),
        draw=("regret_figure", {"": {"against": "upper bound"}}),
    ),
    "routing": Spec(
        about="prompts to a cheap or a strong model, at real prices",
        tasks=lambda **how: unequal.routing(**how).cells(),
        draw=("regret_figure", {"": {"against": "upper bound"}}),
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
        Folder for everything. Run again, it does what is missing.
    runs
        Replications of what cannot be computed exactly: 5,000, or 200 if quick.
    seed
        Everything random follows from it.
    quick
        Fewer runs and shorter horizons: a minute instead of half an hour.
    jobs, dask, progress
        See `run_tasks`.
    formats
        Endings of the files to draw: svg, pdf and png, or svg and png if quick.
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
    """Return what to type for the same rows."""
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

    It stands beside them as ``reproduction.md``, or at ``path``, and shows the figures from where
    they are.
    """
    folder, rows, budgets = Path(folder), [], []
    for name in names:
        columns = FIGURES[checks.choice("figure", name, FIGURES)].columns
        found = read_rows(folder / f"{name}.csv", columns=columns)
        if columns is BUDGETS:
            budgets += found
        else:
            rows += found
    path = folder / "reproduction.md" if path is None else Path(path)
    figures = Path(os.path.relpath(folder, path.parent)).as_posix()
    return write_report(rows, path, budgets=budgets, command=command, figures=figures)


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
        for suffix, how in spec.draw[1].items()
        for path in plots.save_figure(
            function(rows, **how), folder / f"{name}{suffix}", formats=formats
        )
    ]
