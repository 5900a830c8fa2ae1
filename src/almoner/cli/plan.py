"""The command `almoner plan`: the static plan of a budget, as a table with sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import click

from almoner.cli.app import load_problem, problem_options
from almoner.cli.frontier_files import frontier_file_options, refuse_other_figures
from almoner.cli.output import amount, counted, print_json, print_table, small_amount
from almoner.cli.plan_rows import print_row_plan
from almoner.cli.rows import is_rows, load_rows, refuse_horizon, refuse_row_options, row_options

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from almoner.lp import Solution
    from almoner.problem import Problem
    from almoner.types import Mask

__all__ = ["plan"]

NEGLIGIBLE = 1e-9
"""Budgets and ratios nearer than this are equal: a share of the budget, or units per round."""


@click.command()
@problem_options
@row_options
@frontier_file_options("On rows, of value against budget: ")
@click.option("--runs", type=int, help="On rows: replications of each policy, 20 if left out.")
@click.option("--seed", type=int, help="On rows: everything random follows from it.")
def plan(
    file: str,
    horizon: int | None,
    budget: float | None,
    rho: float | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Print the plan of a budget: the actions in each context, and the reward they bring.

    FILE is a problem in TOML or JSON, or scenario:NAME. It may also be rows, in CSV or Parquet: the
    plan is then that of the optimum in hindsight, beside what policies bring at this budget and
    others.
    """
    from almoner.lp import solve

    if is_rows(file):
        refuse_horizon(horizon)
        refuse_other_figures(options["figure"])
        rows, money = load_rows(file, budget=budget, rho=rho, options=options)
        runs, seed = (options[name] for name in ("runs", "seed"))
        print_row_plan(
            rows,
            money,
            default=options["default"],
            runs=20 if runs is None else runs,
            seed=0 if seed is None else seed,
            as_json=as_json,
            figure=options["figure"],
            csv=options["csv"],
        )
        return
    refuse_row_options(options)
    problem = load_problem(file, horizon, budget, rho)
    usable = _usable(problem)
    solution = solve(usable.problem)
    if as_json:
        print_json(
            {
                "horizon": problem.horizon,
                "budget": problem.budget,
                "unusable": usable.unusable,
                "ratio": problem.ratio,
                "upper_bound": _total(problem, problem.horizon * solution.value),
                "price": _price(problem, solution.price),
                "boundaries": solution.boundaries.tolist(),
                "boundary_distance": solution.boundary_distance,
                "probabilities": solution.probabilities.tolist(),
            }
        )
        return
    _print_plan(problem, usable, solution)


class _Usable(NamedTuple):
    """The part of a budget that actions can use.

    ``problem`` has the usable budget, and no reward for actions that are not ``affordable``;
    ``unusable`` is the rest of the budget, and ``unit`` the amount that all costs are multiples of.
    """

    problem: Problem
    affordable: Mask
    unusable: float
    unit: float


def _usable(problem: Problem) -> _Usable:
    import numpy as np

    from almoner.money import on_grid

    grid = on_grid(problem.budget, problem.costs)
    unit = grid.top / grid.bottom
    affordable = grid.costs <= grid.budget
    if problem.budget == 0:  # the plan then shows the price of a first unit
        return _Usable(problem, np.ones_like(affordable), 0.0, unit)
    budget = grid.budget * unit if affordable.any() else 0.0
    rest = problem.budget - budget
    if rest <= NEGLIGIBLE * problem.budget:
        budget, rest = problem.budget, 0.0
    if rest or not affordable.all():
        worthless = np.minimum(problem.reward_means, problem.default_rewards[:, None])
        rewards = np.where(affordable, problem.reward_means, worthless)
        problem = problem.replace(budget=budget, reward_means=rewards)
    return _Usable(problem, affordable, rest, unit)


def _print_plan(problem: Problem, usable: _Usable, solution: Solution) -> None:
    contexts, actions = problem.reward_means.shape
    names = problem.contexts or [f"context {i + 1}" for i in range(contexts)]
    columns = problem.actions or [f"action {i + 1}" for i in range(actions)]
    skipped = 1 - solution.probabilities.sum(axis=1)
    print_table(
        ["who", "comes", *columns, "skipped"],
        (
            [names[i], _percent(problem.context_probs[i])]
            + [_percent(share) for share in solution.probabilities[i]]
            + [_percent(skipped[i])]
            for i in range(contexts)
        ),
    )
    sentences = _sentences(problem, usable, solution, columns)
    click.echo("\n" + "\n".join(f" {sentence}" for sentence in sentences))


def _sentences(
    problem: Problem, usable: _Usable, solution: Solution, columns: Sequence[str]
) -> Iterator[str]:
    """Yield the sentences below the table of a plan."""
    rounds = counted(problem.horizon, "round")
    idle = problem.horizon * float(problem.context_probs @ problem.default_rewards)
    idle = _total(problem, idle)
    if not usable.affordable.any():
        cheapest = float(problem.costs.min())
        yield (
            f"Nothing can be afforded: the cheapest action costs {cheapest:,g}, and the budget is "
            f"{problem.budget:,g}."
        )
        yield f"To skip everybody brings {amount(idle)} in {rounds}."
        return
    reward = _total(problem, problem.horizon * solution.value)
    spend = problem.horizon * float(
        problem.context_probs @ (solution.probabilities * problem.costs).sum(axis=1)
    )
    yield (
        f"It brings at most {amount(reward)} in {rounds}, {amount(reward - idle)} of it thanks to "
        "the budget."
    )
    budget = amount(usable.problem.budget)
    if usable.unusable:
        unusable = small_amount(usable.unusable)
        yield f"It spends {amount(spend)} on average, of the {budget} that can be spent."
        yield f"{unusable} can never be spent: costs are multiples of {usable.unit:g}."
    else:
        yield f"It spends {amount(spend)} of {budget}."
    unaffordable = [
        f"{name} in some contexts" if affordable.any() else name
        for name, affordable in zip(columns, usable.affordable.T, strict=True)
        if not affordable.all()
    ]
    if unaffordable:
        yield f"Left out, because dearer than the whole budget: {', '.join(unaffordable)}."
    yield f"One more unit of budget would bring {_price(problem, solution.price):.4g}."
    if not unaffordable:  # more budget would bring them in, and change the boundaries
        yield _nearest_boundary(usable.problem, solution)


def _total(problem: Problem, reward: float) -> float:
    """Return a sum over all rounds, in the unit of the log if the problem was fitted to one."""
    return reward if problem.fit is None else problem.fit.in_unit(reward, count=problem.horizon)


def _price(problem: Problem, price: float) -> float:
    return price if problem.fit is None else problem.fit.in_unit(price, count=0)


def _nearest_boundary(problem: Problem, solution: Solution) -> str:
    """Return a sentence on the budgets over which the price holds, and the nearer end of them."""
    ends = [0.0, *solution.boundaries.tolist()]
    if len(ends) == 1:
        return "No action gains anything: skipping everybody is as good."
    if solution.boundary_distance < NEGLIGIBLE:
        return (
            f"It lies exactly on a boundary ({problem.ratio:.4g} per round): the price jumps here."
        )
    budgets = [end * problem.horizon for end in ends]
    if problem.budget > budgets[-1]:
        return f"Beyond {amount(budgets[-1])} more budget is of no use."
    i = next(i for i, budget in enumerate(budgets) if budget > problem.budget)
    low, high = budgets[i - 1], budgets[i]
    distance = min(problem.budget - low, high - problem.budget)
    return (
        f"That price holds from a budget of {amount(low)} to {amount(high)}; "
        f"the nearer boundary is {amount(distance)} away."
    )


def _percent(share: float) -> str:
    return "–" if share < 5e-6 else f"{100 * share:.1f} %"
