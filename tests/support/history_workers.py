"""Random operations on one campaign from several threads and processes, recorded as a history.

This module is also the program that forks the worker processes.
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

import almoner.live.transactions.catch_up
import almoner.store.postgres
import almoner.store.sqlite
from almoner import Agent, AlmonerError
from support import program
from support.histories import Balances, Operation
from support.money_model import ACTIONS, CONTEXTS

PATIENCE = 600  # seconds, where about five are usual
BUDGET, HORIZON = 12_000, 160
TERMS: dict[str, Any] = {
    "contexts": CONTEXTS,
    "actions": ACTIONS,
    "horizon": HORIZON,
    "budget": BUDGET / 100,
    "policy": "greedy",  # spends while it can, so that some arrivals find no budget
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
class HistorySettings:
    """Settings of one history: each process opens the campaign once, for all its threads."""

    url: str
    name: str
    folder: str
    processes: int
    threads: int
    operations: int
    seed: str


class Client:
    """One thread: calls the agent at random and records the operations."""

    def __init__(
        self, agent: Agent, seed: str, read: Callable[[Agent], Balances] | None = None
    ) -> None:
        self.agent, self.rng = agent, random.Random(seed)  # noqa: S311
        self.read = read or read_balances
        self.first = agent.first_id
        self.latest = self.first + 1
        self.history: list[Operation] = []

    def run(self, operations: int) -> list[Operation]:
        """Record so many operations."""
        for _ in range(operations):
            [verb] = self.rng.choices([*VERBS], [*VERBS.values()])
            arguments: dict[str, Any] = getattr(self, f"_{verb}", dict)()
            call = self._reading if verb == "read" else getattr(self.agent, verb)
            self.history.append(self._record(verb, arguments, call))
        return self.history

    def _record(self, verb: str, arguments: dict[str, Any], call: Callable[..., Any]) -> Operation:
        options = dict(arguments)
        positional = [options.pop("id")] if "id" in options else []
        answer = error = None
        called = time.monotonic_ns()
        try:
            answer = call(*positional, **options)
        except AlmonerError as reason:
            error = type(reason).__name__
        operation = Operation(verb, arguments, called, time.monotonic_ns(), answer, error)
        self.latest = max([self.latest, *(decision.id for decision in operation.decisions())])
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

    def _reading(self) -> Balances:
        return self.read(self.agent)

    def _arrival(self) -> tuple[str, str | None]:
        """Return a context and a key, rarely one that conflicts with the context."""
        number = self.rng.randrange(KEYS)
        other = self.rng.random() < 0.03
        key = f"visit-{number}" if self.rng.random() < 0.4 else None
        return CONTEXTS[(number + other) % len(CONTEXTS)], key

    def _available(self) -> list[str] | None:
        return self.rng.choice([None, None, None, ["mail"], ["call", "gift"]])

    def _id(self) -> int:
        """Return an id near the latest: of any client's decision, or of none yet."""
        return max(self.first + 1, self.latest + 2 - self.rng.randrange(25))


def read_balances(agent: Agent) -> Balances:
    """Read status, balances and the number of events in one look."""
    return agent.look(  # type: ignore[no-any-return]
        lambda campaign: Balances(
            campaign.seq,
            campaign.status,
            campaign.ledger.spent,
            campaign.ledger.reserved,
            campaign.ledger.left,
        )
    )


def in_threads(clients: list[Client], operations: int) -> list[Operation]:
    """Run clients in parallel threads and return all operations."""
    barrier = Barrier(len(clients))

    def run(client: Client) -> list[Operation]:
        barrier.wait(PATIENCE)
        return client.run(operations)

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)  # interleave threads within operations
    try:
        with ThreadPoolExecutor(len(clients)) as pool:
            parts = pool.map(run, clients)
            return [operation for part in parts for operation in part]
    finally:
        sys.setswitchinterval(interval)


def in_processes(settings: list[HistorySettings]) -> list[list[Operation]]:
    """Run histories one after another, each in several processes; return their operations."""
    arguments = program("history_workers", json.dumps([asdict(each) for each in settings]))
    done = subprocess.run(arguments, check=False, capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 0, done.stderr
    return [
        [
            operation
            for process in range(each.processes)
            for operation in pickle.loads(_results(each, process).read_bytes())  # noqa: S301
        ]
        for each in settings
    ]


def _results(settings: HistorySettings, process: int) -> Path:
    return Path(settings.folder) / f"{settings.name}-{process}.history"


def _work(settings: HistorySettings, process: int, barrier: Any) -> None:
    with Agent.open(settings.url, name=settings.name, **TERMS) as agent:
        barrier.wait(PATIENCE)
        seeds = [f"{settings.seed} {process} {thread}" for thread in range(settings.threads)]
        history = in_threads([Client(agent, seed) for seed in seeds], settings.operations)
    _results(settings, process).write_bytes(pickle.dumps(history))


def _fork(settings: HistorySettings, process: int, barrier: Any) -> int:
    child = os.fork()
    if child == 0:
        try:
            _work(settings, process, barrier)
        except BaseException:
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    return child


def main() -> None:
    logging.disable()  # bills above reserves cause warnings
    with Agent.open("memory:", name="warm-up", **TERMS) as agent:
        Client(agent, "warm-up").run(20)  # compile the kernels before any fork
    almoner.live.transactions.catch_up.SNAPSHOT_EVERY = 100
    for table in json.loads(sys.argv[1]):
        settings = HistorySettings(**table)
        barrier = multiprocessing.get_context("fork").Barrier(settings.processes)
        children = [_fork(settings, process, barrier) for process in range(settings.processes)]
        codes = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
        if any(codes):
            sys.exit(f"{settings.name}: workers ended with {codes}")
