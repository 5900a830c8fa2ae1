"""Processes and threads on one campaign, some killed: no acknowledged operation is lost."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from support.acknowledgements import check_log
from support.crash_workers import CrashSettings, run_crash_workers
from support.workload import NAME, ROW_TERMS, TERMS, WEEK_TERMS, arrival

from almoner import Agent
from almoner.live.rewards.reward_window import SILENCE
from almoner.store.events import (
    AMENDED,
    CANCELLED,
    DECIDED,
    EXPIRED,
    REWARDED,
    SETTLED,
    Event,
)

MANY = 20_000
SPARE = 1.05
"""Answers per decision: some keys are used twice."""


def run(
    url: str,
    folder: Path,
    *,
    decisions: int,
    horizon: int,
    budget: int,
    terms: dict[str, Any] = TERMS,
    **settings: Any,
) -> list[Event]:
    """Run crash workers on a new campaign; return the checked log."""
    with Agent.open(url, name=NAME, **terms, horizon=horizon, budget=budget) as agent:
        answers = int(SPARE * decisions)
        acknowledged = run_crash_workers(
            CrashSettings(url=url, folder=str(folder), decisions=answers, seed=8, **settings)
        )
        log = check_log(agent.store, NAME, acknowledged)
        assert sum(event.kind == DECIDED for event in log) >= decisions
        assert_mixed(log)
        assert_goes_on(agent, log)
    return log


def assert_goes_on(agent: Agent, log: list[Event]) -> None:
    decision = agent.decide(**arrival(7, on_rows=agent.opening_terms.on_rows))
    agent.reward(decision.id, 1.0)
    later = list(agent.events(after=len(log)))
    lapsed = [event for event in later if event.kind == EXPIRED or event.reason == SILENCE]
    lapsed_before = sum(event.seq < decision.id for event in lapsed)  # others while it was rewarded
    assert decision.id == len(log) + 1 + lapsed_before
    assert [event.kind for event in later if event not in lapsed] == [DECIDED, REWARDED]


def test_processes_share_a_campaign_on_postgres(tmp_path: Path, postgres_database: str) -> None:
    size: dict[str, Any] = {"decisions": MANY, "horizon": 40_000, "budget": 30_000}
    run(postgres_database, tmp_path, **size, processes=8, threads=2, kills=12)


def test_processes_share_an_sqlite_file(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'campaigns.db'}"
    size: dict[str, Any] = {"decisions": 6_000, "horizon": 12_000, "budget": 10_000}
    run(url, tmp_path, **size, processes=8, threads=2, kills=12)


def test_processes_share_a_campaign_on_rows(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'campaigns.db'}"
    size: dict[str, Any] = {"decisions": 3_000, "horizon": 6_000, "budget": 5_000}
    run(url, tmp_path, **size, terms=ROW_TERMS, processes=4, threads=2, kills=6)


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_processes_amend_a_campaign_whose_reserves_expire_and_windows_end(
    kind: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    url = f"sqlite:///{tmp_path / 'campaigns.db'}"
    if kind == "postgres":
        url = request.getfixturevalue("postgres_database")
    size: dict[str, Any] = {"decisions": 6_000, "horizon": 12_000, "budget": 50_000}
    log = run(url, tmp_path, **size, terms=WEEK_TERMS, processes=4, threads=2, kills=12)
    kinds = Counter(event.kind for event in log)
    assert kinds[EXPIRED] > 100
    assert kinds[AMENDED] > 10
    assert any(event.kind == REWARDED and event.reason == SILENCE for event in log)
    assert any(event.kind == SETTLED and event.reason == "charge" for event in log)


def test_threads_share_an_sqlite_file_until_the_budget_is_gone(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'campaigns.db'}"
    size: dict[str, Any] = {"decisions": MANY, "horizon": 15_000, "budget": 9_000}
    log = run(url, tmp_path, **size, processes=1, threads=16, kills=12)
    assert min(event.left for event in log) < 400  # in cents: not even one more coupon
    assert any(event.reason == "horizon" for event in log)


def assert_mixed(log: list[Event]) -> None:
    """Assert that the log has every kind of event, keys, and bills above reserves."""
    kinds = Counter(event.kind for event in log)
    assert all(kinds[kind] > 100 for kind in (DECIDED, SETTLED, REWARDED, CANCELLED))
    assert sum(event.key is not None for event in log) > 1000
    assert any((event.bill or 0) > (event.reserve or 0) for event in log)
