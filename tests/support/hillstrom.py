"""A made-up log of the shape of the Hillstrom e-mail test, as CSV: three arms, equally likely.

Visits depend on the band of past spend and on whether the customer is new, with the means of the
scenario ``hillstrom-email``; all other columns say nothing of them.
"""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np

from almoner.problem import Problem
from almoner.scenarios import scenario

__all__ = ["COLUMNS", "NOISE", "TELLING", "world", "write_hillstrom"]

TELLING = ("history_segment", "history", "newbie")
"""Columns that visits depend on."""

NOISE = ("colour", "lot", "flag")
"""Columns that the test does not have, and that depend on nothing."""

COLUMNS = (
    *("recency", "history_segment", "history", "mens", "womens", "zip_code", "newbie", "channel"),
    *("segment", "visit", "conversion", "spend"),
)

BANDS = {
    "$0 - $100": (1, 30, 100),
    "$100 - $200": (2, 100, 200),
    "$200 - $350": (3, 200, 350),
    "$350 - $500": (4, 350, 500),
    "$500 - $750": (5, 500, 750),
    "$750 - $1,000": (6, 750, 1_000),
    "$1,000 +": (7, 1_000, 3_300),
}
"""Number, least and most spend of each band."""

ARMS = ("No E-Mail", "Mens E-Mail", "Womens E-Mail")


def world() -> Problem:
    """Return the problem that the log is drawn from."""
    return scenario("hillstrom-email")


def write_hillstrom(path: Path, *, rows: int = 64_000, seed: int = 1, noise: bool = True) -> Path:
    """Write the log, with columns of noise before the arm."""
    draws, problem = np.random.default_rng(seed), world()
    contexts = draws.choice(len(problem.contexts), rows, p=problem.context_probs)
    taken = draws.integers(0, 3, rows)
    means = np.column_stack([problem.default_rewards, problem.reward_means])[contexts, taken]
    visits = draws.random(rows) < means
    conversions = visits & (draws.random(rows) < 0.06)
    spends = np.where(conversions, draws.gamma(2.0, 60.0, rows).round(2), 0.0)
    bought = draws.choice(3, rows, p=[0.45, 0.45, 0.1])  # from men's, women's or both
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow([*COLUMNS[:8], *(NOISE if noise else ()), *COLUMNS[8:]])
        for row in range(rows):
            band, kind = problem.contexts[contexts[row]].split(" / ")
            number, low, high = BANDS[band]
            extra = [draws.choice(["red", "green", "blue"]), draws.normal(), draws.integers(2)]
            writer.writerow(
                [
                    draws.integers(1, 13),
                    f"{number}) {band}",
                    round(draws.uniform(low, high), 2),
                    int(bought[row] != 1),
                    int(bought[row] != 0),
                    draws.choice(["Surburban", "Urban", "Rural"], p=[0.45, 0.4, 0.15]),
                    int(kind == "new"),
                    draws.choice(["Phone", "Web", "Multichannel"], p=[0.44, 0.44, 0.12]),
                    *(extra if noise else []),
                    ARMS[taken[row]],
                    int(visits[row]),
                    int(conversions[row]),
                    spends[row],
                ]
            )
    return path
