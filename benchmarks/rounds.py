"""Benchmark of simulation: rounds per second of recipes, and of lanes against one at a time."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

import almoner as al
from almoner.scenarios import scenario
from almoner.simulation.lanes import describe_lanes
from benchmarks.machine import with_avx512
from benchmarks.measure import alternate, best_of, timed
from benchmarks.table import Row, reaches

__all__ = ["TEN", "agreement", "in_lanes", "other_recipes", "play", "rate", "unequal_costs"]

TEN, UNEQUAL = scenario("paper-ten"), scenario("heterogeneous")

REFERENCE_RUNS = 2000
"""Enough that only the noise of the slow programs' few runs matters in a comparison."""

THRIFTY_BAR, UNEQUAL_BAR, THOMPSON_BAR = with_avx512(12, 8), with_avx512(5, 3), 1.5
"""Millions of rounds per CPU second."""


def other_recipes() -> list[Row]:
    """Return the rates of recipes that compute less than UCB-ALP, or more."""
    alp = best_of(partial(play, "alp", 96)) / 96 / TEN.horizon
    return [
        Row(what="alp, almoner", figure=rate(alp)),
        _reaches("thrifty", 48, TEN, THRIFTY_BAR),
        _reaches("thompson_rounded", 4, TEN, THOMPSON_BAR),
    ]


def unequal_costs() -> list[Row]:
    """Return the rates of policies that compute indices, hulls and the price anew every round."""
    horizon_alp = best_of(partial(play, "horizon_alp", 24, UNEQUAL)) / 24 / UNEQUAL.horizon
    return [
        _reaches("thrifty", 24, UNEQUAL, UNEQUAL_BAR, ", unequal costs"),
        Row(what=f"horizon_alp, {_size(UNEQUAL)}, unequal costs", figure=rate(horizon_alp)),
    ]


def _reaches(name: str, runs: int, problem: al.Problem, bar: float, costs: str = "") -> Row:
    """Return the rate of a recipe and its bar, in millions of rounds per CPU second."""
    seconds = best_of(partial(play, name, runs, problem)) / runs / problem.horizon
    what = f"{name}, {_size(problem)}{costs}"
    return reaches(what=what, rate=1e-6 / seconds, bar=bar, unit=" M rounds/s", digits=2)


def _size(problem: al.Problem) -> str:
    contexts, actions = problem.costs.shape
    return f"{contexts} × {actions}"


def in_lanes() -> list[Row]:
    """Return how much faster simulations are with eight replications at a time than one by one."""
    rows = []
    plans = [(name, TEN, 64) for name in ("ucb_alp", "wilson_eager", "kl_ucb_rounded")]
    plans += [(name, UNEQUAL, 16) for name in ("ucb_ealp", "wilson_eager", "horizon_alp")]
    for name, problem, runs in plans:
        together = partial(play, name, runs, problem)
        alone = partial(_without_lanes, together)
        together()
        alone()  # compile
        stopwatches = {"lanes": partial(_seconds, together), "scalar": partial(_seconds, alone)}
        best = alternate(stopwatches, repeats=3)
        each = {kernel: seconds / runs / problem.horizon for kernel, seconds in best.items()}
        rows.append(
            Row(
                what=f"{name}, {_size(problem)}, one replication at a time",
                figure=rate(each["scalar"]),
                ratio=each["scalar"] / each["lanes"],
                remark=f"eight at a time: {rate(each['lanes'])}; lanes: {describe_lanes()}",
            )
        )
    return rows


def _seconds(action: Callable[[], al.Runs]) -> float:
    return timed(action)[0]


def _without_lanes(action: Callable[[], al.Runs]) -> al.Runs:
    before = os.environ.get("ALMONER_LANES")
    os.environ["ALMONER_LANES"] = "0"
    try:
        return action()
    finally:
        del os.environ["ALMONER_LANES"]
        if before is not None:
            os.environ["ALMONER_LANES"] = before


def play(name: str, runs: int, problem: al.Problem = TEN) -> al.Runs:
    """Simulate a recipe on one thread, without the exact optimum."""
    return al.simulate(problem, al.recipe(name), runs=runs, threads=1, against="upper bound")


def agreement(problem: al.Problem, rewards: Sequence[float], runs_each: int = 1) -> str:
    """Return whether a program earns the reward of almoner, up to 4 standard errors.

    Each of the ``rewards`` is the mean of ``runs_each`` runs.
    """
    reward = float(np.mean(rewards))
    drawn = al.simulate(problem, al.ucb_alp(), runs=REFERENCE_RUNS).reward_drawn
    runs = len(rewards) * runs_each
    error = float(np.std(drawn)) * math.sqrt(1 / runs + 1 / REFERENCE_RUNS)
    verdict = "the same" if abs(reward - drawn.mean()) <= 4 * error else "ANOTHER"
    return f"{verdict} reward: {reward:,.1f}, almoner {drawn.mean():,.1f} ± {error:.1f}"


def rate(seconds: float) -> str:
    """Format rounds per CPU second, from the CPU seconds of a round."""
    return f"{1e-6 / seconds:,.{2 if seconds < 1e-6 else 5}f} M rounds/s"
