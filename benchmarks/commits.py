"""Durable decisions per second: commits that callers share, against a commit for each decision."""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Thread

from benchmarks import hot_row
from benchmarks.agent import new_campaign
from benchmarks.table import Row, at_least, duration

__all__ = ["postgres", "sqlite"]

CALLERS, NAIVE_CALLERS = 64, 16
SQLITE_BAR, POSTGRES_BAR = 20.0, 5.0
TURNS, SECONDS = 7, 0.7
"""Disks have good and bad moments: programs take turns, and the median counts."""

CRASH = "a crash costs nothing that was answered: every answer comes after its commit"

Calls = Sequence[Callable[[], object]]


def sqlite() -> list[Row]:
    """Return 64 threads of one process on an SQLite file, against a commit for each decision."""
    with TemporaryDirectory() as folder:
        with new_campaign(f"sqlite:///{Path(folder) / 'campaigns.db'}") as agent:
            decide = partial(agent.decide, "context 3")
            decide_many = partial(agent.decide_many, ["context 3"] * CALLERS)
            shared, alone, batches = _rates([decide] * CALLERS, [decide], [decide_many])
        naive = hot_row.sqlite(Path(folder) / "naive.db", connections=CALLERS)
        with naive as spenders:
            (crowd,) = _rates(spenders)
    return [
        Row(what=f"SQLite, {CALLERS} callers share commits", figure=_rate(shared), remark=CRASH),
        at_least(
            what="SQLite, one caller, a commit each",
            figure=_rate(alone),
            ratio=shared / alone,
            bar=SQLITE_BAR,
            remark=f"the same agent; a commit takes {duration(1 / alone)}, of which each of those "
            f"who share bears {duration(1 / shared)}: the slower the disk, the greater the gain",
        ),
        Row(
            what=f"SQLite, {CALLERS} callers, a commit each",
            figure=_rate(crowd),
            ratio=shared / crowd,
            remark="a connection each, UPDATE budget, INSERT decision, COMMIT; no policy",
        ),
        Row(
            what=f"SQLite, one caller, {CALLERS} a commit",
            figure=_rate(CALLERS * batches),
            remark=f"decide_many: {CALLERS * batches / alone:.1f}× a commit each, the most that "
            f"{CALLERS} callers could share on this disk if to wake a thread took no time",
        ),
    ]


def postgres() -> list[Row]:
    """Return 64 threads on PostgreSQL, against a transaction for each decision with a hot row."""
    sys.path.append(str(Path(__file__).parents[1] / "tests"))
    from postgres_server import fresh_database, postgres_url

    url = fresh_database(postgres_url())
    with new_campaign(url) as agent, hot_row.postgres(url, connections=NAIVE_CALLERS) as spenders:
        decide = partial(agent.decide, "context 3")
        shared, naive = _rates([decide] * CALLERS, spenders)
    return [
        Row(
            what=f"PostgreSQL, {CALLERS} callers share commits", figure=_rate(shared), remark=CRASH
        ),
        at_least(
            what=f"PostgreSQL, {NAIVE_CALLERS} callers, a hot row",
            figure=_rate(naive),
            ratio=shared / naive,
            bar=POSTGRES_BAR,
            remark="a connection each, UPDATE budget, INSERT decision, COMMIT; no policy",
        ),
    ]


def _rates(*programs: Calls) -> list[float]:
    """Return the calls per second of each program, a thread for each of its callers, in turns."""
    turns = [[_per_second(calls) for calls in programs] for _ in range(TURNS)]
    return [statistics.median(rates) for rates in zip(*turns, strict=True)]


def _per_second(calls: Calls) -> float:
    done = [0] * len(calls)
    start = time.perf_counter()

    def repeat(place: int) -> None:
        while time.perf_counter() < start + SECONDS:
            calls[place]()
            done[place] += 1

    threads = [Thread(target=repeat, args=(place,)) for place in range(len(calls))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sum(done) / (time.perf_counter() - start)


def _rate(per_second: float) -> str:
    return f"{per_second:,.0f} decisions/s"
