"""Sweeps over the boundaries of a problem, with the limits of regret there (Theorem 1).

At a boundary ALP's regret is of order √T, and so is that of the best policy against the upper
bound; rounding's regret against that best policy is bounded. The paper proves the first and shows
none of it.
"""

from __future__ import annotations

import math

from almoner.experiments.rows import Row
from almoner.experiments.sweep import Sweep
from almoner.scenarios import scenario

__all__ = ["boundary", "limits", "ratio"]

BOUNDARY_HORIZONS = (*(m * 10**e for e in (2, 3, 4) for m in (1, 2, 5)), 100_000)

SHARP_ORACLE = math.sqrt(math.pi / 8) - 1 / math.sqrt(2 * math.pi)
SHARP_UPPER = math.sqrt(math.pi / 8)
SHARP_FLOOR = 1 / math.sqrt(2 * math.pi)
"""Limits of regret for two contexts at their boundary, in units of (u₁ − u₂)·√(ρ(1−ρ)T): of ALP
against the oracle and against the upper bound, and of the oracle itself against the latter."""


def boundary(*, quick: bool = False) -> Sweep:
    """Return the sweep of ALP and rounding at the boundary of two contexts, over decades of T."""
    return Sweep.from_dict(
        {
            "problems": ["scenario:paper-two"],
            "policies": ["alp", "rounded"],
            "horizons": BOUNDARY_HORIZONS[: 7 if quick else None],
            "ratios": [0.4],
        }
    )


def limits(rows: list[Row]) -> list[Row]:
    """Return rows of the oracle itself and of the limits for large T, for rows of ALP."""
    from almoner.lp import solve

    derived = []
    for row in rows:
        if row["policy"] != "alp":
            continue
        problem = scenario(row["problem"])
        share = row["ratio"]
        drop = solve(problem, ratio=share * (1 - 1e-6)).price - solve(problem, ratio=share).price
        unit = drop * math.sqrt(share * (1 - share) * row["horizon"])
        limit = row | {"method": "limit"}
        if row["against"] == "oracle":
            optimum = row["benchmark"]
            derived.append(limit | {"regret_mean": SHARP_ORACLE * unit})
        else:
            derived.append(limit | {"regret_mean": SHARP_UPPER * unit})
            floor = row | {"policy": "oracle", "regret_mean": row["benchmark"] - optimum}
            derived += [floor, floor | {"method": "limit", "regret_mean": SHARP_FLOOR * unit}]
    return derived


def ratio(*, quick: bool = False) -> Sweep:
    """Return the sweep of ALP, FLP and rounding over all budgets, the boundaries included."""
    grid = {round(percent / 100, 2) for percent in range(2 if quick else 1, 100, 2 if quick else 1)}
    edges = {0.025, 0.075, 0.15, 0.3, 0.4, 0.5, 0.7, 0.85, 0.925, 0.975}
    return Sweep.from_dict(
        {
            "problems": ["scenario:paper-two", "scenario:paper-ten"],
            "policies": ["flp", "alp", "rounded"],
            "horizons": [1000 if quick else 2000],
            "ratios": sorted(grid | edges),
        }
    )
