"""Evidence: rows found by their settings, and the tests that a claim can be put to.

A test is made from what it compares, and returns one `Check` for each setting that the rows cover:
the verdict on a claim follows from rows alone, and turns when they do.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from almoner.experiments.rows import Row

__all__ = [
    "NO",
    "SOME",
    "TIE",
    "YES",
    "Check",
    "Evidence",
    "Test",
    "below",
    "both",
    "name_of",
    "near",
    "nearly_optimal",
    "number",
    "rising",
    "shown",
    "sublinear",
]

YES, NO, TIE, SOME = "✓", "✗", "≈", "partly"

SURE = 2
"""Standard errors of a difference beyond which it is one."""


@dataclass(frozen=True, kw_only=True)
class Check:
    """One setting: its place in a table (row and column), the numbers, and whether they agree."""

    row: str
    column: str
    numbers: str
    outcome: str


class Evidence:
    """Rows of results, found by their settings, and rows of budgets left."""

    def __init__(self, rows: Iterable[Row], budgets: Iterable[Row] = ()) -> None:
        self.rows, self.budgets = list(rows), list(budgets)
        self._found = {
            (row["problem"], row["policy"], row["ratio"], row["horizon"], row["against"]): row
            for row in self.rows
            if row["method"] != "limit"
        }

    def find(
        self, problem: str, policy: str, ratio: float, horizon: int, against: str = "oracle"
    ) -> Row | None:
        """Return the row of these settings, if there is one."""
        return self._found.get((problem, policy, ratio, horizon, against))

    def settings(
        self,
        problem: str,
        policies: Sequence[str],
        ratios: Sequence[float],
        against: str = "oracle",
    ) -> Iterator[tuple[float, int, list[Row]]]:
        """Go through ratios and rising horizons for which there are rows of all these policies."""
        for ratio in ratios:
            for horizon in sorted({row["horizon"] for row in self.rows}):
                found = [self.find(problem, name, ratio, horizon, against) for name in policies]
                rows = [row for row in found if row is not None]
                if len(rows) == len(policies):
                    yield ratio, horizon, rows


Test = Callable[[Evidence], list[Check]]


def below(
    problem: str, low: str, high: str, ratios: Sequence[float], *, against: str = "oracle"
) -> Test:
    """Test whether ``low`` has less regret than ``high``, beyond two standard errors."""

    def test(evidence: Evidence) -> list[Check]:
        return [
            Check(
                row=f"{name_of(low)} against {name_of(high)}, ρ = {ratio:g}",
                column=f"T = {horizon:,}",
                numbers=f"{shown(one)} against {shown(other)}",
                outcome=_compared(one, other),
            )
            for ratio, horizon, (one, other) in evidence.settings(
                problem, (low, high), ratios, against
            )
        ]

    return test


def near(
    problem: str, policy: str, reference: str, ratios: Sequence[float], *, within: float
) -> Test:
    """Test whether a policy's regret differs from another's by at most a share ``within``."""

    def test(evidence: Evidence) -> list[Check]:
        found = []
        for ratio, horizon, rows in evidence.settings(problem, (policy, reference), ratios):
            excess = rows[0]["regret_mean"] / rows[1]["regret_mean"] - 1
            found.append(
                Check(
                    row=f"{name_of(policy)} over {name_of(reference)}, ρ = {ratio:g}",
                    column=f"T = {horizon:,}",
                    numbers=f"{100 * excess:+.0f} %",
                    outcome=YES if abs(excess) <= within else NO,
                )
            )
        return found

    return test


def nearly_optimal(problem: str, policy: str, ratios: Sequence[float], *, within: float) -> Test:
    """Test whether a policy's regret is at most a share ``within`` of the optimum."""

    def test(evidence: Evidence) -> list[Check]:
        found = []
        for ratio, horizon, (row,) in evidence.settings(problem, (policy,), ratios):
            share = row["regret_mean"] / row["benchmark"]
            found.append(
                Check(
                    row=f"{name_of(policy)}, ρ = {ratio:g}",
                    column=f"T = {horizon:,}",
                    numbers=f"{shown(row)}, {100 * share:.2f} %",
                    outcome=YES if share <= within else NO,
                )
            )
        return found

    return test


def rising(problem: str, policy: str, ratios: Sequence[float]) -> Test:
    """Test whether regret rises from each horizon to the next."""

    def test(evidence: Evidence) -> list[Check]:
        found = list(evidence.settings(problem, (policy,), ratios))
        return [
            Check(
                row=f"{name_of(policy)}, ρ = {ratio:g}",
                column=f"T = {horizon:,}",
                numbers=f"{shown(before)} → {shown(row)}",
                outcome=_compared(before, row),
            )
            for (same, _, (before,)), (ratio, horizon, (row,)) in pairwise(found)
            if same == ratio
        ]

    return test


def sublinear(
    problem: str, policies: Sequence[str], ratios: Sequence[float], *, against: str = "oracle"
) -> Test:
    """Test whether regret grows with an exponent below 1, from about half the longest horizon."""

    def test(evidence: Evidence) -> list[Check]:
        found = []
        for policy in policies:
            for ratio in ratios:
                rows = [
                    row for *_, (row,) in evidence.settings(problem, (policy,), [ratio], against)
                ]
                if len(rows) < 2:
                    continue
                last = rows[-1]
                first = min(rows[:-1], key=lambda row: abs(2 * row["horizon"] - last["horizon"]))
                exponent, error = _exponent(first, last)
                found.append(
                    Check(
                        row=name_of(policy),
                        column=f"ρ = {ratio:g}",
                        numbers=f"T to the power {exponent:.3f} ± {error:.3f}",
                        outcome=YES if exponent + SURE * error < 1 else NO,
                    )
                )
        return found

    return test


def both(*tests: Test) -> Test:
    """Put a claim to several tests."""
    return lambda evidence: [check for test in tests for check in test(evidence)]


def shown(row: Row) -> str:
    """Return a regret with its standard error; what is exact has none."""
    if not row["regret_stderr"]:
        return number(row["regret_mean"])
    error = f"{row['regret_stderr']:#.2g}".rstrip(".")
    return f"{number(row['regret_mean'])} ± {error}"


def number(value: float) -> str:
    """Return a number with about three digits, and no more than four behind the point."""
    size = abs(value)
    places = 4 if size < 0.1 else 2 if size < 10 else 1 if size < 100 else 0
    return f"{value:,.{places}f}" if size >= 5e-5 else "0"


NAMES = {
    "explore_2": "explore 2 %",
    "explore_5": "explore 5 %",
    "explore_10": "explore 10 %",
    "explore_log_20": "explore 20 log T",
    "explore_log_50": "explore 50 log T",
    "explore_log_100": "explore 100 log T",
    "explore_literal": "explore until the paper's test",
    "explore_test": "explore until our test",
    "horizon_alp": "horizon index",
    "oracle": "the optimum",
}


def name_of(policy: str) -> str:
    """Return what people call a policy: ``ucb_alp`` is UCB-ALP; ours have plain names."""
    if policy in NAMES:
        return NAMES[policy]
    paper = policy.removeprefix("ucb_") in {"alp", "flp", "pb", "ealp"}
    return policy.replace("_", "-").upper() if paper else policy.replace("_", "-")


def _compared(low: Row, high: Row) -> str:
    rise = high["regret_mean"] - low["regret_mean"]
    error = SURE * math.hypot(low["regret_stderr"] or 0, high["regret_stderr"] or 0)
    return TIE if abs(rise) <= error else YES if rise > 0 else NO


def _exponent(first: Row, last: Row) -> tuple[float, float]:
    """Return the exponent of growth between two horizons, and its standard error."""
    decades = math.log(last["horizon"] / first["horizon"])
    exponent = math.log(last["regret_mean"] / first["regret_mean"]) / decades
    shares = [(row["regret_stderr"] or 0) / row["regret_mean"] for row in (first, last)]
    return exponent, math.hypot(*shares) / decades
