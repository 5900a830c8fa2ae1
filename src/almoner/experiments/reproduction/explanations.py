"""Criteria for explanations that the paper gives: who is served, and with what probability."""

from __future__ import annotations

from almoner.experiments.reproduction.criteria import Check, Outcome
from almoner.experiments.reproduction.formatting import format_number
from almoner.experiments.reproduction.results import Results

__all__ = ["passes_over_the_better_context", "serves_more_contexts_rightly"]

NEAR = 0.02
"""Shares within which two counts of skipped arrivals are a tie: two standard errors, about."""

RIGHT = 0.01
"""Distance of a share served from the LP's probability that counts as right."""


def passes_over_the_better_context(results: Results) -> list[Check]:
    """Check whether UCB-PB skips the better of two contexts more often than UCB-ALP."""
    checks = []
    for alp in results.served_rows("paper-two", "ucb_alp", 0.41):
        if alp["context"] != 0:
            continue
        pb = results.served_row("paper-two", "ucb_pb", 0.41, alp["horizon"], 0)
        if pb is None:
            continue
        more = pb["skipped"] / alp["skipped"] - 1
        checks.append(
            Check(
                row="better context skipped, UCB-PB against UCB-ALP, ρ = 0.41",
                column=f"T = {alp['horizon']:,}",
                numbers=f"{format_number(pb['skipped'])} against {format_number(alp['skipped'])}",
                outcome=Outcome.TIE
                if abs(more) <= NEAR
                else Outcome.YES
                if more > 0
                else Outcome.NO,
            )
        )
    return checks


def serves_more_contexts_rightly(results: Results) -> list[Check]:
    """Check whether EALP serves a larger share of ten contexts rightly than of two."""
    checks = []
    horizons = {row["horizon"] for row in results.served_rows("paper-ten", "ealp", 0.5)}
    for horizon in sorted(horizons):
        two = _served_rightly(results, "paper-two", 0.4, horizon)
        ten = _served_rightly(results, "paper-ten", 0.5, horizon)
        if two and ten:
            more = sum(ten) / len(ten) > sum(two) / len(two)
            checks.append(
                Check(
                    row="contexts that EALP serves rightly",
                    column=f"T = {horizon:,}",
                    numbers=f"{sum(ten)} of {len(ten)}, {sum(two)} of {len(two)}",
                    outcome=Outcome.YES if more else Outcome.NO,
                )
            )
    return checks


def _served_rightly(results: Results, problem: str, ratio: float, horizon: int) -> list[bool]:
    """Return for each context whether EALP serves it as often as the LP would."""
    return [
        abs(1 - row["skipped"] / row["arrived"] - row["planned"]) <= RIGHT
        for row in results.served_rows(problem, "ealp", ratio)
        if row["horizon"] == horizon
    ]
