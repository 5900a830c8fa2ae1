"""Results of a simulation: `Runs`, a number per replication, and `Trace`, a number per round."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from almoner.simulation.regret import Sample
from almoner.types import Floats, Ints

__all__ = ["Runs", "Trace", "unusable"]


@dataclass(frozen=True, kw_only=True, eq=False)
class Runs:
    """The outcome of `simulate`.

    Attributes
    ----------
    policy, seed, against, estimator
        The arguments of `simulate`.
    reward
        Mean rewards of the actions taken, summed over the rounds, one per replication: the
        expectation is that of the rewards drawn, with less noise.
    reward_drawn
        The rewards as they were drawn, summed over the rounds.
    spend
        The budget spent, one per replication.
    unusable
        The budget left at the end where it is less than the cheapest action costs, so that no
        action could have used it, one per replication; 0 where more was left.
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
        """Return the figures of `almoner simulate`, by name."""
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
    """The rounds of one replication, an entry each.

    Attributes
    ----------
    contexts, actions
        The context that arrived and the action taken; −1 is skipping.
    probabilities
        The probability with which the policy chose the action (NaN for a policy in Python).
    rewards
        The reward drawn.
    budget_left
        The budget left after the round.
    unusable
        The budget left after the last round if it is less than the cheapest action costs, else 0.
    """

    contexts: Ints
    actions: Ints
    probabilities: Floats
    rewards: Floats
    budget_left: Floats
    unusable: float


def unusable(left: Floats, costs: Floats) -> Floats:
    """Return the budget left where it is less than the cheapest action costs, and 0 elsewhere.

    Examples
    --------
    >>> unusable(np.array([0.0, 0.5, 1.0, 3.0]), np.array([[1.0, 2.0]])).tolist()
    [0.0, 0.5, 0.0, 0.0]
    """
    return np.where(left < costs.min(), left, 0.0)
