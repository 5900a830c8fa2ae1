"""Decorators that compile kernels with numba, and its cache of compiled kernels on disk.

| decorator | may allocate | inlined into kernels | Python may call it | holds the GIL |
|---|---|---|---|---|
| `jit` | yes | if the compiler chooses to | yes | no |
| `jit_large` | no | if the compiler chooses to | yes | no |
| `jit_separate` | no | never | yes | no |
| `jit_inline` | no | always | no, only its ``py_func`` | |
| `jit_callable` | no | always | yes | no |
| `jit_entry` | no | always | yes | yes |
| `jit_merged` | no | always, before compilation | no, only its ``py_func`` | |

A function of `jit`, `jit_large`, `jit_separate` or `jit_callable` that both Python and kernels call
is compiled twice: for kernels without machine code of its own (`almoner.compilation`).

`specialize` removes the type dispatch of a kernel that Python calls very often, and
`call_interruptibly` runs a long kernel so that Ctrl-C works.

numba's cache notices changes of the file that holds a kernel, but not of functions which the kernel
calls in other files: after an edit or an upgrade it would go on running the old ones. Therefore the
cache folder is named after a hash of all compiled sources together.
"""

from __future__ import annotations

import hashlib
import shutil
import tempfile
import threading
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from typing import Any, TypeVar

import numba
from numba.core.registry import CPUDispatcher
from numba.core.types import unliteral

from almoner.compilation.compiler import (
    CacheFile,
    KernelCompiler,
    SeparateStepCompiler,
    StepCompiler,
)

__all__ = [
    "call_interruptibly",
    "has_compiled",
    "jit",
    "jit_callable",
    "jit_entry",
    "jit_inline",
    "jit_large",
    "jit_merged",
    "jit_separate",
    "specialize",
]

Function = TypeVar("Function", bound=Callable[..., Any])
Result = TypeVar("Result")

PACKAGE = Path(__file__).parent

_SETTINGS: Any = numba.config


def _fingerprint() -> str:
    names = ("compilation", "kernels", "policy")
    folders = [path for name in names for path in sorted((PACKAGE / name).rglob("*.py"))]
    sources = [Path(__file__), PACKAGE / "lp.py", *folders]
    return hashlib.sha256(b"".join(source.read_bytes() for source in sources)).hexdigest()[:16]


def _cache_folder() -> str:
    """Return a writable cache folder for the kernels of the present sources."""
    own, name = PACKAGE / "__pycache__", f"kernels-{_fingerprint()}"
    chosen = [Path(_SETTINGS.CACHE_DIR)] if _SETTINGS.CACHE_DIR else []
    for home in (*chosen, own, Path.home() / ".cache" / "almoner"):
        folder = home / name
        try:
            folder.mkdir(parents=True, exist_ok=True)
            tempfile.TemporaryFile(dir=folder).close()
        except OSError:
            continue
        if home == own:  # caches of older sources are never read again
            for other in home.glob("kernels-*"):
                if other != folder:
                    shutil.rmtree(other, ignore_errors=True)
        return str(folder)
    return tempfile.mkdtemp(prefix="almoner-kernels-")


_FOLDER = _cache_folder()


def has_compiled() -> bool:
    """Return whether any kernel of the present sources was compiled before."""
    return next(Path(_FOLDER).rglob("*.nbi"), None) is not None


def jit(function: Function) -> Function:
    """Compile a kernel on first call; for functions that allocate, or are too large to inline.

    It runs without the GIL and is cached on disk. ``py_func`` is the Python function.
    """
    return _callable_step(function, {})


def jit_large(function: Function) -> Function:
    """Compile without inlining and without allocation; for steps too large to inline.

    Functions that count no references to arrays, such as those of `jit_inline`, may return an array
    only to callers that do not count them either: `jit` would release it once too often.
    """
    return _callable_step(function, {"_nrt": False, "no_cfunc_wrapper": True})


def jit_separate(function: Function) -> Function:
    """Compile a step that is never inlined and does not allocate.

    For long computations that are called from many places, of which inlining would make as many
    copies, or that are called seldom.
    """
    step: Any = _callable_step(function, {**_INLINE, "forceinline": False})
    if not _SETTINGS.DISABLE_JIT:
        step._compiler.pipeline_class = SeparateStepCompiler
    return step


def jit_inline(function: Function) -> Function:
    """Compile with forced inlining into the calling kernel; for steps that only kernels call.

    Steps of a run take tuples of arrays. Passing the tuples, and counting references to each array
    at each call, would take ten times as long as the steps themselves.
    """
    return _compile(function, {**_INLINE, **_STEP})


def jit_callable(function: Function) -> Function:
    """Compile like `jit_inline`; for kernels, and for steps that Python calls too."""
    return _callable_step(function, _INLINE)


def jit_entry(function: Function) -> Function:
    """Compile like `jit_callable`, but keep the GIL; for calls from Python that take microseconds.

    Such a call takes less time than getting the GIL back from other threads.
    """
    return _compile(function, {**_INLINE, "nogil": False})


def jit_merged(function: Function) -> Function:
    """Merge a step into the calling kernel before that is compiled; for steps that call large ones.

    Every other function is compiled by itself, together with all that it calls, before its callers
    are: a step between two large ones would double the time that the lower one takes.
    """
    return _compile(function, {"inline": "always", "_nrt": False, **_STEP})


def specialize(function: Function, *arguments: Any) -> Function:
    """Return the machine code of a kernel for arguments of these types, compiled now if need be.

    numba's type dispatch at each call takes longer than most steps of a run. The result checks no
    types: callers must pass arguments of exactly these.
    """
    if _SETTINGS.DISABLE_JIT:
        return function
    kernel: Any = getattr(function, "for_python", function)
    types = tuple(kernel.typeof_pyval(argument) for argument in arguments)
    kernel.compile(types)
    return kernel.get_overload(types)


def call_interruptibly(kernel: Callable[..., Result], *arguments: Any) -> Result:
    """Call a kernel that may take minutes, and let Ctrl-C end the wait.

    Python handles signals between bytecodes, so none while the main thread runs a kernel: it runs
    in another thread. That thread cannot be stopped; as a daemon it does not block the exit.
    """
    if threading.current_thread() is not threading.main_thread():
        return kernel(*arguments)
    outcome: Future[Result] = Future()

    def run() -> None:
        try:
            outcome.set_result(kernel(*arguments))
        except BaseException as error:
            outcome.set_exception(error)

    threading.Thread(target=run, daemon=True).start()
    return outcome.result()


_INLINE = {"_nrt": False, "forceinline": True, "no_cfunc_wrapper": True}

_STEP = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True, "pipeline_class": StepCompiler}


class _Kernel(CPUDispatcher):
    """A kernel compiled once for all constants of a type, which numba tells apart."""

    def get_call_template(self, args: Any, kws: Any) -> Any:
        """Return the types of a call from another kernel."""
        plain = {name: unliteral(kind) for name, kind in kws.items()}
        return super().get_call_template(tuple(map(unliteral, args)), plain)


class _CallableStep(_Kernel):
    """A step for kernels, with another kernel of the same function for calls from Python."""

    for_python: Any

    def __call__(self, *arguments: Any) -> Any:
        """Call the kernel for Python, which is compiled at the first call."""
        return self.for_python(*arguments)


def _callable_step(function: Function, options: dict[str, Any]) -> Function:
    step: Any = _compile(function, {**options, **_STEP})
    if not _SETTINGS.DISABLE_JIT:
        step.__class__ = _CallableStep
        # In a folder of its own: numba names files in the cache by the function alone.
        step.for_python = _compile(function, options, folder=str(Path(_FOLDER) / "for_python"))
    return step


def _compile(function: Function, options: dict[str, Any], *, folder: str = _FOLDER) -> Function:
    before, _SETTINGS.CACHE_DIR = _SETTINGS.CACHE_DIR, folder
    settings = {
        **{"cache": True, "nogil": True, "error_model": "numpy"},
        **{"pipeline_class": KernelCompiler, **options},
    }
    try:
        result: Any = numba.njit(**settings)(function)
        if not _SETTINGS.DISABLE_JIT:
            result.__class__ = _Kernel
            result._cache._cache_file.__class__ = CacheFile
    finally:
        _SETTINGS.CACHE_DIR = before
    return result
