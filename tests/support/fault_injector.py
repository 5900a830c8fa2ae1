"""Run a workload under faults in its file I/O: kills, I/O errors, losses of power.

This is the program that `file_faults.inject` runs, with the library loaded before any other. It
imports everything and compiles the kernels once, and forks a worker for each kill.
"""

from __future__ import annotations

import errno
import faulthandler
import gc
import json
import os
import random
import shutil
import signal
import sys
import traceback
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from almoner import StoreError
from support.agents import assert_sentence
from support.file_faults import (
    FAIL,
    KILL,
    KILL_HALFWAY,
    NO_FAULT,
    PATIENCE,
    SHORTEN,
    Fault,
    Library,
    Orders,
    Outcome,
)
from support.fixed_workload import Acknowledgements, Plan, Session, make_plan, verify
from support.power_loss import ACKNOWLEDGED, CREATE, WRITE, Call, read_calls, states

CHILD_PATIENCE = 30  # seconds for a child that takes a tenth: one that hangs is a failure
FOREVER = 2**31
STEPS_AFTER = 4
"""Steps to perform after an error."""


class Injector:
    """Runs the workload under faults, each in processes and a folder of its own."""

    def __init__(self, orders: Orders, plan: Plan) -> None:
        self.orders, self.plan, self.library = orders, plan, Library()
        self.failures: list[str] = []
        self.injected: dict[str, int] = {}

    def run(self) -> Outcome:
        """Go through all faults of this part, or up to the first failure."""
        calls = read_calls(self._record())
        assert sum(call.kind == WRITE for call in calls) > 100, "the library sees no writes"
        faults = {"kills": self._kills, "errors": self._errors, "power": self._power}
        for case in faults[self.orders.what](calls):
            case()
            if self.failures:
                break
        return Outcome(self.injected, self.failures)

    def _record(self) -> Path:
        """Run the workload without a fault; return the file with its calls."""
        folder = self._fresh()
        log = folder.parent / "calls"

        with log.open("ab") as file:
            self._work(folder, NO_FAULT, file.fileno())
        self._verify("no fault", folder)
        return log

    def _kills(self, calls: list[Call]) -> Iterator[Callable[[], None]]:
        """Kill before each call, and in the midst of each that writes more than a byte.

        After a call nothing else happens to the files until the next one, so that is no third case.
        """
        for number, call in self._numbered(calls):
            yield partial(self._kill, Fault("kill before", KILL, number, number))
            if call.kind == WRITE and call.size > 1:
                yield partial(self._kill, Fault("kill halfway", KILL_HALFWAY, number, number))

    def _errors(self, calls: list[Call]) -> Iterator[Callable[[], None]]:
        """Fail each call once; have the disk full from it on; write half of it and go on."""
        for number, call in self._numbered(calls):
            yield partial(self._error, Fault("EIO", FAIL, number, number, errno.EIO))
            if call.kind in {WRITE, CREATE}:
                yield partial(self._error, Fault("ENOSPC", FAIL, number, FOREVER, errno.ENOSPC))
            if call.kind == WRITE and call.size > 1:
                yield partial(self._error, Fault("short write", SHORTEN, number, number))

    def _power(self, calls: list[Call]) -> Iterator[Callable[[], None]]:
        """Leave what a loss of power could, at the worst moments."""
        rng = random.Random(f"power {self.orders.part}")  # noqa: S311
        found = states(calls, rng, volatile=self.orders.volatile)
        for number, (at, files) in enumerate(found):
            if number % self.orders.parts == self.orders.part:
                acknowledged = sum(call.kind == ACKNOWLEDGED for call in calls[:at])
                yield partial(self._lose_power, at, files, acknowledged)

    def _numbered(self, calls: list[Call]) -> Iterator[tuple[int, Call]]:
        changes = [call for call in calls if call.kind != ACKNOWLEDGED]
        yield from list(enumerate(changes, 1))[self.orders.part :: self.orders.parts]

    def _kill(self, fault: Fault) -> None:
        folder = self._fresh()
        title = f"{fault.name} call {fault.first}"
        child = os.fork()
        if child == 0:
            signal.alarm(CHILD_PATIENCE)
            try:
                self._work(folder, fault)
            finally:
                os._exit(1)  # whatever happened, it was not killed
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        if code != -signal.SIGKILL:
            self.failures.append(f"{title}: exit code {code}")
        self._count(fault.name)
        self._verify(title, folder)

    def _error(self, fault: Fault) -> None:
        """Errors end no process, so this one works itself; it must not keep files open either."""
        folder = self._fresh()
        before = os.listdir("/proc/self/fd")
        title = f"{fault.name} at call {fault.first}"
        self._attempt(title, lambda: self._work(folder, fault))
        if os.listdir("/proc/self/fd") != before:
            self.failures.append(f"{title}: a file was left open")
        self._count(fault.name)
        self._verify(title, folder)

    def _lose_power(self, at: int, files: dict[str, bytes], acknowledged: int) -> None:
        folder = self._fresh()
        for name, content in files.items():
            (folder / Path(name).name).write_bytes(content)
        answers = json.loads(json.dumps(self.plan.answers[:acknowledged]))
        self._count("power loss")
        self._verify(f"power loss at call {at}", folder, answers)

    def _count(self, name: str) -> None:
        self.injected[name] = self.injected.get(name, 0) + 1

    def _work(self, folder: Path, fault: Fault, log: int = -1) -> None:
        """Perform steps; one that fails has to work when it is tried again.

        After an error that ends nothing a few more steps show that the agent goes on.
        """
        acknowledgements = Acknowledgements(folder.parent / "acknowledgements")
        session = Session(url_of(folder))
        self.library.arm(folder, fault, log)
        more = STEPS_AFTER
        for number, step in enumerate(self.plan.steps):
            if self.orders.hasty:
                acknowledgements.write(number, self.plan.answers[number])
            try:
                answer = session.perform(number, step)
            except StoreError as error:
                assert fault.mode == FAIL, "an error without a cause"
                assert_sentence(error)
                self.library.disarm()
                answer = session.perform(number, step)
            if not self.orders.hasty:
                acknowledgements.write(number, answer)
            self.library.acknowledge()
            more -= fault is not NO_FAULT and self.library.calls() >= fault.first
            if more == 0:
                break
        self.library.disarm()
        session.close()
        assert self.library.calls() >= fault.first, "the fault did not happen"

    def _verify(self, title: str, folder: Path, answers: list[Any] | None = None) -> None:
        def check() -> None:
            self.library.arm(folder, NO_FAULT)
            known = Acknowledgements(folder.parent / "acknowledgements").read()
            verify(self.plan, url_of(folder), known if answers is None else answers)

        self._attempt(f"{title}, then verified", check)

    def _attempt(self, title: str, work: Callable[[], None]) -> None:
        """Run work, and note a failure with its traceback."""
        try:
            work()
        except Exception:
            self.failures.append(f"{title}\n{traceback.format_exc()}")

    def _fresh(self) -> Path:
        """Return an empty folder for a store, in one that is emptied too."""
        outer = Path(self.orders.folder) / "run"
        shutil.rmtree(outer, ignore_errors=True)
        (outer / "store").mkdir(parents=True)
        return outer / "store"


def url_of(folder: Path) -> str:
    """Return the URL of the store in a folder."""
    return f"sqlite:///{folder / 'campaigns.db'}"


def main() -> None:
    orders = Orders(**json.loads(sys.argv[1]))
    plan = make_plan()
    gc.freeze()  # forked processes then copy fewer pages
    faulthandler.dump_traceback_later(PATIENCE - 10, exit=True)
    print(json.dumps(Injector(orders, plan).run()))
