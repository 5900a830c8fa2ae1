"""Time to read a log of a million rows from CSV, and to draw its frontier with bands.

``python -m benchmarks.logs`` prints seconds on this machine, by the clock and of CPU.
"""

from __future__ import annotations

import csv
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import almoner as al
from almoner.plots import frontier_figure, save_figure

BUDGETS = (100_000, 300_000, 600_000)


def write_log(path: Path, rows: int, seed: int = 0) -> None:
    draws = np.random.default_rng(seed)
    contexts, arms = draws.integers(0, 11, rows), draws.integers(0, 3, rows)
    rewards = draws.random(rows) < 0.1 + 0.005 * contexts + 0.03 * arms
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["segment", "action", "reward", "cost", "propensity"])
        names, costs = np.array(["", "mail", "call"]), np.array([0, 1, 2])
        columns = (contexts, names[arms], rewards.astype(int), costs[arms])
        writer.writerows((*row, 1 / 3) for row in zip(*(c.tolist() for c in columns), strict=True))


def main(rows: int = 1_000_000) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "log.csv"
        write_log(path, rows)
        start = (time.perf_counter(), time.process_time())
        log = al.Log.read(path)
        read = (time.perf_counter(), time.process_time())
        points = al.frontier(log, budgets=[share * rows / 1e6 for share in BUDGETS])
        save_figure(frontier_figure(points.rows), Path(folder) / "frontier", formats=["svg"])
        drawn = (time.perf_counter(), time.process_time())
    for what, before, after in (("read", start, read), ("frontier drawn", read, drawn)):
        wall, cpu = (end - begin for begin, end in zip(before, after, strict=True))
        print(f"{rows:,} rows, {what}: {wall:.1f} s, of CPU {cpu:.1f} s")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
