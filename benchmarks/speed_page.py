"""Tables of ``docs/speed.md``: ``python -m benchmarks.speed_page`` writes them anew."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

from benchmarks.growth.series import exponent, grouped
from benchmarks.pages import rewrite_blocks, table
from benchmarks.speed_rows import (
    FOLDER,
    SECTIONS,
    SpeedRow,
    read_growth,
    read_machine,
    read_section,
)
from benchmarks.table import duration, factor

__all__ = ["PAGE", "rewrite"]

PAGE = FOLDER.with_suffix(".md")


def _machine() -> str:
    dates = sorted({row.date for row in _all_rows()})
    lines = [["measured", dates[0] if len(dates) == 1 else f"{dates[0]} to {dates[-1]}"]]
    lines += [[fact.name, fact.value] for fact in read_machine()]
    return table(("", ""), lines, rule=("---", "---"))


def _all_rows() -> list[SpeedRow]:
    return [row for name in SECTIONS for row in read_section(name)]


def _missed() -> str:
    """Return the bars that are missed, as a list."""
    judged = [row for row in _all_rows() if row.verdict]
    missed = [row for row in judged if row.verdict == "missed"]
    if not missed:
        return f"All {len(judged)} bars are met."
    lines = [f"- {row.what}: {_reached(row)}, bar {row.bar}" for row in missed]
    return "\n".join([f"**{len(missed)} of {len(judged)} bars are missed:**", "", *lines])


def _slower() -> str:
    """Return the comparisons that almoner loses, as a list."""
    lost = [row for row in _all_rows() if row.ratio < 1]
    return "\n".join(f"- {row.what}: {factor(row.ratio)}" for row in lost) or "- nothing"


def _reached(row: SpeedRow) -> str:
    """Return what a bar is about: the ratio if there is one, else the figure."""
    return row.figure if math.isnan(row.ratio) else factor(row.ratio)


def _section(name: str) -> str:
    """Return the table of a section; rows whose bar is missed are bold."""
    lines = []
    for row in read_section(name):
        ratio = "" if math.isnan(row.ratio) else factor(row.ratio)
        cells = [row.what, row.figure, ratio, row.bar, row.verdict]
        if row.verdict == "missed":
            cells = [f"**{cell}**" if cell else "" for cell in cells]
        lines.append([*cells, row.remark])
    heading = ("", "measured", "almoner is faster by", "bar", "", "")
    return table(heading, lines, rule=("---", "---:", "---:", "---:", "---", "---"))


def _growth() -> str:
    """Return the series with their sizes, times and exponents."""
    lines = [
        [
            series[0].operation,
            series[0].size,
            f"{exponent(series):.2f}",
            ", ".join(f"{point.value:,}: {duration(point.seconds)}" for point in series),
        ]
        for series in grouped(read_growth())
    ]
    heading = ("", "grows with", "exponent", "CPU time at each size")
    return table(heading, lines, rule=("---", "---", "---:", "---"))


TABLES: dict[str, Callable[[], str]] = {
    "machine": _machine,
    "missed": _missed,
    "slower": _slower,
    **{name: partial(_section, name) for name in SECTIONS},
    "growth": _growth,
}


def rewrite(text: str) -> str:
    """Return the text of the page with every table made anew from the rows."""
    return rewrite_blocks(text, TABLES)


def main() -> None:
    PAGE.write_text(rewrite(PAGE.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
