"""Quality on prompts for several models: ``python -m benchmarks.comparison.routing``."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import almoner as al
from almoner.types import Ints
from benchmarks.comparison import pareto_rules
from benchmarks.comparison.rows import FOLDER, Routing
from benchmarks.learner.rows import write
from benchmarks.rows.bars import BUDGETS
from benchmarks.rows.data import (
    block_order,
    full_cost,
    kinds_of_prompts,
    parquet_rows,
    prompts,
)

__all__ = ["BLOCKS", "FEATURES", "SCORES"]

SCORES, FEATURES = "three models, scores", "four models, features"
BLOCKS = "three models, scores, in blocks"
"""Names of the sets of prompts."""

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
        yield from _by_features(SCORES, rows, budget, budget * len(rows))


def in_blocks() -> Iterator[Routing]:
    """Play the same policies with kinds of prompts one after the other, in random order."""
    rows, kinds = prompts(), kinds_of_prompts()
    orders = [block_order(kinds, seed) for seed in range(RUNS)]
    for budget in BUDGETS:
        money = budget * len(rows)
        for name, policy in ON_SCORES.items():
            done = [
                al.simulate(_ordered(rows, order), policy, budget=money, runs=1, order="file")
                for order in orders
            ]
            rewards = np.array([float(each.reward.mean()) for each in done]) / len(rows)
            yield Routing(
                prompts=BLOCKS,
                budget=budget,
                policy=name,
                runs=RUNS,
                reward=float(rewards.mean()),
                stderr=float(rewards.std(ddof=1) / RUNS**0.5),
                optimum=float(done[0].benchmark) / len(rows),
            )


def _ordered(rows: al.Rows, order: Ints) -> al.Rows:
    assert rows.scores is not None  # noqa: S101
    return al.Rows(
        rewards=rows.rewards[order],
        costs=rows.costs[order],
        scores=rows.scores[order],
        expected_costs=rows.expected_costs[order],
        actions=rows.actions,
    )


def on_features() -> Iterator[Routing]:
    """Play `linear`, and ParetoBandit's rules, on features."""
    rows = parquet_rows("paretobandit_k4", rewards="quality_*")
    for share in SHARES:
        yield from _by_features(FEATURES, rows, share, share * full_cost(rows))


def _by_features(prompts: str, rows: al.Rows, shown: float, budget: float) -> Iterator[Routing]:
    """Play the two that learn from features, from nothing."""
    done = al.simulate(rows, al.linear(), budget=budget, runs=RUNS, seed=SEED)
    yield _row(prompts, shown, "linear", done, len(rows))
    rng = np.random.default_rng(SEED)
    theirs = [
        pareto_rules.play(rows, budget=budget, order=rng.permutation(len(rows))) / len(rows)
        for _ in range(RUNS)
    ]
    yield Routing(
        prompts=prompts,
        budget=shown,
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
    print(write("routing", [*on_scores(), *in_blocks(), *on_features()], folder=FOLDER))
