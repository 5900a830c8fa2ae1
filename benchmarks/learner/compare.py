"""Comparison of `thrifty` with `wilson_eager`, the rule before it, on all sets of problems.

``python -m benchmarks.learner.compare [set …]`` writes ``docs/learner/*.csv``, a file for each set.
"""

from __future__ import annotations

import sys
import time

import numpy as np

import almoner as al
from benchmarks.learner.problems import Case
from benchmarks.learner.rows import Comparison, geometric_mean, paired_ratio, write
from benchmarks.learner.sets import SETS

__all__ = ["compare"]

SEED, NAMED_SEED = 14, 2_300
"""Of the contexts and rewards of the runs, the same under both rules. Named problems have one of
their own: results on them with 14 and 1,700 had been looked at when constants were last changed."""

NAMED_RUNS = 4_000
SMALL_RUNS = 1_000
"""Runs on a held-out problem that is random or unstructured: the worst of many noisy ratios is too
large by their noise."""

RUNS = {"heldout": (200, 40)}
OTHER_RUNS = (100, 20)
"""Runs on a problem with fewer than 100 contexts, and on one with more, by set."""


def compare(case: Case, runs: int) -> Comparison:
    """Play both rules on a problem, on the same random numbers.

    Regret is against the exact optimum at equal costs and on named problems, where it takes a
    fraction of a second, else against its upper bound.
    """
    problem = case.problem
    exact = case.kind == "named" or bool(np.all(problem.costs == 1))
    against = "oracle" if exact else "upper bound"
    seed = NAMED_SEED if case.kind == "named" else SEED
    new, former = (
        al.simulate(problem, rule, runs=runs, seed=seed, against=against).regret
        for rule in (al.thrifty(), al.wilson_eager())
    )
    optimum = al.optimal_value(problem) if exact else al.upper_bound(problem)
    ratio, ratio_stderr = paired_ratio(new.values, former.values)
    return Comparison(
        kind=case.kind,
        problem=case.name,
        rounds=problem.horizon,
        budget=problem.budget,
        against=against,
        optimum=optimum,
        runs=runs,
        former=former.mean,
        former_stderr=former.stderr,
        new=new.mean,
        new_stderr=new.stderr,
        ratio=ratio,
        ratio_stderr=ratio_stderr,
        former_q99=former.quantile(0.99),
        new_q99=new.quantile(0.99),
        former_bad=float(np.mean(former.values > 0.1 * optimum)),
        new_bad=float(np.mean(new.values > 0.1 * optimum)),
    )


def runs_of(case: Case, name: str) -> int:
    """Return the number of runs, so that the ratio has a standard error of a few per cent."""
    if case.kind == "named":
        return NAMED_RUNS
    if name == "heldout" and case.kind in ("random", "unstructured"):
        return SMALL_RUNS
    few, many = RUNS.get(name, OTHER_RUNS)
    return many if len(case.problem.context_probs) >= 100 else few


def main() -> None:
    for name in sys.argv[1:] or SETS:
        began = time.perf_counter()
        rows = []
        for case in SETS[name]():
            row = compare(case, runs_of(case, name))
            rows.append(row)
            errors = f"{row.former_stderr:.1f} {row.new_stderr:.1f}"
            print(
                f"{row.kind:14} {row.problem:36} T {row.rounds:6} U* {row.optimum:7.1f} "
                f"{row.former:8.1f} {row.new:8.1f} ± {errors}  × {row.ratio:.3f} ± "
                f"{row.ratio_stderr:.3f}  q99 {row.former_q99:.0f} {row.new_q99:.0f}  "
                f"bad {row.former_bad:.4f} {row.new_bad:.4f}",
                flush=True,
            )
        write(name, rows)
        for kind in dict.fromkeys(row.kind for row in rows):
            mean, error = geometric_mean([row for row in rows if row.kind == kind])
            worst = max((row for row in rows if row.kind == kind), key=lambda row: row.ratio)
            print(
                f"{name}, {kind}: geometric mean {mean:.3f} ± {error:.3f}, worst {worst.ratio:.3f}"
            )
        print(f"{name}: {time.perf_counter() - began:.0f} s", flush=True)


if __name__ == "__main__":
    main()
