"""Interrupts at every bytecode, as by a signal handler that raises.

A tracer raises at the n-th bytecode that is executed in the modules under test, for n = 1, 2, 3 and
so on until a call completes. That is more than a signal can do: CPython checks for signals at
calls, at the start of functions and at backward jumps only.
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

SOURCE = Path(almoner.__file__).parent
UNDER_TEST = frozenset(
    str(SOURCE / name)
    for name in (
        "concurrency/mutex.py",
        "concurrency/process.py",
        "live/agent.py",
        "live/async_agent.py",
        "live/catch_up.py",
        "live/group_commit.py",
        "live/reporter.py",
        "store/connections.py",
        "store/files.py",
        "store/memory.py",
        "store/postgres.py",
        "store/sql.py",
        "store/sqlite.py",
    )
)
for path in UNDER_TEST:
    assert Path(path).exists(), f"{path} was moved: nothing in it would be interrupted"
PATIENCE = 60.0
"""Seconds after which a call counts as hanging."""


class Interrupt(BaseException):
    """The exception of the signal handler."""


class Tracer:
    """Raises at one bytecode of a call; ``hit`` is False if the call has fewer bytecodes."""

    def __init__(self, point: int) -> None:
        self.left, self.hit = point, False

    def call(self, function: Callable[[], Any]) -> Any:
        """Call a function, to be interrupted."""
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
    """Interrupt a call at every bytecode, one after the other; yield each error while it is kept.

    A notebook keeps the last error, and with it every frame that it went through.
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
    """Return the result of a function called in another thread; fail if it does not return."""
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
