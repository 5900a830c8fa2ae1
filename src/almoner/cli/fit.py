"""The command `almoner fit`: the problem that a log describes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from almoner.cli.logs import load_log, log_options
from almoner.cli.output import print_json, print_table

if TYPE_CHECKING:
    from almoner.fit import Fit, Split
    from almoner.logs.log import Log
    from almoner.problem import Problem

__all__ = ["fit"]

DIFFERENT = 3.0
"""Standard errors by which the contexts of a column must differ, as in `almoner.logs.splits`."""


@click.command()
@log_options
@click.option("--budget", type=float, required=True, help="The budget to plan with.")
@click.option("--horizon", type=int, help="Arrivals to plan for; as many as LOG has, if left out.")
@click.option("--out", type=click.Path(dir_okay=False), help="Problem file to write, TOML or JSON.")
@click.option("--all-columns", is_flag=True, help="Make contexts of all columns of --context.")
def fit(
    file: str,
    budget: float,
    horizon: int | None,
    out: str | None,
    all_columns: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Fit a problem to a log of past decisions, and say which columns are worth a split.

    LOG is a CSV, JSONL or Parquet file, such as almoner ledger export writes. The problem file
    opens in almoner plan and almoner simulate.
    """
    log = load_log(file, options)
    context = [column.name for column in log.columns] if all_columns else None
    problem = log.fit(budget=budget, horizon=horizon, context=context)
    if out is not None:
        problem.to_file(Path(out))
    if as_json:
        print_json(problem.to_dict())
        return
    assert problem.fit is not None  # noqa: S101
    _print_splits(problem.fit)
    _print_means(log, problem, problem.fit)
    if out is not None:
        click.echo(f" Written to {out}: see almoner plan {out}")


def _print_splits(record: Fit) -> None:
    """Print what columns are worth as contexts, if there is a choice."""
    if len(record.splits) < 2:
        return
    print_table(
        [
            *("columns", "contexts", "differ by", "gain per arrival", "± s.e.", "of the best"),
            "worth a split",
        ],
        (
            [
                " × ".join(split.columns),
                str(split.contexts),
                f"{split.difference:.1f} s.e.",
                f"{split.gain:.4g}",
                f"{split.stderr:.2g}",
                f"{100 * split.share:.0f} %",
                _verdict(split),
            ]
            for split in record.splits
        ),
        caption="gain of a plan with these contexts over one without, cross-validated; rewards of "
        f"contexts\n that differ by less than {DIFFERENT:g} standard errors differ by chance\n",
    )


def _verdict(split: Split) -> str:
    if split.is_worth_it:
        return "yes"
    if split.difference < DIFFERENT:
        return "no difference"
    return "same plan" if split.stderr == 0.0 else "no evidence"


def _print_means(log: Log, problem: Problem, record: Fit) -> None:
    print_table(
        ["who", "comes", "rows", "skipped", *log.actions],
        (
            [name, f"{100 * share:.1f} %", f"{rows.sum():,.0f}"]
            + [
                f"{mean:.4g} ({low:.4g} to {high:.4g})" if mean == mean else "never"  # noqa: PLR0124
                for mean, low, high in zip(*intervals, strict=True)
            ]
            for name, share, rows, *intervals in zip(
                problem.contexts,
                problem.context_probs,
                record.counts,
                record.means,
                record.lows,
                record.highs,
                strict=True,
            )
        ),
        caption=f"mean rewards with 95 % intervals; {record.rows:,} rows, smallest probability "
        f"{log.probabilities.min():.3g}",
    )
    for note in log.notes:
        click.echo(f" Note: {note}.")
