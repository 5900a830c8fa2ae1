"""Inject faults into file I/O: build the preloaded library, and run the fault injector."""

from __future__ import annotations

import ctypes
import json
import os
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import NamedTuple

from support import program

SOURCE = Path(__file__).with_suffix(".c")
PATIENCE = 900  # seconds for a program that takes about 20 on a quiet machine

COUNT, KILL, KILL_HALFWAY, FAIL, SHORTEN = range(5)
"""Kinds of faults, as in the library's ``enum mode``."""


@dataclass(frozen=True, kw_only=True)
class FaultSettings:
    """Settings of one process: kills, errors or power, and its share of the faults.

    ``hasty`` acknowledges each step before it is performed, and ``volatile`` ignores every sync:
    both lose acknowledged steps, to test that losses are detected.
    """

    what: str
    folder: str
    part: int = 0
    parts: int = 1
    hasty: bool = False
    volatile: bool = False


class Outcome(NamedTuple):
    """Number of injected faults by kind, and the failures."""

    injected: dict[str, int]
    failures: list[str]


class Fault(NamedTuple):
    """One fault: its mode, the first and the last call that it strikes, and its errno."""

    name: str
    mode: int
    first: int
    last: int
    error: int = 0


NO_FAULT = Fault("none", COUNT, 0, 0)


def build(folder: Path) -> Path:
    """Compile the library."""
    compiler = shutil.which("cc")
    assert compiler is not None, "file faults need a C compiler; run make test, which installs it"
    library = folder / "file_faults.so"
    flags = ["-O2", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC"]
    subprocess.run([compiler, *flags, str(SOURCE), "-o", str(library), "-ldl"], check=True)
    return library


def inject(folder: Path, what: str, *, parts: int = 1, **mutations: bool) -> Outcome:
    """Run the injector in parallel processes, each on a part of the faults; merge the outcomes."""
    environment = {**os.environ, "LD_PRELOAD": str(build(folder))}
    programs = []
    for part in range(parts):
        (folder / str(part)).mkdir()
        settings = FaultSettings(
            what=what, folder=str(folder / str(part)), part=part, parts=parts, **mutations
        )
        programs.append(
            subprocess.Popen(
                program("fault_injector", json.dumps(asdict(settings))),
                env=environment,
                stdout=subprocess.PIPE,
                text=True,
            )
        )
    injected: dict[str, int] = {}
    failures: list[str] = []
    for process in programs:
        output, _ = process.communicate(timeout=PATIENCE)
        assert process.returncode == 0, output
        report = Outcome(*json.loads(output))
        failures += report.failures
        for name, count in report.injected.items():
            injected[name] = injected.get(name, 0) + count
    return Outcome(injected, failures)


class Library:
    """Functions of the preloaded library."""

    def __init__(self) -> None:
        self._functions = ctypes.CDLL(None)
        self.calls: Callable[[], int] = self._functions.faults_calls
        self.disarm: Callable[[], None] = self._functions.faults_disarm
        self.acknowledge: Callable[[], None] = self._functions.faults_acknowledge

    def arm(self, folder: Path, fault: Fault, log: int = -1) -> None:
        """Count calls below a folder from now on, and inject the fault."""
        path, first, last = os.fsencode(folder) + b"/", fault.first, fault.last
        arguments = (path, fault.mode, ctypes.c_long(first), ctypes.c_long(last), fault.error, log)
        self._functions.faults_arm(*arguments)
