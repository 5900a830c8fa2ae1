"""Report: rows in, a page of claims with numbers and verdicts out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from almoner.experiments.reproduction.claims import BEYOND, CLAIMS, PARTLY, Claim, verdict_of
from almoner.experiments.reproduction.criteria import (
    NO,
    SOME,
    TIE,
    YES,
    Check,
    Evidence,
    name_of,
    number,
    shown,
)
from almoner.experiments.rows import Row, write_atomically

__all__ = ["judge", "write_report"]

SECTIONS = {
    "two-known": "Two contexts, rewards known",
    "two-unknown": "Two contexts, rewards unknown",
    "crossing": "Two contexts, rewards unknown, long horizons",
    "ten-known": "Ten contexts, rewards known",
    "ten-unknown": "Ten contexts, rewards unknown",
    "unequal": "Unequal costs",
    "email": "E-mails, with visits that come by themselves",
    "routing": "Prompts for a cheap or a strong model",
    "concentration": "The budget left",
    "boundary": "Regret at a boundary",
    "ratio": "Regret over the budget",
}
"""Sections of the page, by the figure that stands in each."""

TABLES = {
    "two-known": ("paper-two", ("flp", "alp", "ealp", "rounded", "pb"), ("oracle",)),
    "two-unknown": (
        "paper-two", ("ucb_flp", "ucb_alp", "ucb_ealp", "ucb_pb", "thrifty"), ("oracle",),
    ),
    "ten-known": ("paper-ten", ("flp", "alp", "ealp", "rounded"), ("upper bound", "oracle")),
    "ten-unknown": (
        "paper-ten", ("ucb_flp", "ucb_alp", "ucb_ealp", "thrifty"), ("upper bound", "oracle"),
    ),
    "unequal": (
        "heterogeneous",
        ("explore_literal", "explore_log_20", "explore_log_50", "explore_log_100", "explore_2",
         "explore_5", "explore_10", "explore_test", "ucb_alp", "horizon_alp", "thrifty", "alp"),
        ("oracle",),
    ),
    "email": (
        "hillstrom-email", ("explore_test", "ucb_alp", "horizon_alp", "thrifty", "alp"),
        ("upper bound",),
    ),
    "routing": (
        "llm-routing", ("explore_test", "ucb_alp", "horizon_alp", "thrifty", "alp"),
        ("upper bound",),
    ),
}  # fmt: skip
"""What the table of a section shows: problem, policies, and what regret is measured from."""


def judge(
    rows: Iterable[Row], *, budgets: Iterable[Row] = ()
) -> list[tuple[Claim, list[Check], str]]:
    """Return every claim with its checks and the verdict on it."""
    evidence = Evidence(rows, budgets)
    judged = []
    for claim in (*CLAIMS, *BEYOND):
        checks = claim.test(evidence) if claim.test else []
        judged.append((claim, checks, verdict_of(claim, checks)))
    return judged


def write_report(
    rows: Iterable[Row],
    path: str | Path,
    *,
    budgets: Iterable[Row] = (),
    command: str = "almoner reproduce",
    figures: str = ".",
) -> Path:
    """Write the page and return its path.

    Parameters
    ----------
    rows, budgets
        Results, and quantiles of budgets left, as `reproduce` saved them.
    command
        How the rows were made.
    figures
        Folder of the figures, seen from the page; those that are there are shown.
    """
    evidence = Evidence(rows, budgets)
    judged = judge(evidence.rows, budgets=evidence.budgets)
    path = Path(path)
    drawn = {file.stem for file in (path.parent / figures).glob("*.svg")}
    lines = [*_head(evidence, command), *_summary(judged)]
    for name, title in SECTIONS.items():
        names = (name, f"{name}-oracle", f"{name}-tests")
        pictures = [f"{figures}/{each}.svg" for each in names if each in drawn]
        lines += _section(name, title, evidence, judged, pictures)
    write_atomically(path, "\n".join(lines) + "\n")
    return path


Judged = Sequence[tuple[Claim, list[Check], str]]


def _head(evidence: Evidence, command: str) -> Iterator[str]:
    drawn = [row for row in evidence.rows if row["runs"]] or evidence.rows

    def every(name: str) -> str:
        return ", ".join(str(value) for value in sorted({row[name] for row in drawn}))

    yield "# Reproduction of the paper's experiments"
    yield ""
    yield (
        "Generated from rows; do not edit. The paper is *Algorithms with Logarithmic or Sublinear "
        "Regret for Constrained Contextual Bandits* (Wu, Srikant, Liu and Jiang, NIPS 2015). Each "
        "claim is put in our own words, then as a rule on numbers, and the verdict follows from "
        "the rule."
    )
    yield ""
    most = max((row["runs"] for row in drawn), default=0)
    yield (
        f"- almoner {every('version')}, seed {every('seed')}, {most:,} runs (fewer where a table "
        "says)"
    )
    yield f"- made by `{command}`"
    yield (
        "- numbers are mean regret ± one standard error; a number without one is exact (carried "
        "forward over all budgets, nothing drawn)"
    )
    yield "- ✓ agrees with the claim, ✗ contradicts it, ≈ within two standard errors of a tie"
    yield "- regret is against the exact optimum unless the upper bound is named"
    yield ""


def _summary(judged: Judged) -> Iterator[str]:
    yield "| | claim | verdict |"
    yield "|---|---|---|"
    for place, (claim, checks, verdict) in enumerate(judged, start=1):
        counts = Counter(check.outcome for check in checks)
        several = [
            f"{counts[outcome]} {outcome}" for outcome in (YES, SOME, TIE, NO) if counts[outcome]
        ]
        detail = f" ({', '.join(several)})" if verdict == PARTLY and several else ""
        yield f"| {place} | {claim.says} | **{verdict}**{detail} |"
    yield ""


def _section(
    name: str, title: str, evidence: Evidence, judged: Judged, pictures: Sequence[str]
) -> Iterator[str]:
    yield f"## {title}"
    yield ""
    for picture in pictures:
        if picture.endswith("-oracle.svg"):
            yield "Against the exact optimum, which the paper did not have:"
            yield ""
        yield f"![{title}]({picture})"
        yield ""
    if name in TABLES:
        yield from _numbers(evidence, *TABLES[name])
    for place, (claim, checks, verdict) in enumerate(judged, start=1):
        if claim.figure == name:
            yield f"**{place}. {claim.says}** Read as: {claim.reading}. Verdict: **{verdict}**."
            yield ""
            yield from _table(checks)


def _numbers(
    evidence: Evidence, problem: str, policies: Sequence[str], benchmarks: Sequence[str]
) -> Iterator[str]:
    """Yield the table of a section, at the longest horizon that all its policies have."""
    for against in benchmarks:
        ratios = sorted({row["ratio"] for row in evidence.rows if row["problem"] == problem})
        found = list(evidence.settings(problem, policies, ratios, against))
        if not found:
            continue
        longest = max(horizon for _, horizon, _ in found)
        panels = {ratio: rows for ratio, horizon, rows in found if horizon == longest}
        runs = max(row["runs"] for rows in panels.values() for row in rows)
        yield (
            f"Regret against the {against} at T = {longest:,}, {runs:,} runs: mean, then 99 % and "
            "worst run."
        )
        yield ""
        yield "| |" + "".join(f" ρ = {ratio:g} |" for ratio in panels)
        yield "|---|" + "---|" * len(panels)
        for place, policy in enumerate(policies):
            cells = [_cell(rows[place]) for rows in panels.values()]
            yield f"| {name_of(policy)} |" + "".join(f" {cell} |" for cell in cells)
        yield ""


def _cell(row: Row) -> str:
    if row["regret_max"] is None:
        return shown(row)
    return f"{shown(row)} ({number(row['regret_q99'])}; {number(row['regret_max'])})"


def _table(checks: Sequence[Check]) -> Iterator[str]:
    if not checks:
        return
    columns = list(dict.fromkeys(check.column for check in checks))
    yield "| |" + "".join(f" {column} |" for column in columns)
    yield "|---|" + "---|" * len(columns)
    for name in dict.fromkeys(check.row for check in checks):
        found = {check.column: check for check in checks if check.row == name}
        cells = [
            f"{found[column].numbers} {found[column].outcome}" if column in found else ""
            for column in columns
        ]
        yield f"| {name} |" + "".join(f" {cell} |" for cell in cells)
    yield ""
