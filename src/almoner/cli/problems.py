"""Commands about one problem: plan, simulate, oracle; and the list of scenarios."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import click

from almoner.cli.app import load_problem, problem_options
from almoner.cli.show import print_json, print_table, progress, warnings_noted

if TYPE_CHECKING:
    from almoner.lp import Solution
    from almoner.problem import Problem

__all__ = ["oracle", "plan", "scenarios", "simulate"]


@click.command()
@problem_options
def plan(
    file: str, horizon: int | None, budget: float | None, rho: float | None, as_json: bool
) -> None:
    """Who gets what with this budget, and what it will bring.

    FILE is a problem in TOML or JSON, or scenario:NAME.
    """
    from almoner.lp import solve

    problem = load_problem(file, horizon, budget, rho)
    solution = solve(problem)
    if as_json:
        print_json(
            {
                "horizon": problem.horizon,
                "budget": problem.budget,
                "unusable": _remainder(problem)[0],
                "ratio": problem.ratio,
                "upper_bound": problem.horizon * solution.value,
                "price": solution.price,
                "boundaries": solution.boundaries.tolist(),
                "boundary_distance": solution.boundary_distance,
                "probabilities": solution.probabilities.tolist(),
            }
        )
        return
    _print_plan(problem, solution)


def _print_plan(problem: Problem, solution: Solution) -> None:
    contexts, actions = problem.reward_means.shape
    names = problem.contexts or [f"context {place + 1}" for place in range(contexts)]
    columns = problem.actions or [f"action {place + 1}" for place in range(actions)]
    skipped = 1 - solution.probabilities.sum(axis=1)
    print_table(
        ["who", "comes", *columns, "skipped"],
        (
            [names[place], _percent(problem.context_probs[place])]
            + [_percent(share) for share in solution.probabilities[place]]
            + [_percent(skipped[place])]
            for place in range(contexts)
        ),
    )
    spend = problem.horizon * float(
        problem.context_probs @ (solution.probabilities * problem.costs).sum(axis=1)
    )
    idle = problem.horizon * float(problem.context_probs @ problem.default_rewards)
    reward = problem.horizon * solution.value
    rest, unit = _remainder(problem)
    lines = [
        f"It brings at most {reward:,.1f} in {problem.horizon:,} rounds, "
        f"{reward - idle:,.1f} of it thanks to the budget.",
        f"It spends {spend:,.1f} of {problem.budget:,.1f}.",
        *([f"{_small(rest)} can never be spent: costs are multiples of {unit:g}."] if rest else []),
        f"One more unit of budget would bring {solution.price:.4g}.",
        _nearness(problem, solution),
    ]
    click.echo("\n" + "\n".join(f" {line}" for line in lines))


def _remainder(problem: Problem) -> tuple[float, float]:
    """Return what no sequence of actions can use of the budget, and what all costs divide by."""
    from almoner.money import on_grid

    grid = on_grid(problem.budget, problem.costs)
    unit = grid.top / grid.bottom
    rest = problem.budget - grid.budget * unit
    return (rest if rest > 1e-9 * problem.budget else 0.0), unit


def _nearness(problem: Problem, solution: Solution) -> str:
    """Say over which budgets the price holds, and how far the nearer end is."""
    ends = [0.0, *solution.boundaries.tolist()]
    if len(ends) == 1:
        return "No action gains anything: skipping everybody is as good."
    if solution.boundary_distance < 1e-9:
        return (
            f"It lies exactly on a boundary ({problem.ratio:.4g} per round): the price jumps here."
        )
    budgets = [end * problem.horizon for end in ends]
    if problem.budget > budgets[-1]:
        return f"Beyond {budgets[-1]:,.1f} more budget is of no use."
    place = next(place for place, budget in enumerate(budgets) if budget > problem.budget)
    low, high = budgets[place - 1], budgets[place]
    near = min(problem.budget - low, high - problem.budget)
    return (
        f"That price holds from a budget of {low:,.1f} to {high:,.1f}; "
        f"the nearer boundary is {near:,.1f} away."
    )


def _fixed(number: float) -> str:
    """Return a number with two decimals, and no minus sign before zero."""
    return f"{round(number, 2) + 0.0:,.2f}"


def _small(amount: float) -> str:
    """Return an amount with two decimals, or with two digits where that would show nothing."""
    return _fixed(amount) if amount >= 0.01 else f"{amount:.2g}"


def _percent(share: float) -> str:
    return "–" if share < 5e-6 else f"{100 * share:.1f} %"


@click.command()
@problem_options
@click.option(
    "--policy",
    "names",
    multiple=True,
    default=["thrifty"],
    show_default=True,
    help="A recipe by name, or 'all'; may be repeated.",
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
    """Play policies many times over and compare their regret.

    FILE is a problem in TOML or JSON, or scenario:NAME.
    """
    from almoner import simulation
    from almoner.errors import UntriedPairs
    from almoner.policy.plan import applicable
    from almoner.policy.recipes import RECIPES, recipe

    problem = load_problem(file, horizon, budget, rho)
    if names == ("all",):
        names = tuple(name for name in RECIPES if applicable(recipe(name), **problem.terms()))
    policies = [(name.replace("-", "_"), recipe(name)) for name in names]
    benchmark = _benchmark(problem) if against is None else against.replace("-", " ")
    rows, noted, stopped = [], [], False
    with progress(len(policies) * max(runs, 1), hidden=as_json) as advance:
        for name, policy in policies:

            def played(count: int, name: str = name) -> None:
                advance(count, name)

            try:
                with warnings_noted(UntriedPairs) as sentences:
                    result = simulation.simulate(
                        problem, policy, runs=runs, seed=seed, against=benchmark, progress=played
                    )
            except KeyboardInterrupt:  # show what is finished
                stopped = True
                break
            rows.append({"policy": name, **result.summary()})
            noted += [f"Warning: {name}: {sentence}" for sentence in sentences]
    if rows or as_json:
        _print_runs(problem, rows, as_json=as_json, caption=f"regret against the {benchmark}")
    for line in noted:
        click.echo(line, err=True)
    if stopped:
        click.echo(f"Stopped after {len(rows)} of {len(policies)} policies.", err=True)
        raise SystemExit(130)


def _benchmark(problem: Problem) -> str:
    """Return what regret can be measured from: the exact oracle, or failing that the bound."""
    from almoner.errors import NotComputable
    from almoner.oracle import optimal_value

    try:
        optimal_value(problem)
    except NotComputable:
        return "upper bound"
    return "oracle"


def _print_runs(
    problem: Problem, rows: list[dict[str, Any]], *, as_json: bool, caption: str
) -> None:
    if as_json:
        print_json(rows[0] if len(rows) == 1 else rows)
        return
    figures = [
        "regret_mean",
        "regret_stderr",
        "regret_q99",
        "regret_max",
        "reward_mean",
        "spend_max",
    ]
    print_table(
        ["policy", "regret", "± s.e.", "99 %", "worst", "reward", "most spent"],
        ([row["policy"], *(_fixed(row[figure]) for figure in figures)] for row in rows),
        caption=f"{problem.horizon:,} rounds, budget {problem.budget:,g}, "
        f"{rows[0]['runs'] if rows else 0:,} runs; {caption}",
    )
    unusable = [
        f"{row['policy']} {_small(row['unusable_mean'])}"
        for row in rows
        if row["unusable_mean"] > 0
    ]
    if unusable:
        click.echo(
            f" Left at the end, too little for any action, on average: {', '.join(unusable)}"
        )


@click.command()
@problem_options
def oracle(
    file: str, horizon: int | None, budget: float | None, rho: float | None, as_json: bool
) -> None:
    """What can be had at best: the exact optimum, and a bound on it.

    FILE is a problem in TOML or JSON, or scenario:NAME.
    """
    from almoner.errors import NotComputable
    from almoner.oracle import optimal_value, upper_bound

    problem = load_problem(file, horizon, budget, rho)
    ceiling, why = upper_bound(problem), ""
    try:
        optimum = optimal_value(problem)
    except NotComputable as reason:
        optimum, why = math.nan, str(reason).split(";", maxsplit=1)[0]
    if as_json:
        print_json({"optimal_value": optimum, "upper_bound": ceiling})
        return
    print_table(
        ["", "expected reward"],
        [
            ["exact optimum", "–" if why else f"{optimum:,.3f}"],
            ["upper bound", f"{ceiling:,.3f}"],
        ],
        caption=why,
    )


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
