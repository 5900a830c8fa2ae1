"""The command `almoner simulate`: a table of policies with their regret on one problem."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import click

from almoner.cli.app import INTERRUPTED, echo_reward_range, load_problem, problem_options
from almoner.cli.output import (
    amount,
    counted,
    print_json,
    print_table,
    progress,
    small_amount,
    warnings_noted,
)
from almoner.cli.rows import is_rows, load_rows, refuse_horizon, refuse_row_options, row_options
from almoner.cli.simulate_rows import compare_on_rows
from almoner.cli.table_files import table_options, write_csv, write_latex

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
    show_default="thrifty, on rows priced",
    help="A recipe, as in 'thrifty' or 'thrifty(caution=2)', or 'all' that apply; may be repeated.",
)
@click.option(
    "--runs", type=int, show_default="1000, on rows 20", help="Replications of each policy."
)
@click.option("--seed", default=0, show_default=True, help="Everything random follows from it.")
@click.option(
    "--against",
    type=click.Choice(["oracle", "upper-bound"]),
    help="What regret is measured from; the oracle, where there is one, if left out.",
)
@row_options
@click.option(
    "--order",
    type=click.Choice(["shuffle", "file"]),
    help="On rows: a shuffle for each run, or the order of the file.",
)
@table_options
def simulate(
    file: str,
    horizon: int | None,
    budget: float | None,
    rho: float | None,
    as_json: bool,
    names: tuple[str, ...],
    runs: int | None,
    seed: int,
    against: str | None,
    csv: str | None,
    latex: str | None,
    **options: Any,
) -> None:
    """Simulate policies many times and compare their regret.

    FILE is a problem in TOML or JSON, or scenario:NAME, or rows in CSV or Parquet.
    """
    if is_rows(file):
        refuse_horizon(horizon)
        if against is not None:
            raise click.UsageError("--against is for problems: on rows it is the optimum")
        rows, money = load_rows(file, budget=budget, rho=rho, options=options)
        compare_on_rows(
            rows,
            money,
            names or ("priced",),
            runs=20 if runs is None else runs,
            seed=seed,
            order=options["order"] or "shuffle",
            default=options["default"],
            as_json=as_json,
            files=(csv, latex),
        )
        return
    refuse_row_options(options)
    problem = load_problem(file, horizon, budget, rho)
    runs = 1000 if runs is None else runs
    files = (csv, latex)
    _compare(problem, names or ("thrifty",), runs, seed, against, as_json=as_json, files=files)


def _compare(
    problem: Problem,
    names: Iterable[str],
    runs: int,
    seed: int,
    against: str | None,
    *,
    as_json: bool,
    files: tuple[str | None, str | None],
) -> None:
    """Simulate policies on a problem and print their figures; write them to files of CSV, LaTeX."""
    from almoner.errors import UntriedPairs
    from almoner.simulation.regret import Against, Benchmark
    from almoner.simulation.simulate_problem import simulate_against

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
    write_csv(rows, files[0])
    write_latex(["policy", *COLUMNS], map(_cells, rows), files[1])
    for line in warnings:
        click.echo(line, err=True)
    if stopped:
        click.echo(f"Stopped after {len(rows)} of {len(policies)} policies.", err=True)
        raise SystemExit(INTERRUPTED)


def _policies(names: Iterable[str], problem: Problem) -> dict[str, Policy]:
    """Return the policies of the option by name, each once; 'all' is every applicable recipe."""
    from almoner.policy.lowering import applicable
    from almoner.policy.recipes import RECIPES, recipe, recipe_name

    policies: dict[str, Policy] = {}
    for name in names:
        if name.lower() == "all":
            recipes = {each: recipe(each) for each in RECIPES}
            policies |= {
                each: policy
                for each, policy in recipes.items()
                if applicable(policy, **problem.terms())
            }
        else:
            policies[recipe_name(name)] = recipe(name)
    return policies


def _cells(row: dict[str, Any]) -> list[str]:
    return [row["policy"], *(amount(row[figure], 2) for figure in COLUMNS.values())]


def _print_runs(problem: Problem, rows: list[dict[str, Any]], *, against: str) -> None:
    print_table(
        ["policy", *COLUMNS],
        map(_cells, rows),
        caption=f"{counted(problem.horizon, 'round')}, budget {problem.budget:,g}, "
        f"{counted(rows[0]['runs'], 'run')}; regret against the {against}",
    )
    echo_reward_range(problem)
    unusable = [
        f"{row['policy']} {small_amount(row['unusable_mean'])}"
        for row in rows
        if row["unusable_mean"] > 0
    ]
    if unusable:
        click.echo(
            f" Left at the end, too little for any action, on average: {', '.join(unusable)}"
        )
