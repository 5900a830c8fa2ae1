"""HTTP clients that repeat each request until it is acknowledged, and record the answers."""

from __future__ import annotations

import itertools
import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import httpx

from almoner.live.audit import Audit, audit
from almoner.live.terms.terms import Terms
from almoner.store import open_store
from almoner.store.events import DECIDED, REWARDED, SETTLED
from support.waiting import wait_until


class RetryingClients:
    """Threads that decide, settle and reward, and retry each request until it is acknowledged.

    ``url`` is called before each attempt, since a restarted service has another port.
    """

    def __init__(self, name: str, url: Callable[[], str]) -> None:
        self.decided: dict[str, dict[str, Any]] = {}
        self.settled: dict[int, float] = {}
        self.rewarded: dict[int, float] = {}
        self._path = f"/api/campaigns/{name}/decisions"
        self._url, self._done, self._unpaused = url, threading.Event(), threading.Event()
        self._unpaused.set()
        self._failure: BaseException | None = None

    @property
    def acknowledged(self) -> int:
        """Number of acknowledged requests."""
        return len(self.decided) + len(self.settled) + len(self.rewarded)

    @contextmanager
    def running(self, clients: int) -> Iterator[None]:
        """Run the client threads; at the end, wait for their last answers."""
        threads = [threading.Thread(target=self._work, args=(index,)) for index in range(clients)]
        for thread in threads:
            thread.start()
        try:
            yield
        finally:
            self._done.set()
            self._unpaused.set()
            for thread in threads:
                thread.join()
        if self._failure is not None:
            raise self._failure

    def wait_for(self, more: int) -> None:
        """Wait for so many further acknowledgements."""
        wanted = self.acknowledged + more
        wait_until(
            lambda: self.acknowledged >= wanted or self._failure is not None,
            f"{more} further acknowledgements",
        )

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Pause the clients after their requests in flight."""
        self._unpaused.clear()
        yield
        self._unpaused.set()

    def _work(self, index: int) -> None:
        try:
            with httpx.Client(timeout=60) as client:
                for number in itertools.count():
                    self._unpaused.wait()
                    if self._done.is_set():
                        return
                    self._decide_and_follow_up(client, index, number)
        except BaseException as failure:
            self._failure = failure

    def _decide_and_follow_up(self, client: httpx.Client, index: int, number: int) -> None:
        key, context = f"{index}-{number}", ("new", "returning")[number % 2]
        decision = self._post(client, "", {"context": context, "key": key})
        self.decided[key] = decision
        decision_id = decision["id"]
        if decision["action"] is not None and number % 3:
            bill = decision["reserved"] / 2
            self._post(client, f"/{decision_id}/settle", {"cost": bill})
            self.settled[decision_id] = bill
        if number % 4:
            self._post(client, f"/{decision_id}/reward", {"value": number % 5 / 4})
            self.rewarded[decision_id] = number % 5 / 4

    def _post(self, client: httpx.Client, path: str, body: dict[str, Any]) -> Any:
        while True:
            try:
                response = client.post(f"{self._url()}{self._path}{path}", json=body)
            except httpx.TransportError:
                time.sleep(0.05)
                continue
            if response.status_code == 503:  # stopping: its successor will answer
                time.sleep(0.05)
                continue
            assert response.is_success, response.text
            return response.json() if response.content else None


def check_nothing_is_lost(url: str, name: str, clients: RetryingClients) -> Audit:
    """Audit the log, and compare it with all acknowledgements."""
    store = open_store(url)
    terms = Terms.from_dict(json.loads(store.terms(name) or ""))
    log = list(store.events(name))
    decided = {event.key: event for event in log if event.kind == DECIDED}
    for key, answer in clients.decided.items():
        event = decided[key]
        assert (event.seq, event.context, event.action) == (
            answer["id"],
            answer["context"],
            answer["action"],
        )
        assert terms.unit.amount(event.left) == answer["budget_left"]
    bills = {event.decision: event.bill for event in log if event.kind == SETTLED}
    for decision_id, cost in clients.settled.items():
        assert terms.unit.amount(bills[decision_id] or 0) == cost
    rewards = {event.decision: event.reward for event in log if event.kind == REWARDED}
    for decision_id, value in clients.rewarded.items():
        assert rewards[decision_id] == value
    result = audit(store, name)
    assert result.decisions == len(clients.decided), "every key was decided once"
    store.close()
    return result
