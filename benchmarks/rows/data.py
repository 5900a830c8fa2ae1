"""The data of the benchmarks on rows, which lie beside the repository and are not part of it."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import almoner as al
from almoner.types import Ints

__all__ = [
    "block_order",
    "full_cost",
    "kinds_of_prompts",
    "parquet_rows",
    "prompts",
    "with_true_values",
]

FOLDER = Path(__file__).parents[3] / "shared" / "data"

PROMPTS = FOLDER / "llm_routing.csv"
"""1,785 prompts and three models, with cross-fitted ridge scores and expected costs."""


def prompts() -> al.Rows:
    """Return the prompts with ridge scores and expected costs."""
    return al.Rows.read(PROMPTS, expected_costs="expected_cost_*", scores="score_*", features="x*")


def kinds_of_prompts() -> npt.NDArray[Any]:
    """Return the kind of each prompt: the set that it was taken from."""
    with PROMPTS.open(encoding="utf-8", newline="") as file:
        return np.array([row["kind"] for row in csv.DictReader(file)])


def block_order(kinds: npt.NDArray[Any], seed: int) -> Ints:
    """Return an order with kinds one after the other, at random, and each of them shuffled."""
    rng = np.random.default_rng(seed)
    return np.concatenate(
        [
            rng.permutation(np.flatnonzero(kinds == kind))
            for kind in rng.permutation(np.unique(kinds))
        ]
    )


def with_true_values(rows: al.Rows) -> al.Rows:
    """Return rows whose rewards and bills are known beforehand."""
    return al.Rows(
        rewards=rows.rewards, costs=rows.costs, scores=rows.rewards, actions=rows.actions
    )


def parquet_rows(name: str, *, rewards: str) -> al.Rows:
    """Return rows with features, whose declared costs are the mean bill of each model."""
    rows = al.Rows.read(FOLDER / f"{name}.parquet", rewards=rewards, features="x*")
    return al.Rows(
        rewards=rows.rewards,
        costs=rows.costs,
        expected_costs=rows.costs.mean(axis=0),
        features=rows.features,
        actions=rows.actions,
    )


def full_cost(rows: al.Rows) -> float:
    """Return the cost of giving every row the model that is dearest on average."""
    return float(rows.costs.sum(axis=0).max())
