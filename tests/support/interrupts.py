"""Interrupt a call at every bytecode, as a signal handler that raises could.

A tracer raises at the n-th bytecode that is executed in the modules under test, for n = 1, 2, 3 and
so on until a call completes. Signals have fewer chances: CPython handles them at calls, at the
start of functions and at backward jumps only.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Thread
from types import FrameType
from typing import Any

import pytest

import almoner
from support.waiting import PATIENCE

SOURCE = Path(almoner.__file__).parent
UNDER_TEST = frozenset(
    str((SOURCE / name).resolve(strict=True))
    for name in (
        "concurrency/mutex.py",
        "concurrency/process.py",
        "live/agent.py",
        "live/async_agent.py",
        "live/reports/curve.py",
        "live/reports/history.py",
        "live/reports/reporter.py",
        "live/transactions/async_group_commit.py",
        "live/transactions/catch_up.py",
        "live/transactions/group_commit.py",
        "live/transactions/recent_events.py",
        "store/connections.py",
        "store/database.py",
        "store/sqlite_connection.py",
        "store/sqlite_file.py",
        "store/memory.py",
        "store/postgres.py",
        "store/sql.py",
        "store/sql_logs.py",
        "store/sqlite.py",
    )
)


class Interrupt(BaseException):
    """Exception that stands for one raised by a signal handler."""


class Tracer:
    """Raises `Interrupt` at the n-th bytecode of a call; ``hit`` is whether it got so far."""

    def __init__(self, point: int) -> None:
        self.left, self.hit = point, False

    def call(self, function: Callable[[], Any]) -> Any:
        """Call a function under the tracer."""
        # Python 3.12 reports bytecodes only if some frame has asked for them before settrace.
        sys._getframe().f_trace_opcodes = True
        sys.settrace(self._enter)
        try:
            return function()
        finally:
            sys.settrace(None)

    def _enter(self, frame: FrameType, event: str, argument: object) -> Any:
        if frame.f_code.co_filename not in UNDER_TEST:
            return None
        frame.f_trace_lines, frame.f_trace_opcodes = False, True
        return self._trace

    def _trace(self, frame: FrameType, event: str, argument: object) -> Any:
        if event == "opcode" and not self.hit:
            self.left -= 1
            if self.left == 0:
                self.hit = True
                raise Interrupt
        return self._trace


def interrupted(call: Callable[[int], Any], step: int = 1) -> Iterator[BaseException | None]:
    """Interrupt a call at every bytecode in turn, and yield each error.

    The error stays referenced meanwhile, with all its frames, as in a notebook.
    """
    point = 1
    while True:
        tracer, error = Tracer(point), None
        try:
            tracer.call(lambda: call(point))  # noqa: B023
        except Interrupt as reason:
            error = reason
        yield error
        if not tracer.hit:
            return
        point += step


def elsewhere(function: Callable[[], Any], patience: float = PATIENCE) -> Any:
    """Call a function in another thread and return its result; fail if it hangs."""
    results: list[Any] = []

    def work() -> None:
        try:
            results.append((function(), None))
        except BaseException as error:
            results.append((None, error))

    thread = Thread(target=work, daemon=True)
    thread.start()
    thread.join(patience)
    if not results:
        pytest.fail("a call hangs after an interrupt")
    result, error = results[0]
    if error is not None:
        raise error
    return result
