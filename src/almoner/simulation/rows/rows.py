"""Rows: what the arrivals of a recorded stream offered, and what actions would have brought."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from almoner import checks
from almoner.simulation.rows.arrays import each_row, numbered, row_array
from almoner.simulation.rows.read import read_arrays
from almoner.types import Floats

if TYPE_CHECKING:
    from almoner.policy.base import Policy
    from almoner.simulation.rows.frontier import Frontier
    from almoner.simulation.rows.hindsight import HindsightOptimum

__all__ = ["Rows"]


@dataclass(frozen=True, kw_only=True, eq=False, init=False, repr=False)
class Rows:
    """Arrivals, a row each: rewards, costs, and what a policy sees of them.

    Parameters
    ----------
    rewards
        The reward that each action would have brought, (rows, actions), on any scale.
    costs
        What each action would have been billed, (rows, actions), or one number for each action; at
        least 0.
    expected_costs
        What policies plan with, before they know the bill, likewise; ``costs`` if left out.
    scores
        The caller's prediction of each reward, for `priced`, on any scale.
    features
        Numbers that describe the arrival, (rows, features), for `linear`.
    skip_rewards
        What skipping would have brought, one for each row; 0 if left out.
    skip_scores
        The caller's prediction of it; 0 if left out.
    actions
        The names of the actions; numbers if left out.
    feature_names
        The names of the features; numbers if left out.

    Examples
    --------
    >>> rows = Rows(
    ...     rewards=[[0.6, 0.9], [0.5, 0.6], [0.8, 0.9]],
    ...     costs=[1, 3],
    ...     actions=["small", "large"],
    ... )
    >>> len(rows), round(float(rows.upper_bound(5)), 3), round(rows.upper_bound(4).price, 3)
    (3, 2.2, 0.15)
    """

    actions: tuple[str, ...]
    rewards: Floats
    costs: Floats
    expected_costs: Floats
    scores: Floats | None
    features: Floats | None
    skip_rewards: Floats
    skip_scores: Floats
    feature_names: tuple[str, ...]

    def __init__(
        self,
        *,
        rewards: ArrayLike,
        costs: ArrayLike,
        expected_costs: ArrayLike | None = None,
        scores: ArrayLike | None = None,
        features: ArrayLike | None = None,
        skip_rewards: ArrayLike | None = None,
        skip_scores: ArrayLike | None = None,
        actions: Sequence[str] = (),
        feature_names: Sequence[str] = (),
    ) -> None:
        gained = row_array("rewards", rewards, None)
        shape = gained.shape
        billed = row_array("costs", each_row(costs, shape), shape, low=0.0)
        planned = billed
        if expected_costs is not None:
            planned = row_array("expected_costs", each_row(expected_costs, shape), shape, low=0.0)
        given = None if features is None else row_array("features", features, (shape[0], None))
        width = 0 if given is None else given.shape[1]
        idle = np.zeros(shape[0])
        valid = {
            "actions": checks.names("actions", list(actions), count=shape[1])
            or numbered("action", shape[1]),
            "rewards": gained,
            "costs": billed,
            "expected_costs": planned,
            "scores": None if scores is None else row_array("scores", scores, shape),
            "features": given,
            "skip_rewards": idle
            if skip_rewards is None
            else row_array("skip_rewards", skip_rewards, shape[:1]),
            "skip_scores": idle
            if skip_scores is None
            else row_array("skip_scores", skip_scores, shape[:1]),
            "feature_names": checks.names("feature_names", list(feature_names), count=width)
            or numbered("feature", width),
        }
        for name, value in valid.items():
            object.__setattr__(self, name, value)  # sets a field of a frozen dataclass

    @classmethod
    def read(
        cls,
        source: Any,
        *,
        rewards: str = "reward_*",
        costs: str = "cost_*",
        expected_costs: str | None = None,
        scores: str | None = None,
        features: str | list[str] | None = None,
        skip_reward: str | None = None,
        skip_score: str | None = None,
    ) -> Rows:
        """Read rows from a CSV or Parquet file, a data frame, or a mapping of columns.

        Parameters
        ----------
        source
            A path that ends in ``.csv``, ``.csv.gz`` or ``.parquet`` (which needs pyarrow), a data
            frame of pandas or polars, or a mapping from names to lists.
        rewards, costs, expected_costs, scores
            The columns of each family: a pattern whose star stands for the name of the action. All
            families must name the same actions.
        features
            A pattern, or the names of the columns.
        skip_reward, skip_score
            The columns of what skipping brings, and of its prediction.

        Examples
        --------
        >>> rows = Rows.read({
        ...     "reward_small": [0.6, 0.5], "reward_large": [0.9, 0.6],
        ...     "cost_small": [1, 1], "cost_large": [3, 3], "x1": [0.3, 1.2]}, features="x*")
        >>> rows
        Rows(2 rows, actions=('small', 'large'), 1 feature)
        """
        return cls(
            **read_arrays(
                source,
                patterns={
                    "rewards": rewards,
                    "costs": costs,
                    "expected_costs": expected_costs,
                    "scores": scores,
                },
                features=features,
                skip={"skip_rewards": skip_reward, "skip_scores": skip_score},
            )
        )

    def __len__(self) -> int:
        return len(self.rewards)

    def __repr__(self) -> str:
        parts = [f"{len(self):,} rows", f"actions={self.actions!r}"]
        parts += ["scores"] if self.scores is not None else []
        if self.features is not None:
            width = self.features.shape[1]
            parts.append(f"{width} feature{'' if width == 1 else 's'}")
        return f"Rows({', '.join(parts)})"

    def upper_bound(self, budget: float, *, default: str | None = None) -> HindsightOptimum:
        """Return the optimum of the LP on all rewards and costs at once.

        No policy, whatever it knows, brings more on average with this budget.

        Parameters
        ----------
        budget
            What may be spent on all rows together.
        default
            An action in place of skipping: the optimum then serves every row, if the budget can.
        """
        from almoner.simulation.rows.hindsight import optimum

        return optimum(self, budget, default=default)

    def frontier(
        self,
        *,
        budgets: Sequence[float],
        policies: Sequence[Policy | str] | None = None,
        runs: int = 20,
        seed: int = 0,
        order: str = "shuffle",
        default: str | None = None,
        threads: int | None = None,
    ) -> Frontier:
        """Return the reward that policies bring at several budgets, beside the hindsight optimum.

        ``policies`` are `Policy` objects or names of recipes; left out, those that the rows have
        columns for: ``priced`` with scores, ``linear`` with features. The other arguments are those
        of `simulate`.
        """
        from almoner.simulation.rows.frontier import compute_frontier

        return compute_frontier(
            self,
            budgets=budgets,
            policies=policies,
            runs=runs,
            seed=seed,
            order=order,
            default=default,
            threads=threads,
        )

    def action_index(self, default: str | None) -> int:
        """Return the place of a default action, -1 without one."""
        if default is None:
            return -1
        return self.actions.index(checks.choice("default", default, self.actions))
