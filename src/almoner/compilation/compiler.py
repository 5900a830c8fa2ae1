"""Compiler of kernels: numba's, without machine code for steps that only other kernels call.

numba compiles every function to machine code by itself, with everything that is inlined into it,
also those that no one ever calls but another kernel, which inlines them once more. Such a step is
compiled here as far as LLVM's intermediate code, which is all that its callers need of it. That
takes a quarter off the compilation of a campaign's kernels, and changes nothing in their code.

The cycle collector waits meanwhile: it would search a heap that grows without garbage. Files of
the cache are named so that several processes can fill it at the same time.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from hashlib import sha256
from threading import RLock
from typing import Any

from llvmlite import binding
from numba.core.caching import IndexDataCacheFile
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.core.typed_passes import NativeLowering

from almoner.compilation import progress
from almoner.compilation.lowering import KernelLowering, SeparateLowering
from almoner.compilation.shortcuts import ComparableFlags, shortcuts
from almoner.compilation.tuples import register_kernel_tuples

__all__ = ["CacheFile", "KernelCompiler", "SeparateStepCompiler", "StepCompiler"]

ENVIRONMENT = "_ZN08NumbaEnv"
"""How the names of numba's variables for the globals of a function begin."""

_lock = RLock()
_depth = 0

register_kernel_tuples()


@contextmanager
def _compiling(name: str) -> Iterator[None]:
    """Report a function while it is compiled, and keep the cycle collector from running."""
    global _depth  # noqa: PLW0603
    with _lock:  # numba has a lock of its own around this
        collects = gc.isenabled()
        gc.disable()
        _depth += 1
        progress.begin(name, within=_depth - 1)
        try:
            with nullcontext() if _depth > 1 else shortcuts(CalledCompiler):
                yield
        finally:
            _depth -= 1
            if _depth == 0:
                progress.end()
            if collects:
                gc.enable()


class _CompilerOfAll(Compiler):
    """Compiles a function with the options and the lowering of this package."""

    lowering: type = KernelLowering

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.state.flags = ComparableFlags(self.state.flags)

    def define_pipelines(self) -> Any:
        """Return the passes of numba, with our own in place of its lowering."""
        pipelines = super().define_pipelines()
        for pipeline in pipelines:
            pipeline.passes = [
                (self.lowering if step is NativeLowering else step, about)
                for step, about in pipeline.passes
            ]
        return pipelines


class KernelCompiler(_CompilerOfAll):
    """Compiles a kernel that Python calls, and reports it."""

    def compile_extra(self, func: Callable[..., Any]) -> Any:
        """Compile a function."""
        with _compiling(func.__name__):
            return super().compile_extra(func)


class StepCompiler(KernelCompiler):
    """Compiles a step that only kernels call, and gives it no machine code."""

    def compile_extra(self, func: Callable[..., Any]) -> Any:
        """Compile a function."""
        self.state.library = _new_step_library(self.state, func)
        return super().compile_extra(func)


class SeparateStepCompiler(StepCompiler):
    """Compiles a step that is not inlined."""

    lowering = SeparateLowering


class CalledCompiler(_CompilerOfAll):
    """Compiles a function of numpy or Python that a kernel calls, as a step of it."""

    def compile_extra(self, func: Callable[..., Any]) -> Any:
        """Compile a function."""
        self.state.library = _new_step_library(self.state, func)
        return super().compile_extra(func)


class _StepLibrary(JITCodeLibrary):
    """The code of a step: its callers optimise it, and emit it as machine code."""

    _final_module: Any

    def _optimize_final_module(self) -> None:
        """Do nothing more: each function was optimised by itself."""

    def _finalize_final_module(self) -> None:
        """Keep the code for callers; emit only the variables that numba will set."""
        code = self._final_module
        self._finalized = True  # as the next line requires
        self._get_module_for_linking()
        self._finalized = False
        names = [v.name for v in code.global_variables if v.name.startswith(ENVIRONMENT)]
        self._final_module = binding.parse_assembly(
            f'target triple = "{code.triple}"\ntarget datalayout = "{code.data_layout}"\n'
            + "".join(f'@"{name}" = common global ptr null\n' for name in names)
        )
        self._final_module.name = code.name
        super()._finalize_final_module()


def _new_step_library(state: Any, func: Callable[..., Any]) -> _StepLibrary:
    library = _StepLibrary(state.targetctx.codegen(), func.__qualname__)
    library.enable_object_caching()
    return library


class CacheFile(IndexDataCacheFile):
    """The files of a function in the cache, each named after the types that it is compiled for.

    numba counts them. Two processes that compile the function for different types at the same time
    would then write the same file, and load the code of each other.
    """

    def save(self, key: Any, data: Any) -> None:
        """Save the code for some types, and then add it to the index."""
        digest = sha256(repr(key).encode()).hexdigest()[:16]
        name = f"{self._index_name.removesuffix('nbi')}{digest}.nbc"
        self._save_data(name, data)
        self._save_index({**self._load_index(), key: name})  # a lost entry is compiled again
