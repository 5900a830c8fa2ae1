"""Benchmark of simulation with many contexts at unequal costs."""

from __future__ import annotations

from functools import partial

import numpy as np

import almoner as al
from benchmarks.measure import best_of
from benchmarks.rounds import play
from benchmarks.table import Row, within

__all__ = ["many_contexts"]

MANY = 10_000
ROUND_BARS = {"alp": (1e-4, 200_000), "rounded": (1e-4, 200_000), "ucb_alp": (1e-3, 500)}
"""Bar in seconds for a round with many contexts, and the number of rounds to measure it."""


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
    plays = [partial(play, name, 1, each) for each in (problem, longer)]
    short, long = (best_of(action, repeats=3) for action in plays)
    return (long - short) / (2 * rounds)
