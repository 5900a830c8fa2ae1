"""The command `almoner scenarios`: a table of the problems that come with the package."""

from __future__ import annotations

import click

from almoner.cli.output import print_table

__all__ = ["scenarios"]


@click.command()
def scenarios() -> None:
    """List the problems that come with the package."""
    from almoner.scenarios import describe, scenario_names

    rows = []
    for name in scenario_names():
        problem = describe(name).problem
        sizes = [*problem.reward_means.shape, problem.horizon, problem.budget]
        rows.append([name, describe(name).about, *(f"{size:,g}" for size in sizes)])
    print_table(["scenario", "what it is", "contexts", "actions", "rounds", "budget"], rows, left=2)
