"""Data model of the named tuples of this package, which kernels pass to each other as one value.

numba passes each number of a tuple as an argument of its own, and each array as seven: policy,
state and caches are some 500 arguments at every call from a step to a step. As a single value they
take half the code that LLVM has to read, and no time of a run: inlining leaves nothing of a call.
"""

from __future__ import annotations

from typing import Any

from numba.core import types
from numba.core.datamodel import models, registry

__all__ = ["register_kernel_tuples"]

PACKAGE = __name__.partition(".")[0]


class _SingleValue:
    """Passes a tuple as it is."""

    get_value_type: Any

    def get_argument_type(self) -> Any:
        return self.get_value_type()

    def as_argument(self, builder: Any, value: Any) -> Any:
        return value

    def from_argument(self, builder: Any, value: Any) -> Any:
        return value


class _KernelTuple(_SingleValue, models.TupleModel):
    """Model of a named tuple of different types."""


class _KernelUniTuple(_SingleValue, models.UniTupleModel):
    """Model of a named tuple of one type."""


def register_kernel_tuples() -> None:
    """Have numba use these models for the tuples of this package, and its own for all others."""

    def tuple_model(manager: Any, kind: Any) -> Any:
        own = _is_own(kind.instance_class)
        return (_KernelTuple if own else models.TupleModel)(manager, kind)

    def uniform_model(manager: Any, kind: Any) -> Any:
        own = _is_own(kind.instance_class)
        return (_KernelUniTuple if own else models.UniTupleModel)(manager, kind)

    registry.default_manager.register(types.NamedTuple, tuple_model)
    registry.default_manager.register(types.NamedUniTuple, uniform_model)


def _is_own(cls: type) -> bool:
    """Return whether a tuple is passed as one value.

    Kernels of lanes are not inlined into one: LLVM takes four times as long over theirs.
    """
    package, *modules = cls.__module__.split(".")
    return package == PACKAGE and "lanes" not in modules
