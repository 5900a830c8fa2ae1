"""Report on the reproduction: a Markdown page of claims with numbers and verdicts, from rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from almoner.experiments.reproduction.criteria import Check, Outcome
from almoner.experiments.reproduction.formatting import (
    format_number,
    format_regret,
    policy_label,
)
from almoner.experiments.reproduction.results import Results
from almoner.experiments.reproduction.verdicts import Judgement, Verdict, judge
from almoner.experiments.rows import Row, write_atomically

__all__ = ["write_report"]

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
    "wider": "Wider indices",
    "printed": "ε-First as printed",
}
"""Titles of the sections, by the name of their figure."""

TABLES = {
    "two-known": ("paper-two", ("flp", "alp", "ealp", "rounded", "pb"), ("oracle",)),
    "two-unknown": (
        "paper-two", ("ucb_flp", "ucb_alp", "ucb_ealp", "ucb_pb", "wilson_eager", "thrifty"),
        ("oracle",),
    ),
    "ten-known": ("paper-ten", ("flp", "alp", "ealp", "rounded"), ("upper bound", "oracle")),
    "ten-unknown": (
        "paper-ten", ("ucb_flp", "ucb_alp", "ucb_ealp", "wilson_eager", "thrifty"),
        ("upper bound", "oracle"),
    ),
    "unequal": (
        "heterogeneous",
        ("explore_literal", "explore_log_20", "explore_log_50", "explore_log_100", "explore_2",
         "explore_5", "explore_10", "explore_test", "ucb_alp", "horizon_alp", "wilson_eager",
         "thrifty", "alp"),
        ("oracle",),
    ),
    "email": (
        "hillstrom-email",
        ("explore_test", "ucb_alp", "horizon_alp", "wilson_eager", "thrifty", "alp"),
        ("upper bound",),
    ),
    "routing": (
        "llm-routing",
        ("explore_test", "ucb_alp", "horizon_alp", "wilson_eager", "thrifty", "alp"),
        ("upper bound",),
    ),
    "printed": (
        "heterogeneous",
        ("explore_printed_5", "explore_printed_20", "explore_printed_50", "explore_printed_100"),
        ("oracle",),
    ),
}  # fmt: skip
"""The table of each section: problem, policies, and benchmarks of regret."""


def write_report(
    rows: Iterable[Row],
    path: str | Path,
    *,
    budgets: Iterable[Row] = (),
    served: Iterable[Row] = (),
    command: str = "almoner reproduce",
    figures: str = ".",
) -> Path:
    """Write the page and return its path.

    Parameters
    ----------
    rows, budgets, served
        Results, quantiles of budgets left, and contexts served, as `reproduce` saved them.
    command
        The command that computed the rows.
    figures
        Folder of the figures, relative to the page; missing figures are left out.
    """
    results = Results(rows, budgets, served)
    judged = judge(results)
    path = Path(path)
    drawn = {file.stem for file in (path.parent / figures).glob("*.svg")}
    lines = [*_head(results, command), *_summary(judged)]
    for name, title in SECTIONS.items():
        names = (name, f"{name}-oracle", f"{name}-tests")
        pictures = [f"{figures}/{each}.svg" for each in names if each in drawn]
        lines += _section(name, title, results, judged, pictures)
    write_atomically(path, "\n".join(lines) + "\n")
    return path


def _head(results: Results, command: str) -> Iterator[str]:
    drawn = [row for row in results.rows if row["runs"]] or results.rows

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


def _summary(judged: Sequence[Judgement]) -> Iterator[str]:
    yield "| | claim | verdict |"
    yield "|---|---|---|"
    for number, (claim, checks, verdict) in enumerate(judged, start=1):
        counts = Counter(check.outcome for check in checks)
        several = [
            f"{counts[outcome]} {outcome}"
            for outcome in (Outcome.YES, Outcome.SOME, Outcome.TIE, Outcome.NO)
            if counts[outcome]
        ]
        detail = f" ({', '.join(several)})" if verdict == Verdict.PARTLY and several else ""
        yield f"| {number} | {claim.says} | **{verdict}**{detail} |"
    yield ""


def _section(
    name: str, title: str, results: Results, judged: Sequence[Judgement], pictures: Sequence[str]
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
        yield from _numbers(results, *TABLES[name])
    for number, (claim, checks, verdict) in enumerate(judged, start=1):
        if claim.figure == name:
            remark = f" {claim.remark}" if claim.remark else ""
            reading = f"Read as: {claim.reading}. Verdict: **{verdict}**.{remark}"
            yield f"**{number}. {claim.says}** {reading}"
            yield ""
            yield from _table(checks)


def _numbers(
    results: Results, problem: str, policies: Sequence[str], benchmarks: Sequence[str]
) -> Iterator[str]:
    """Yield the table of a section, at the longest horizon that all its policies have."""
    for against in benchmarks:
        ratios = sorted({row["ratio"] for row in results.rows if row["problem"] == problem})
        settings = list(results.settings(problem, policies, ratios, against))
        if not settings:
            continue
        longest = max(horizon for _, horizon, _ in settings)
        panels = {ratio: rows for ratio, horizon, rows in settings if horizon == longest}
        runs = max(row["runs"] for rows in panels.values() for row in rows)
        yield (
            f"Regret against the {against} at T = {longest:,}, {runs:,} runs: mean, then 99 % and "
            "worst run."
        )
        yield ""
        yield "| |" + "".join(f" ρ = {ratio:g} |" for ratio in panels)
        yield "|---|" + "---|" * len(panels)
        for i, policy in enumerate(policies):
            cells = [_cell(rows[i]) for rows in panels.values()]
            yield f"| {policy_label(policy)} |" + "".join(f" {cell} |" for cell in cells)
        yield ""


def _cell(row: Row) -> str:
    if row["regret_max"] is None:
        return format_regret(row)
    high, worst = format_number(row["regret_q99"]), format_number(row["regret_max"])
    return f"{format_regret(row)} ({high}; {worst})"


def _table(checks: Sequence[Check]) -> Iterator[str]:
    if not checks:
        return
    columns = list(dict.fromkeys(check.column for check in checks))
    yield "| |" + "".join(f" {column} |" for column in columns)
    yield "|---|" + "---|" * len(columns)
    for name in dict.fromkeys(check.row for check in checks):
        by_column = {check.column: check for check in checks if check.row == name}
        cells = [
            f"{by_column[column].numbers} {by_column[column].outcome}"
            if column in by_column
            else ""
            for column in columns
        ]
        yield f"| {name} |" + "".join(f" {cell} |" for cell in cells)
    yield ""
