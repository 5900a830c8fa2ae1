"""The command `almoner simulate`: a table of policies with their regret on one problem."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import click

from almoner.cli.app import INTERRUPTED, load_problem, problem_options
from almoner.cli.output import (
    amount,
    counted,
    print_json,
    print_table,
    progress,
    small_amount,
    warnings_noted,
)

if TYPE_CHECKING:
    from almoner.policy.base import Policy
    from almoner.problem import Problem

__all__ = ["simulate"]

COLUMNS = {
    "regret": "regret_mean",
    "± s.e.": "regret_stderr",
    "99 %": "regret_q99",
    "worst": "regret_max",
    "reward": "reward_mean",
    "most spent": "spend_max",
}
"""The columns of the table, and the figure of `Runs.summary` in each."""


@click.command()
@problem_options
@click.option(
    "--policy",
    "names",
    multiple=True,
    default=["thrifty"],
    show_default=True,
    help="A recipe by name, or 'all' that apply; may be repeated.",
)
@click.option("--runs", default=1000, show_default=True, help="Replications of each policy.")
@click.option("--seed", default=0, show_default=True, help="Everything random follows from it.")
@click.option(
    "--against",
    type=click.Choice(["oracle", "upper-bound"]),
    help="What regret is measured from; the oracle, where there is one, if left out.",
)
def simulate(
    file: str,
    horizon: int | None,
    budget: float | None,
    rho: float | None,
    as_json: bool,
    names: tuple[str, ...],
    runs: int,
    seed: int,
    against: str | None,
) -> None:
    """Simulate policies many times and compare their regret.

    FILE is a problem in TOML or JSON, or scenario:NAME.
    """
    from almoner.errors import UntriedPairs
    from almoner.simulation.regret import Against, Benchmark
    from almoner.simulation.simulate_problem import simulate_against

    problem = load_problem(file, horizon, budget, rho)
    policies = _policies(names, problem)
    if against is None:
        benchmark = Benchmark.of(problem)
    else:
        benchmark = Benchmark(problem, Against(against.replace("-", " ")))
    rows, warnings, stopped = [], [], False
    with progress(len(policies) * max(runs, 1), hidden=as_json) as advance:
        for name, policy in policies.items():

            def finished(count: int, name: str = name) -> None:
                advance(count, name)

            try:
                with warnings_noted(UntriedPairs) as sentences:
                    result = simulate_against(
                        benchmark, policy, runs=runs, seed=seed, progress=finished
                    )
            except KeyboardInterrupt:  # show the policies that are finished
                stopped = True
                break
            rows.append({"policy": name, **result.summary()})
            warnings += [f"Warning: {name}: {sentence}" for sentence in sentences]
    if as_json:
        print_json(rows[0] if len(rows) == 1 else rows)
    elif rows:
        _print_runs(problem, rows, against=benchmark.against)
    for line in warnings:
        click.echo(line, err=True)
    if stopped:
        click.echo(f"Stopped after {len(rows)} of {len(policies)} policies.", err=True)
        raise SystemExit(INTERRUPTED)


def _policies(names: Iterable[str], problem: Problem) -> dict[str, Policy]:
    """Return the policies of the option by name, each once; 'all' is every applicable recipe."""
    from almoner.policy.lowering import applicable
    from almoner.policy.recipes import RECIPES, recipe

    policies: dict[str, Policy] = {}
    for name in names:
        if name == "all":
            recipes = {each: recipe(each) for each in RECIPES}
            policies |= {
                each: policy
                for each, policy in recipes.items()
                if applicable(policy, **problem.terms())
            }
        else:
            policies[name.replace("-", "_")] = recipe(name)
    return policies


def _print_runs(problem: Problem, rows: list[dict[str, Any]], *, against: str) -> None:
    print_table(
        ["policy", *COLUMNS],
        ([row["policy"], *(amount(row[figure], 2) for figure in COLUMNS.values())] for row in rows),
        caption=f"{counted(problem.horizon, 'round')}, budget {problem.budget:,g}, "
        f"{counted(rows[0]['runs'], 'run')}; regret against the {against}",
    )
    unusable = [
        f"{row['policy']} {small_amount(row['unusable_mean'])}"
        for row in rows
        if row["unusable_mean"] > 0
    ]
    if unusable:
        click.echo(
            f" Left at the end, too little for any action, on average: {', '.join(unusable)}"
        )
