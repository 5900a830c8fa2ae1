"""Frontier of mean and tail: `thrifty` with more and less caution, and the rule before it.

``python -m benchmarks.learner.frontier`` writes ``docs/learner/frontier.csv`` and
``docs/figures/caution.svg``; with ``--draw``, only the figure, from the rows.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass

import numpy as np

import almoner as al
from benchmarks.learner.rows import read, write
from benchmarks.learner.sets import SHOP, paper

__all__ = ["CAUTIONS", "Point"]

CAUTIONS = (0.0, 0.5, 0.75, 1.0, 1.25, 1.5, 2.0)
SEED = 15
PROBLEMS = {
    "shop": (SHOP, 4_000),
    "two, ρ = 0.40": (paper("two", 0.40).problem, 4_000),
    "ten, ρ = 0.50": (paper("ten", 0.50).problem, 2_000),
}
"""Problems with the number of their runs."""


@dataclass(frozen=True, kw_only=True)
class Point:
    """Regret of a policy on a problem: mean, tail, and share of runs that lose a tenth."""

    problem: str
    policy: str
    caution: float
    runs: int
    optimum: float
    mean: float
    stderr: float
    q99: float
    worst_percent: float
    bad: float


def measure(name: str, policy: al.Policy, recipe: str, caution: float) -> Point:
    """Return the point of a policy on a problem."""
    problem, runs = PROBLEMS[name]
    regret = al.simulate(problem, policy, runs=runs, seed=SEED).regret
    optimum = al.optimal_value(problem)
    worst = np.sort(regret.values)[-runs // 100 :]
    return Point(
        problem=name,
        policy=recipe,
        caution=caution,
        runs=runs,
        optimum=optimum,
        mean=regret.mean,
        stderr=regret.stderr,
        q99=regret.quantile(0.99),
        worst_percent=float(worst.mean()),
        bad=float(np.mean(regret.values > 0.1 * optimum)),
    )


def points() -> list[Point]:
    """Play all policies on all problems, on the same random numbers."""
    rows = []
    for name in PROBLEMS:
        rows.append(measure(name, al.wilson_eager(), "wilson_eager", float("nan")))
        for caution in CAUTIONS:
            rows.append(measure(name, al.thrifty(caution=caution), "thrifty", caution))
            print(rows[-1], flush=True)
    return rows


def main() -> None:
    from benchmarks.learner.figure import draw

    if "--draw" not in sys.argv[1:]:
        write("frontier", points())
    draw(read("frontier", Point))


if __name__ == "__main__":
    main()
