"""Policies on rows, compared by their regret against the hindsight optimum."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import click

from almoner.cli.app import INTERRUPTED
from almoner.cli.output import amount, counted, money, print_json, print_table, progress
from almoner.cli.table_files import write_csv, write_latex

if TYPE_CHECKING:
    from almoner.policy.base import Policy
    from almoner.simulation.rows.rows import Rows

__all__ = ["compare_on_rows"]


def compare_on_rows(
    rows: Rows,
    budget: float,
    names: Iterable[str],
    *,
    runs: int,
    seed: int,
    order: str,
    default: str | None,
    as_json: bool,
    files: tuple[str | None, str | None],
) -> None:
    """Simulate policies on rows and print their figures; write them to files of CSV, LaTeX."""
    from almoner.simulation.rows.simulate_rows import simulate_rows

    policies = _policies(names, rows)
    found: list[dict[str, Any]] = []
    stopped = False
    with progress(len(policies) * max(runs, 1), hidden=as_json) as advance:
        for name, policy in policies.items():

            def finished(count: int, name: str = name) -> None:
                advance(count, name)

            try:
                result = simulate_rows(
                    rows,
                    policy,
                    budget=budget,
                    runs=runs,
                    seed=seed,
                    order=order,
                    default=default,
                    progress=finished,
                )
            except KeyboardInterrupt:  # show the policies that are finished
                stopped = True
                break
            figures = result.summary()
            figures["shares"] = dict(zip(rows.actions, figures["shares"], strict=True))
            found.append({"policy": name, **figures})
    if as_json:
        print_json(found[0] if len(found) == 1 else found)
    elif found:
        _print_runs(rows, found)
    write_csv([_flat(row) for row in found], files[0])
    write_latex(_columns(rows), (_cells(row, len(rows)) for row in found), files[1])
    if stopped:
        click.echo(f"Stopped after {len(found)} of {len(policies)} policies.", err=True)
        raise SystemExit(INTERRUPTED)


def _policies(names: Iterable[str], rows: Rows) -> dict[str, Policy]:
    """Return the policies of the option by name; 'all' is every recipe that has its columns."""
    from almoner.policy.recipes import recipe, recipe_name
    from almoner.policy.recipes_rows import ROW_RECIPES

    policies: dict[str, Policy] = {}
    for name in names:
        if name.lower() == "all":
            policies |= {
                each: make()
                for each, make in ROW_RECIPES.items()
                if (rows.features if each == "linear" else rows.scores) is not None
            }
        else:
            policies[recipe_name(name)] = recipe(name)
    return policies


def _columns(rows: Rows) -> list[str]:
    return ["policy", "reward per row", "± s.e.", "of the optimum", "most spent", *rows.actions]


def _cells(row: dict[str, Any], count: int) -> list[str]:
    return [
        row["policy"],
        f"{row['reward_mean'] / count:.4f}",
        amount(row["reward_stderr"] / count, 4),
        f"{100 * row['ratio']:.2f} %",
        money(row["spend_max"]),
        *(f"{100 * share:.1f} %" for share in row["shares"].values()),
    ]


def _flat(row: dict[str, Any]) -> dict[str, Any]:
    """Return the figures with a column for the share of each action."""
    shares = {f"share of {action}": share for action, share in row["shares"].items()}
    return {name: value for name, value in row.items() if name != "shares"} | shares


def _print_runs(rows: Rows, found: list[dict[str, Any]]) -> None:
    count = len(rows)
    print_table(
        _columns(rows),
        (_cells(row, count) for row in found),
        caption=f"{counted(count, 'row')}, budget {money(found[0]['budget'])}, "
        f"{counted(found[0]['runs'], 'run')} ({found[0]['order']}); the optimum in hindsight "
        f"brings {found[0]['benchmark'] / count:.4f} per row",
    )
    overruns = [
        f"{row['policy']} {amount(row['overrun_mean'], 4)}"
        for row in found
        if row["overrun_mean"] > 0
    ]
    if overruns:
        click.echo(f" Bills beyond the budget, not paid, on average: {', '.join(overruns)}")
