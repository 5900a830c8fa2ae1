"""Reward windows: what a week of the shop brings where nobody tells the zeros.

``python -m benchmarks.campaigns.window [WEEKS]`` prints, for rewards that are purchases and for
baskets, the uplift over no coupons, and what is left of the uplift over random coupons that the
same campaign has when all rewards are told at once.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from joblib import Parallel, delayed  # type: ignore[import-untyped]
from rich.console import Console
from rich.table import Table
from support.shop import Shop, random_uplift, run_week

__all__ = ["WORLDS", "run"]

WEEKS, FIRST_SEED, JOBS, VISITS = 48, 1_000, 2, 20_000
BUDGETS = {False: 1_500, True: 3_000}
"""Budgets by whether rewards are baskets."""

WINDOW = {"reward_window": "7 days"}
WORLDS: dict[str, tuple[float, dict[str, Any]]] = {
    "all told at once": (1.2, {"at_once": True, "silent": False}),
    "purchases after 1.2 days, window": (1.2, WINDOW),
    "purchases after 3 days, window": (3.0, WINDOW),
    "purchases after 5 hours, window": (0.2, WINDOW),
    "purchases told at once, window": (0.0, WINDOW),
    "purchases after 1.2 days, no window": (1.2, {}),
}
"""Mean delay in days, and arguments of `run_week`; the first one is the reference."""


def run(world: str, seed: int, *, baskets: bool) -> tuple[float, float, int]:
    """Return uplift, share of the budget spent, and coupons of one week."""
    delay, arguments = WORLDS[world]
    budget = BUDGETS[baskets]
    week = run_week(Shop(seed, delay=delay), baskets=baskets, budget=budget, **arguments)
    return week.uplift, week.spent / budget, week.coupons


def main(weeks: int) -> None:
    """Run all worlds, and print a table for each kind of reward."""
    seeds = range(FIRST_SEED, FIRST_SEED + weeks)
    for baskets, budget in BUDGETS.items():
        random, reference = random_uplift(VISITS, budget, baskets=baskets), 0.0
        unit = "EUR" if baskets else "purchases"
        table = Table(title=f"{weeks} weeks, budget {budget}; random coupons: {random:,.0f} {unit}")
        for column in (
            "world",
            f"uplift in {unit}",
            "of the uplift over random",
            "spent",
            "coupons",
        ):
            table.add_column(column)
        for world in WORLDS:
            jobs = (delayed(run)(world, seed, baskets=baskets) for seed in seeds)
            uplift, spent, coupons = np.array(Parallel(n_jobs=JOBS)(jobs)).T
            reference = reference or float(uplift.mean())
            error = uplift.std() / np.sqrt(weeks)
            share = (uplift.mean() - random) / (reference - random)
            share_error = error / (reference - random)
            table.add_row(
                world,
                f"{uplift.mean():,.1f} ± {error:,.1f}",
                f"{share:.0%} ± {share_error:.0%}",
                f"{spent.mean():.1%} (least {spent.min():.1%})",
                f"{coupons.mean():,.0f}",
            )
        Console().print(table)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else WEEKS)
