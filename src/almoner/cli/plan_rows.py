"""The plan of rows: its price, the share of each action, and value against budget."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from almoner.cli.frontier_files import write_frontier
from almoner.cli.output import counted, money, print_json, print_table, progress

if TYPE_CHECKING:
    from almoner.simulation.rows.frontier import Frontier
    from almoner.simulation.rows.hindsight import HindsightOptimum
    from almoner.simulation.rows.rows import Rows

__all__ = ["print_row_plan"]

BUDGETS = (0.25, 0.5, 1.0, 2.0, 4.0)
"""Budgets of the frontier, as multiples of the one asked for."""


def print_row_plan(
    rows: Rows,
    budget: float,
    *,
    default: str | None,
    runs: int,
    seed: int,
    as_json: bool,
    figure: str | None,
    csv: str | None,
) -> None:
    """Print the plan of a budget on rows, and write its frontier as a figure and as a table."""
    optimum = rows.upper_bound(budget, default=default)
    with progress(1, hidden=as_json) as advance:
        frontier = rows.frontier(
            budgets=[share * budget for share in BUDGETS], runs=runs, seed=seed, default=default
        )
        advance(1, "simulated")
    write_frontier(frontier, figure, csv)
    shares = _shares(rows, optimum)
    if as_json:
        print_json(
            {
                "rows": len(rows),
                "budget": budget,
                "budget_per_row": budget / len(rows),
                "upper_bound": float(optimum),
                "price": optimum.price,
                "spend": optimum.spend,
                "shares": shares,
                "frontier": frontier.rows,
            }
        )
        return
    _print_shares(rows, shares)
    _print_sentences(rows, optimum)
    _print_frontier(frontier)


def _shares(rows: Rows, optimum: HindsightOptimum) -> dict[str, float]:
    """Return the share of the rows that gets each action, and that is skipped."""
    shares = dict(zip(rows.actions, optimum.probabilities.mean(axis=0).tolist(), strict=True))
    return {**shares, "skipped": max(0.0, 1.0 - sum(shares.values()))}


def _print_shares(rows: Rows, shares: dict[str, float]) -> None:
    lines = [
        [name, f"{reward:.4g}", f"{cost:.4g}", f"{100 * shares[name]:.1f} %"]
        for name, reward, cost in zip(
            rows.actions, rows.rewards.mean(axis=0), rows.costs.mean(axis=0), strict=True
        )
    ]
    lines.append(
        ["skipped", f"{rows.skip_rewards.mean():.4g}", "0", f"{100 * shares['skipped']:.1f} %"]
    )
    print_table(["action", "mean reward", "mean cost", "in the optimum"], lines)


def _print_sentences(rows: Rows, optimum: HindsightOptimum) -> None:
    count = len(rows)
    click.echo(
        f"\n In hindsight {counted(count, 'row')} bring at best {float(optimum):,.6g} "
        f"({float(optimum) / count:.4g} each) for {money(optimum.spend)} of "
        f"{money(optimum.budget)}."
    )
    if optimum.price > 0.0:
        click.echo(f" One more unit of budget would bring {optimum.price:.4g}.\n")
    else:
        click.echo(" More budget is of no use.\n")


def _print_frontier(frontier: Frontier) -> None:
    """Print reward per row, a line for each budget and a column for each policy."""
    policies = list(dict.fromkeys(row["policy"] for row in frontier.rows))
    lines: dict[float, list[str]] = {}
    for row in frontier.rows:
        first = [money(row["budget"]), f"{row['price']:.4g}"]
        lines.setdefault(row["budget"], first).append(_value(row))
    runs = max(row["runs"] for row in frontier.rows)
    print_table(
        ["budget", "price", *(name.replace("_", "-") for name in policies)],
        lines.values(),
        left=0,
        caption="reward per row" + (f", {counted(runs, 'run')}" if runs else ""),
    )


def _value(row: dict[str, Any]) -> str:
    share = "" if row["runs"] == 0 else f" ({100 * row['ratio']:.1f} %)"
    return f"{row['reward_per_row']:.4f}{share}"
