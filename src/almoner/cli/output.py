"""Output of commands: tables, numbers and progress bars for people, JSON for programs."""

from __future__ import annotations

import math
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

__all__ = [
    "amount",
    "counted",
    "money",
    "print_json",
    "print_table",
    "progress",
    "small_amount",
    "warnings_noted",
]

LONGEST = 1e15
"""Numbers from here on are written with an exponent: further digits say nothing."""


def amount(number: float, decimals: int = 1) -> str:
    """Format a number for people: no minus sign before zero, and a dash for NaN.

    Examples
    --------
    >>> amount(2300.5), amount(-0.001, 2), amount(1e300), amount(float("nan"))
    ('2,300.5', '0.00', '1e+300', '–')
    """
    if math.isnan(number):
        return "–"
    if abs(number) >= LONGEST:
        return f"{number:.4g}"
    return f"{round(number, decimals) + 0.0:,.{decimals}f}"


def small_amount(number: float) -> str:
    """Format an amount with two decimals, or with two digits where decimals would show 0.

    Examples
    --------
    >>> small_amount(0.5), small_amount(0.00123)
    ('0.50', '0.0012')
    """
    return amount(number, 2) if number >= 0.01 else f"{number:.2g}"


def money(number: float) -> str:
    """Return an amount with four digits, and all digits of a larger one.

    >>> money(6.0), money(0.00012346), money(300_000.0)
    ('6', '0.0001235', '300,000')
    """
    return f"{number:,.0f}" if 1e4 <= abs(number) < 1e15 else f"{number:,.4g}"


def counted(count: int, noun: str) -> str:
    """Format a count with its noun.

    Examples
    --------
    >>> counted(1, "run"), counted(2000, "run")
    ('1 run', '2,000 runs')
    """
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def print_table(
    columns: Iterable[str], rows: Iterable[Iterable[str]], *, caption: str = "", left: int = 1
) -> None:
    """Print a table; the first ``left`` columns are words, the others numbers."""
    from rich import box
    from rich.console import Console
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, show_edge=False)
    for i, column in enumerate(columns):
        words = i < left
        table.add_column(
            column,
            justify="left" if words else "right",
            overflow="fold" if words else "ellipsis",
            no_wrap=not words,
        )
    for row in rows:
        table.add_row(*row)
    console = Console(highlight=False)
    if not console.is_terminal:  # piped: no terminal's width may truncate cells
        console.width = max(console.width, 120)
    console.print(table)
    if caption:
        console.print(f" {caption}")


def print_json(value: object) -> None:
    """Print one JSON value."""
    import json

    json.dump(_finite(value), sys.stdout, indent=1, allow_nan=False)
    sys.stdout.write("\n")


def _finite(value: object) -> object:
    """Replace infinite numbers and NaN, which JSON lacks, by null."""
    if isinstance(value, dict):
        return {name: _finite(entry) for name, entry in value.items()}
    if isinstance(value, list):
        return [_finite(entry) for entry in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


@contextmanager
def progress(total: int, *, hidden: bool = False) -> Iterator[Callable[..., None]]:
    """Show a progress bar on the terminal within the context.

    Yields a function of the steps done, a label and, once it is known, the ``total``.
    """
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    console = Console(stderr=True)
    bar = Progress(
        TextColumn("{task.description:<18}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=console,
        disable=hidden or not console.is_terminal,
        transient=True,
    )
    with bar:
        task = bar.add_task("compiling", total=total)

        def advance(steps: int, label: str, *, total: int | None = None) -> None:
            bar.update(task, advance=steps, description=label, total=total)

        yield advance


@contextmanager
def warnings_noted(kind: type[Warning]) -> Iterator[list[str]]:
    """Collect the messages of one class of warnings instead of showing them with their source."""
    sentences: list[str] = []
    with warnings.catch_warnings():
        others = warnings.showwarning

        def note(message: Warning | str, category: type[Warning], *rest: Any, **more: Any) -> None:
            if issubclass(category, kind):
                sentences.append(str(message))
            else:
                others(message, category, *rest, **more)

        warnings.simplefilter("always", kind)
        warnings.showwarning = note
        yield sentences
