"""Fit: the record of a log from which the statistics of a problem were estimated."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, NamedTuple

import numpy as np

from almoner import checks
from almoner.errors import InvalidProblem
from almoner.types import Floats

__all__ = ["Fit", "Split"]


class Split(NamedTuple):
    """Columns that contexts may be made of, and the worth of that to a plan.

    Attributes
    ----------
    columns
        The columns.
    gain, stderr
        The reward of an arrival beyond that of a plan without contexts, by cross-validation, and
        its standard error.
    share
        The gain as a share of the largest of all candidates.
    contexts
        The number of contexts that they make.
    difference
        How far mean rewards differ between these contexts, in standard errors of chance: below 3
        they do not. Contexts may differ a lot and gain nothing, if the same action is best in all.
    """

    columns: tuple[str, ...]
    gain: float
    stderr: float
    share: float
    contexts: int
    difference: float = 0.0

    @property
    def is_worth_it(self) -> bool:
        """Whether the gain exceeds two standard errors."""
        return self.gain > 2.0 * self.stderr


@dataclass(frozen=True, kw_only=True, eq=False)
class Fit:
    """The evidence of the statistics of a problem that was fitted to a log.

    Attributes
    ----------
    rows
        Rows of the log.
    columns
        The columns that the contexts are made of.
    reward_range
        The rewards that the problem counts as 0 and as 1: rewards of a problem lie in between.
    counts
        Rows of each context and action, (contexts, 1 + actions), skipping first.
    means, lows, highs
        Mean rewards in their own unit, with 95 % intervals, likewise; NaN without rows.
    splits
        What other columns, and pairs of them, would bring as contexts, the best first.
    """

    rows: int
    columns: tuple[str, ...]
    reward_range: tuple[float, float]
    counts: Floats
    means: Floats
    lows: Floats
    highs: Floats
    splits: tuple[Split, ...] = ()

    def in_unit(self, reward: float, *, count: float = 1.0) -> float:
        """Return the sum of ``count`` rewards of the problem in the unit of the log."""
        low, high = self.reward_range
        return count * low + (high - low) * reward

    def prior(
        self, contexts: tuple[str, ...], actions: tuple[str, ...], *, memory: float = 1.0
    ) -> dict[str, Any]:
        """Return the ``prior`` of a campaign: means, and as their weight the rows times memory."""
        memory = checks.number("memory", memory, low=0.0, high=1.0)
        seen = self.counts[:, 1:] > 0.0
        tables: dict[str, Any] = {}
        for name, values in (("means", self.means), ("weight", memory * self.counts)):
            tables[name] = {
                context: {
                    action: float(values[j, k + 1])
                    for k, action in enumerate(actions)
                    if seen[j, k]
                }
                for j, context in enumerate(contexts)
                if seen[j].any()
            }
        return tables

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for TOML and JSON; NaN, where there are no rows, becomes 0."""
        table: dict[str, Any] = {
            "rows": self.rows,
            "columns": list(self.columns),
            "reward_range": list(self.reward_range),
        }
        for name in ("counts", "means", "lows", "highs"):
            table[name] = np.nan_to_num(getattr(self, name)).tolist()
        for part in Split._fields:
            values = [getattr(split, part) for split in self.splits]
            table[f"split_{part}"] = [list(v) if isinstance(v, tuple) else v for v in values]
        return table

    @classmethod
    def from_dict(cls, table: Any) -> Fit:
        """Return the record of the result of `to_dict`."""
        parts = [f"split_{part}" for part in Split._fields]
        names = [field.name for field in fields(cls) if field.name != "splits"]
        if not isinstance(table, dict):
            raise checks.refuse("fit", "be a table", table, error=InvalidProblem)
        newer = "split_difference"  # files of before lack it
        parts = [part for part in parts if part in table or part != newer]
        checks.known_keys("fit", table, required=[*names, *parts], error=InvalidProblem)
        counts = np.array(table["counts"], np.float64)
        arrays = {
            name: np.where(counts > 0.0, np.array(table[name], np.float64), np.nan)
            for name in ("means", "lows", "highs")
        }
        low, high = table["reward_range"]
        return cls(
            rows=int(table["rows"]),
            columns=tuple(table["columns"]),
            reward_range=(float(low), float(high)),
            counts=counts,
            **arrays,
            splits=tuple(
                Split(tuple(columns), *rest)
                for columns, *rest in zip(*(table[part] for part in parts), strict=True)
            ),
        )
