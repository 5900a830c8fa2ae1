"""CPU time of a round and of a live decision, under `thrifty` and under the rule before it.

``python -m benchmarks.learner.speed`` writes ``docs/learner/speed.csv``, for this machine.
"""

from __future__ import annotations

import itertools
import time
from dataclasses import dataclass
from functools import partial
from timeit import Timer

import numpy as np

import almoner as al
from almoner.scenarios import scenario
from benchmarks.learner.problems import structured
from benchmarks.learner.rows import write
from benchmarks.measure import alternate, timed

__all__ = ["Speed"]

POLICIES = ("wilson_eager", "thrifty")
PROBLEMS = {
    "ten, 10×5": (scenario("paper-ten"), 20),
    "heterogeneous, 5×4": (scenario("heterogeneous"), 10),
    "additive, 100×15": (structured(2, 11).problem, 3),
}
REPEATS, CALLS, LEARNED_FROM = 12, 100, 3_000


@dataclass(frozen=True, kw_only=True)
class Speed:
    """Microseconds of CPU time under both rules."""

    what: str
    former: float
    new: float
    ratio: float


def main() -> None:
    rows = []
    for name, (problem, runs) in PROBLEMS.items():
        rows.append(_row(f"a round of {name}", {p: _round(problem, p, runs) for p in POLICIES}))
    rows.append(_row("a live decision, 10×5", {p: _decision(p) for p in POLICIES}, repeats=300))
    write("speed", rows)


def _row(what: str, stopwatches: dict[str, partial[float]], repeats: int = REPEATS) -> Speed:
    best = alternate(stopwatches, repeats=repeats)
    former, new = (1e6 * best[policy] for policy in POLICIES)
    row = Speed(what=what, former=former, new=new, ratio=new / former)
    print(row, flush=True)
    return row


def _round(problem: al.Problem, policy: str, runs: int) -> partial[float]:
    """Return a stopwatch for rounds of the simulator, on one thread."""
    play = partial(
        al.simulate, problem, policy, runs=runs, threads=1, seed=1, against="upper bound"
    )
    play()  # compiles
    return partial(lambda: timed(play)[0] / runs / problem.horizon)


def _decision(policy: str) -> partial[float]:
    """Return a stopwatch for decisions of an agent in memory that has learned."""
    agent = al.Agent.open(
        "memory:",
        name="spring",
        contexts=[f"context {number}" for number in range(10)],
        actions=dict.fromkeys([f"action {number}" for number in range(5)], 1.0),
        horizon=100_000_000,
        budget=50_000_000,
        unit="0.01",
        policy=policy,
        seed=1,
    )
    rng = np.random.default_rng(0)
    arrivals = [f"context {number}" for number in rng.integers(10, size=LEARNED_FROM)]
    for decision in agent.decide_many(arrivals):
        agent.reward(decision.id, float(rng.random() < 0.3))
    coming = itertools.cycle(arrivals)
    timer = Timer(lambda: agent.decide(next(coming)), timer=time.process_time)
    return partial(lambda: timer.timeit(CALLS) / CALLS)


if __name__ == "__main__":
    main()
