"""The table of results that the benchmarks print, with ratios and bars."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table

__all__ = ["Row", "at_least", "duration", "factor", "reaches", "show", "within"]


@dataclass(frozen=True, kw_only=True)
class Row:
    """One line: a figure, its ratio to almoner's, the bar, and a remark."""

    what: str
    figure: str
    ratio: float | None = None
    bar: str = ""
    met: bool | None = None
    remark: str = ""


def at_least(
    *, what: str, figure: str, ratio: float, bar: float, aim: float | None = None, remark: str = ""
) -> Row:
    """Return the row of a program that almoner must be faster than, by a factor of ``bar``."""
    wish = "" if aim is None else f" (aim {aim:,g}×)"
    return Row(
        what=what,
        figure=figure,
        ratio=ratio,
        bar=f"≥ {bar:,g}×{wish}",
        met=ratio >= bar,
        remark=remark,
    )


def within(*, what: str, seconds: float, bar: float, remark: str = "") -> Row:
    """Return the row of an operation of almoner that must take at most ``bar`` seconds."""
    return Row(
        what=what,
        figure=duration(seconds),
        bar=f"≤ {duration(bar)}",
        met=seconds <= bar,
        remark=remark,
    )


def reaches(
    *, what: str, rate: float, bar: float, unit: str = "/s", digits: int = 0, remark: str = ""
) -> Row:
    """Return the row of an operation of almoner that must come to a rate of ``bar``."""
    return Row(
        what=what,
        figure=f"{rate:,.{digits}f}{unit}",
        bar=f"≥ {bar:,g}{unit}",
        met=rate >= bar,
        remark=remark,
    )


def duration(seconds: float) -> str:
    """Format seconds in s, ms or µs."""
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / 1e-6:.3g} µs"


def factor(ratio: float | None) -> str:
    """Format a ratio with about two digits or more; empty without one.

    >>> factor(0.213), factor(3.14), factor(1234.5)
    ('0.21×', '3.1×', '1,234×')
    """
    if ratio is None:
        return ""
    digits = 0 if ratio >= 100 else 1 if ratio >= 1 else 2
    return f"{ratio:,.{digits}f}×"


def show(sections: Iterable[list[Row]]) -> None:
    """Print all sections as one table."""
    table = Table(box=box.SIMPLE_HEAD)
    table.add_column("", no_wrap=True)
    for heading in ("measured", "almoner is faster by", "bar", "bar is"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("remark")
    for section in sections:
        for row in section:
            met = {None: "", True: "met", False: "[bold]missed[/bold]"}[row.met]
            table.add_row(
                escape(row.what),
                row.figure,
                factor(row.ratio),
                row.bar,
                met,
                escape(row.remark),
            )
        table.add_section()
    console = Console()
    console.width = max(console.width, 150)  # a pipe counts as 80 columns, which breaks most lines
    console.print(table)
