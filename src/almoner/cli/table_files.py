"""Tables of results as files: CSV with every figure, LaTeX with those that are shown."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import click

__all__ = ["latex_table", "table_options", "write_csv", "write_latex"]

Command = Callable[..., Any]

SPECIAL = str.maketrans({each: f"\\{each}" for each in "&%$#_{}"} | {"±": r"$\pm$", "–": "--"})
"""Characters that LaTeX reads as commands, or that its fonts lack."""


def table_options(command: Command) -> Command:
    """Add ``--csv`` and ``--latex`` to a command."""
    file = click.Path(dir_okay=False, writable=True)
    latex = click.option("--latex", type=file, help="Write the table as LaTeX into this file.")
    every = click.option("--csv", type=file, help="Write all figures as CSV into this file.")
    return every(latex(command))


def write_csv(rows: Sequence[dict[str, Any]], path: str | None) -> None:
    """Write rows as CSV, floats with all their digits; nothing without a path."""
    if path is None or not rows:
        return
    with open(path, "w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def write_latex(columns: Iterable[str], rows: Iterable[Iterable[str]], path: str | None) -> None:
    """Write a table as LaTeX; nothing without a path."""
    if path is not None:
        with open(path, "w", encoding="utf-8") as file:
            file.write(latex_table(columns, rows))


def latex_table(columns: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    r"""Return a table as a ``tabular`` of LaTeX, the first column of words, the others of numbers.

    Examples
    --------
    >>> print(latex_table(["policy", "99 %"], [["ucb_alp", "1,234.5"]]))
    \begin{tabular}{lr}
    \hline
    policy & 99 \% \\
    \hline
    ucb\_alp & 1,234.5 \\
    \hline
    \end{tabular}
    <BLANKLINE>
    """
    names = list(columns)

    def line(cells: Iterable[str]) -> str:
        return " & ".join(cell.translate(SPECIAL) for cell in cells) + r" \\"

    return "\n".join(
        [
            rf"\begin{{tabular}}{{l{'r' * (len(names) - 1)}}}",
            r"\hline",
            line(names),
            r"\hline",
            *(line(row) for row in rows),
            r"\hline",
            r"\end{tabular}",
            "",
        ]
    )
