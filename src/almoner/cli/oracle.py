"""The command `almoner oracle`: the exact optimum of a problem and the upper bound on it."""

from __future__ import annotations

import math

import click

from almoner.cli.app import echo_reward_range, load_problem, problem_options
from almoner.cli.output import amount, print_json, print_table

__all__ = ["oracle"]


@click.command()
@problem_options
def oracle(
    file: str, horizon: int | None, budget: float | None, rho: float | None, as_json: bool
) -> None:
    """Print the exact optimum of a problem, and an upper bound on it.

    FILE is a problem in TOML or JSON, or scenario:NAME.
    """
    from almoner.errors import NotComputable
    from almoner.simulation.oracle import optimal_value, upper_bound

    problem = load_problem(file, horizon, budget, rho)
    bound, reason = upper_bound(problem), ""
    try:
        optimum = optimal_value(problem)
    except NotComputable as error:
        optimum, reason = math.nan, str(error).split(";", maxsplit=1)[0]
    if as_json:
        print_json({"optimal_value": optimum, "upper_bound": bound})
        return
    print_table(
        ["", "expected reward"],
        [
            ["exact optimum", amount(optimum, 3)],
            ["upper bound", amount(bound, 3)],
        ],
        caption=reason,
    )
    echo_reward_range(problem)
