"""Rows of results, as dictionaries and in CSV files.

A row carries its own provenance (version, seed, policy, problem), so that a figure or a report can
be made from a file alone, long after the run.
"""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from almoner.errors import InvalidInput

__all__ = [
    "BUDGETS",
    "RESULTS",
    "SERVED",
    "Columns",
    "Row",
    "read_rows",
    "write_atomically",
    "write_rows",
]

Row = dict[str, Any]
Columns = Mapping[str, Callable[[str], Any]]


def _optional(text: str) -> float | None:
    return float(text) if text else None


RESULTS: Columns = {
    "version": str,  # of almoner
    "method": str,  # exact, simulated, or limit (a formula for large T)
    "problem": str,
    "policy": str,
    "horizon": int,
    "ratio": float,  # as requested; the budget is rounded to whole actions
    "budget": float,
    "boundary_distance": float,  # from the ratio to the nearest boundary of the problem
    "runs": int,  # 0 for exact results
    "seed": int,
    "against": str,  # oracle, or upper bound: two rows for each result
    "benchmark": float,  # expected reward that regret is measured from
    "regret_mean": float,
    "regret_stderr": _optional,  # empty for a single run
    "regret_q99": _optional,  # empty for exact results
    "regret_max": _optional,
}
"""The columns of a result, with the parser of each."""

BUDGETS: Columns = {
    "version": str,
    "problem": str,
    "policy": str,
    "horizon": int,
    "ratio": float,
    "budget": float,
    "runs": int,
    "seed": int,
    "rounds_left": int,
    "level": float,  # of the quantiles
    "simulated": float,  # quantile of budget left / rounds left, over the runs
    "law": float,  # the same quantile of the hypergeometric law
    "law_low": float,  # quantiles of the law four standard errors of the level below and above:
    "law_high": float,  # the range of a simulated quantile
    "bound": float,  # the quantile at worst, by the paper's tail bound
}
"""The columns of a quantile of the budget left, with the parser of each."""

SERVED: Columns = {
    "version": str,
    "problem": str,
    "policy": str,
    "horizon": int,
    "ratio": float,
    "budget": float,
    "runs": int,
    "seed": int,
    "context": int,  # from 0
    "arrived": float,  # arrivals of the context, on average over the runs
    "skipped": float,  # those of them that were skipped
    "planned": float,  # probability of serving the context, by the static LP
}
"""The columns of a context that was served or skipped, with the parser of each."""


def write_rows(rows: Iterable[Row], path: str | Path, *, columns: Columns = RESULTS) -> None:
    """Write rows as CSV, floats with all their digits, replacing the file in one step."""
    text = io.StringIO()
    writer = csv.DictWriter(text, list(columns), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    write_atomically(Path(path), text.getvalue())


def read_rows(path: str | Path, *, columns: Columns = RESULTS) -> list[Row]:
    """Read the rows of a file by `write_rows`; refuse any other header."""
    path = Path(path)
    with path.open(encoding="utf-8", newline="") as file:
        reader = csv.DictReader(file)
        if list(reader.fieldnames or ()) != list(columns):
            raise InvalidInput(
                f"{path} must have the columns {', '.join(columns)}, "
                f"got {', '.join(reader.fieldnames or ())}; make it again"
            )
        return [{name: read(row[name]) for name, read in columns.items()} for row in reader]


def write_atomically(path: Path, text: str) -> None:
    """Write a file atomically, by renaming a temporary one.

    A killed process leaves at most its own ``.tmp`` file. Nothing is synced to the disk: a file
    torn by a power cut is noticed when read, and computed again.
    """
    draft = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    draft.write_text(text, encoding="utf-8", newline="\n")
    draft.replace(path)
