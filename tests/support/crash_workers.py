"""Worker processes on one campaign, some of them killed with SIGKILL and replaced.

This module is also the supervisor's program. It imports everything and compiles the kernels once,
then forks workers, so that a new one costs milliseconds; each opens the store by itself.
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

import almoner.live.transactions.catch_up
import almoner.store.postgres
import almoner.store.sqlite
from almoner import Agent
from support import program
from support.acknowledgements import (
    Acknowledgement,
    AcknowledgementFile,
    check_log,
    read_acknowledgements,
)
from support.workload import CONTEXTS, NAME, TERMS, Workload, run_in_threads

PATIENCE = 300  # seconds, where about 20 are usual: a hang must not hang the tests
EARLY = 0.15
"""Share of kills that strike a new worker at once, while it opens the campaign."""


@dataclass(frozen=True, kw_only=True)
class CrashSettings:
    """Settings of a run: the campaign must exist; the folder receives the acknowledgements.

    Parameters
    ----------
    decisions
        Acknowledged decisions after which the workers stop.
    kills
        Number of kills, spread evenly over the decisions.
    delay
        Longest random delay of a kill, in seconds.
    verify_each
        Whether each new worker first checks the log against all acknowledgements.
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
    verify_each: bool = False
    snapshot_every: int = 500


def run_crash_workers(settings: CrashSettings) -> list[Acknowledgement]:
    """Run the workers to the end; return all acknowledgements."""
    arguments = program("crash_workers", json.dumps(asdict(settings)))
    done = subprocess.run(arguments, check=False, capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 0, done.stderr
    return all_acknowledgements(Path(settings.folder))


def all_acknowledgements(folder: Path) -> list[Acknowledgement]:
    """Return the acknowledgements of all workers."""
    return [
        answer
        for path in sorted(folder.glob("*.acknowledged"))
        for answer in read_acknowledgements(path)
    ]


class Supervisor:
    """Starts, kills and replaces workers; counts of decisions are in shared memory."""

    def __init__(self, settings: CrashSettings) -> None:
        self.settings = settings
        self.counts = mmap.mmap(-1, 8 * (settings.processes + 1))
        self.workers: dict[int, int] = {}
        self.generations = dict.fromkeys(range(settings.processes), 0)

    def run(self) -> None:
        """Start all workers, kill and replace some, stop all."""
        try:
            self._run()
        finally:
            for pid in self.workers.values():  # none, unless something went wrong
                os.kill(pid, signal.SIGKILL)

    def _run(self) -> None:
        rng = random.Random(self.settings.seed)  # noqa: S311
        for index in range(self.settings.processes):
            self._start(index)
        for kill in range(self.settings.kills):
            if rng.random() > EARLY:
                self._await(self.settings.decisions * (kill + 1) // (self.settings.kills + 1))
            time.sleep(rng.uniform(0, self.settings.delay))
            index = rng.randrange(self.settings.processes)
            os.kill(self.workers[index], signal.SIGKILL)
            self._end(index, expected=-signal.SIGKILL)
            self._start(index)
        self._await(self.settings.decisions)
        self._set(self.settings.processes, 1)
        for index in range(self.settings.processes):
            self._end(index, expected=0)

    def _start(self, index: int) -> None:
        generation = self.generations[index]
        self.generations[index] += 1
        child = os.fork()
        if child == 0:
            self._work(index, generation)
        self.workers[index] = child

    def _end(self, index: int, *, expected: int) -> None:
        _, status = os.waitpid(self.workers.pop(index), 0)
        code = os.waitstatus_to_exitcode(status)
        if code != expected:
            raise RuntimeError(f"worker {index} ended with {code}, expected {expected}")

    def _await(self, decisions: int) -> None:
        """Wait until so many decisions were made, or raise if a worker has failed."""
        while sum(map(self._get, range(self.settings.processes))) < decisions:
            time.sleep(0.001)
            for index, pid in list(self.workers.items()):
                if os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None:
                    self._end(index, expected=0)

    def _get(self, index: int) -> int:
        return int(struct.unpack_from("q", self.counts, 8 * index)[0])

    def _set(self, index: int, value: int) -> None:
        struct.pack_into("q", self.counts, 8 * index, value)

    def _work(self, index: int, generation: int) -> NoReturn:
        """Run a worker in the forked process, then exit without the parent's cleanup."""
        try:
            Worker(self.settings, index, generation).run(self._counter(index))
        except BaseException:
            traceback.print_exc()
            os._exit(1)
        os._exit(0)

    def _counter(self, index: int) -> Callable[[int], bool]:
        lock, supervisor = Lock(), os.getppid()

        def count(made: int) -> bool:
            with lock:
                self._set(index, self._get(index) + made)
            return self._get(self.settings.processes) == 0 and os.getppid() == supervisor

        return count


class Worker:
    """One process: finishes the follow-ups of its predecessor, then works in several threads."""

    def __init__(self, settings: CrashSettings, index: int, generation: int) -> None:
        self.settings = settings
        self.name, self.predecessor = f"{index}-{generation}", f"{index}-{generation - 1}"

    def run(self, count: Callable[[int], bool]) -> None:
        folder = Path(self.settings.folder)
        with Agent.open(self.settings.url, name=NAME) as agent:
            if self.settings.verify_each:
                check_log(agent.store, NAME, all_acknowledgements(folder))
            file = AcknowledgementFile(folder / f"{self.name}.acknowledged")
            workloads = [
                Workload(
                    agent, file, seed=f"{self.settings.seed} {self.name} {thread}", count=count
                )
                for thread in range(self.settings.threads)
            ]
            unfinished = [
                answer
                for answer in read_acknowledgements(folder / f"{self.predecessor}.acknowledged")
                if answer.context
            ]
            workloads[0].pending += unfinished
            run_in_threads(workloads)


def main() -> None:
    settings = CrashSettings(**json.loads(sys.argv[1]))
    logging.disable()  # there are many warnings of overruns
    almoner.live.transactions.catch_up.SNAPSHOT_EVERY = settings.snapshot_every
    with Agent.open("memory:", name=NAME, **TERMS, horizon=9, budget=9) as agent:
        agent.decide(CONTEXTS[0])  # compile the kernels and import all modules
    Supervisor(settings).run()
