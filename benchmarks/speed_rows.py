"""Rows of ``docs/speed``: a file for each section of the page, for growth and for the machine."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.growth.series import GrowthPoint
from benchmarks.learner.rows import read, write
from benchmarks.table import Row

__all__ = [
    "FOLDER",
    "SECTIONS",
    "MachineFact",
    "SpeedRow",
    "read_growth",
    "read_machine",
    "read_section",
    "write_growth",
    "write_machine",
    "write_section",
]

FOLDER = Path(__file__).parents[1] / "docs" / "speed"

SECTIONS = {
    "ucb_alp": "UCB-ALP beside other programs",
    "recipes": "Rounds of other recipes",
    "lanes": "Eight replications at a time",
    "rows": "Rows of scores and features",
    "exact": "Exact values and plans",
    "agent": "Live decisions in memory",
    "logs": "Long logs",
    "stores": "Durable decisions",
    "http": "Over HTTP",
    "startup": "Compilation and start",
}
"""Heading of each section."""


@dataclass(frozen=True, kw_only=True)
class SpeedRow:
    """A measurement as text: the ratio is NaN without one, the verdict met, missed or empty."""

    date: str
    what: str
    figure: str
    ratio: float
    bar: str
    verdict: str
    remark: str


@dataclass(frozen=True, kw_only=True)
class MachineFact:
    """What figures depend on."""

    name: str
    value: str


def write_section(name: str, rows: Sequence[Row]) -> None:
    """Write the rows of a section, as measured today."""
    verdicts = {None: "", True: "met", False: "missed"}
    written = [
        SpeedRow(
            date=dt.datetime.now(dt.UTC).date().isoformat(),
            what=row.what,
            figure=row.figure,
            ratio=float("nan") if row.ratio is None else float(row.ratio),
            bar=row.bar,
            verdict=verdicts[row.met],
            remark=row.remark,
        )
        for row in rows
    ]
    write(name, written, folder=FOLDER)


def read_section(name: str) -> list[SpeedRow]:
    """Return the rows of a section; none before it has been measured."""
    return read(name, SpeedRow, folder=FOLDER) if (FOLDER / f"{name}.csv").exists() else []


def write_growth(points: Sequence[GrowthPoint]) -> None:
    """Write the points of all series."""
    write("growth", points, folder=FOLDER)


def read_growth() -> list[GrowthPoint]:
    """Return the points of all series; none before they have been measured."""
    if not (FOLDER / "growth.csv").exists():
        return []
    return read("growth", GrowthPoint, folder=FOLDER)


def write_machine(facts: Mapping[str, str]) -> None:
    """Write what the figures depend on."""
    write("machine", [MachineFact(name=n, value=v) for n, v in facts.items()], folder=FOLDER)


def read_machine() -> list[MachineFact]:
    """Return what the figures depend on."""
    return read("machine", MachineFact, folder=FOLDER)
