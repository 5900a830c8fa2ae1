"""Runs: what came of a simulation, one number per replication and nothing longer."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from almoner import checks
from almoner.checks import Floats

__all__ = ["Runs", "Sample", "Trace", "unusable"]


@dataclass(frozen=True, eq=False)
class Sample:
    """Numbers, one per replication, with what is usually asked of them.

    Examples
    --------
    >>> sample = Sample(np.array([1.0, 2.0, 3.0, 6.0]))
    >>> sample.mean, round(sample.stderr, 3), sample.quantile(0.5), sample.max
    (3.0, 1.08, 2.5, 6.0)
    """

    values: Floats

    @property
    def mean(self) -> float:
        """The average."""
        return float(np.mean(self.values))

    @property
    def stderr(self) -> float:
        """The standard error of the average; NaN for a single replication."""
        if len(self.values) < 2:
            return math.nan
        return float(np.std(self.values, ddof=1) / math.sqrt(len(self.values)))

    @property
    def max(self) -> float:
        """The largest value."""
        return float(np.max(self.values))

    def quantile(self, level: float) -> float:
        """The value that a share ``level`` of the replications stays below."""
        return float(np.quantile(self.values, checks.number("level", level, low=0, high=1)))


@dataclass(frozen=True, kw_only=True, eq=False)
class Runs:
    """The outcome of `simulate`.

    Attributes
    ----------
    policy, seed, against, estimator
        What was simulated, and how regret is measured.
    reward
        Mean reward of what was done, summed over the rounds, one per replication: the expectation
        is that of the rewards drawn, with less noise.
    reward_drawn
        The rewards as they were drawn, summed over the rounds.
    spend
        What was spent, one per replication.
    unusable
        What was left at the end where it is less than the cheapest action costs, so that nothing
        could have been done with it, one per replication; 0 where more was left.
    regret
        The regret of each replication, as a `Sample`.
    budget_left
        Budget left before each of the rounds asked for, (replications, marks).
    """

    policy: object
    seed: int
    against: str
    estimator: str
    reward: Floats
    reward_drawn: Floats
    spend: Floats
    unusable: Floats
    regret: Sample
    budget_left: Floats

    def __len__(self) -> int:
        return len(self.reward)

    def summary(self) -> dict[str, Any]:
        """Return the figures that programs ask for, by name."""
        return {
            "runs": len(self),
            "seed": self.seed,
            "reward_mean": float(self.reward.mean()),
            "spend_max": float(self.spend.max()),
            "unusable_mean": float(self.unusable.mean()),
            "regret_mean": self.regret.mean,
            "regret_stderr": self.regret.stderr,
            "regret_q99": self.regret.quantile(0.99),
            "regret_max": self.regret.max,
            "against": self.against,
        }


@dataclass(frozen=True, kw_only=True, eq=False)
class Trace:
    """Everything that happened in one replication, an entry a round.

    Attributes
    ----------
    contexts, actions
        What came and what was done; −1 is skipping.
    probabilities
        The probability that the policy gave to what it did (NaN where it does not say).
    rewards
        What it brought.
    budget_left
        What was left after the round.
    unusable
        What was left after the last round if that is less than the cheapest action costs, else 0.
    """

    contexts: npt.NDArray[np.int64]
    actions: npt.NDArray[np.int64]
    probabilities: Floats
    rewards: Floats
    budget_left: Floats
    unusable: float


def unusable(left: Floats, costs: Floats) -> Floats:
    """Return what is left where no action costs so little, and 0 where one does.

    Examples
    --------
    >>> unusable(np.array([0.0, 0.5, 1.0, 3.0]), np.array([[1.0, 2.0]])).tolist()
    [0.0, 0.5, 0.0, 0.0]
    """
    return np.where(left < costs.min(), left, 0.0)
