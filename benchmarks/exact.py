"""Benchmark of exact values: the oracle against numpy, the LP against linprog."""

from __future__ import annotations

from functools import partial

import almoner as al
from almoner.scenarios import scenario
from benchmarks import linprog_loop, numpy_oracle
from benchmarks.measure import best_of, timed
from benchmarks.random_problem import random_problem
from benchmarks.table import Row, duration, within

__all__ = ["allocation", "oracle"]

TEN, UNEQUAL = scenario("paper-ten"), scenario("heterogeneous")


def oracle() -> list[Row]:
    """Return the CPU time of the exact optimum, and of the full recursion in numpy."""
    ours = best_of(lambda: al.optimal_value(TEN))
    naive, value = timed(lambda: numpy_oracle.optimal_value(TEN))
    difference = abs(value - al.optimal_value(TEN))
    long = TEN.scaled(100_000)
    return [
        within(what="optimal_value, T = 10,000", seconds=ours, bar=0.006),
        Row(
            what="the same in numpy",
            figure=duration(naive),
            ratio=naive / ours,
            remark=f"values differ by {difference:.0e}",
        ),
        within(
            what="optimal_value, T = 100,000",
            seconds=best_of(lambda: al.optimal_value(long), repeats=3),
            bar=0.25,
        ),
        *_many_contexts(),
        Row(
            what="optimal_value, unequal costs, T = 10,000",
            figure=duration(best_of(lambda: al.optimal_value(UNEQUAL), repeats=3)),
        ),
        Row(
            what="exact_value of alp, unequal costs, T = 10,000",
            figure=duration(best_of(lambda: al.exact_value(UNEQUAL, al.alp()), repeats=3)),
        ),
    ]


def _many_contexts() -> list[Row]:
    """Return the CPU time of the optimum with ten contexts, and with a thousand."""
    problems = [random_problem(contexts, 5, horizon=10_000, costs=1.0) for contexts in (10, 1000)]
    few, many = (best_of(partial(al.optimal_value, problem), repeats=3) for problem in problems)
    return [
        within(
            what="optimal_value, T = 10,000, 1,000 contexts",
            seconds=many,
            bar=2 * few,
            remark=f"the bar is twice the time of ten contexts, {duration(few)}",
        )
    ]


def allocation() -> list[Row]:
    """Return the CPU time of the LP in closed form and by a general solver, unequal costs."""
    rows = []
    for contexts, actions, bar in ((10, 5, 1e-5), (1000, 20, 6e-4)):
        problem = random_problem(contexts, actions)
        ours = best_of(partial(al.solve, problem))
        theirs = best_of(partial(linprog_loop.optimum, problem), repeats=3)
        difference = abs(al.solve(problem).value - linprog_loop.optimum(problem))
        size = f"{contexts:,} × {actions}"
        rows += [
            within(what=f"solve, {size}", seconds=ours, bar=bar),
            Row(
                what=f"scipy's linprog, {size}",
                figure=duration(theirs),
                ratio=theirs / ours,
                remark=f"values differ by {difference:.0e}",
            ),
        ]
    return rows
