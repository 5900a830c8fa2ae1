"""The command `almoner frontier`: value against budget, estimated from a log."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from almoner.cli.frontier_files import (
    frontier_file_options,
    refuse_other_figures,
    write_frontier,
)
from almoner.cli.logs import load_log, log_options
from almoner.cli.output import print_json, print_table

if TYPE_CHECKING:
    from almoner.logs.frontier import LogFrontier, LogFrontierPoint

__all__ = ["frontier"]

BESIDE = 3
"""Budgets beside one another in the table of who gets what."""


@click.command()
@log_options
@click.option(
    "--budget",
    "budgets",
    type=float,
    multiple=True,
    required=True,
    help="A budget of all arrivals of LOG together; may be repeated.",
)
@frontier_file_options()
@click.option("--seed", default=0, show_default=True, help="Everything random follows from it.")
def frontier(
    file: str,
    budgets: tuple[float, ...],
    figure: str | None,
    csv: str | None,
    seed: int,
    as_json: bool,
    **options: Any,
) -> None:
    """Estimate from a log what budgets would have brought, and who would have got what.

    LOG is a CSV, JSONL or Parquet file, such as almoner ledger export writes. Values are totals
    over the arrivals of LOG, doubly robust, with 95 % intervals.
    """
    from almoner.logs.estimate import frontier as estimate

    refuse_other_figures(figure)
    points = estimate(load_log(file, options), budgets=budgets, seed=seed)
    write_frontier(points, figure, csv)
    if as_json:
        print_json([asdict(point) for point in points])
        return
    _print_points(points)
    for start in range(0, len(points), BESIDE):
        _print_shares(points[start : start + BESIDE])
    for point in points[-1:]:
        click.echo(f" It rests on {point.basis}.")


def _print_points(points: LogFrontier) -> None:
    print_table(
        ["budget", "value", "95 % interval", "SNIPS", "price", "spend", "matches", "effective"],
        (
            [
                f"{point.budget:,.6g}",
                f"{point.value:,.6g}",
                f"{point.low:,.6g} to {point.high:,.6g}",
                f"{point.snips:,.6g}",
                f"{point.price:.4g}",
                f"{point.spend:,.6g}",
                f"{point.basis.matches:,.0f}",
                f"{point.basis.effective:,.0f}",
            ]
            for point in points
        ),
        left=0,
        caption=f"totals over {points[0].arrivals:,} arrivals\n",
    )


def _print_shares(points: Sequence[LogFrontierPoint]) -> None:
    """Print who gets what at each budget."""
    print_table(
        ["who", *(f"budget {point.budget:,.6g}" for point in points)],
        (
            [
                context,
                *(
                    ", ".join(
                        f"{100 * share:.0f} % {action}"
                        for action, share in point.shares[context].items()
                        if share > 0.005
                    )
                    for point in points
                ),
            ]
            for context in points[0].shares
        ),
    )
