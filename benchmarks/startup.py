"""Benchmark of start-up: compilation, ``import almoner``, ``almoner --help``."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.measure import command
from benchmarks.servers import serving, started, wait_until_ready
from benchmarks.table import Row, duration, within

__all__ = ["compilation", "starting"]

COLD_BAR, COLD_CPU_BAR, LIGHT_BAR = 20.0, 9.0, 0.3
READY_BAR = 15.0
"""Seconds by the clock from the first start of the service until it is ready."""


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
            remark="every policy of the paper, on both problems; by the clock",
        ),
        within(
            what="all of make run once, cold, CPU time",
            seconds=cold.cpu,
            bar=COLD_CPU_BAR,
            remark="of all processes together",
        ),
        Row(
            what="all of make run once, warm",
            figure=duration(warm.wall),
            remark="kernels found on disk",
        ),
        _first_start(),
    ]


def _first_start() -> Row:
    """Return the time until the service is ready where no kernel has been compiled yet."""
    with TemporaryDirectory() as kernels, TemporaryDirectory() as folder:
        env = {**os.environ, "NUMBA_CACHE_DIR": kernels}
        store = f"sqlite:///{Path(folder) / 'campaigns.db'}"
        start = time.perf_counter()
        with started(serving(store), env=env) as server:
            answering = time.perf_counter() - start
            wait_until_ready(server)
            ready = time.perf_counter() - start
    return within(
        what="the service, first start until ready",
        seconds=ready,
        bar=READY_BAR,
        remark=f"by the clock; its pages answer after {duration(answering)}",
    )


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
