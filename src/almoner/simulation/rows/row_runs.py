"""Results on rows: `RowRuns`, a number per replication, and `RowTrace`, a number per round."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from almoner.simulation.regret import Sample
from almoner.simulation.rows.hindsight import HindsightOptimum
from almoner.tables import data_frame, write_columns
from almoner.types import Floats, Ints

__all__ = ["RowRuns", "RowTrace"]

COLUMNS = ("reward", "spend", "overrun", "regret")
"""The numbers of each replication, as `RowRuns.to_frame` has them."""


@dataclass(frozen=True, kw_only=True, eq=False)
class RowRuns:
    """The outcome of `simulate` on rows.

    Attributes
    ----------
    policy, budget, seed, against, order, default
        The arguments of `simulate`.
    benchmark
        The optimum that regret is measured from.
    reward
        The rewards of the actions taken and of skipping, summed over the rows, one per replication.
    spend
        The budget spent, one per replication.
    overrun
        The part of bills that the budget could not pay, one per replication: 0 where expected costs
        are the bills.
    shares
        Share of the rows that got each action, (replications, actions); the rest was skipped.
    regret
        The reward that the benchmark is ahead, as a `Sample`.
    """

    policy: object
    budget: float
    seed: int
    against: str
    order: str
    default: str | None
    benchmark: HindsightOptimum
    reward: Floats
    spend: Floats
    overrun: Floats
    shares: Floats
    regret: Sample

    def __len__(self) -> int:
        return len(self.reward)

    @property
    def ratio(self) -> float:
        """The mean reward as a share of the benchmark; NaN if that is 0 or less."""
        best = float(self.benchmark)
        return float(self.reward.mean()) / best if best > 0.0 else float("nan")

    def to_frame(self) -> Any:
        """Return a data frame of pandas, which must be installed, with a row per replication."""
        return data_frame(self._columns())

    def to_csv(self, path: str | Path) -> None:
        """Write a row per replication as CSV."""
        write_columns(path, self._columns())

    def _columns(self) -> dict[str, Floats]:
        return {name: np.asarray(getattr(self, name)) for name in COLUMNS}

    def summary(self) -> dict[str, Any]:
        """Return the figures of `almoner simulate` on rows, by name."""
        return {
            "runs": len(self),
            "seed": self.seed,
            "order": self.order,
            "budget": self.budget,
            "reward_mean": float(self.reward.mean()),
            "reward_stderr": Sample(self.reward).stderr,
            "spend_mean": float(self.spend.mean()),
            "spend_max": float(self.spend.max()),
            "overrun_mean": float(self.overrun.mean()),
            "overrun_max": float(self.overrun.max()),
            "regret_mean": self.regret.mean,
            "regret_stderr": self.regret.stderr,
            "regret_q99": self.regret.quantile(0.99),
            "regret_max": self.regret.max,
            "against": self.against,
            "benchmark": float(self.benchmark),
            "ratio": self.ratio,
            "shares": np.mean(self.shares, axis=0).tolist(),
        }


@dataclass(frozen=True, kw_only=True, eq=False)
class RowTrace:
    """The rounds of one replication on rows, an entry each.

    Attributes
    ----------
    rows
        The row that arrived.
    actions
        The action taken; −1 is skipping.
    probabilities
        The probability with which the policy chose the action.
    prices
        The price of a unit of budget at which it decided.
    rewards
        The reward.
    budget_left
        The budget left after the round.
    """

    rows: Ints
    actions: Ints
    probabilities: Floats
    prices: Floats
    rewards: Floats
    budget_left: Floats
