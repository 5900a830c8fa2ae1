"""Tables of results in Markdown, from the rows in ``docs/learner``."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial

from benchmarks.learner.frontier import Point
from benchmarks.learner.late import Late
from benchmarks.learner.router import Routing
from benchmarks.learner.rows import Comparison, geometric_mean, read
from benchmarks.learner.speed import Speed
from benchmarks.pages import table

__all__ = ["TABLES"]

KINDS = ("random", "unstructured", "structured", "unequal costs")
MUCH_WORSE, LONGER, MORE_BAD = 1.05, 1.2, 0.02
SETS = {
    "named": "named",
    "heldout": "held out",
    "notes": "research notes",
    "development": "development",
}
"""Names of the sets in the list of what is worse."""


def comparisons(name: str, kind: str) -> str:
    """Return the table of one kind of problems in a set."""
    rows = [row for row in read(name, Comparison) if row.kind == kind]
    heading = ("", "U*", "`wilson_eager`", "`thrifty`", "ratio", "99 %", "lose a tenth", "runs")
    return table(heading, map(_line, rows)) + ("" if kind == "named" else f"\n\n{_summary(rows)}")


def _line(row: Comparison) -> tuple[str, ...]:
    usual = 10_000 if row.kind == "named" else 5_000
    size = "" if row.rounds == usual else f", T = {row.rounds:,}"
    ratio = f"{row.ratio:.3f} ± {row.ratio_stderr:.3f}"
    return (
        f"{row.problem}{size}",
        f"{row.optimum:,.0f}",
        _regret(row.former, row.former_stderr),
        _regret(row.new, row.new_stderr),
        f"**{ratio}**" if row.ratio > MUCH_WORSE else ratio,
        f"{row.former_q99:,.0f} → {row.new_q99:,.0f}",
        f"{_share(row.former_bad)} → {_share(row.new_bad)}",
        f"{row.runs:,}",
    )


def _summary(rows: Sequence[Comparison]) -> str:
    mean, error = geometric_mean(rows)
    worst = max(rows, key=lambda row: row.ratio)
    better = sum(row.ratio < 1 for row in rows)
    return (
        f"Geometric mean of ratios {mean:.3f} ± {error:.3f}; better on {better} of {len(rows)}; "
        f"worst {worst.ratio:.3f} ± {worst.ratio_stderr:.3f} ({worst.problem})."
    )


def overview() -> str:
    """Return the geometric means and the worst ratios of both sets side by side."""
    lines = []
    for kind in KINDS:
        cells = [kind]
        for name in ("development", "heldout"):
            rows = [row for row in read(name, Comparison) if row.kind == kind]
            mean, error = geometric_mean(rows)
            cells += [str(len(rows)), f"{mean:.3f} ± {error:.3f}"]
            cells.append(f"{max(row.ratio for row in rows):.3f}")
        lines.append(cells)
    heading = ("", "development", "mean ratio", "worst", "held out", "mean ratio", "worst")
    return table(heading, lines)


def worse() -> str:
    """Return every problem on which the new rule loses at least 5 % more."""
    lines = [
        (f"{row.problem}, T = {row.rounds:,}", where, *_line(row)[2:5])
        for name, where in SETS.items()
        for row in read(name, Comparison)
        if row.ratio > MUCH_WORSE
    ]
    lines += [
        (f"{row.problem}, {row.delay} rounds late", "late rewards", *_late(row)[2:])
        for row in read("late", Late)
        if row.ratio > MUCH_WORSE
    ]
    return table(("", "set", "`wilson_eager`", "`thrifty`", "ratio"), lines)


def tails() -> str:
    """Return every problem whose tail got longer by a fifth, or with 2 % more bad runs."""
    lines = [
        (f"{row.problem}, T = {row.rounds:,}", where, *_line(row)[4:])
        for name, where in SETS.items()
        for row in read(name, Comparison)
        if row.new_q99 > LONGER * row.former_q99 or row.new_bad > row.former_bad + MORE_BAD
    ]
    return table(("", "set", "ratio", "99 %", "lose a tenth", "runs"), lines)


def router() -> str:
    """Return the table of the router."""
    heading = ("", "judged", "quality", "less medium", "better", "lose 0.02", "worst", "runs")
    lines = [
        (
            f"`{row.policy}`",
            f"{100 * row.judged:.0f} %",
            f"{row.quality:.4f}",
            f"{row.less_medium:+.4f} ± {row.stderr:.4f}".replace("-", "−"),
            f"{100 * row.better:.1f} %",
            f"{100 * row.bad:.1f} %",
            f"{row.worst:+.3f}".replace("-", "−"),
            str(row.runs),
        )
        for row in read("router", Routing)
    ]
    return table(heading, lines)


def frontier() -> str:
    """Return the table behind the figure of caution."""
    heading = ("", "policy", "mean", "99 %", "mean of the worst 1 %", "lose a tenth", "runs")
    lines = [
        (
            row.problem,
            "`wilson_eager`"
            if row.policy == "wilson_eager"
            else f"`thrifty(caution={row.caution:g})`",
            _regret(row.mean, row.stderr),
            f"{row.q99:.0f}",
            f"{row.worst_percent:.0f}",
            _share(row.bad),
            f"{row.runs:,}",
        )
        for row in read("frontier", Point)
    ]
    return table(heading, lines)


def late() -> str:
    """Return the table of late rewards."""
    heading = ("", "rounds late", "`wilson_eager`", "`thrifty`", "ratio")
    return table(heading, map(_late, read("late", Late)))


def _late(row: Late) -> tuple[str, ...]:
    ratio = f"{row.ratio:.2f} ± {row.ratio_stderr:.2f}"
    return (
        row.problem,
        str(row.delay),
        _regret(row.former, row.former_stderr),
        _regret(row.new, row.new_stderr),
        f"**{ratio}**" if row.ratio > MUCH_WORSE else ratio,
    )


def speed() -> str:
    """Return the table of CPU times."""
    columns = ("CPU time", "`wilson_eager`, earlier", "`wilson_eager`", "`thrifty`", "ratio")
    lines = [
        (
            row.what,
            "–" if math.isnan(row.earlier) else f"{row.earlier:.2f} µs",
            f"{row.former:.2f} µs",
            f"{row.new:.2f} µs",
            f"{row.ratio:.2f}",
        )
        for row in read("speed", Speed)
    ]
    return table(columns, lines)


def _regret(mean: float, error: float) -> str:
    digits = 1 if mean < 1000 else 0
    return f"{mean:,.{digits}f} ± {error:.{digits}f}"


def _share(share: float) -> str:
    return "0" if share == 0 else f"{100 * share:.2g} %" if share < 0.995 else "100 %"


def _sets() -> dict[str, Callable[[], str]]:
    drawn = {
        f"{name} {kind}": partial(comparisons, name, kind)
        for name in ("heldout", "development")
        for kind in KINDS
    }
    return {
        **drawn,
        "notes": partial(comparisons, "notes", "unequal costs"),
        "named": partial(comparisons, "named", "named"),
    }


TABLES: dict[str, Callable[[], str]] = {
    **_sets(),
    "overview": overview,
    "worse": worse,
    "tails": tails,
    "router": router,
    "frontier": frontier,
    "late": late,
    "speed": speed,
}
"""Every table by its name in the markers of the page."""
