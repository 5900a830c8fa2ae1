"""Criteria that only one claim is judged by."""

from __future__ import annotations

from collections.abc import Callable

from almoner.experiments.reproduction.criteria import Check, Outcome
from almoner.experiments.reproduction.formatting import format_number, policy_label
from almoner.experiments.reproduction.results import Results
from almoner.experiments.rows import Row

__all__ = [
    "alp_grows_like_root",
    "boundary_matters_little",
    "follows_the_law",
    "keeps_the_tail_bound",
    "learning_dominates",
    "no_oracle",
    "optimum_grows_like_root",
    "rounded_below_everywhere",
    "rounded_is_bounded",
]

TWO, TEN = "paper-two", "paper-ten"


def no_oracle(results: Results) -> list[Check]:
    """Check whether the optimum of ten contexts is out of reach: a row against it says no."""
    return [
        Check(
            row=f"ρ = {ratio:g}",
            column=f"T = {horizon:,}",
            numbers=f"optimum {row['benchmark']:,.2f}",
            outcome=Outcome.NO,
        )
        for ratio, horizon, (row,) in results.settings(TEN, ("alp",), (0.49, 0.5, 0.51))
    ]


def boundary_matters_little(results: Results) -> list[Check]:
    """Check whether regret on the boundary is within 5 % of that beside it."""
    checks = []
    for policy in ("ucb_alp", "ucb_ealp", "ucb_flp"):
        for beside in (0.49, 0.51):
            for _, horizon, (row,) in results.settings(TEN, (policy,), (0.5,), "upper bound"):
                other = results.find(TEN, policy, beside, horizon, "upper bound")
                if other is None:
                    continue
                change = row["regret_mean"] / other["regret_mean"] - 1
                checks.append(
                    Check(
                        row=f"{policy_label(policy)}, ρ = 0.5 over {beside:g}",
                        column=f"T = {horizon:,}",
                        numbers=f"{100 * change:+.1f} %",
                        outcome=Outcome.YES if abs(change) <= 0.05 else Outcome.NO,
                    )
                )
    return checks


def learning_dominates(results: Results) -> list[Check]:
    """Check whether ALP's regret on the boundary is below a tenth of UCB-ALP's."""
    return [
        Check(
            row="ALP over UCB-ALP, ρ = 0.5",
            column=f"T = {horizon:,}",
            numbers=f"{100 * known['regret_mean'] / learned['regret_mean']:.1f} %",
            outcome=Outcome.YES
            if known["regret_mean"] < 0.1 * learned["regret_mean"]
            else Outcome.NO,
        )
        for _, horizon, (known, learned) in results.settings(
            TEN, ("alp", "ucb_alp"), (0.5,), "upper bound"
        )
    ]


def follows_the_law(results: Results) -> list[Check]:
    """Check whether simulated quantiles are where the law puts them, within four errors."""
    return _count(
        results,
        "quantiles where the law has them",
        lambda row: bool(row["law_low"] <= row["simulated"] <= row["law_high"]),
    )


def keeps_the_tail_bound(results: Results) -> list[Check]:
    """Check whether the law's quantiles, the median excepted, lie within the tail bound."""
    return _count(
        results,
        "quantiles within the bound",
        lambda row: bool(
            row["level"] == 0.5
            or abs(row["law"] - row["ratio"]) <= abs(row["bound"] - row["ratio"])
        ),
    )


def _count(results: Results, column: str, agrees: Callable[[Row], bool]) -> list[Check]:
    checks = []
    for policy in ("alp", "ucb_alp"):
        agreed = [agrees(row) for row in results.budgets if row["policy"] == policy]
        if agreed:
            outcome = Outcome.YES if all(agreed) else Outcome.SOME if any(agreed) else Outcome.NO
            text = f"{sum(agreed)} of {len(agreed)}"
            checks.append(
                Check(row=policy_label(policy), column=column, numbers=text, outcome=outcome)
            )
    return checks


def alp_grows_like_root(results: Results) -> list[Check]:
    """Check whether ALP's regret over √T on the boundary stays below its limit."""
    return _root(results, "alp", "oracle")


def optimum_grows_like_root(results: Results) -> list[Check]:
    """Check whether the optimum itself is as far below the upper bound as the limit says."""
    return _root(results, "oracle", "upper bound")


def _root(results: Results, policy: str, against: str) -> list[Check]:
    """Compare regret with its limit: below it, and from a thousand rounds on within a tenth."""
    checks = []
    for limit in results.rows:
        if (limit["method"], limit["policy"], limit["against"]) != ("limit", policy, against):
            continue
        horizon = limit["horizon"]
        row = results.find(limit["problem"], policy, limit["ratio"], horizon, against)
        if row is not None:
            regret, share = row["regret_mean"], row["regret_mean"] / limit["regret_mean"]
            checks.append(
                Check(
                    row=policy_label(policy),
                    column=f"T = {horizon:,}",
                    numbers=f"{format_number(regret)}, {regret / horizon**0.5:.4f} √T",
                    outcome=Outcome.YES
                    if share <= 1 and (share >= 0.9 or horizon < 1000)
                    else Outcome.NO,
                )
            )
    return checks


def rounded_is_bounded(results: Results) -> list[Check]:
    """Check whether rounding on the boundary loses under a tenth of a reward at any horizon."""
    return [
        Check(
            row="rounded, ρ = 0.4",
            column=f"T = {horizon:,}",
            numbers=format_number(row["regret_mean"]),
            outcome=Outcome.YES if row["regret_mean"] < 0.1 else Outcome.NO,
        )
        for _, horizon, (row,) in results.settings(TWO, ("rounded",), (0.4,))
    ]


def rounded_below_everywhere(results: Results) -> list[Check]:
    """Check whether rounding loses less than ALP at every budget of the sweep over budgets."""
    checks = []
    every = sorted({row["ratio"] for row in results.rows})
    for problem in (TWO, TEN):
        losses: dict[int, dict[float, bool]] = {}
        for ratio, horizon, (ours, alp) in results.settings(problem, ("rounded", "alp"), every):
            losses.setdefault(horizon, {})[ratio] = ours["regret_mean"] < alp["regret_mean"]
        swept = max(losses.values(), key=len, default={})
        if len(swept) <= FEW:
            continue
        count = sum(swept.values())
        text = f"less at {count} of {len(swept)} budgets"
        if count < len(swept):
            text += f", not at ρ = {_stretches(swept)}"
        outcome = Outcome.YES if count == len(swept) else Outcome.SOME if count else Outcome.NO
        checks.append(Check(row=problem, column="all budgets", numbers=text, outcome=outcome))
    return checks


FEW = 10
"""The figures of the paper have three budgets each; more are a sweep over budgets."""


def _stretches(swept: dict[float, bool]) -> str:
    """Return the ranges of budgets with a False value, as text."""
    stretches: list[list[float]] = [[]]
    for ratio, good in sorted(swept.items()):
        if good:
            stretches.append([])
        else:
            stretches[-1].append(ratio)
    return ", ".join(
        f"{each[0]:g} to {each[-1]:g}" if len(each) > 1 else f"{each[0]:g}"
        for each in stretches
        if each
    )
