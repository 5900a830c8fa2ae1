"""Concurrent histories on every store are linearizable, and a store that breaks that is found."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest
from support.histories import check
from support.history_workers import (
    BUDGET,
    HORIZON,
    TERMS,
    Client,
    HistorySettings,
    in_processes,
    in_threads,
)
from support.postgres_server import fresh_database, postgres_url

from almoner import Agent
from almoner.live.audit import audit
from almoner.store import Store, open_store

OPERATIONS = 120
"""Operations of each thread; the time of a check grows with the square of their number."""


@pytest.fixture(autouse=True)
def _quiet(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.CRITICAL, "almoner")  # bills above reserves are wanted here


def check_all(store: Store, name: str, history: list[object]) -> None:
    log = list(store.events(name))
    check(history, log, budget=BUDGET, horizon=HORIZON)  # type: ignore[arg-type]
    audit(store, name)


@pytest.mark.parametrize("seed", range(24))
def test_threads_on_one_memory(seed: int) -> None:
    store = open_store("memory:")
    agents = [Agent.open(store, name="spring", **TERMS) for _ in range(2)]
    clients = [Client(agents[number % 2], f"{seed} {number}") for number in range(6)]
    check_all(store, "spring", [*in_threads(clients, OPERATIONS)])


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_processes_on_one_database(kind: str, tmp_path: Path) -> None:
    path = f"sqlite:///{tmp_path / 'campaigns.db'}"
    url = path if kind == "sqlite" else fresh_database(postgres_url())
    settings = [
        HistorySettings(
            url=url,
            name=f"campaign-{number}",
            folder=str(tmp_path),
            processes=3,
            threads=2,
            operations=OPERATIONS,
            seed=f"{kind} {number}",
        )
        for number in range(10)
    ]
    histories = in_processes(settings)
    store = open_store(url)
    for each, history in zip(settings, histories, strict=True):
        assert len(history) == 6 * OPERATIONS
        check_all(store, each.name, [*history])
    store.close()
