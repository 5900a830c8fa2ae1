"""The command `almoner replay`: policies on a log of past decisions."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import click

from almoner.cli.logs import load_log, log_options
from almoner.cli.output import counted, print_json, print_table

__all__ = ["replay"]


@click.command()
@log_options
@click.option(
    "--policy",
    "names",
    multiple=True,
    default=("thrifty",),
    show_default=True,
    help="A recipe, as in 'thrifty' or 'thrifty(caution=2)'; may be repeated.",
)
@click.option(
    "--budget", type=float, required=True, help="Budget of all arrivals of LOG, or of --horizon."
)
@click.option("--horizon", type=int, help="Rounds to estimate by a model, instead of a replay.")
@click.option("--runs", default=10, show_default=True, help="Replays of each policy.")
@click.option("--seed", default=0, show_default=True, help="Everything random follows from it.")
def replay(
    file: str,
    names: tuple[str, ...],
    budget: float,
    horizon: int | None,
    runs: int,
    seed: int,
    as_json: bool,
    **options: Any,
) -> None:
    """Replay policies on a log, learning as they go: what they would have brought.

    LOG is a CSV, JSONL or Parquet file, such as almoner ledger export writes. Rows are accepted at
    random where LOG did what the policy does, so that there are fewer rounds than rows, with a
    budget in proportion.
    """
    from almoner.logs.replay import replay as estimate

    log = load_log(file, options)
    results = [
        estimate(log, name, budget=budget, horizon=horizon, runs=runs, seed=seed) for name in names
    ]
    if as_json:
        print_json([asdict(result) for result in results])
        return
    print_table(
        ["policy", "value", "95 % interval", "per round", "rounds", "budget", "spent", "accepted"],
        (
            [
                str(result.policy),
                f"{result.value:,.6g}",
                f"{result.low:,.6g} to {result.high:,.6g}",
                f"{result.per_arrival:.4g}",
                f"{result.horizon:,}",
                f"{result.budget:,.6g}",
                f"{result.spend:,.6g}",
                f"{100 * result.acceptance:.1f} %" if horizon is None else "by a model",
            ]
            for result in results
        ),
        caption=f"{counted(len(log), 'row')}, {counted(runs, 'run')}; values are totals over the "
        "rounds",
    )
    for result in results:
        click.echo(f" {result.policy} rests on {result.basis}.")
