"""CPU time of the exact layer and of live campaigns against problem size and log."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import almoner as al
from benchmarks import growing_log
from benchmarks.agent import decision_seconds
from benchmarks.growth.series import GrowthPoint, fastest, points
from benchmarks.random_problem import random_problem

__all__ = ["computing", "live"]

ORACLE_ROUNDS, ORACLE_CONTEXTS = (1_000, 3_000, 10_000, 30_000, 100_000), (10, 100, 1_000, 10_000)
SOLVED = ((10, 5), (30, 10), (100, 20), (1_000, 20), (10_000, 20))
DECIDED = {"equal costs": (10, 100, 1_000, 10_000), "unequal costs": (10, 100, 1_000)}


def computing() -> Iterator[GrowthPoint]:
    """Measure the exact oracle, at equal costs, and the static plan, at unequal ones."""
    oracle = {
        rounds: _optimum_seconds(random_problem(10, 5, horizon=rounds, costs=1.0))
        for rounds in ORACLE_ROUNDS
    }
    yield from points("optimal_value", "rounds", oracle)
    oracle = {
        contexts: _optimum_seconds(random_problem(contexts, 5, horizon=10_000, costs=1.0))
        for contexts in ORACLE_CONTEXTS
    }
    yield from points("optimal_value", "contexts", oracle)
    solved = {
        contexts * actions: fastest(partial(al.solve, random_problem(contexts, actions)))
        for contexts, actions in SOLVED
    }
    yield from points("solve", "contexts × actions", solved)


def _optimum_seconds(problem: al.Problem) -> float:
    al.optimal_value(problem)  # compiles, fills caches
    return fastest(partial(al.optimal_value, problem))


def live() -> Iterator[GrowthPoint]:
    """Measure decisions and reports of live campaigns."""
    for costs, contexts in DECIDED.items():
        amounts = (1.0,) if costs == "equal costs" else (1.0, 1.5, 2.25, 4.0, 0.7)
        decided = {each: decision_seconds(each, 5, amounts, repeats=10) for each in contexts}
        yield from points(f"decide in memory, {costs}", "contexts", decided)
    for operation, name in (
        ("decide, durable in SQLite", "decided"),
        ("reward, durable in SQLite", "rewarded"),
        ("opening a log from its snapshot", "opened"),
        ("report of a new process", "report"),
    ):
        times = {
            length: getattr(each, name) for length, each in growing_log.measured().times.items()
        }
        yield from points(operation, "events", times)
