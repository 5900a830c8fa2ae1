"""Fleets: workers on one campaign, each a process, some killed with SIGKILL and replaced.

This file is also the program that keeps a fleet. It imports everything and compiles the kernels
once, and forks its workers, so that a new one costs milliseconds; they open the store themselves.
"""

from __future__ import annotations

import json
import logging
import mmap
import os
import random
import signal
import struct
import subprocess
import sys
import time
import traceback
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from threading import Lock
from typing import NoReturn

import almoner.live.catch_up
import almoner.store.postgres
import almoner.store.sqlite
from almoner import Agent
from support import program
from support.acknowledgements import Journal, Note, prove, read_notes
from support.workload import CONTEXTS, NAME, TERMS, Shift, in_threads

PATIENCE = 300  # seconds for a fleet that takes about 20: one that hangs must not hang the tests
EARLY = 0.15
"""The share of kills that strike a new worker at once, while it opens the campaign."""


@dataclass(frozen=True, kw_only=True)
class Orders:
    """What a fleet is to do: the campaign must exist, the folder gets the journals.

    Parameters
    ----------
    decisions
        How many must have been acknowledged before the workers are told to stop.
    kills
        How many workers are killed, spread evenly over the decisions.
    delay
        Up to how many seconds pass between the moment a kill is due and the kill.
    proving
        Whether each new worker first proves the log that the last one left behind.
    snapshot_every
        Events between snapshots: small, so that kills strike those too.
    """

    url: str
    folder: str
    processes: int
    threads: int
    decisions: int
    kills: int
    seed: int
    delay: float = 0.05
    proving: bool = False
    snapshot_every: int = 500


def send(orders: Orders) -> list[Note]:
    """Run a fleet to its end; return everything that any worker was answered."""
    arguments = program("crash_workers", json.dumps(asdict(orders)))
    done = subprocess.run(arguments, check=False, capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 0, done.stderr
    return all_notes(Path(orders.folder))


def all_notes(folder: Path) -> list[Note]:
    """Return the notes of all journals in a folder."""
    return [note for path in sorted(folder.glob("*.journal")) for note in read_notes(path)]


class Fleet:
    """The workers by their place, and a count of decisions that they share with this process."""

    def __init__(self, orders: Orders) -> None:
        self.orders = orders
        self.counts = mmap.mmap(-1, 8 * (orders.processes + 1))
        self.workers: dict[int, int] = {}
        self.generations = dict.fromkeys(range(orders.processes), 0)

    def run(self) -> None:
        """Start all workers, kill and replace some, stop all."""
        try:
            self._run()
        finally:
            for pid in self.workers.values():  # none, unless something went wrong
                os.kill(pid, signal.SIGKILL)

    def _run(self) -> None:
        rng = random.Random(self.orders.seed)  # noqa: S311
        for place in range(self.orders.processes):
            self._start(place)
        for kill in range(self.orders.kills):
            if rng.random() > EARLY:
                self._await(self.orders.decisions * (kill + 1) // (self.orders.kills + 1))
            time.sleep(rng.uniform(0, self.orders.delay))
            place = rng.randrange(self.orders.processes)
            os.kill(self.workers[place], signal.SIGKILL)
            self._end(place, expected=-signal.SIGKILL)
            self._start(place)
        self._await(self.orders.decisions)
        self._set(self.orders.processes, 1)
        for place in range(self.orders.processes):
            self._end(place, expected=0)

    def _start(self, place: int) -> None:
        generation = self.generations[place]
        self.generations[place] += 1
        child = os.fork()
        if child == 0:
            self._work(place, generation)
        self.workers[place] = child

    def _end(self, place: int, *, expected: int) -> None:
        _, status = os.waitpid(self.workers.pop(place), 0)
        code = os.waitstatus_to_exitcode(status)
        if code != expected:
            raise RuntimeError(f"worker {place} ended with {code}, where {expected} was due")

    def _await(self, decisions: int) -> None:
        """Wait until so many decisions were made, as long as no worker has failed."""
        while sum(map(self._get, range(self.orders.processes))) < decisions:
            time.sleep(0.001)
            for place, pid in list(self.workers.items()):
                if os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None:
                    self._end(place, expected=0)

    def _get(self, place: int) -> int:
        return int(struct.unpack_from("q", self.counts, 8 * place)[0])

    def _set(self, place: int, value: int) -> None:
        struct.pack_into("q", self.counts, 8 * place, value)

    def _work(self, place: int, generation: int) -> NoReturn:
        """Be a worker; nothing of the process that was forked runs after it."""
        try:
            Worker(self.orders, place, generation).run(self._counter(place))
        except BaseException:
            traceback.print_exc()
            os._exit(1)
        os._exit(0)

    def _counter(self, place: int) -> Callable[[int], bool]:
        lock, captain = Lock(), os.getppid()

        def count(made: int) -> bool:
            with lock:
                self._set(place, self._get(place) + made)
            return self._get(self.orders.processes) == 0 and os.getppid() == captain

        return count


class Worker:
    """One process: takes up what the one before it left, then works in several threads."""

    def __init__(self, orders: Orders, place: int, generation: int) -> None:
        self.orders = orders
        self.name, self.last = f"{place}-{generation}", f"{place}-{generation - 1}"

    def run(self, count: Callable[[int], bool]) -> None:
        folder = Path(self.orders.folder)
        with Agent.open(self.orders.url, name=NAME) as agent:
            if self.orders.proving:
                prove(agent.store, NAME, all_notes(folder))
            journal = Journal(folder / f"{self.name}.journal")
            shifts = [
                Shift(agent, journal, seed=f"{self.orders.seed} {self.name} {thread}", count=count)
                for thread in range(self.orders.threads)
            ]
            left = [note for note in read_notes(folder / f"{self.last}.journal") if note.context]
            shifts[0].pending += left
            in_threads(shifts)


def main() -> None:
    orders = Orders(**json.loads(sys.argv[1]))
    logging.disable()  # overruns are warned of, and there are many
    almoner.live.catch_up.SNAPSHOT_EVERY = orders.snapshot_every
    with Agent.open("memory:", name=NAME, **TERMS, horizon=9, budget=9) as agent:
        agent.decide(CONTEXTS[0])  # has kernels compiled, and all modules imported
    Fleet(orders).run()
