"""Benchmark of start-up: compilation, ``import almoner``, ``almoner --help``."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.measure import command
from benchmarks.table import Row, duration, within

__all__ = ["compilation", "starting"]

COLD_BAR, LIGHT_BAR = 20.0, 0.3


def compilation() -> list[Row]:
    """Return the time of every kernel of ``make run`` in a process of its own, cold and warm."""
    arguments = [sys.executable, "-m", "benchmarks.everything"]
    with TemporaryDirectory() as folder:
        env = {**os.environ, "NUMBA_CACHE_DIR": folder}
        cold = command(arguments, env=env)
        warm = command(arguments, env=env, repeats=2)
    return [
        within(
            what="all of make run once, cold",
            seconds=cold.wall,
            bar=COLD_BAR,
            remark=f"every policy of the paper, on both problems; {duration(cold.cpu)} of CPU time",
        ),
        Row(
            what="all of make run once, warm",
            figure=duration(warm.wall),
            remark="kernels found on disk",
        ),
    ]


def starting() -> list[Row]:
    """Return the time of the import and of the command's help, beyond that of a bare Python."""
    bare = command([sys.executable, "-c", "pass"], repeats=8).wall
    imported = command([sys.executable, "-c", "import almoner"], repeats=8).wall
    helped = command([str(Path(sys.executable).with_name("almoner")), "--help"], repeats=8).wall
    return [
        within(
            what="import almoner",
            seconds=imported,
            bar=LIGHT_BAR,
            remark=f"{duration(max(imported - bare, 0.0))} beyond a bare Python's {duration(bare)}",
        ),
        within(what="almoner --help", seconds=helped, bar=LIGHT_BAR),
    ]
