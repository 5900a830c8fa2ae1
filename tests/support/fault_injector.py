"""Run the fixed workload under faults in its file I/O: kills, I/O errors, losses of power.

This is the program that `file_faults.inject` runs, with the library preloaded. It imports
everything and compiles the kernels once, and forks a worker for each kill.
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
    FaultSettings,
    Library,
    Outcome,
)
from support.fixed_workload import AnswerFile, Script, Session, make_script, verify
from support.power_loss import ACKNOWLEDGED, CREATE, WRITE, Call, read_calls, states

CHILD_PATIENCE = 120  # seconds, where a tenth is usual: a hang is a failure
FOREVER = 2**31
STEPS_AFTER = 4
"""Steps to perform after an error, to see that the agent goes on."""


class Injector:
    """Runs the workload under faults, each in processes and a folder of its own."""

    def __init__(self, settings: FaultSettings, script: Script) -> None:
        self.settings, self.script, self.library = settings, script, Library()
        self.failures: list[str] = []
        self.injected: dict[str, int] = {}

    def run(self) -> Outcome:
        """Inject all faults of this part, up to the first failure."""
        calls = read_calls(self._record())
        assert sum(call.kind == WRITE for call in calls) > 100, "the library sees no writes"
        faults = {"kills": self._kills, "errors": self._errors, "power": self._power}
        for case in faults[self.settings.what](calls):
            case()
            if self.failures:
                break
        return Outcome(self.injected, self.failures)

    def _record(self) -> Path:
        """Run the workload without a fault; return the file of recorded calls."""
        folder = self._fresh()
        log = folder.parent / "calls"

        with log.open("ab") as file:
            self._work(folder, NO_FAULT, file.fileno())
        self._verify("no fault", folder)
        return log

    def _kills(self, calls: list[Call]) -> Iterator[Callable[[], None]]:
        """Kill before each call, and halfway through each that writes more than a byte.

        A kill after a call equals one before the next, as the files do not change in between.
        """
        for number, call in self._numbered(calls):
            yield partial(self._kill, Fault("kill before", KILL, number, number))
            if call.kind == WRITE and call.size > 1:
                yield partial(self._kill, Fault("kill halfway", KILL_HALFWAY, number, number))

    def _errors(self, calls: list[Call]) -> Iterator[Callable[[], None]]:
        """Fail each call once; report a full disk from it on; write half of it."""
        for number, call in self._numbered(calls):
            yield partial(self._error, Fault("EIO", FAIL, number, number, errno.EIO))
            if call.kind in {WRITE, CREATE}:
                yield partial(self._error, Fault("ENOSPC", FAIL, number, FOREVER, errno.ENOSPC))
            if call.kind == WRITE and call.size > 1:
                yield partial(self._error, Fault("short write", SHORTEN, number, number))

    def _power(self, calls: list[Call]) -> Iterator[Callable[[], None]]:
        """Restore the files that a loss of power could leave, at the worst moments."""
        rng = random.Random(f"power {self.settings.part}")  # noqa: S311
        losses = states(calls, rng, volatile=self.settings.volatile)
        for number, (at, files) in enumerate(losses):
            if number % self.settings.parts == self.settings.part:
                acknowledged = sum(call.kind == ACKNOWLEDGED for call in calls[:at])
                yield partial(self._lose_power, at, files, acknowledged)

    def _numbered(self, calls: list[Call]) -> Iterator[tuple[int, Call]]:
        changes = [call for call in calls if call.kind != ACKNOWLEDGED]
        yield from list(enumerate(changes, 1))[self.settings.part :: self.settings.parts]

    def _kill(self, fault: Fault) -> None:
        folder = self._fresh()
        title = f"{fault.name} call {fault.first}"
        child = os.fork()
        if child == 0:
            signal.alarm(CHILD_PATIENCE)
            try:
                self._work(folder, fault)
            finally:
                os._exit(1)  # it was not killed
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        if code != -signal.SIGKILL:
            self.failures.append(f"{title}: exit code {code}")
        self._count(fault.name)
        self._verify(title, folder)

    def _error(self, fault: Fault) -> None:
        """Inject an error into this process, which must survive it and leave no file open."""
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
        answers = json.loads(json.dumps(self.script.answers[:acknowledged]))
        self._count("power loss")
        self._verify(f"power loss at call {at}", folder, answers)

    def _count(self, name: str) -> None:
        self.injected[name] = self.injected.get(name, 0) + 1

    def _work(self, folder: Path, fault: Fault, log: int = -1) -> None:
        """Perform steps; one that fails must succeed when it is repeated.

        After an error a few more steps follow, then the workload ends.
        """
        answers = AnswerFile(folder.parent / "answers")
        session = Session(url_of(folder))
        self.library.arm(folder, fault, log)
        more = STEPS_AFTER
        for number, step in enumerate(self.script.steps):
            if self.settings.hasty:
                answers.write(number, self.script.answers[number])
            try:
                answer = session.perform(number, step)
            except StoreError as error:
                assert fault.mode == FAIL, "an error without a cause"
                assert_sentence(error)
                self.library.disarm()
                answer = session.perform(number, step)
            if not self.settings.hasty:
                answers.write(number, answer)
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
            answered = AnswerFile(folder.parent / "answers").read()
            verify(self.script, url_of(folder), answered if answers is None else answers)

        self._attempt(f"{title}, then verified", check)

    def _attempt(self, title: str, work: Callable[[], None]) -> None:
        """Run a function, and record a failure with its traceback."""
        try:
            work()
        except Exception:
            self.failures.append(f"{title}\n{traceback.format_exc()}")

    def _fresh(self) -> Path:
        """Return an empty folder for a store, in an outer folder that is emptied too."""
        outer = Path(self.settings.folder) / "run"
        shutil.rmtree(outer, ignore_errors=True)
        (outer / "store").mkdir(parents=True)
        return outer / "store"


def url_of(folder: Path) -> str:
    """Return the URL of the store in a folder."""
    return f"sqlite:///{folder / 'campaigns.db'}"


def main() -> None:
    settings = FaultSettings(**json.loads(sys.argv[1]))
    script = make_script()
    gc.freeze()  # forked processes then copy fewer pages
    faulthandler.dump_traceback_later(PATIENCE - 10, exit=True)
    print(json.dumps(Injector(settings, script).run()))
