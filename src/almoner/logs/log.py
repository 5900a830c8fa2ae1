"""Log: past decisions, each with its context, action, reward, cost and probability."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from almoner import checks
from almoner.logs.columns import Cells, Column, product
from almoner.types import Floats, Ints

if TYPE_CHECKING:
    from almoner.problem import Problem

__all__ = ["Log"]

ROWS_PER_CONTEXT = 100
"""Rows that a context must have on average for the product of all columns to be used."""


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Log:
    """Past decisions, a row each, in the order of time.

    `Log.read` makes one from a file or a data frame.

    Attributes
    ----------
    actions
        The names of the actions, without skipping.
    columns
        The columns that tell contexts apart.
    taken
        The action of each row, counted from 0; -1 is a skip.
    rewards, costs
        The reward and the cost of each row, in their own units.
    probabilities
        The probability with which each row's action was taken, its propensity.
    skip_reward
        The known reward of skipping, None if it must be estimated from rows that were skipped.
    source
        The file or the kind of table that it comes from.
    notes
        Sentences on what to keep in mind: empty rewards, missing overlap.
    exact
        Whether contexts are the product of all columns even if that leaves few rows for each.

    Examples
    --------
    >>> log = Log.read({
    ...     "context": ["new", "new", "old", "old"], "action": ["coupon", "", "coupon", ""],
    ...     "reward": [1, 0, 1, 1], "probability": [0.5, 0.5, 0.5, 0.5]})
    >>> log
    Log(4 rows, actions=('coupon',), contexts=('new', 'old'))
    """

    actions: tuple[str, ...]
    columns: tuple[Column, ...]
    taken: Ints
    rewards: Floats
    costs: Floats
    probabilities: Floats
    skip_reward: float | None
    source: str
    notes: tuple[str, ...]
    exact: bool = False

    @classmethod
    def read(
        cls,
        source: Any,
        *,
        context: str | Sequence[str] | None = None,
        action: str | None = None,
        reward: str | None = None,
        probability: str | None = None,
        cost: str | float | Mapping[str, float] | None = None,
        skip: str | None = None,
        skip_reward: float | None = None,
        design: str | Mapping[str, float] | None = None,
        time: str | None = None,
    ) -> Log:
        """Read a log from a CSV, JSONL or Parquet file, a data frame, or a mapping of columns.

        A column that is not named is found by its usual names: ``probability``, ``propensity``,
        ``pscore``, ``action_prob`` and so on. A file that ``almoner ledger export`` has written
        needs no argument.

        Parameters
        ----------
        source
            A path that ends in ``.csv``, ``.tsv``, ``.jsonl`` (each also with ``.gz``) or
            ``.parquet`` (which needs pyarrow), a data frame or an Arrow table, or a mapping from
            names to lists. Cells of CSV are separated by commas, semicolons or tabs.
        context
            The columns that tell contexts apart; an empty list for a single context. A column of
            many different numbers is cut at its quartiles.
        action
            The column of the action; a row where it is empty is a skip.
        reward
            The column of the reward, in any unit; an empty cell is a reward of 0.
        probability
            The column of the probability with which the action was taken.
        cost
            The column of the cost, one cost for all actions, or a cost for each action; without
            one, and without a column of that name, an action costs 1.
        skip
            The name of the action that is skipping.
        skip_reward
            What skipping brings, if that is known; else it is estimated from the skipped rows.
        design
            The probabilities of a log without a column of them: ``"uniform"``, or a probability
            for each action, by name.
        time
            The column of the time, by which rows are sorted; without one they are in the order
            of the file.
        """
        from almoner.logs.read import read_log

        return cls(
            **read_log(
                source,
                context=context,
                columns={
                    "action": action,
                    "reward": reward,
                    "probability": probability,
                    "time": time,
                },
                cost=cost,
                skip=skip,
                skip_reward=skip_reward,
                design=design,
            )
        )

    def __len__(self) -> int:
        return len(self.taken)

    def __repr__(self) -> str:
        names = self.contexts
        shown = repr(names) if len(names) <= 6 else f"{len(names)} of {', '.join(self.split)}"
        return f"Log({len(self):,} rows, actions={self.actions!r}, contexts={shown})"

    @property
    def contexts(self) -> tuple[str, ...]:
        """The names of the contexts."""
        return self.cells.labels

    @property
    def split(self) -> tuple[str, ...]:
        """The columns whose values are the contexts."""
        return self.cells.columns

    @cached_property
    def cells(self) -> Cells:
        """The context of each row.

        They are the product of all columns. If that leaves fewer than 100 rows for a context, they
        are those of the column or the pair of columns that is worth most: see `fit`.
        """
        if not self.columns:
            return product((), len(self))
        cells = product(self.columns, len(self))
        fine = len(cells.labels) * ROWS_PER_CONTEXT > len(self)
        if fine and len(self.columns) > 1 and not self.exact:
            from almoner.logs.splits import best_split, rank_splits

            return product(self._named(best_split(rank_splits(self))), len(self))
        return cells

    def by(self, *columns: str) -> Log:
        """Return the log with contexts by some of its columns only."""
        return replace(self, columns=self._named(columns), exact=True)

    def _named(self, names: Sequence[str]) -> tuple[Column, ...]:
        known = {column.name: column for column in self.columns}
        return tuple(known[checks.choice("columns", name, known)] for name in names)

    @property
    def reward_range(self) -> tuple[float, float]:
        """The least and the largest reward, with 0; or 0 and 1, if all rewards lie between them.

        If the largest is at most a half, it counts as the end: money in a large unit is no smaller.
        """
        known = [] if self.skip_reward is None else [self.skip_reward]
        low = float(min(self.rewards.min(), *known, 0.0))
        high = float(max(self.rewards.max(), *known, 0.0))
        usual = low == 0.0 and (0.5 < high <= 1.0 or high == 0.0)
        return (0.0, 1.0) if usual else (low, high)

    def fit(
        self,
        *,
        budget: float,
        horizon: int | None = None,
        context: Sequence[str] | None = None,
    ) -> Problem:
        """Return the problem that the log describes, with counts and intervals in its ``fit``.

        Parameters
        ----------
        budget
            The budget to plan with.
        horizon
            The number of arrivals to plan for; as many as the log has, if left out.
        context
            The columns that contexts shall be made of. Left out, and if the log has several, they
            are those worth most to a plan by cross-validation; ``fit.splits`` has the ranking.

        Examples
        --------
        >>> log = Log.read({
        ...     "context": ["new", "new", "old", "old"] * 50,
        ...     "action": ["coupon", "", "coupon", ""] * 50,
        ...     "reward": [1, 0, 1, 1] * 50}, design="uniform")
        >>> problem = log.fit(budget=40)
        >>> problem.reward_means.tolist(), problem.default_rewards.tolist()
        ([[1.0], [1.0]], [0.0, 1.0])
        >>> problem.fit.counts.tolist()
        [[50.0, 50.0], [50.0, 50.0]]
        """
        from almoner.logs.fit_problem import fit_problem

        return fit_problem(self, budget=budget, horizon=horizon, context=context)

    def as_problem(self, *, budget: float) -> Problem:
        """Return the problem of as many arrivals as the log has, with the contexts of the log."""
        return self.fit(budget=budget, context=self.split)

    def indices(self, rows: Ints) -> Log:
        """Return the log of some rows, with contexts of the same columns."""
        return replace(
            self,
            exact=True,
            columns=tuple(column.rows(rows) for column in self._named(self.split)),
            taken=self.taken[rows],
            rewards=self.rewards[rows],
            costs=self.costs[rows],
            probabilities=self.probabilities[rows],
        )

    @property
    def has_skips(self) -> bool:
        """Whether rows were skipped."""
        return bool(np.any(self.taken < 0))
