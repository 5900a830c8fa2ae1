"""The command line: thin. Parse, call, print."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from almoner import __version__
from almoner.errors import AlmonerError

if TYPE_CHECKING:
    from rich.table import Table

    from almoner.problem import Problem

__all__ = ["main"]


class _Friendly(click.Group):
    """Show what almoner refuses as one sentence and exit code 2, never as a traceback."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except AlmonerError as error:
            raise click.UsageError(str(error)) from None


@click.group(cls=_Friendly, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="almoner")
def main() -> None:
    """Spend a fixed budget well, one decision at a time, while learning."""


def _problem_options(command: Callable[..., None]) -> Callable[..., None]:
    for decorate in (
        click.argument("file", metavar="FILE"),
        click.option("--horizon", type=int, help="Rounds, instead of what FILE says."),
        click.option("--budget", type=float, help="Budget, instead of what FILE says."),
        click.option("--rho", type=float, help="Budget per round, instead of what FILE says."),
        click.option("--json", "as_json", is_flag=True, help="Print JSON for programs."),
    ):
        command = decorate(command)
    return command


def _load(file: str, horizon: int | None, budget: float | None, rho: float | None) -> Problem:
    """Return the problem of FILE with the overrides; a new horizon alone keeps the ratio."""
    from almoner.scenarios import load

    problem = load(file)
    if budget is not None and rho is not None:
        raise click.UsageError("give --budget or --rho, not both")
    if budget is not None:
        return problem.replace(
            horizon=problem.horizon if horizon is None else horizon, budget=budget
        )
    if horizon is not None or rho is not None:
        return problem.scaled(problem.horizon if horizon is None else horizon, ratio=rho)
    return problem


@main.command()
@_problem_options
def oracle(
    file: str, horizon: int | None, budget: float | None, rho: float | None, as_json: bool
) -> None:
    """What can be had at best: the exact optimum, and the bound nobody exceeds.

    FILE is a problem in TOML or JSON, or scenario:NAME.
    """
    from almoner.oracle import optimal_value, upper_bound

    problem = _load(file, horizon, budget, rho)
    figures = {"optimal_value": optimal_value(problem), "upper_bound": upper_bound(problem)}
    if as_json:
        _print_json(figures)
        return
    table = _table("", "expected reward")
    table.add_row("exact optimum", f"{figures['optimal_value']:,.3f}")
    table.add_row("upper bound", f"{figures['upper_bound']:,.3f}")
    _print(table)


@main.command()
@_problem_options
@click.option(
    "--policy", "names", multiple=True, default=["thrifty"], help="A recipe, or 'all'; repeatable."
)
@click.option("--runs", default=1000, show_default=True, help="Replications of each policy.")
@click.option("--seed", default=0, show_default=True, help="Everything random follows from it.")
@click.option(
    "--against",
    type=click.Choice(["oracle", "upper-bound"]),
    default="oracle",
    show_default=True,
    help="What regret is measured from.",
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
    against: str,
) -> None:
    """Play policies many times over and compare their regret.

    FILE is a problem in TOML or JSON, or scenario:NAME.
    """
    from almoner.policy.recipes import RECIPES, recipe
    from almoner.simulation import simulate as play

    problem = _load(file, horizon, budget, rho)
    if names == ("all",):
        two = len(problem.context_probs) == 2
        names = tuple(name for name in RECIPES if two or not name.endswith("pb"))
    policies = [(name.replace("-", "_"), recipe(name)) for name in names]
    rows = []
    with _progress(len(policies) * runs, hidden=as_json) as advance:
        for name, policy in policies:
            played = play(
                problem,
                policy,
                runs=runs,
                seed=seed,
                against=against.replace("-", " "),
                progress=lambda count, name=name: advance(count, name),  # type: ignore[misc]
            )
            rows.append({"policy": name, **played.summary()})
    if as_json:
        _print_json(rows[0] if len(rows) == 1 else rows)
        return
    table = _table("policy", "regret", "± s.e.", "99 %", "worst", "reward", "largest spend")
    for row in rows:
        numbers = [
            "regret_mean",
            "regret_stderr",
            "regret_q99",
            "regret_max",
            "reward_mean",
            "spend_max",
        ]
        table.add_row(row["policy"], *(f"{row[number]:,.2f}" for number in numbers))
    table.caption = (
        f"{problem.horizon:,} rounds, budget {problem.budget:,g}, {runs:,} runs, regret against "
        f"the {against.replace('-', ' ')}"
    )
    _print(table)


@main.command()
def scenarios() -> None:
    """List the problems that come with the package."""
    from almoner.scenarios import describe, scenario_names

    table = _table("scenario", "contexts", "actions", "rounds", "budget", "what it is")
    for name in scenario_names():
        scenario = describe(name)
        problem = scenario.problem
        sizes = [*problem.reward_means.shape, problem.horizon, problem.budget]
        table.add_row(name, *(f"{size:,g}" for size in sizes), scenario.about)
    table.columns[-1].justify = "left"
    _print(table)


@contextmanager
def _progress(total: int, *, hidden: bool) -> Iterator[Callable[[int, str], None]]:
    from rich.console import Console
    from rich.progress import Progress

    console = Console(stderr=True)
    with Progress(
        console=console, disable=hidden or not console.is_terminal, transient=True
    ) as bar:
        task = bar.add_task("", total=total)
        yield lambda count, what: bar.update(task, advance=count, description=what)


def _table(*columns: str) -> Table:
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, caption_justify="left")
    for place, column in enumerate(columns):
        table.add_column(column, justify="left" if place == 0 else "right")
    return table


def _print(table: Table) -> None:
    from rich.console import Console

    Console().print(table)


def _print_json(value: object) -> None:
    json.dump(value, sys.stdout, indent=1)
    sys.stdout.write("\n")
