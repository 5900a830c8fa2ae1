"""The one door to numba: the decorators that kernels wear, and `direct`, to call them very often.

numba's disk cache notices a change of the file a kernel stands in, but not of the functions that
the kernel calls in other files: after an edit or an upgrade it would go on running the old ones.
So the cache folder is named after a fingerprint of all compiled sources together.
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

__all__ = ["brief", "compiled", "direct", "exposed", "inlined", "interruptibly"]

Function = TypeVar("Function", bound=Callable[..., Any])
Result = TypeVar("Result")

PACKAGE = Path(__file__).parent

_SETTINGS: Any = numba.config


def _fingerprint() -> str:
    folders = [*(PACKAGE / "kernels").glob("*.py"), *(PACKAGE / "policy").glob("*.py")]
    sources = [Path(__file__), PACKAGE / "lp.py", *sorted(folders)]
    return hashlib.sha256(b"".join(source.read_bytes() for source in sources)).hexdigest()[:16]


def _cache_folder() -> str:
    """Return a writable folder for the kernels of these very sources."""
    own, name = PACKAGE / "__pycache__", f"kernels-{_fingerprint()}"
    chosen = [Path(_SETTINGS.CACHE_DIR)] if _SETTINGS.CACHE_DIR else []
    for home in (*chosen, own, Path.home() / ".cache" / "almoner"):
        folder = home / name
        try:
            folder.mkdir(parents=True, exist_ok=True)
            tempfile.TemporaryFile(dir=folder).close()
        except OSError:
            continue
        if home == own:  # beside our sources, the kernels of older sources are of no use to anybody
            for other in home.glob("kernels-*"):
                if other != folder:
                    shutil.rmtree(other, ignore_errors=True)
        return str(folder)
    return tempfile.mkdtemp(prefix="almoner-kernels-")


_FOLDER = _cache_folder()


def compiled(function: Function) -> Function:
    """Compile ``function`` on first call, without the GIL and cached on disk.

    ``function.py_func`` is the plain Python it was made from.
    """
    return _compile(function, {})


def inlined(function: Function) -> Function:
    """Compile a function that allocates nothing, and melt it into whatever compiled code calls it.

    Steps of a run take tuples of arrays. Counting references to each array at each call, and
    passing the tuples, would cost ten times what the steps themselves do. Python must not call it
    (only its ``py_func``): the wrapper for that is left out, which saves a fifth of compilation.
    """
    return _compile(function, {**_MELTED, "no_cpython_wrapper": True})


def exposed(function: Function) -> Function:
    """Compile a function like `inlined`, for Python to call too."""
    return _compile(function, _MELTED)


def brief(function: Function) -> Function:
    """Compile a function like `exposed`, but keep the GIL while it runs.

    A single step takes less time than it would take to get the GIL back from other threads.
    """
    return _compile(function, {**_MELTED, "nogil": False})


def direct(function: Function, *arguments: Any) -> Function:
    """Return a compiled function as it is for arguments of these types, compiled now if need be.

    To find out the types of its arguments at each call takes numba longer than most steps of a run
    take. Nothing checks them any more: whoever calls the result keeps to them.
    """
    if _SETTINGS.DISABLE_JIT:
        return function
    kernel: Any = function
    types = tuple(kernel.typeof_pyval(argument) for argument in arguments)
    kernel.compile(types)
    return kernel.get_overload(types)  # type: ignore[no-any-return]


def interruptibly(kernel: Callable[..., Result], *arguments: Any) -> Result:
    """Call a kernel that may take minutes, and hear Ctrl-C meanwhile.

    Signals wait until a kernel returns, unless it runs in another thread. That thread cannot be
    stopped, but it does not keep the process from ending.
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


_MELTED = {"_nrt": False, "forceinline": True, "no_cfunc_wrapper": True}


def _compile(function: Function, options: dict[str, Any]) -> Function:
    before, _SETTINGS.CACHE_DIR = _SETTINGS.CACHE_DIR, _FOLDER
    settings = {"cache": True, "nogil": True, "error_model": "numpy", **options}
    try:
        result: Any = numba.njit(**settings)(function)
    finally:
        _SETTINGS.CACHE_DIR = before
    return result  # type: ignore[no-any-return]
