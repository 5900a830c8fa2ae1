"""Commands about one problem: plan, simulate, oracle; and the list of scenarios."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from almoner.cli.app import load_problem, problem_options
from almoner.cli.show import amount, counted, print_json, print_table, progress, warnings_noted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy as np
    import numpy.typing as npt

    from almoner.lp import Solution
    from almoner.policy.base import Policy
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
    means = _means(problem)
    solution = solve(means.problem)
    if as_json:
        print_json(
            {
                "horizon": problem.horizon,
                "budget": problem.budget,
                "unusable": means.unusable,
                "ratio": problem.ratio,
                "upper_bound": problem.horizon * solution.value,
                "price": solution.price,
                "boundaries": solution.boundaries.tolist(),
                "boundary_distance": solution.boundary_distance,
                "probabilities": solution.probabilities.tolist(),
            }
        )
        return
    _print_plan(problem, means, solution)


def _print_plan(problem: Problem, means: _Means, solution: Solution) -> None:
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
    told = _told(problem, means, solution, columns)
    click.echo("\n" + "\n".join(f" {line}" for line in told))


def _told(
    problem: Problem, means: _Means, solution: Solution, columns: Sequence[str]
) -> Iterator[str]:
    """Yield what there is to say about a plan, a sentence a line."""
    rounds = counted(problem.horizon, "round")
    idle = problem.horizon * float(problem.context_probs @ problem.default_rewards)
    if not means.affordable.any():
        cheapest = float(problem.costs.min())
        yield (
            f"Nothing can be afforded: the cheapest action costs {cheapest:,g}, and the budget is "
            f"{problem.budget:,g}."
        )
        yield f"To skip everybody brings {amount(idle)} in {rounds}."
        return
    reward = problem.horizon * solution.value
    spend = problem.horizon * float(
        problem.context_probs @ (solution.probabilities * problem.costs).sum(axis=1)
    )
    yield (
        f"It brings at most {amount(reward)} in {rounds}, {amount(reward - idle)} of it thanks to "
        "the budget."
    )
    usable = amount(means.problem.budget)
    if means.unusable:
        yield f"It spends {amount(spend)} on average, of the {usable} that can be spent."
        yield f"{_small(means.unusable)} can never be spent: costs are multiples of {means.unit:g}."
    else:
        yield f"It spends {amount(spend)} of {usable}."
    within = [means.affordable[:, place] for place in range(len(columns))]
    dear = [
        f"{name} in some contexts" if some.any() else name
        for name, some in zip(columns, within, strict=True)
        if not some.all()
    ]
    if dear:
        yield f"Left out, because dearer than the whole budget: {', '.join(dear)}."
    yield f"One more unit of budget would bring {solution.price:.4g}."
    if not dear:  # with more budget they would come in, and boundaries with them
        yield _nearness(means.problem, solution)


class _Means(NamedTuple):
    """What of a budget can be spent at all, and on what.

    ``problem`` is what is left of it then; ``unusable`` is what no sequence of actions can use of
    the budget, and ``unit`` what all costs divide by.
    """

    problem: Problem
    affordable: npt.NDArray[np.bool_]
    unusable: float
    unit: float


def _means(problem: Problem) -> _Means:
    import numpy as np

    from almoner.money import on_grid

    grid = on_grid(problem.budget, problem.costs)
    unit = grid.top / grid.bottom
    affordable = grid.costs <= grid.budget
    if problem.budget == 0:  # then the question is what a first unit would bring
        return _Means(problem, np.ones_like(affordable), 0.0, unit)
    usable = grid.budget * unit if affordable.any() else 0.0
    rest = problem.budget - usable
    if rest <= 1e-9 * problem.budget:
        usable, rest = problem.budget, 0.0
    if rest or not affordable.all():
        worthless = np.minimum(problem.reward_means, problem.default_rewards[:, None])
        rewards = np.where(affordable, problem.reward_means, worthless)
        problem = problem.replace(budget=usable, reward_means=rewards)
    return _Means(problem, affordable, rest, unit)


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
        return f"Beyond {amount(budgets[-1])} more budget is of no use."
    place = next(place for place, budget in enumerate(budgets) if budget > problem.budget)
    low, high = budgets[place - 1], budgets[place]
    near = min(problem.budget - low, high - problem.budget)
    return (
        f"That price holds from a budget of {amount(low)} to {amount(high)}; "
        f"the nearer boundary is {amount(near)} away."
    )


def _small(number: float) -> str:
    """Return an amount with two decimals, or with two digits where that would show nothing."""
    return amount(number, 2) if number >= 0.01 else f"{number:.2g}"


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
    """Play policies many times over and compare their regret.

    FILE is a problem in TOML or JSON, or scenario:NAME.
    """
    from almoner.errors import UntriedPairs
    from almoner.policy.lowering import applicable
    from almoner.policy.recipes import RECIPES, recipe
    from almoner.simulation import simulate

    problem = load_problem(file, horizon, budget, rho)
    policies: dict[str, Policy] = {}  # each once, however often it is named
    for name in names:
        if name == "all":
            every = {each: recipe(each) for each in RECIPES}
            policies |= {
                each: policy
                for each, policy in every.items()
                if applicable(policy, **problem.terms())
            }
        else:
            policies[name.replace("-", "_")] = recipe(name)
    benchmark = _benchmark(problem) if against is None else against.replace("-", " ")
    rows, noted, stopped = [], [], False
    with progress(len(policies) * max(runs, 1), hidden=as_json) as advance:
        for name, policy in policies.items():

            def played(count: int, name: str = name) -> None:
                advance(count, name)

            try:
                with warnings_noted(UntriedPairs) as sentences:
                    result = simulate.simulate(
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
    from almoner.simulation.oracle import optimal_value

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
        ([row["policy"], *(amount(row[figure], 2) for figure in figures)] for row in rows),
        caption=f"{counted(problem.horizon, 'round')}, budget {problem.budget:,g}, "
        f"{counted(rows[0]['runs'] if rows else 0, 'run')}; {caption}",
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
    from almoner.simulation.oracle import optimal_value, upper_bound

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
            ["exact optimum", amount(optimum, 3)],
            ["upper bound", amount(ceiling, 3)],
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
