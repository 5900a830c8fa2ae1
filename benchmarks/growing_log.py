"""Benchmark of a log that grows: opening, first report, decision and reward at each length.

One SQLite file is filled up to each length in turn. Both the bars and the exponents of growth come
from these measurements.
"""

from __future__ import annotations

from contextlib import closing
from functools import cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import almoner as al
from almoner.store import open_store
from benchmarks.agent import best_call, new_campaign
from benchmarks.measure import best_of, timed
from benchmarks.table import Row, duration, within

__all__ = ["LENGTHS", "LogTimes", "measured", "opening"]

LENGTHS = (1_000, 10_000, 100_000, 1_000_000)
FOLDED = 100_000
"""Length at which the log is folded without a snapshot as well."""

BATCH = 500
REWARDS = 100
"""Rewards of a measurement, one call each."""

REPORT_BAR = 0.2
NOISE = 1.1
"""Times are no longer than others if they are within 10 % of them."""


class LogTimes(NamedTuple):
    """CPU seconds on a log of some length, in a process that has just opened it."""

    opened: float
    report: float
    decided: float
    rewarded: float
    folded: float


@cache
def measured() -> dict[int, LogTimes]:
    """Return the times at each length; measured once, as a million events take half a minute."""
    times = {}
    with TemporaryDirectory() as folder:
        url = f"sqlite:///{Path(folder) / 'campaigns.db'}"
        new_campaign(url).close()
        written = 0
        for length in LENGTHS:
            with al.Agent.open(url, name="spring") as agent:
                for _ in range((length - written) // (2 * BATCH)):
                    decisions = agent.decide_many(["context 3", "context 7"] * (BATCH // 2))
                    agent.reward_many({decision.id: decision.id % 2 for decision in decisions})
            written = length
            times[length] = _times(url, folded=length == FOLDED)
    return times


def _times(url: str, *, folded: bool) -> LogTimes:
    opened = best_of(partial(_open, url))
    report = best_of(partial(_report, url))
    fold = best_of(partial(_fold, url), repeats=2) if folded else float("nan")
    with al.Agent.open(url, name="spring") as agent:
        decided = best_call(lambda: agent.decide("context 3"), repeats=10)
        rewarded = min(_rewarding(agent) for _ in range(10))
    return LogTimes(opened, report, decided, rewarded, fold)


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


def _rewarding(agent: al.Agent) -> float:
    """Return the CPU seconds of a reward."""
    ids = [decision.id for decision in agent.decide_many(["context 3"] * REWARDS)]

    def reward_each() -> None:
        for decision in ids:
            agent.reward(decision, 1.0)

    return timed(reward_each)[0] / REWARDS


def opening() -> list[Row]:
    """Return the times of the longest log, with those of the shortest as bars."""
    times = measured()
    shortest, longest = times[LENGTHS[0]], times[LENGTHS[-1]]
    few, many = f"{LENGTHS[0]:,} events", f"{LENGTHS[-1]:,} events"
    remark = f"no slower than with {few}, {{}}; SQLite, CPU time"
    return [
        within(
            what=f"opening a log of {many}",
            seconds=longest.opened,
            bar=NOISE * shortest.opened,
            remark="from its last snapshot, " + remark.format(duration(shortest.opened)),
        ),
        within(
            what=f"its first report, {many}",
            seconds=longest.report,
            bar=REPORT_BAR,
            remark="of a process that has just opened it, from the snapshot, CPU time",
        ),
        within(
            what=f"a reward, {many}",
            seconds=longest.rewarded,
            bar=NOISE * shortest.rewarded,
            remark="durable, one a commit, " + remark.format(duration(shortest.rewarded)),
        ),
        Row(
            what=f"opening {FOLDED:,} events without a snapshot",
            figure=duration(times[FOLDED].folded),
            ratio=times[FOLDED].folded / times[FOLDED].opened,
            remark=f"{duration(times[FOLDED].folded / FOLDED)} an event; a snapshot is a cache "
            "that can be deleted",
        ),
    ]
