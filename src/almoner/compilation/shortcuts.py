"""Shortcuts through numba's compiler, in force while a kernel is compiled.

Functions of numpy and of Python that a kernel calls are compiled as steps: without machine code,
and without wrappers for Python and C, which nobody calls. Options of functions are compared by what
is set, and LLVM's lock reports no events that nobody listens to. They change
nothing in the code.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import numba
from llvmlite.binding import ffi
from numba.core import event
from numba.core.compiler import Flags
from numba.core.typing import templates

__all__ = ["ComparableFlags", "shortcuts"]

_Overload: Any = templates._OverloadFunctionTemplate


INHERITED = ("nrt", "forceinline", "error_model", "fastmath", "debuginfo", "boundscheck")
"""Options of a function that those it calls inherit."""


class ComparableFlags(Flags):
    """Options of a function, equal to others if functions that both call would be compiled alike.

    numba compares them, and no other flags, at every call of a function of numpy or Python.
    """

    __slots__ = ("inherited",)

    def __init__(self, flags: Flags) -> None:
        super().__init__(flags)
        self.inherited = tuple(str(getattr(flags, name)) for name in INHERITED)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ComparableFlags) and self.inherited == other.inherited

    def __hash__(self) -> int:
        return hash(self.inherited)


@contextmanager
def shortcuts(step_compiler: type) -> Iterator[None]:
    """Compile functions that a kernel calls with a compiler of steps, and be brief elsewhere."""
    find_decorator = _Overload._get_jit_decorator
    decorate = partial(_decorate, step_compiler)
    callbacks = ffi.lib._lock._cblist
    kept = list(callbacks)
    _Overload._get_jit_decorator = lambda self: decorate
    if not event._registered["numba:llvm_lock"]:
        callbacks.clear()
    try:
        yield
    finally:
        callbacks[:] = kept
        _Overload._get_jit_decorator = find_decorator


def _decorate(step_compiler: type, **options: Any) -> Callable[..., Any]:
    wrappers = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
    return numba.jit(**{**options, **wrappers, "pipeline_class": step_compiler})
