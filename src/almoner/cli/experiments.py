"""The commands `almoner reproduce` and `almoner sweep`: experiments into a folder of rows."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from almoner.cli.app import INTERRUPTED
from almoner.cli.output import progress

if TYPE_CHECKING:
    from collections.abc import Iterator

    from almoner.experiments.runner import Progress

__all__ = ["reproduce", "sweep"]


def _work_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options of the output folder and of parallel work."""
    for decorate in (
        click.option("--dask", metavar="ADDRESS", help="Run on this Dask cluster."),
        click.option("--jobs", type=int, help="Processes; one per core if left out."),
        click.option(
            "--out",
            type=click.Path(file_okay=False),
            default="results",
            show_default=True,
            help="Folder; run again, it does what is missing.",
        ),
    ):
        command = decorate(command)
    return command


@click.command()
@click.argument("figures", nargs=-1, metavar="[FIGURE]...")
@click.option("--runs", type=int, help="Replications: 5,000, or 200 if quick.")
@click.option("--seed", default=0, show_default=True, help="Everything random follows from it.")
@click.option("--quick", is_flag=True, help="Two minutes instead of half an hour.")
@_work_options
def reproduce(
    figures: tuple[str, ...],
    runs: int | None,
    seed: int,
    quick: bool,
    out: str,
    jobs: int | None,
    dask: str | None,
) -> None:
    """Regenerate the paper's figures, ours, and the report on its claims.

    FIGURE is one of two-known, two-unknown, ten-known, ten-unknown (the paper's), crossing,
    concentration, boundary, ratio, unequal, email, routing, served, wider, printed (ours); all
    if left out.
    """
    from almoner.experiments.reproduction.figures import reproduce as run

    with _task_progress() as report:
        written = run(
            figures,
            out=out,
            runs=runs,
            seed=seed,
            quick=quick,
            jobs=jobs,
            dask=dask,
            progress=report,
        )
    _list(written)


@click.command()
@click.argument("file", metavar="FILE")
@_work_options
def sweep(file: str, out: str, jobs: int | None, dask: str | None) -> None:
    """Run problems × policies × horizons × budgets into a folder of rows.

    FILE is a sweep in TOML or JSON: problems, policies, and if you like horizons, ratios, runs,
    seed.
    """
    from pathlib import Path

    from almoner.experiments.sweep import Sweep, run_sweep

    with _task_progress() as report:
        run_sweep(Sweep.from_file(file), out, jobs=jobs, dask=dask, progress=report)
    _list([Path(out) / "rows.csv"])


@contextmanager
def _task_progress() -> Iterator[Progress]:
    """Show a progress bar of tasks; on Ctrl-C print that finished tasks are kept."""
    shown = 0
    try:
        with progress(1) as advance:

            def report(done: int, total: int) -> None:
                nonlocal shown
                advance(done - shown, "cells", total=total)
                shown = done

            yield report
    except KeyboardInterrupt:
        click.echo("Stopped; what is finished is kept, and the same command goes on from here.")
        raise SystemExit(INTERRUPTED) from None


def _list(written: list[Any]) -> None:
    for path in written:
        click.echo(path)
