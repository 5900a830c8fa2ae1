"""CPU time of simulations against rounds, contexts, actions and runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import almoner as al
from benchmarks.growth.series import GrowthPoint, fastest, points
from benchmarks.random_problem import random_problem
from benchmarks.rounds import play

__all__ = ["simulating"]

POLICIES = {
    "ucb_alp": ("ucb_alp", 1.0),
    "thrifty": ("thrifty", 1.0),
    "thrifty, unequal costs": ("thrifty", None),
    "ucb_ealp, unequal costs": ("ucb_ealp", None),
}
"""Recipe, and the cost of all actions if it is one."""

CONTEXTS, ACTIONS, ROUNDS, RUNS = 10, 5, 3_000, 16

SIZES = {
    "rounds": (10_000, 30_000, 100_000, 300_000),
    "contexts": (3, 10, 30, 100, 300),
    "actions": (2, 5, 10, 20, 50),
    "runs": (16, 64, 256, 1024),
}
"""One is varied at a time; the others are those above."""


def simulating() -> Iterator[GrowthPoint]:
    """Measure each policy in each size."""
    for label, (recipe, costs) in POLICIES.items():
        play(recipe, 8, random_problem(CONTEXTS, ACTIONS, horizon=100, costs=costs))  # compiles
        play(recipe, 1, random_problem(CONTEXTS, ACTIONS, horizon=100, costs=costs))
        for size, values in SIZES.items():
            times = {}
            for value in values:
                times[value] = fastest(_playing(recipe, costs, **{size: value}))
            yield from points(f"simulate {label}", size, times)


def _playing(
    recipe: str,
    costs: float | None,
    *,
    rounds: int = ROUNDS,
    contexts: int = CONTEXTS,
    actions: int = ACTIONS,
    runs: int = RUNS,
) -> Callable[[], al.Runs]:
    """Return a simulation on one thread, with fewer runs where there are many rounds."""
    problem = random_problem(contexts, actions, horizon=rounds, costs=costs)
    return partial(play, recipe, min(runs, 8) if rounds > ROUNDS else runs, problem)
