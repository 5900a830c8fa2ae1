"""Shared reserves: how much of a budget is spent on coupons that cost only if they are redeemed.

``python -m benchmarks.campaigns.risk [WEEKS [SETTINGS]]`` prints, for a risk of 0.01 and costs that
are learned, the share of the budget spent after all coupons have expired, and the weeks whose bills
exceeded the budget; with a risk of 0 none can.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from joblib import Parallel, delayed  # type: ignore[import-untyped]
from rich.console import Console
from rich.table import Table
from support.shop import Shop, run_coupons

__all__ = ["SETTINGS", "run"]

WEEKS, FIRST_SEED, JOBS, BUDGET = 200, 2_000, 2, 1_500
SETTINGS: dict[str, tuple[float, dict[str, Any]]] = {
    "risk 0.01": (1.2, {"risk": 0.01}),
    "risk 0": (1.2, {"risk": 0}),
    "risk 0.01, declared half the truth": (1.2, {"risk": 0.01, "declared": 0.5}),
    "risk 0.01, purchases after 3 days": (3.0, {"risk": 0.01}),
    "risk 0.01, 3 days, half the truth": (3.0, {"risk": 0.01, "declared": 0.5}),
}
"""Mean delay of purchases in days, and arguments of `run_coupons`."""


def run(setting: str, seed: int) -> tuple[float, float, float]:
    """Return the shares of the budget spent and left unpaid, and the uplift, of one week."""
    delay, arguments = SETTINGS[setting]
    shop = Shop(seed, delay=delay)
    week = run_coupons(shop, budget=BUDGET, learn_cost=True, **arguments)
    return week.spent / BUDGET, week.agent.report().uncharged / BUDGET, week.uplift


def main(weeks: int, settings: int) -> None:
    """Run the settings, and print a table."""
    table = Table(title=f"{weeks} weeks, budget {BUDGET}, coupons valid for 7 days")
    for column in ("setting", "spent", "weeks above the budget", "by at most", "uplift"):
        table.add_column(column)
    for setting in [*SETTINGS][:settings]:
        jobs = (delayed(run)(setting, FIRST_SEED + week) for week in range(weeks))
        spent, unpaid, uplift = np.array(Parallel(n_jobs=JOBS)(jobs)).T
        table.add_row(
            setting,
            f"{spent.mean():.1%} (from {spent.min():.1%} to {spent.max():.1%})",
            f"{np.count_nonzero(unpaid)} of {weeks}",
            f"{unpaid.max():.2%}",
            f"{uplift.mean():.1f} ± {uplift.std() / np.sqrt(weeks):.1f}",
        )
        Console().print(table)


if __name__ == "__main__":
    main(*(int(number) for number in sys.argv[1:]), *(WEEKS, len(SETTINGS))[len(sys.argv) - 1 :])
