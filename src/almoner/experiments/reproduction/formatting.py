"""Formatting of regrets, numbers and policy names in the report."""

from __future__ import annotations

from almoner.experiments.rows import Row

__all__ = ["format_number", "format_regret", "policy_label"]


def format_regret(row: Row) -> str:
    """Format a regret with its standard error; exact values have none."""
    if not row["regret_stderr"]:
        return format_number(row["regret_mean"])
    error = f"{row['regret_stderr']:#.2g}".rstrip(".")
    return f"{format_number(row['regret_mean'])} ± {error}"


def format_number(value: float) -> str:
    """Format a number with about three digits, and at most four decimals."""
    size = abs(value)
    decimals = 4 if size < 0.1 else 2 if size < 10 else 1 if size < 100 else 0
    return f"{value:,.{decimals}f}" if size >= 5e-5 else "0"


LABELS = {
    "explore_2": "explore 2 %",
    "explore_5": "explore 5 %",
    "explore_10": "explore 10 %",
    "explore_log_20": "explore 20 log T",
    "explore_log_50": "explore 50 log T",
    "explore_log_100": "explore 100 log T",
    "explore_printed_5": "as printed, 5 log T",
    "explore_printed_20": "as printed, 20 log T",
    "explore_printed_50": "as printed, 50 log T",
    "explore_printed_100": "as printed, 100 log T",
    "ucb_alp_1": "UCB-ALP, width 1",
    "ucb_alp_2": "UCB-ALP, width 2",
    "ucb_pb_1": "UCB-PB, width 1",
    "ucb_pb_2": "UCB-PB, width 2",
    "explore_literal": "explore until the paper's test",
    "explore_test": "explore until our test",
    "horizon_alp": "horizon index",
    "oracle": "the optimum",
}


def policy_label(policy: str) -> str:
    """Return the label of a policy: UCB-ALP for ``ucb_alp``, lower case for ours."""
    if policy in LABELS:
        return LABELS[policy]
    paper = policy.removeprefix("ucb_") in {"alp", "flp", "pb", "ealp"}
    return policy.replace("_", "-").upper() if paper else policy.replace("_", "-")
