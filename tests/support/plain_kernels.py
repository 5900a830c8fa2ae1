"""Kernels as plain Python, for tests of steps that only compiled code can call."""

from __future__ import annotations

from functools import cache
from types import FunctionType
from typing import Any


@cache
def plain(kernel: Any) -> Any:
    """Return a kernel as the Python function that it was written as.

    The kernels that it calls become Python functions too: those decorated with ``jit_inline`` have
    no wrapper for calls from Python.
    """
    function = kernel.py_func
    names = function.__globals__
    called = {name: names[name] for name in function.__code__.co_names if name in names}
    replaced = {name: plain(used) for name, used in called.items() if hasattr(used, "py_func")}
    return FunctionType(
        function.__code__, {**names, **replaced}, function.__name__, function.__defaults__
    )
