"""Tables of the rules, insurances and premiums that were tried in place of those of `thrifty`."""

from __future__ import annotations

from collections.abc import Callable

from benchmarks.learner.alternatives import Alternative
from benchmarks.learner.rows import read
from benchmarks.pages import table

__all__ = ["OTHER_TABLES"]

TAIL_OF = "shop"


def alternatives() -> str:
    """Return the ratio of every rule on every problem, and its tail on the shop."""
    rows = read("alternatives", Alternative)
    problems = list(dict.fromkeys(row.problem for row in rows))
    lines = []
    for rule in dict.fromkeys(row.rule for row in rows):
        cells = {row.problem: row for row in rows if row.rule == rule}
        tail = cells[TAIL_OF]
        ratios = [_ratio(cells[problem]) for problem in problems]
        lines.append([rule, *ratios, f"{tail.q99:.0f}", _share(tail)])
    heading = ["", *problems, f"{TAIL_OF}, 99 %", f"{TAIL_OF}, lose a tenth"]
    return table(heading, lines)


def premiums() -> str:
    """Return mean regret and the share of bad runs for each premium and horizon."""
    rows = read("premiums", Alternative)
    rules = list(dict.fromkeys(row.rule for row in rows))
    lines = []
    for problem in dict.fromkeys(row.problem for row in rows):
        cells = [row for row in rows if row.problem == problem]
        lines.append([problem, *map(_mean, cells), f"{cells[0].runs:,}"])
    return table(["", *rules, "runs"], lines)


def _ratio(row: Alternative) -> str:
    if row.ratio_stderr == 0:
        return f"{row.mean:.1f} ± {row.stderr:.1f}"
    return f"{row.ratio:.2f} ± {row.ratio_stderr:.2f}"


def _mean(row: Alternative) -> str:
    return f"{row.mean:.1f} ± {row.stderr:.1f}; {_share(row)}"


def _share(row: Alternative) -> str:
    return f"{100 * row.bad:.2g} % of {row.runs:,}" if row.problem == TAIL_OF else _percent(row.bad)


def _percent(share: float) -> str:
    return "0" if share == 0 else f"{100 * share:.2g} %"


OTHER_TABLES: dict[str, Callable[[], str]] = {"alternatives": alternatives, "premiums": premiums}
"""Tables by their names in the markers of the page."""
