"""Quality on prompts for several models: ``python -m benchmarks.comparison.routing``."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import almoner as al
from benchmarks.comparison import pareto_rules
from benchmarks.comparison.rows import FOLDER, Routing
from benchmarks.learner.rows import write
from benchmarks.rows.bars import BUDGETS
from benchmarks.rows.data import full_cost, parquet_rows, prompts

__all__ = ["FEATURES", "SCORES"]

SCORES, FEATURES = "three models, scores", "four models, features"
"""Names of the two sets of prompts."""

ON_SCORES = {
    "priced": al.priced(),
    "dual_descent": al.dual_descent(),
    "dual_descent, step × 10": al.dual_descent(step=0.5),
    "pid_pacing": al.pid_pacing(),
    "ema_pacing": al.ema_pacing(),
    "fixed_rate": al.fixed_rate(),
    "greedy_scores": al.greedy_scores(),
}
SHARES = (0.01, 0.02, 0.05)
"""Budgets on features, as shares of giving every prompt the dearest model."""

RUNS, SEED = 20, 1


def on_scores() -> Iterator[Routing]:
    """Play the policies that decide by scores, at the budgets of the published figures."""
    rows = prompts()
    for budget in BUDGETS:
        for name, policy in ON_SCORES.items():
            done = al.simulate(rows, policy, budget=budget * len(rows), runs=RUNS, seed=SEED)
            yield _row(SCORES, budget, name, done, len(rows))


def on_features() -> Iterator[Routing]:
    """Play `linear`, and ParetoBandit's rules, on features."""
    rows = parquet_rows("paretobandit_k4", rewards="quality_*")
    rng = np.random.default_rng(SEED)
    for share in SHARES:
        budget = share * full_cost(rows)
        done = al.simulate(rows, al.linear(), budget=budget, runs=RUNS, seed=SEED)
        yield _row(FEATURES, share, "linear", done, len(rows))
        theirs = [
            pareto_rules.play(rows, budget=budget, order=rng.permutation(len(rows))) / len(rows)
            for _ in range(RUNS)
        ]
        yield Routing(
            prompts=FEATURES,
            budget=share,
            policy="ParetoBandit's rules",
            runs=RUNS,
            reward=float(np.mean(theirs)),
            stderr=float(np.std(theirs, ddof=1) / RUNS**0.5),
            optimum=float(done.benchmark) / len(rows),
        )


def _row(prompts: str, budget: float, policy: str, done: al.RowRuns, count: int) -> Routing:
    return Routing(
        prompts=prompts,
        budget=budget,
        policy=policy,
        runs=len(done),
        reward=float(np.mean(done.reward)) / count,
        stderr=done.regret.stderr / count,
        optimum=float(done.benchmark) / count,
    )


if __name__ == "__main__":
    print(write("routing", [*on_scores(), *on_features()], folder=FOLDER))
