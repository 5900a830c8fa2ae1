"""Clients that hammer a service and remember what it has acknowledged."""

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
from almoner.live.terms import Terms
from almoner.store import open_store
from almoner.store.events import DECIDED, REWARDED, SETTLED


class Crowd:
    """Threads that decide, settle and reward, each request again until it is acknowledged.

    `url` says for each attempt where the service is now.
    """

    def __init__(self, name: str, url: Callable[[], str]) -> None:
        self.decided: dict[str, dict[str, Any]] = {}
        self.settled: dict[int, float] = {}
        self.rewarded: dict[int, float] = {}
        self._path = f"/api/campaigns/{name}/decisions"
        self._url, self._done, self._awake = url, threading.Event(), threading.Event()
        self._awake.set()
        self._failure: BaseException | None = None

    @property
    def acknowledged(self) -> int:
        """How many answers have come."""
        return len(self.decided) + len(self.settled) + len(self.rewarded)

    @contextmanager
    def at_work(self, clients: int) -> Iterator[None]:
        """Let them loose; at the end, wait for their last answers."""
        threads = [threading.Thread(target=self._work, args=(place,)) for place in range(clients)]
        for thread in threads:
            thread.start()
        try:
            yield
        finally:
            self._done.set()
            self._awake.set()
            for thread in threads:
                thread.join()
        if self._failure is not None:
            raise self._failure

    def wait_for(self, more: int) -> None:
        """Wait until so many further answers have come."""
        wanted = self.acknowledged + more
        while self.acknowledged < wanted and self._failure is None:
            time.sleep(0.002)

    @contextmanager
    def at_rest(self) -> Iterator[None]:
        """Let them finish what they are at and wait, so that others have the machine."""
        self._awake.clear()
        yield
        self._awake.set()

    def _work(self, place: int) -> None:
        try:
            with httpx.Client(timeout=60) as client:
                for number in itertools.count():
                    self._awake.wait()
                    if self._done.is_set():
                        return
                    self._visit(client, place, number)
        except BaseException as failure:
            self._failure = failure

    def _visit(self, client: httpx.Client, place: int, number: int) -> None:
        key, context = f"{place}-{number}", ("new", "returning")[number % 2]
        decision = self._ask(client, "", {"context": context, "key": key})
        self.decided[key] = decision
        identity = decision["id"]
        if decision["action"] is not None and number % 3:
            bill = decision["reserved"] / 2
            self._ask(client, f"/{identity}/settle", {"cost": bill})
            self.settled[identity] = bill
        if number % 4:
            self._ask(client, f"/{identity}/reward", {"value": number % 5 / 4})
            self.rewarded[identity] = number % 5 / 4

    def _ask(self, client: httpx.Client, path: str, body: dict[str, Any]) -> Any:
        while True:
            try:
                answer = client.post(f"{self._url()}{self._path}{path}", json=body)
            except httpx.TransportError:
                time.sleep(0.05)
                continue
            if answer.status_code == 503:  # stopping: the next one will answer
                time.sleep(0.05)
                continue
            assert answer.is_success, answer.text
            return answer.json() if answer.content else None


def check_nothing_is_lost(url: str, name: str, crowd: Crowd) -> Audit:
    """Compare the log with all that was acknowledged, and audit it."""
    store = open_store(url)
    terms = Terms.from_dict(json.loads(store.terms(name) or ""))
    log = list(store.events(name))
    decided = {event.key: event for event in log if event.kind == DECIDED}
    for key, answer in crowd.decided.items():
        event = decided[key]
        assert (event.seq, event.context, event.action) == (
            answer["id"],
            answer["context"],
            answer["action"],
        )
        assert terms.unit.amount(event.left) == answer["budget_left"]
    bills = {event.decision: event.bill for event in log if event.kind == SETTLED}
    for identity, cost in crowd.settled.items():
        assert terms.unit.amount(bills[identity] or 0) == cost
    rewards = {event.decision: event.reward for event in log if event.kind == REWARDED}
    for identity, value in crowd.rewarded.items():
        assert rewards[identity] == value
    found = audit(store, name)
    assert found.decisions == len(crowd.decided), "every key was decided once"
    store.close()
    return found
