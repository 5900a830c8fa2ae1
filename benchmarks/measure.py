"""Timing on a noisy machine: the smallest of several measurements of CPU seconds.

Noise only adds time, so the smallest measurement is the most accurate.
"""

from __future__ import annotations

import resource
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from timeit import Timer
from typing import NamedTuple, TypeVar

__all__ = ["Elapsed", "alternate", "best_of", "command", "timed"]

Result = TypeVar("Result")


class Elapsed(NamedTuple):
    """Wall-clock seconds and CPU seconds of a command."""

    wall: float
    cpu: float


def timed(action: Callable[[], Result]) -> tuple[float, Result]:
    """Return the CPU seconds of one call, all threads together, and its result."""
    start = time.process_time()
    result = action()
    return time.process_time() - start, result


def best_of(action: Callable[[], object], *, repeats: int = 5) -> float:
    """Return the CPU seconds of one call: the best of several, each long enough to be measured."""
    action()  # compiles, fills caches
    timer = Timer(action, timer=time.process_time)
    number, first = timer.autorange()
    return min([first, *timer.repeat(repeats - 1, number)]) / number


def alternate(stopwatches: Mapping[str, Callable[[], float]], *, repeats: int) -> dict[str, float]:
    """Return the best time of each stopwatch, measured alternately so that noise affects all."""
    best = dict.fromkeys(stopwatches, float("inf"))
    for _ in range(repeats):
        for name, stopwatch in stopwatches.items():
            best[name] = min(best[name], stopwatch())
    return best


def command(
    arguments: Sequence[str], *, env: Mapping[str, str] | None = None, repeats: int = 1
) -> Elapsed:
    """Return the best time of a command from start to end, of several."""
    best = Elapsed(float("inf"), float("inf"))
    for _ in range(repeats):
        start, before = time.perf_counter(), _children_cpu()
        subprocess.run(arguments, env=env, check=True, stdout=subprocess.DEVNULL)
        best = min(best, Elapsed(time.perf_counter() - start, _children_cpu() - before))
    return best


def _children_cpu() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime
