"""Decisions per second while ten viewers refresh reports and curves, against none.

Viewers read without the campaign's write lock, so that decisions share only the processor with
them: ``python -m benchmarks.viewers``.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event, Thread

import almoner as al
from benchmarks.agent import new_campaign
from benchmarks.table import Row, show

__all__ = ["viewers"]

CALLERS, VIEWERS = 64, 10
REFRESH = 1.0
"""Seconds between two refreshes of a viewer."""

ROUNDS, SECONDS = 5, 3.0
"""Both cases in turn, and the median of each: disks have good and bad moments."""


def viewers() -> list[Row]:
    """Return decisions per second on an SQLite file with and without viewers, and the ratio."""
    alone, viewed = [], []
    with (
        TemporaryDirectory() as folder,
        new_campaign(f"sqlite:///{Path(folder) / 'campaigns.db'}") as agent,
    ):
        for _ in range(ROUNDS):
            alone.append(_decisions_per_second(agent))
            with _viewing(agent):
                viewed.append(_decisions_per_second(agent))
    before, after = statistics.median(alone), statistics.median(viewed)
    return [
        Row(what=f"SQLite, {CALLERS} threads, no viewer", figure=f"{before:,.0f} decisions/s"),
        Row(
            what=f"SQLite, {CALLERS} threads, {VIEWERS} viewers",
            figure=f"{after:,.0f} decisions/s",
            remark=f"{after / before:.2f} of the rate; each viewer reads report and curve every "
            f"{REFRESH:g} s, in the same process",
        ),
    ]


@contextmanager
def _viewing(agent: al.Agent) -> Iterator[None]:
    stop = Event()

    def refresh() -> None:
        while not stop.wait(REFRESH):
            agent.report()
            agent.reporter.curve()

    agent.report()  # reads the events since the last viewer left
    threads = [Thread(target=refresh) for _ in range(VIEWERS)]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        stop.set()
        for thread in threads:
            thread.join()


def _decisions_per_second(agent: al.Agent) -> float:
    done = [0] * CALLERS
    start = time.perf_counter()

    def decide(index: int) -> None:
        while time.perf_counter() < start + SECONDS:
            agent.decide("context 3")
            done[index] += 1

    threads = [Thread(target=decide, args=(index,)) for index in range(CALLERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sum(done) / (time.perf_counter() - start)


if __name__ == "__main__":
    show([viewers()])
