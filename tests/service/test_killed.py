"""Kill -9 under load, twenty times and more: nothing acknowledged is lost, nothing overspent."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

import httpx
from live_service import SPRING, Process
from service_clients import Crowd, check_nothing_is_lost

KILLS, CLIENTS, ANSWERS = 21, 8, 60
AT_ONCE = 3


def test_kill_9_under_load_loses_nothing_and_overspends_nothing(tmp_path: Path) -> None:
    """A campaign is opened when it is first asked for, so the processes may load their kernels
    beforehand: each finds the log as the one before it was torn from it."""
    store = f"sqlite:///{tmp_path / 'ledger.db'}"
    budget = 1000.0  # gone before the last kill
    with ExitStack() as stack:
        running = stack.enter_context(Process(store))
        crowd = Crowd("spring", lambda: running.url)
        created = httpx.post(f"{running.url}/api/campaigns", json={**SPRING, "budget": budget})
        assert created.status_code == 201
        stack.enter_context(crowd.at_work(CLIENTS))
        for _ in range(KILLS // AT_ONCE):
            with crowd.at_rest():
                started = [Process(store) for _ in range(AT_ONCE)]
                following = [stack.enter_context(process) for process in started]
            for process in following:
                crowd.wait_for(ANSWERS)
                running, last = process, running
                last.kill()
        crowd.wait_for(ANSWERS)
    found = check_nothing_is_lost(store, "spring", crowd)
    assert len(crowd.decided) > KILLS * ANSWERS / 4
    assert found.left < 10, "the budget was put to the test"
