"""Random operations on one campaign from several threads and processes, recorded as a history.

This file is also the program whose forked processes are the workers.
"""

from __future__ import annotations

import json
import logging
import multiprocessing
import os
import pickle
import random
import subprocess
import sys
import time
import traceback
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from threading import Barrier
from typing import Any

import almoner.live.catch_up
import almoner.store.postgres
import almoner.store.sqlite
from almoner import Agent, AlmonerError
from support import program
from support.histories import Books, Operation
from support.money_model import ACTIONS, CONTEXTS

PATIENCE = 600  # seconds for a program that takes about five on a quiet machine
BUDGET, HORIZON = 12_000, 160
TERMS: dict[str, Any] = {
    "contexts": CONTEXTS,
    "actions": ACTIONS,
    "horizon": HORIZON,
    "budget": BUDGET / 100,
    "policy": "greedy",  # spends while it can, so that refusals for want of money occur
    "unit": "0.01",
    "seed": 3,
}
KEYS = 60
BILLS = ["0", "0.30", "2.20", "2.205", "4.50", "9"]
VERBS: dict[str, float] = {
    "decide": 8,
    "decide_many": 3,
    "settle": 5,
    "reward": 4,
    "cancel": 2,
    "read": 5,
}
VERBS |= {"pause": 0.3, "resume": 0.9}


@dataclass(frozen=True, kw_only=True)
class Orders:
    """Who works where: each process opens the campaign once, for all its threads."""

    url: str
    name: str
    folder: str
    processes: int
    threads: int
    operations: int
    seed: str


class Client:
    """One thread: calls the agent at random and records what it was answered."""

    def __init__(
        self, agent: Agent, seed: str, read: Callable[[Agent], Books] | None = None
    ) -> None:
        self.agent, self.rng = agent, random.Random(seed)  # noqa: S311
        self.read = read or read_books
        self.latest = 1
        self.history: list[Operation] = []

    def run(self, operations: int) -> list[Operation]:
        """Record so many operations."""
        for _ in range(operations):
            [verb] = self.rng.choices([*VERBS], [*VERBS.values()])
            asked: dict[str, Any] = getattr(self, f"_{verb}", dict)()
            call = self._reading if verb == "read" else getattr(self.agent, verb)
            self.history.append(self._record(verb, asked, call))
        return self.history

    def _record(self, verb: str, asked: dict[str, Any], call: Callable[..., Any]) -> Operation:
        options = dict(asked)
        positional = [options.pop("id")] if "id" in options else []
        answer = error = None
        called = time.monotonic_ns()
        try:
            answer = call(*positional, **options)
        except AlmonerError as reason:
            error = type(reason).__name__
        operation = Operation(verb, asked, called, time.monotonic_ns(), answer, error)
        self.latest = max([self.latest, *(one.id for one in operation.decisions())])
        return operation

    def _decide(self) -> dict[str, Any]:
        context, key = self._arrival()
        return {"context": context, "available": self._available(), "key": key}

    def _decide_many(self) -> dict[str, Any]:
        arrivals = [self._arrival() for _ in range(self.rng.randint(1, 5))]
        contexts, keys = zip(*arrivals, strict=True)
        return {"contexts": [*contexts], "available": self._available(), "keys": [*keys]}

    def _settle(self) -> dict[str, Any]:
        return {"id": self._id(), "cost": self.rng.choice(BILLS)}

    def _reward(self) -> dict[str, Any]:
        return {"id": self._id(), "value": self.rng.choice([0.0, 0.5, 1.0])}

    def _cancel(self) -> dict[str, Any]:
        return {"id": self._id()}

    def _reading(self) -> Books:
        return self.read(self.agent)

    def _arrival(self) -> tuple[str, str | None]:
        """Return a context with a key, mostly that of its context: else there is a conflict."""
        number = self.rng.randrange(KEYS)
        other = self.rng.random() < 0.03
        key = f"visit-{number}" if self.rng.random() < 0.4 else None
        return CONTEXTS[(number + other) % len(CONTEXTS)], key

    def _available(self) -> list[str] | None:
        return self.rng.choice([None, None, None, ["mail"], ["call", "gift"]])

    def _id(self) -> int:
        """Return the id of a late decision, if it is one: of any client, or of none yet."""
        return max(1, self.latest + 2 - self.rng.randrange(25))


def read_books(agent: Agent) -> Books:
    """Read the money and how many events led to it."""
    return agent.look(  # type: ignore[no-any-return]
        lambda campaign: Books(
            campaign.seq,
            campaign.status,
            campaign.ledger.spent,
            campaign.ledger.reserved,
            campaign.ledger.left,
        )
    )


def in_threads(clients: list[Client], operations: int) -> list[Operation]:
    """Run clients side by side and return all that they recorded."""
    together = Barrier(len(clients))

    def run(client: Client) -> list[Operation]:
        together.wait(PATIENCE)
        return client.run(operations)

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)  # a thread would otherwise do many operations at a time
    try:
        with ThreadPoolExecutor(len(clients)) as pool:
            parts = pool.map(run, clients)
            return [operation for part in parts for operation in part]
    finally:
        sys.setswitchinterval(interval)


def in_processes(orders: list[Orders]) -> list[list[Operation]]:
    """Run one history after another in processes of their own; return what each recorded."""
    arguments = program("history_workers", json.dumps([asdict(one) for one in orders]))
    done = subprocess.run(arguments, check=False, capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 0, done.stderr
    return [
        [
            operation
            for process in range(one.processes)
            for operation in pickle.loads(_results(one, process).read_bytes())  # noqa: S301
        ]
        for one in orders
    ]


def _results(orders: Orders, process: int) -> Path:
    return Path(orders.folder) / f"{orders.name}-{process}.history"


def _work(orders: Orders, process: int, together: Any) -> None:
    with Agent.open(orders.url, name=orders.name, **TERMS) as agent:
        together.wait(PATIENCE)
        seeds = [f"{orders.seed} {process} {thread}" for thread in range(orders.threads)]
        history = in_threads([Client(agent, seed) for seed in seeds], orders.operations)
    _results(orders, process).write_bytes(pickle.dumps(history))


def _fork(orders: Orders, process: int, together: Any) -> int:
    child = os.fork()
    if child == 0:
        try:
            _work(orders, process, together)
        except BaseException:
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    return child


def main() -> None:
    logging.disable()  # bills above reserves are warned of
    with Agent.open("memory:", name="warm-up", **TERMS) as agent:
        Client(agent, "warm-up").run(20)  # has kernels compiled before any process is forked
    almoner.live.catch_up.SNAPSHOT_EVERY = 100
    for table in json.loads(sys.argv[1]):
        orders = Orders(**table)
        together = multiprocessing.get_context("fork").Barrier(orders.processes)
        children = [_fork(orders, process, together) for process in range(orders.processes)]
        codes = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
        if any(codes):
            sys.exit(f"{orders.name}: workers ended with {codes}")
