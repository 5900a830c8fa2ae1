"""Kill -9 under load, twenty times and more: nothing acknowledged is lost, nothing overspent."""

from __future__ import annotations

import os
import signal
from contextlib import ExitStack
from pathlib import Path

import httpx
from support.forked_services import service_forker
from support.live_service import SPRING, Process
from support.service_clients import RetryingClients, check_nothing_is_lost
from support.waiting import PATIENCE

KILLS, CLIENTS, ANSWERS = 24, 8, 60


def test_kill_9_under_load_loses_nothing_and_overspends_nothing(tmp_path: Path) -> None:
    store = f"sqlite:///{tmp_path / 'ledger.db'}"
    with service_forker(store) as services:
        process, url = services.start()
        clients = RetryingClients("spring", lambda: url)
        terms = {**SPRING, "budget": 300.0, "horizon": 400}  # both over before the last kill
        assert httpx.post(f"{url}/api/campaigns", json=terms, timeout=PATIENCE).status_code == 201
        with clients.running(CLIENTS):
            for _ in range(KILLS):
                clients.wait_for(ANSWERS)
                os.kill(process, signal.SIGKILL)
                process, url = services.start()
            clients.wait_for(ANSWERS)
    balance = check_nothing_is_lost(store, "spring", clients)
    assert len(clients.decided) > KILLS * ANSWERS / 4
    assert balance.spent + balance.reserved <= balance.budget


def test_so_it_is_with_the_command_itself_killed_and_stopped(tmp_path: Path) -> None:
    store = f"sqlite:///{tmp_path / 'ledger.db'}"
    with ExitStack() as services:
        running = services.enter_context(Process(store))
        clients = RetryingClients("spring", lambda: running.url)
        assert (
            httpx.post(f"{running.url}/api/campaigns", json=SPRING, timeout=PATIENCE).status_code
            == 201
        )
        with clients.running(CLIENTS):
            clients.wait_for(ANSWERS)
            running.kill()
            running = services.enter_context(Process(store))
            clients.wait_for(ANSWERS)
            status, logged = running.stop()
            running = services.enter_context(Process(store))
            clients.wait_for(ANSWERS)
        assert (status, logged) == (0, "")
    check_nothing_is_lost(store, "spring", clients)
