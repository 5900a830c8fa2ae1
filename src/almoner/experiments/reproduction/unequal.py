"""Sweeps at unequal costs, which the paper leaves out: an artificial problem and two real ones."""

from __future__ import annotations

import math
from dataclasses import replace

from almoner.experiments.cells import Cell
from almoner.experiments.sweep import Sweep
from almoner.policy.base import Policy
from almoner.policy.recipes import (
    alp,
    epsilon_first_alp,
    epsilon_first_printed,
    horizon_alp,
    thrifty,
    ucb_alp,
    wilson_eager,
)
from almoner.scenarios import scenario

__all__ = ["email", "explore_log", "heterogeneous", "printed", "routing"]

HORIZONS = (1000, 2000, 5000, 10_000)
QUICK_HORIZONS = (1000, 5000)

LEARNERS: dict[str, Policy] = {
    "explore_test": epsilon_first_alp(test="usable"),
    "ucb_alp": ucb_alp(),
    "horizon_alp": horizon_alp(),
    "wilson_eager": wilson_eager(),
    "thrifty": thrifty(),
}
"""Exploration until a test ends it, and four indices inside the LP."""

SHARES: dict[str, Policy] = {
    f"explore_{share}": epsilon_first_alp(cap=share / 100, update=False) for share in (2, 5, 10)
}
"""Exploration for a share of rounds and budget; the paper has no such length."""

LITERAL: dict[str, Policy] = {
    "explore_literal": epsilon_first_alp(test="literal", cap=1.0, update=False)
}
"""Exploration until the paper's own test ends it."""

LOG_FACTORS = (20, 50, 100)
"""The paper explores for ε(T) rounds, a multiple of log T. Its own factor (`exploration_length`)
is 1.7e10 on this problem. These make 2, 5 and 9 % of ten thousand rounds."""


def explore_log(horizon: int) -> dict[str, Policy]:
    """Return the paper's ε-First policies: a·log T rounds of exploration, then no more learning.

    Examples
    --------
    >>> [policy.rewards.rounds for policy in explore_log(10_000).values()]
    [185, 461, 922]
    """
    return {
        f"explore_log_{factor}": epsilon_first_alp(
            rounds=min(horizon, math.ceil(factor * math.log(horizon))), update=False
        )
        for factor in LOG_FACTORS
    }


def heterogeneous(*, runs: int, seed: int = 0, quick: bool = False) -> tuple[Cell, ...]:
    """Return the cells of five contexts with four costs, beside a boundary and on one.

    Examples
    --------
    >>> len(heterogeneous(runs=10))
    104
    """
    sweep = Sweep(
        problems={"heterogeneous": scenario("heterogeneous")},
        policies={"alp": alp(), **SHARES, **LITERAL, **LEARNERS},
        horizons=QUICK_HORIZONS if quick else HORIZONS,
        ratios=(1.1, 1.2),
        runs=max(1, runs // 5),  # a run takes five times as long as at equal costs
        seed=seed,
    )
    by_horizon = [
        replace(sweep, policies=explore_log(horizon), horizons=(horizon,))
        for horizon in sweep.horizons
    ]
    return tuple(cell for each in (sweep, *by_horizon) for cell in each.cells())


def printed(*, runs: int, seed: int = 0, quick: bool = False) -> Sweep:
    """Return the sweep of ε-First exactly as printed, for ε(T) = a·log T.

    The smallest factor leaves pairs untried, which then count as 0.
    """
    return Sweep(
        problems={"heterogeneous": scenario("heterogeneous")},
        policies={
            f"explore_printed_{factor}": epsilon_first_printed(factor=factor)
            for factor in (5, *LOG_FACTORS)
        },
        horizons=QUICK_HORIZONS if quick else HORIZONS,
        ratios=(1.1, 1.2),
        runs=max(1, runs // 5),
        seed=seed,
    )


def email(*, runs: int, seed: int = 0, quick: bool = False) -> Sweep:
    """Return the sweep on e-mails to customers who may visit without one."""
    return Sweep(
        problems={"hillstrom-email": scenario("hillstrom-email")},
        policies={"alp": alp(), **LEARNERS},
        horizons=(4000, 8000) if quick else (8000, 16_000, 32_000, 64_000),
        ratios=(0.25,),
        runs=max(1, runs // 20),
        seed=seed,
    )


def routing(*, runs: int, seed: int = 0, quick: bool = False) -> Sweep:
    """Return the sweep on prompts routed to a cheap or a strong model, at real costs."""
    return Sweep(
        problems={"llm-routing": scenario("llm-routing")},
        policies={"alp": alp(), **LEARNERS},
        horizons=QUICK_HORIZONS if quick else HORIZONS,
        ratios=(2.0, 3.0),
        runs=max(1, runs // 10),
        seed=seed,
    )
