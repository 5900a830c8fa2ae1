"""Benchmark of rows: rounds per second with scores, and the time of a decision on features."""

from __future__ import annotations

from functools import partial

import numpy as np

import almoner as al
from benchmarks import numpy_rows
from benchmarks.measure import best_of, timed
from benchmarks.table import Row, at_least, within

__all__ = ["on_features", "on_scores"]

ROUND_BAR, DECISION_BAR = 1e-6, 50e-6
"""CPU seconds of a round with scores, and of a decision on 30 features and 5 actions."""

NUMPY_BAR = 100.0

RUNS = 10


def on_scores() -> list[Row]:
    """Return the time of a round with scores, beside a price solved for every arrival in numpy."""
    rng = np.random.default_rng(0)
    scores = rng.random((20_000, 5)) * np.linspace(0.5, 1.0, 5)
    costs = np.round(rng.gamma(2.0, 0.5, (20_000, 5)) * np.linspace(1, 5, 5) + 0.05, 3)
    rows = al.Rows(rewards=scores, costs=costs, scores=scores)
    budget = 0.2 * float(costs.max(axis=1).sum())
    ours = _round_seconds(rows, al.priced(), budget)
    few = slice(0, 400)
    share = budget * 400 / len(rows)
    numpy, reward = timed(partial(numpy_rows.resolving, scores[few], costs[few], share))
    small = al.Rows(rewards=scores[few], costs=costs[few], scores=scores[few])
    result = al.simulate(small, al.priced(), budget=share, runs=1, order="file")
    return [
        within(
            what="a round of priced, scores, 5 actions",
            seconds=ours,
            bar=ROUND_BAR,
            remark=f"{1e-6 / ours:.2f} M rounds/s, one thread, warm",
        ),
        at_least(
            what="priced, numpy, solved for each arrival",
            figure=f"{1e6 * numpy / 400:,.0f} µs",
            ratio=numpy / 400 / ours,
            bar=NUMPY_BAR,
            remark=f"reward {reward:.1f} on 400 rows, almoner {float(result.reward[0]):.1f}",
        ),
    ]


def on_features() -> list[Row]:
    """Return the time of a decision on features, beside LinUCB with a paced price in numpy."""
    rng = np.random.default_rng(1)
    features = rng.normal(size=(5_000, 30))
    weights = rng.normal(size=(30, 5)) / 30
    means = np.clip(0.5 + features @ weights, 0.0, 1.0)
    rewards = (rng.random(means.shape) < means).astype(float)
    costs = np.round(rng.gamma(2.0, 0.5, (5_000, 5)) * np.linspace(1, 5, 5) + 0.05, 3)
    rows = al.Rows(rewards=rewards, costs=costs, features=features)
    budget = 0.3 * float(costs.max(axis=1).sum())
    ours = _round_seconds(rows, al.linear(), budget, runs=1)
    wide = np.column_stack([np.ones(len(features)), features])
    numpy, reward = timed(partial(numpy_rows.linucb, wide, rewards, costs, budget))
    result = al.simulate(rows, al.linear(), budget=budget, runs=1, order="file")
    return [
        within(
            what="a round of linear, 30 features, 5 actions",
            seconds=ours,
            bar=DECISION_BAR,
            remark="decide and learn, costs learned too",
        ),
        Row(
            what="LinUCB with a paced price, numpy",
            figure=f"{1e6 * numpy / len(rows):,.0f} µs",
            ratio=numpy / len(rows) / ours,
            remark=f"neither market nor learned costs; reward {reward:,.0f}, "
            f"almoner {float(result.reward[0]):,.0f}",
        ),
    ]


def _round_seconds(rows: al.Rows, policy: al.Policy, budget: float, runs: int = RUNS) -> float:
    """Return the CPU seconds of a round: the difference of two numbers of runs, without set-up."""
    few, many = (
        best_of(partial(al.simulate, rows, policy, budget=budget, runs=count, threads=1), repeats=3)
        for count in (runs, 3 * runs)
    )
    return (many - few) / (2 * runs * len(rows))
