"""Benchmark of a log that grows: opening, first report, decision and reward at each length.

One SQLite file is filled up to each length in turn. Both the bars and the exponents of growth come
from these measurements.
"""

from __future__ import annotations

import shutil
from contextlib import closing
from functools import cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import almoner as al
from almoner.store import open_store
from benchmarks.agent import best_call, new_campaign
from benchmarks.measure import alternate, best_of, timed
from benchmarks.table import Row, duration, within

__all__ = ["LENGTHS", "LogResults", "LogTimes", "measured", "opening"]

LENGTHS = (1_000, 10_000, 100_000, 1_000_000)
FOLDED = 100_000
"""Length at which the log is folded without a snapshot as well."""

BATCH = 500
REWARDS = 100
"""Rewards of a measurement, one call each."""

REPORT_BAR = 0.2
NOISE = 1.1
"""Times count as no longer than others if they are within 10 % of them."""

TURNS = 7
"""Measurements of the shortest and of the longest log, in turn."""


class LogTimes(NamedTuple):
    """CPU seconds on a log of some length, in a process that has just opened it."""

    opened: float
    report: float
    decided: float
    rewarded: float


class LogResults(NamedTuple):
    """Times at each length; of the shortest and longest log in turn; of folding one of them."""

    times: dict[int, LogTimes]
    opened: dict[str, float]
    rewarded: dict[str, float]
    folded: float


@cache
def measured() -> LogResults:
    """Measure all lengths, once in a process, as a million events take half a minute."""
    times = {}
    with TemporaryDirectory() as folder:
        path = Path(folder) / "long" / "campaigns.db"
        path.parent.mkdir()
        url, written = f"sqlite:///{path}", 0
        new_campaign(url).close()
        for length in LENGTHS:
            _extend(url, length - written)
            written = length
            if length == LENGTHS[0]:
                shutil.copytree(path.parent, Path(folder) / "short")
            times[length] = _times(url)
            if length == FOLDED:
                folded = best_of(partial(_fold, url), repeats=2)
        urls = {name: f"sqlite:///{Path(folder) / name / path.name}" for name in ("short", "long")}
        opened = {
            name: partial(best_of, partial(_open, url), repeats=1) for name, url in urls.items()
        }
        rewarded = {name: partial(_reward_seconds, url) for name, url in urls.items()}
        return LogResults(
            times, alternate(opened, repeats=TURNS), alternate(rewarded, repeats=TURNS), folded
        )


def _extend(url: str, events: int) -> None:
    """Write decisions and as many rewards to a log."""
    with al.Agent.open(url, name="spring") as agent:
        for _ in range(events // (2 * BATCH)):
            decisions = agent.decide_many(["context 3", "context 7"] * (BATCH // 2))
            agent.reward_many({decision.id: decision.id % 2 for decision in decisions})


def _times(url: str) -> LogTimes:
    with al.Agent.open(url, name="spring") as agent:
        decided = best_call(lambda: agent.decide("context 3"), repeats=10)
    return LogTimes(
        opened=best_of(partial(_open, url)),
        report=best_of(partial(_report, url)),
        decided=decided,
        rewarded=min(_reward_seconds(url) for _ in range(5)),
    )


def _open(url: str) -> None:
    al.Agent.open(url, name="spring").close()


def _report(url: str) -> None:
    with al.Agent.open(url, name="spring") as agent:
        agent.report()


def _fold(url: str) -> None:
    """Delete the snapshot of a campaign and open it; the agent saves a new one."""
    with closing(open_store(url)) as store:
        with store.writing("spring") as writer:
            writer.save_snapshot(None)
        al.Agent.open(store, name="spring")


def _reward_seconds(url: str) -> float:
    """Return the CPU seconds of a reward."""
    with al.Agent.open(url, name="spring") as agent:
        ids = [decision.id for decision in agent.decide_many(["context 3"] * REWARDS)]

        def reward_each() -> None:
            for decision in ids:
                agent.reward(decision, 1.0)

        return timed(reward_each)[0] / REWARDS


def opening() -> list[Row]:
    """Return the times of the longest log, with those of the shortest as bars."""
    times, opened, rewarded, folded = measured()
    many = f"{LENGTHS[-1]:,} events"
    return [
        _no_slower(f"opening a log of {many}", opened, "from its last snapshot"),
        within(
            what=f"its first report, {many}",
            seconds=times[LENGTHS[-1]].report,
            bar=REPORT_BAR,
            remark="of a process that has just opened it, from the snapshot, CPU time",
        ),
        _no_slower(f"a reward, {many}", rewarded, "durable, one a commit"),
        Row(
            what=f"opening {FOLDED:,} events without a snapshot",
            figure=duration(folded),
            ratio=folded / times[FOLDED].opened,
            remark=f"{duration(folded / FOLDED)} an event; a snapshot is a cache "
            "that can be deleted",
        ),
    ]


def _no_slower(what: str, seconds: dict[str, float], remark: str) -> Row:
    return within(
        what=what,
        seconds=seconds["long"],
        bar=NOISE * seconds["short"],
        remark=f"{remark}; the bar is 10 % above the time with {LENGTHS[0]:,} events, "
        f"{duration(seconds['short'])}; SQLite, CPU time",
    )
