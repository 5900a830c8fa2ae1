"""Benchmark of simulation: rounds per second, against programs in C, numpy and linprog."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

import almoner as al
from almoner.scenarios import scenario
from almoner.simulation.lanes import describe_lanes
from benchmarks import linprog_loop, literal_c, numpy_loop
from benchmarks.measure import alternate, best_of, timed
from benchmarks.table import Row, at_least, within

__all__ = ["in_lanes", "many_contexts", "other_recipes", "ucb_alp", "unequal_costs"]

TEN, UNEQUAL = scenario("paper-ten"), scenario("heterogeneous")
SHORT = TEN.scaled(1000)
"""A tenth of the rounds, for the slow programs."""

RUNS, REPEATS = 100, 12

MANY = 10_000
ROUND_BARS = {"alp": (1e-4, 200_000), "rounded": (1e-4, 200_000), "ucb_alp": (1e-3, 500)}
"""Bar in seconds for a round with many contexts, and the number of rounds to measure it."""

REFERENCE_RUNS = 2000
"""Enough that only the noise of the slow programs' few runs matters in a comparison."""

C_BAR, C_AIM, NUMPY_BAR, LINPROG_BAR = 3.5, 6.0, 100.0, 5000.0


def ucb_alp() -> list[Row]:
    """Return the rates of almoner, literal C, numpy, and a general LP solver every round."""
    ours, c = _almoner_and_c()
    return [
        Row(
            what="ucb_alp, almoner",
            figure=_rate(ours),
            remark=f"{TEN.horizon:,} rounds, one thread, warm",
        ),
        *c,
        *_numpy_and_linprog(ours),
    ]


def other_recipes() -> list[Row]:
    """Return the rates of recipes that compute less than UCB-ALP, or more."""
    rows = []
    for name, runs in (("alp", 100), ("thrifty", 20), ("thompson_rounded", 2)):
        seconds = best_of(partial(_simulate, name, runs))
        rows.append(Row(what=f"{name}, almoner", figure=_rate(seconds / runs / TEN.horizon)))
    return rows


def unequal_costs() -> list[Row]:
    """Return the rates of policies that compute indices, hulls and the price anew every round."""
    rows = []
    contexts, actions = UNEQUAL.costs.shape
    for name, runs in (("thrifty", 20), ("horizon_alp", 20)):
        seconds = best_of(partial(_simulate, name, runs, UNEQUAL))
        rows.append(
            Row(
                what=f"{name}, {contexts} × {actions}, unequal costs",
                figure=_rate(seconds / runs / UNEQUAL.horizon),
            )
        )
    return rows


def in_lanes() -> list[Row]:
    """Return how much faster simulations are with eight replications at a time than one by one."""
    rows = []
    plans = [(name, TEN, 64) for name in ("ucb_alp", "wilson_eager", "kl_ucb_rounded")]
    plans += [(name, UNEQUAL, 32) for name in ("ucb_ealp", "wilson_eager", "horizon_alp")]
    for name, problem, runs in plans:
        play = partial(_simulate, name, runs, problem)
        alone = partial(_without_lanes, play)
        play()
        alone()  # compile
        stopwatches = {"lanes": partial(_seconds, play), "scalar": partial(_seconds, alone)}
        best = alternate(stopwatches, repeats=3)
        each = {kernel: seconds / runs / problem.horizon for kernel, seconds in best.items()}
        contexts, actions = problem.costs.shape
        rows.append(
            Row(
                what=f"{name}, {contexts} × {actions}, one replication at a time",
                figure=_rate(each["scalar"]),
                ratio=each["scalar"] / each["lanes"],
                remark=f"eight at a time: {_rate(each['lanes'])}; lanes: {describe_lanes()}",
            )
        )
    return rows


def _seconds(play: Callable[[], al.Runs]) -> float:
    return timed(play)[0]


def _without_lanes(play: Callable[[], al.Runs]) -> al.Runs:
    before = os.environ.get("ALMONER_LANES")
    os.environ["ALMONER_LANES"] = "0"
    try:
        return play()
    finally:
        del os.environ["ALMONER_LANES"]
        if before is not None:
            os.environ["ALMONER_LANES"] = before


def many_contexts() -> list[Row]:
    """Return the time of a round with many contexts at unequal costs, and its growth with them.

    It is the difference of two horizons, which leaves out the set-up.
    """
    rows = []
    for name, (bar, rounds) in ROUND_BARS.items():
        few, many = (_round_seconds(name, contexts, rounds) for contexts in (MANY // 10, MANY))
        rows.append(
            within(
                what=f"a round of {name}, {MANY:,} × 5, unequal costs",
                seconds=many,
                bar=bar,
                remark=f"{many / few:.1f} times that of {MANY // 10:,} contexts",
            )
        )
    return rows


def _round_seconds(name: str, contexts: int, rounds: int) -> float:
    """Return the CPU seconds of a round on a random problem with this many contexts."""
    rng = np.random.default_rng(contexts)
    problem = al.Problem(
        context_probs=rng.dirichlet(np.ones(contexts)),
        reward_means=rng.random((contexts, 5)),
        costs=rng.integers(1, 9, (contexts, 5)) / 2,
        horizon=rounds,
        budget=0.8 * rounds,
    )
    longer = problem.scaled(3 * rounds)
    plays = [partial(_simulate, name, 1, each) for each in (problem, longer)]
    short, long = (best_of(play, repeats=3) for play in plays)
    return (long - short) / (2 * rounds)


def _simulate(name: str, runs: int, problem: al.Problem = TEN) -> al.Runs:
    return al.simulate(problem, al.recipe(name), runs=runs, threads=1, against="upper bound")


def _almoner_and_c() -> tuple[float, list[Row]]:
    """Return the CPU seconds of a round, and the row of the C program if it could be built."""
    _simulate("ucb_alp", 1)  # compiles
    rewards: list[float] = []

    def time_c(program: Path) -> float:
        size = {"horizon": TEN.horizon, "budget": int(TEN.budget), "runs": RUNS}
        outcome = literal_c.run(program, **size, seed=len(rewards))
        rewards.append(outcome.reward)
        return outcome.seconds

    with TemporaryDirectory() as folder:
        stopwatches = {"almoner": lambda: timed(lambda: _simulate("ucb_alp", RUNS))[0]}
        program = literal_c.build(Path(folder))
        if program is None:
            print("No C compiler (cc) was found: the literal C program is left out.")
        else:
            stopwatches["C"] = partial(time_c, program)
        best = alternate(stopwatches, repeats=REPEATS)
    each = {name: seconds / RUNS / TEN.horizon for name, seconds in best.items()}
    if "C" not in each:
        return each["almoner"], []
    row = at_least(
        what="ucb_alp, literal C",
        figure=_rate(each["C"]),
        ratio=each["C"] / each["almoner"],
        bar=C_BAR,
        aim=C_AIM,
        remark=_agreement(TEN, rewards, RUNS),
    )
    return each["almoner"], [row]


def _numpy_and_linprog(ours: float) -> list[Row]:
    """Return the rows of the slow programs, on the same random numbers."""
    numpy, rewards = _play_short(numpy_loop.by_sorting, 60)
    linprog, replayed = _play_short(linprog_loop.by_solver, 3)
    same = "the same rewards as" if replayed == rewards[: len(replayed)] else "OTHER REWARDS THAN"
    note = f"extrapolated from {SHORT.horizon:,} rounds"
    return [
        at_least(
            what="ucb_alp, numpy",
            figure=_rate(numpy),
            ratio=numpy / ours,
            bar=NUMPY_BAR,
            remark=f"{_agreement(SHORT, rewards)}; {note}",
        ),
        at_least(
            what="ucb_alp, scipy's linprog",
            figure=_rate(linprog),
            ratio=linprog / ours,
            bar=LINPROG_BAR,
            remark=f"{same} numpy, run by run; {note}",
        ),
    ]


def _play_short(allocate: numpy_loop.Allocate, runs: int) -> tuple[float, list[float]]:
    """Return the CPU seconds of a round, the best of the runs, and the reward of each."""
    rng = np.random.default_rng(0)
    outcomes = [timed(lambda: numpy_loop.play(SHORT, allocate, rng)) for _ in range(runs)]
    fastest = min(seconds for seconds, _ in outcomes)
    return fastest / SHORT.horizon, [reward for _, reward in outcomes]


def _agreement(problem: al.Problem, rewards: Sequence[float], runs_each: int = 1) -> str:
    """Return whether a program earns the reward of almoner, up to 4 standard errors.

    Each of the ``rewards`` is the mean of ``runs_each`` runs.
    """
    reward = float(np.mean(rewards))
    drawn = al.simulate(problem, al.ucb_alp(), runs=REFERENCE_RUNS).reward_drawn
    runs = len(rewards) * runs_each
    error = float(np.std(drawn)) * math.sqrt(1 / runs + 1 / REFERENCE_RUNS)
    verdict = "the same" if abs(reward - drawn.mean()) <= 4 * error else "ANOTHER"
    return f"{verdict} reward: {reward:,.1f}, almoner {drawn.mean():,.1f} ± {error:.1f}"


def _rate(seconds: float) -> str:
    """Format rounds per CPU second, from the CPU seconds of a round."""
    return f"{1e-6 / seconds:,.{2 if seconds < 1e-6 else 5}f} M rounds/s"
