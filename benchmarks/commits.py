"""Benchmark of group commit: durable decisions per second, against a commit for each."""

from __future__ import annotations

import asyncio
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Thread

import almoner as al
from benchmarks import hot_row
from benchmarks.agent import new_campaign
from benchmarks.table import Row, at_least, duration

__all__ = ["postgres", "sqlite"]

CALLERS, NAIVE_CALLERS = 64, 16
SQLITE_BAR, POSTGRES_BAR = 20.0, 5.0
TASKS_BAR = 0.8
"""Rate of as many tasks over that of one caller with batches of the same size, on SQLite."""
THREADS_BAR, BATCHES_BAR = 20_000, 35_000
"""Decisions per second on PostgreSQL."""
ROUNDS, SECONDS = 7, 0.7
"""Measurements of each program, alternating, of which the median counts; disks are noisy."""

CRASH = "a crash costs nothing that was answered: every answer comes after its commit"

Calls = Sequence[Callable[[], object]]


def sqlite() -> list[Row]:
    """Return the rates of 64 callers in one process on SQLite, shared commits or one each."""
    with TemporaryDirectory() as folder:
        with new_campaign(f"sqlite:///{Path(folder) / 'campaigns.db'}") as agent:
            decide = partial(agent.decide, "context 3")
            decide_many = partial(agent.decide_many, ["context 3"] * CALLERS)
            shared, awaited, alone, batches = _rates(
                _threads([decide] * CALLERS),
                partial(_tasks_per_second, agent),
                _threads([decide]),
                _threads([decide_many]),
            )
        naive = hot_row.sqlite(Path(folder) / "naive.db", connections=CALLERS)
        with naive as spenders:
            (crowd,) = _rates(_threads(spenders))
    return [
        Row(what="SQLite, one caller, a commit each", figure=_rate(alone), remark="the same agent"),
        at_least(
            what=f"SQLite, {CALLERS} threads share commits",
            figure=_rate(shared),
            ratio=shared / alone,
            bar=SQLITE_BAR,
            remark=f"{CRASH}. A commit takes {duration(1 / alone)}, of which each of those who "
            f"share bears {duration(1 / shared)}: the slower the disk, the greater the gain",
        ),
        at_least(
            what=f"SQLite, {CALLERS} tasks share commits",
            figure=_rate(awaited),
            ratio=awaited / alone,
            bar=SQLITE_BAR,
            remark="AsyncAgent, on asyncio's own event loop",
        ),
        Row(
            what=f"SQLite, {CALLERS} tasks, over one caller's batches",
            figure=f"{awaited / (CALLERS * batches):.2f}",
            bar=f"≥ {TASKS_BAR}",
            met=awaited >= TASKS_BAR * CALLERS * batches,
            remark="the rest is the event loop",
        ),
        Row(
            what=f"SQLite, one caller, {CALLERS} a commit",
            figure=_rate(CALLERS * batches),
            remark=f"decide_many: {CALLERS * batches / alone:.1f}× a commit each, which is what "
            "could be shared on this disk if to wake a caller took no time",
        ),
        Row(
            what=f"SQLite, {CALLERS} callers, a commit each",
            figure=_rate(crowd),
            ratio=shared / crowd,
            remark="a connection each, UPDATE budget, INSERT decision, COMMIT; no policy",
        ),
    ]


def postgres() -> list[Row]:
    """Return the rates of 64 threads on PostgreSQL, shared commits or a hot row each."""
    sys.path.append(str(Path(__file__).parents[1] / "tests"))
    from support.postgres_server import fresh_database, postgres_url

    url = fresh_database(postgres_url())
    with new_campaign(url) as agent, hot_row.postgres(url, connections=NAIVE_CALLERS) as spenders:
        decide = partial(agent.decide, "context 3")
        decide_many = partial(agent.decide_many, ["context 3"] * CALLERS)
        shared, awaited, batches, naive = _rates(
            _threads([decide] * CALLERS),
            partial(_tasks_per_second, agent),
            _threads([decide_many]),
            _threads(spenders),
        )
    many = CALLERS * batches
    return [
        Row(
            what=f"PostgreSQL, {CALLERS} threads share commits",
            figure=_rate(shared),
            bar=f"≥ {THREADS_BAR:,}/s",
            met=shared >= THREADS_BAR,
            remark=CRASH,
        ),
        Row(
            what=f"PostgreSQL, {CALLERS} tasks share commits",
            figure=_rate(awaited),
            bar=f"≥ {THREADS_BAR:,}/s",
            met=awaited >= THREADS_BAR,
            remark="AsyncAgent, on asyncio's own event loop",
        ),
        Row(
            what=f"PostgreSQL, one caller, {CALLERS} a commit",
            figure=_rate(many),
            bar=f"≥ {BATCHES_BAR:,}/s",
            met=many >= BATCHES_BAR,
            remark="decide_many",
        ),
        at_least(
            what=f"PostgreSQL, {NAIVE_CALLERS} callers, a hot row",
            figure=_rate(naive),
            ratio=shared / naive,
            bar=POSTGRES_BAR,
            remark="a connection each, UPDATE budget, INSERT decision, COMMIT; no policy",
        ),
    ]


def _rates(*programs: Callable[[], float]) -> list[float]:
    """Return the median calls per second of each program, measured alternately."""
    rounds = [[program() for program in programs] for _ in range(ROUNDS)]
    return [statistics.median(rates) for rates in zip(*rounds, strict=True)]


def _threads(calls: Calls) -> Callable[[], float]:
    return partial(_calls_per_second, calls)


def _calls_per_second(calls: Calls) -> float:
    """Return the calls per second of all callers, each in a thread of its own."""
    done = [0] * len(calls)
    start = time.perf_counter()

    def repeat(i: int) -> None:
        while time.perf_counter() < start + SECONDS:
            calls[i]()
            done[i] += 1

    threads = [Thread(target=repeat, args=(i,)) for i in range(len(calls))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sum(done) / (time.perf_counter() - start)


def _tasks_per_second(agent: al.Agent) -> float:
    """Return the decisions per second of as many tasks on one event loop."""

    async def repeat(shared: al.AsyncAgent, end: float) -> int:
        done = 0
        while time.perf_counter() < end:
            await shared.decide("context 3")
            done += 1
        return done

    async def main() -> float:
        shared, start = al.AsyncAgent(agent), time.perf_counter()
        tasks = [repeat(shared, start + SECONDS) for _ in range(CALLERS)]
        return sum(await asyncio.gather(*tasks)) / (time.perf_counter() - start)

    return asyncio.run(main())


def _rate(per_second: float) -> str:
    return f"{per_second:,.0f} decisions/s"
