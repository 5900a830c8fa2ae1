"""Rows of results as CSV files in ``docs/learner``."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from almoner.types import Floats

__all__ = ["FOLDER", "Comparison", "geometric_mean", "paired_ratio", "read", "write"]

FOLDER = Path(__file__).parents[2] / "docs" / "learner"

Row = TypeVar("Row")


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """Regret of the former rule and of the new one on a problem, on the same random numbers.

    ``bad`` is the share of runs that lose more than a tenth of the benchmark, ``q99`` the regret
    that 99 % of the runs stay below.
    """

    kind: str
    problem: str
    rounds: int
    budget: float
    against: str
    optimum: float
    runs: int
    former: float
    former_stderr: float
    new: float
    new_stderr: float
    ratio: float
    ratio_stderr: float
    former_q99: float
    new_q99: float
    former_bad: float
    new_bad: float


def paired_ratio(new: Floats, former: Floats) -> tuple[float, float]:
    """Return the ratio of two means over the same runs, and its standard error (delta method)."""
    ratio = float(new.mean() / former.mean())
    spread = float(np.std(new - ratio * former, ddof=1))
    return ratio, spread / float(former.mean()) / len(new) ** 0.5


def geometric_mean(rows: Sequence[Comparison]) -> tuple[float, float]:
    """Return the geometric mean of the ratios, and its standard error from the runs.

    The error is that of the simulation on these problems, not of drawing other problems.
    """
    mean = float(np.exp(np.mean([np.log(row.ratio) for row in rows])))
    variance = sum((row.ratio_stderr / row.ratio) ** 2 for row in rows)
    return mean, mean * float(variance**0.5) / len(rows)


def write(name: str, rows: Sequence[Any], *, folder: Path = FOLDER) -> Path:
    """Write rows of one class, numbers with five digits, and return the file."""
    path = folder / f"{name}.csv"
    path.parent.mkdir(exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow([field.name for field in fields(rows[0])])
        for row in rows:
            writer.writerow(
                [f"{v:.5g}" if isinstance(v, float) else v for v in asdict(row).values()]
            )
    return path


def read(name: str, kind: type[Row], *, folder: Path = FOLDER) -> list[Row]:
    """Return the rows of a file."""
    parse = {"str": str, "int": int, "float": float}
    types = {field.name: parse[str(field.type)] for field in fields(kind)}  # type: ignore[arg-type]
    with (folder / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        return [
            kind(**{name: types[name](text) for name, text in row.items()})
            for row in csv.DictReader(file)
        ]
