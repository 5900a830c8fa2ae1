"""Results of a simulation: `Runs`, a number per replication, and `Trace`, a number per round."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from almoner.problem import Problem
from almoner.simulation.comparison import Comparison, compare
from almoner.simulation.curve import Curve
from almoner.simulation.regret import Sample
from almoner.tables import data_frame, write_columns
from almoner.types import Floats, Ints

__all__ = ["Runs", "Trace", "unusable"]

COLUMNS = (
    *("reward", "reward_drawn", "spend", "unusable"),
    *("regret", "regret_actions", "regret_contexts"),
)
"""The numbers of each replication, as `Runs.to_frame` has them."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Runs:
    """The outcome of `simulate`.

    Attributes
    ----------
    problem, policy, seed, against, estimator
        The arguments of `simulate`, ``against`` and ``estimator`` as they were used. On an
        environment of one's own, ``problem`` is its ``terms``.
    world
        The environment of one's own, or None on a problem.
    reward
        Mean rewards of the actions taken, summed over the rounds, one per replication, as a
        `Sample`: the expectation is that of the rewards drawn, with less noise.
    reward_drawn
        The rewards as they were drawn, summed over the rounds.
    spend
        The budget spent, one per replication.
    unusable
        The budget left at the end where it is less than the cheapest action costs, so that no
        action could have used it, one per replication; 0 where more was left.
    regret
        The regret of each replication, as a `Sample`.
    regret_actions, regret_contexts
        The two parts of it, as in the proof of the paper's Theorem 2: R⁽ᵃ⁾, the loss by taking
        another action than the best one of the context, Σ (u*_j − u_jk) over the actions taken, and
        R⁽ᶜ⁾, the rest, by serving other contexts than the benchmark. Where costs differ, the best
        action is the one with the most reward beyond the price of its cost.
    pairs
        How often each action was taken in each context, and how often each was skipped, on average
        over the replications: (contexts, actions + 1). The last column, ``pairs[:, SKIP]``, is
        skipping.
    budget_left
        Budget left before each of the rounds asked for, (replications, marks).
    make_curve
        The computation of `curve`.
    """

    problem: Problem
    policy: object
    seed: int
    against: str
    estimator: str
    world: object
    reward: Sample
    reward_drawn: Floats
    spend: Floats
    unusable: Floats
    regret: Sample
    regret_actions: Sample
    regret_contexts: Sample
    pairs: Floats
    budget_left: Floats
    make_curve: Callable[[], Curve] = field(repr=False)

    @cached_property
    def curve(self) -> Curve:
        """Regret over the rounds.

        A compiled policy plays the same replications once more for it, when it is first asked for.
        """
        return self.make_curve()

    def __len__(self) -> int:
        return len(self.reward)

    def summary(self) -> dict[str, Any]:
        """Return the figures of `almoner simulate`, by name."""
        return {
            "runs": len(self),
            "seed": self.seed,
            "reward_mean": self.reward.mean,
            "spend_max": float(self.spend.max()),
            "unusable_mean": float(self.unusable.mean()),
            "regret_mean": self.regret.mean,
            "regret_stderr": self.regret.stderr,
            "regret_q99": self.regret.quantile(0.99),
            "regret_max": self.regret.max,
            "regret_actions": self.regret_actions.mean,
            "regret_contexts": self.regret_contexts.mean,
            "against": self.against,
        }

    def compare(self, other: Runs, *, level: float = 0.95) -> Comparison:
        """Compare with another policy on the same problem and seed, replication by replication.

        Parameters
        ----------
        other
            The runs of the other policy, with as many replications.
        level
            The level of the confidence interval of the difference.

        Examples
        --------
        >>> import almoner as al
        >>> from almoner.scenarios import scenario
        >>> problem = scenario("paper-two").scaled(1000)
        >>> ucb = al.simulate(problem, "UCB-ALP", runs=200, seed=1)
        >>> wilson = al.simulate(problem, "wilson_eager", runs=200, seed=1)
        >>> print(wilson.compare(ucb))
        regret differs by -18.34, -19.36 to -17.33 at 95 %: the first has less regret
        """
        return compare(self, other, level=level)

    def to_frame(self) -> Any:
        """Return a data frame of pandas, which must be installed, with a row per replication."""
        return data_frame(self._columns())

    def to_csv(self, path: str | Path) -> None:
        """Write a row per replication as CSV."""
        write_columns(path, self._columns())

    def _columns(self) -> dict[str, Floats]:
        return {name: np.asarray(getattr(self, name)) for name in COLUMNS}


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
