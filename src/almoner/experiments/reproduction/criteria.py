"""Criteria that a claim can be judged by: comparisons of regret over rows of results.

A criterion is a function from `Results` to one `Check` for each setting that the rows cover, so
that the verdict on a claim follows from rows alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise

from almoner.experiments.reproduction.formatting import format_regret, policy_label
from almoner.experiments.reproduction.results import Results
from almoner.experiments.rows import Row

__all__ = [
    "Check",
    "Criterion",
    "Outcome",
    "all_of",
    "below",
    "near",
    "nearly_optimal",
    "rising",
    "sublinear",
]


class Outcome(StrEnum):
    """Whether the numbers of one setting agree with a claim, as the report shows it."""

    YES = "✓"
    NO = "✗"
    TIE = "≈"
    SOME = "partly"


SURE = 2
"""Standard errors that a difference must exceed to count as one."""


@dataclass(frozen=True, kw_only=True)
class Check:
    """One setting: its row and column in a table, the numbers, and whether they agree."""

    row: str
    column: str
    numbers: str
    outcome: Outcome


Criterion = Callable[[Results], list[Check]]


def below(
    problem: str, low: str, high: str, ratios: Sequence[float], *, against: str = "oracle"
) -> Criterion:
    """Check whether ``low`` has less regret than ``high``, beyond two standard errors."""

    def criterion(results: Results) -> list[Check]:
        return [
            Check(
                row=f"{policy_label(low)} against {policy_label(high)}, ρ = {ratio:g}",
                column=f"T = {horizon:,}",
                numbers=f"{format_regret(lower)} against {format_regret(higher)}",
                outcome=_compare(lower, higher),
            )
            for ratio, horizon, (lower, higher) in results.settings(
                problem, (low, high), ratios, against
            )
        ]

    return criterion


def near(
    problem: str, policy: str, reference: str, ratios: Sequence[float], *, within: float
) -> Criterion:
    """Check whether a policy's regret differs from another's by at most a share ``within``."""

    def criterion(results: Results) -> list[Check]:
        checks = []
        for ratio, horizon, rows in results.settings(problem, (policy, reference), ratios):
            excess = rows[0]["regret_mean"] / rows[1]["regret_mean"] - 1
            checks.append(
                Check(
                    row=f"{policy_label(policy)} over {policy_label(reference)}, ρ = {ratio:g}",
                    column=f"T = {horizon:,}",
                    numbers=f"{100 * excess:+.0f} %",
                    outcome=Outcome.YES if abs(excess) <= within else Outcome.NO,
                )
            )
        return checks

    return criterion


def nearly_optimal(
    problem: str, policy: str, ratios: Sequence[float], *, within: float
) -> Criterion:
    """Check whether a policy's regret is at most a share ``within`` of the optimum."""

    def criterion(results: Results) -> list[Check]:
        checks = []
        for ratio, horizon, (row,) in results.settings(problem, (policy,), ratios):
            share = row["regret_mean"] / row["benchmark"]
            checks.append(
                Check(
                    row=f"{policy_label(policy)}, ρ = {ratio:g}",
                    column=f"T = {horizon:,}",
                    numbers=f"{format_regret(row)}, {100 * share:.2f} %",
                    outcome=Outcome.YES if share <= within else Outcome.NO,
                )
            )
        return checks

    return criterion


def rising(problem: str, policy: str, ratios: Sequence[float]) -> Criterion:
    """Check whether regret rises from each horizon to the next."""

    def criterion(results: Results) -> list[Check]:
        settings = list(results.settings(problem, (policy,), ratios))
        return [
            Check(
                row=f"{policy_label(policy)}, ρ = {ratio:g}",
                column=f"T = {horizon:,}",
                numbers=f"{format_regret(before)} → {format_regret(row)}",
                outcome=_compare(before, row),
            )
            for (same, _, (before,)), (ratio, horizon, (row,)) in pairwise(settings)
            if same == ratio
        ]

    return criterion


def sublinear(
    problem: str, policies: Sequence[str], ratios: Sequence[float], *, against: str = "oracle"
) -> Criterion:
    """Check whether regret grows with an exponent below 1, from about half the longest horizon."""

    def criterion(results: Results) -> list[Check]:
        checks = []
        for policy in policies:
            for ratio in ratios:
                rows = [
                    row for *_, (row,) in results.settings(problem, (policy,), [ratio], against)
                ]
                if len(rows) < 2:
                    continue
                last = rows[-1]
                first = min(rows[:-1], key=lambda row: abs(2 * row["horizon"] - last["horizon"]))
                exponent, error = _exponent(first, last)
                checks.append(
                    Check(
                        row=policy_label(policy),
                        column=f"ρ = {ratio:g}",
                        numbers=f"T to the power {exponent:.3f} ± {error:.3f}",
                        outcome=Outcome.YES if exponent + SURE * error < 1 else Outcome.NO,
                    )
                )
        return checks

    return criterion


def all_of(*criteria: Criterion) -> Criterion:
    """Join the checks of several criteria."""
    return lambda results: [check for criterion in criteria for check in criterion(results)]


def _compare(low: Row, high: Row) -> Outcome:
    """Return whether one regret is below another, or within the error of a tie."""
    rise = high["regret_mean"] - low["regret_mean"]
    error = SURE * math.hypot(low["regret_stderr"] or 0, high["regret_stderr"] or 0)
    return Outcome.TIE if abs(rise) <= error else Outcome.YES if rise > 0 else Outcome.NO


def _exponent(first: Row, last: Row) -> tuple[float, float]:
    """Return the exponent of growth between two horizons, and its standard error."""
    decades = math.log(last["horizon"] / first["horizon"])
    exponent = math.log(last["regret_mean"] / first["regret_mean"]) / decades
    shares = [(row["regret_stderr"] or 0) / row["regret_mean"] for row in (first, last)]
    return exponent, math.hypot(*shares) / decades
