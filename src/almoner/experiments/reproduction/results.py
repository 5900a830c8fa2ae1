"""Rows of results, looked up by problem, policy, ratio, horizon and benchmark."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from almoner.experiments.rows import Row

__all__ = ["Results"]


class Results:
    """Rows of results by their settings; rows of budgets left, and of contexts served."""

    def __init__(
        self, rows: Iterable[Row], budgets: Iterable[Row] = (), served: Iterable[Row] = ()
    ) -> None:
        self.rows, self.budgets, self.served = list(rows), list(budgets), list(served)
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

    def served_rows(self, problem: str, policy: str, ratio: float) -> list[Row]:
        """Return the rows of contexts served, of all contexts and horizons, horizons rising."""
        wanted = (problem, policy, ratio)
        rows = [
            row for row in self.served if (row["problem"], row["policy"], row["ratio"]) == wanted
        ]
        return sorted(rows, key=lambda row: row["horizon"])  # stable: contexts stay in order

    def served_row(
        self, problem: str, policy: str, ratio: float, horizon: int, context: int
    ) -> Row | None:
        """Return the row of one context, if there is one."""
        for row in self.served_rows(problem, policy, ratio):
            if (row["horizon"], row["context"]) == (horizon, context):
                return row
        return None
