"""Benchmark of live decisions on rows, beside the loop that a user would write in numpy."""

from __future__ import annotations

import itertools
import time
from timeit import Timer
from typing import Any

import numpy as np

import almoner as al
from benchmarks.table import Row, within

__all__ = ["deciding_on_rows"]

ACTIONS, FEATURES, ARRIVALS = 5, 30, 3_000

CALLS, REPEATS = 200, 40
"""Calls per measurement, over which refreshes of the market are spread, and measurements."""

NAMES = [f"action {number}" for number in range(ACTIONS)]
COLUMNS = [f"x{number}" for number in range(FEATURES)]


def deciding_on_rows() -> list[Row]:
    """Return the CPU time of a decision with scores, and with features, and that of numpy."""
    rng = np.random.default_rng(0)
    scores = rng.random((ARRIVALS, ACTIONS)) * np.linspace(0.5, 1.0, ACTIONS)
    features = rng.normal(size=(ARRIVALS, FEATURES))
    numpy = _best_call(_dual_descent(scores))
    by_scores = [{"scores": dict(zip(NAMES, row, strict=True))} for row in scores.tolist()]
    by_features = [{"features": dict(zip(COLUMNS, row, strict=True))} for row in features.tolist()]
    on_scores = _best_call(_deciding(by_scores, scores=True))
    on_features = _best_call(_deciding(by_features, features=COLUMNS))
    return [
        within(
            what=f"decide with scores, {ACTIONS} actions",
            seconds=on_scores,
            bar=20e-6,
            remark=f"in memory, warm; a price by descent in numpy, no ledger: {1e6 * numpy:.1f} µs"
            f" ({on_scores / numpy:.1f} times)",
        ),
        within(
            what=f"decide with {FEATURES} features, {ACTIONS} actions",
            seconds=on_features,
            bar=50e-6,
            remark="in memory, warm",
        ),
    ]


def _deciding(rows: list[dict[str, Any]], **kind: Any) -> Any:
    costs = {name: 1.0 + number for number, name in enumerate(NAMES)}
    agent = al.Agent.open(
        "memory:", name="rows", actions=costs, horizon=10**8, budget=10**8, seed=1, **kind
    )
    for number, row in enumerate(rows):
        decision = agent.decide(**row)
        if number < ARRIVALS // 10:
            agent.reward(decision.id, 0.5)
    coming = itertools.cycle(rows)
    return lambda: agent.decide(**next(coming))


def _dual_descent(scores: Any) -> Any:
    """Return a decision by a price that follows the spend, as people write it."""
    costs, price = np.arange(1.0, ACTIONS + 1), [0.0]
    coming = itertools.cycle(scores)

    def decide() -> None:
        surplus = next(coming) - price[0] * costs
        best = int(surplus.argmax())
        spent = costs[best] if surplus[best] > 0.0 else 0.0
        price[0] = max(0.0, price[0] + 0.01 * (spent - 1.0))

    return decide


def _best_call(action: Any) -> float:
    return min(Timer(action, timer=time.process_time).repeat(REPEATS, CALLS)) / CALLS
