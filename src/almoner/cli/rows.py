"""Rows on the command line: options that name the columns of a file, and its loading."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from almoner.simulation.rows.rows import Rows

__all__ = ["is_rows", "load_rows", "refuse_horizon", "refuse_row_options", "row_options"]

ENDINGS = (".csv", ".csv.gz", ".parquet")

FAMILIES = {
    "rewards": ("reward_*", "Columns of rewards; the star stands for the action."),
    "costs": ("cost_*", "Columns of what is billed."),
    "expected_costs": ("expected_cost_*", "Columns of costs to plan with; if left out, bills."),
    "scores": ("score_*", "Columns of your predictions of the rewards."),
}
"""Families of columns with a column for each action: the usual pattern, and the help."""

OTHERS = {
    "features": ("PATTERN", "Columns of features, such as 'x*'."),
    "skip_reward": ("COLUMN", "Column of what skipping brings."),
    "skip_score": ("COLUMN", "Column of its prediction."),
    "default": ("ACTION", "An action in place of skipping: everybody gets at least this one."),
}


def row_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options that say what the columns of a file of rows are."""
    declared: dict[str, tuple[str, str]] = {
        **{name: ("PATTERN", about) for name, (_, about) in FAMILIES.items()},
        **OTHERS,
    }
    for name, (metavar, about) in reversed(declared.items()):
        usual = f" Usually '{FAMILIES[name][0]}'." if name in FAMILIES else ""
        option = click.option(
            f"--{name.replace('_', '-')}", name, metavar=metavar, help=f"On rows: {about}{usual}"
        )
        command = option(command)
    return command


def is_rows(file: str) -> bool:
    """Return whether FILE has rows, by its ending."""
    return file.endswith(ENDINGS)


def load_rows(
    file: str, *, budget: float | None, rho: float | None, options: dict[str, Any]
) -> tuple[Rows, float]:
    """Load the rows of FILE, and return them with the budget of the options.

    Expected costs and scores are read where columns have their usual names.
    """
    from almoner import checks
    from almoner.simulation.rows.rows import Rows
    from almoner.tables import open_table

    if (budget is None) == (rho is None):
        raise click.UsageError("on rows give --budget, or --rho as the budget per row")
    table = open_table(file)
    chosen = {name: options[name] for name in (*FAMILIES, *OTHERS) if name != "default"}
    for name, (usual, _) in FAMILIES.items():
        if chosen[name] is None:
            start = usual.removesuffix("*")
            seen = any(str(column).startswith(start) for column in table.names)
            chosen[name] = usual if seen or name in ("rewards", "costs") else None
    rows = Rows.read(table, **chosen)
    if rho is not None:
        budget = checks.number("--rho", rho, low=0) * len(rows)
    return rows, checks.number("--budget", budget, low=0)


def refuse_horizon(horizon: int | None) -> None:
    """Refuse a horizon where FILE has rows."""
    if horizon is not None:
        raise click.UsageError("--horizon is for problems: the horizon of rows is their number")


def refuse_row_options(options: dict[str, Any]) -> None:
    """Refuse options of rows where FILE is a problem."""
    for name, value in options.items():
        if value is not None:
            flag = name.replace("_", "-")
            raise click.UsageError(f"--{flag} is for files of rows ({', '.join(ENDINGS)})")
