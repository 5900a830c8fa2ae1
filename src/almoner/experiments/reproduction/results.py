"""Rows of results, looked up by problem, policy, ratio, horizon and benchmark."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from almoner.experiments.rows import Row

__all__ = ["Results"]


class Results:
    """Rows of results, looked up by their settings, and rows of budgets left."""

    def __init__(self, rows: Iterable[Row], budgets: Iterable[Row] = ()) -> None:
        self.rows, self.budgets = list(rows), list(budgets)
        self._by_settings = {
            (row["problem"], row["policy"], row["ratio"], row["horizon"], row["against"]): row
            for row in self.rows
            if row["method"] != "limit"
        }

    def find(
        self, problem: str, policy: str, ratio: float, horizon: int, against: str = "oracle"
    ) -> Row | None:
        """Return the row of these settings, if there is one."""
        return self._by_settings.get((problem, policy, ratio, horizon, against))

    def settings(
        self,
        problem: str,
        policies: Sequence[str],
        ratios: Sequence[float],
        against: str = "oracle",
    ) -> Iterator[tuple[float, int, list[Row]]]:
        """Yield each ratio and rising horizon at which all policies have rows, with the rows."""
        for ratio in ratios:
            for horizon in sorted({row["horizon"] for row in self.rows}):
                candidates = [
                    self.find(problem, name, ratio, horizon, against) for name in policies
                ]
                rows = [row for row in candidates if row is not None]
                if len(rows) == len(policies):
                    yield ratio, horizon, rows
