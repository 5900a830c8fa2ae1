"""Errors of signal handlers, which belong to the caller in the main thread.

Python runs a handler between any two bytecodes of the main thread. If it raises, as for a time
limit, the error looks like one of the code that was interrupted. Code that catches errors of many
types has to let these pass.
"""

from __future__ import annotations

import signal
from collections.abc import Iterator
from functools import partial
from threading import current_thread, main_thread
from types import CodeType
from typing import Any

__all__ = ["raise_from_handler"]


def raise_from_handler(error: BaseException) -> None:
    """Raise the error of a signal handler that is this error or one of its causes, if any."""
    if current_thread() is not main_thread():
        return
    handlers = {_code(signal.getsignal(number)) for number in signal.valid_signals()}
    for cause in _causes(error):
        if not handlers.isdisjoint(_codes(cause)):
            raise cause


def _causes(error: BaseException) -> Iterator[BaseException]:
    """Yield an error, its cause, the cause of that and so on, which may be a cycle."""
    seen: set[int] = set()
    cause: BaseException | None = error
    while cause is not None and id(cause) not in seen:
        yield cause
        seen.add(id(cause))
        cause = cause.__cause__ or cause.__context__


def _codes(error: BaseException) -> Iterator[CodeType]:
    """Yield the code of each function on the way from where an error was raised."""
    traceback = error.__traceback__
    while traceback is not None:
        yield traceback.tb_frame.f_code
        traceback = traceback.tb_next


def _code(handler: Any) -> CodeType | None:
    """Return the code of a handler: a function, a method, a partial or an object."""
    while isinstance(handler, partial):
        handler = handler.func
    function = handler if hasattr(handler, "__code__") else getattr(handler, "__call__", None)  # noqa: B004
    return getattr(function, "__code__", None)
