"""CPU time of a round and of a live decision, under `thrifty` and under the rule before it.

``python -m benchmarks.learner.speed`` writes ``docs/learner/speed.csv``, for this machine. Rounds
are compared with those of the rule before it at the commit `EARLIER`, which is taken from git and
played in processes of its own: ``python -m benchmarks.learner.speed wilson_eager`` prints them.
"""

from __future__ import annotations

import itertools
import json
import math
import os
import subprocess
import sys
import tarfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from timeit import Timer

import numpy as np

import almoner as al
from almoner.scenarios import scenario
from benchmarks.learner.problems import structured
from benchmarks.learner.rows import write
from benchmarks.measure import alternate, timed

__all__ = ["Speed"]

EARLIER = "af9aab8"
"""The last commit at which every round computed the indices of the context that had arrived."""

FORMER, NEW = POLICIES = ("wilson_eager", "thrifty")
PROBLEMS = {
    "ten, 10×5": (scenario("paper-ten"), 20),
    "heterogeneous, 5×4": (scenario("heterogeneous"), 10),
    "additive, 100×15": (structured(2, 11).problem, 3),
}
PASSES, REPEATS, CALLS, LEARNED_FROM = 3, 6, 100, 3_000


@dataclass(frozen=True, kw_only=True)
class Speed:
    """Microseconds of CPU time under both rules, and under the former one at `EARLIER`.

    ``ratio`` is that of the new rule to the latter; where it was not measured (NaN), to the former.
    """

    what: str
    earlier: float
    former: float
    new: float
    ratio: float


def main() -> None:
    if asked := sys.argv[1:]:
        print(json.dumps(_rounds(asked)))
        return
    rounds: dict[str, dict[str, float]] = {}
    with TemporaryDirectory() as folder:
        _extract(Path(folder))
        for _ in range(PASSES):
            earlier = _rounds_at(Path(folder), FORMER)
            for name, best in _rounds(POLICIES).items():
                best["earlier"] = earlier[name][FORMER]
                seen = rounds.setdefault(name, best)
                rounds[name] = {key: min(best[key], seen[key]) for key in best}
    rows = [
        _row(f"a round of {name}", best, earlier=best["earlier"]) for name, best in rounds.items()
    ]
    decisions = alternate({policy: _decision(policy) for policy in POLICIES}, repeats=300)
    write("speed", [*rows, _row("a live decision, 10×5", decisions, earlier=math.nan)])


def _row(what: str, best: dict[str, float], *, earlier: float) -> Speed:
    former, new = 1e6 * best[FORMER], 1e6 * best[NEW]
    base = former if math.isnan(earlier) else 1e6 * earlier
    row = Speed(what=what, earlier=1e6 * earlier, former=former, new=new, ratio=new / base)
    print(row, flush=True)
    return row


def _extract(folder: Path) -> None:
    """Write the package as it was at `EARLIER` to a folder."""
    archive = ["git", "archive", EARLIER, "src"]
    packed = subprocess.run(archive, check=True, capture_output=True).stdout
    with tarfile.open(fileobj=BytesIO(packed)) as files:
        files.extractall(folder, filter="data")


def _rounds_at(folder: Path, policy: str) -> dict[str, dict[str, float]]:
    """Return the seconds of a round with the package in a folder."""
    measure = [sys.executable, "-m", "benchmarks.learner.speed", policy]
    env = {**os.environ, "PYTHONPATH": str(folder / "src")}
    printed = subprocess.run(measure, env=env, check=True, capture_output=True).stdout
    return json.loads(printed)  # type: ignore[no-any-return]


def _rounds(policies: Sequence[str]) -> dict[str, dict[str, float]]:
    """Return the CPU seconds of a round by problem and policy, the best of several."""
    return {
        name: alternate(
            {policy: _round(problem, policy, runs) for policy in policies}, repeats=REPEATS
        )
        for name, (problem, runs) in PROBLEMS.items()
    }


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
