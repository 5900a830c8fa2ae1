"""SQLite under 200 kills at random moments, with a check of the log after each."""

from __future__ import annotations

from pathlib import Path

from support.acknowledgements import check_log
from support.crash_workers import CrashSettings, run_crash_workers
from support.workload import NAME, TERMS

from almoner import Agent

KILLS = 200


def test_two_hundred_kills_lose_nothing_that_was_acknowledged(tmp_path: Path) -> None:
    path = tmp_path / "campaigns.db"
    url = f"sqlite:///{path}"
    with Agent.open(url, name=NAME, **TERMS, horizon=20_000, budget=20_000):
        pass
    acknowledged = run_crash_workers(
        CrashSettings(
            url=url,
            folder=str(tmp_path),
            processes=1,
            threads=3,
            decisions=10 * KILLS,
            kills=KILLS,
            seed=2,
            delay=0.02,
            verify_each=True,
            snapshot_every=40,
        )
    )
    with Agent.open(url, name=NAME) as agent:
        log = check_log(agent.store, NAME, acknowledged)
        assert agent.decide("new").id == len(log) + 1
