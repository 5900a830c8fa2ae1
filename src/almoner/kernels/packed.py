"""Tuples of arrays for kernels, read from Python objects once and not at each call.

To read the arrays of a live campaign takes numba as long as a decision. A `Packed` tuple keeps what
it reads, addresses, shapes and strides, in memory; a kernel takes the address of that memory, and
`unpacked` loads the tuple. The layout is that of numba's arrays: this module depends on it.
"""

# mypy: disallow-untyped-decorators=False, disallow-untyped-calls=False

from __future__ import annotations

from struct import pack, unpack
from typing import Any, TypeVar

import numba
import numpy as np
from llvmlite import ir
from numba.core import types
from numba.extending import (
    NativeValue,
    intrinsic,
    models,
    register_model,
    typeof_impl,
    unbox,
)

__all__ = ["Packed", "PackedType", "packed", "unpacked"]

Values = TypeVar("Values", bound=tuple[Any, ...])

_INTERPRETED = bool(vars(numba.config)["DISABLE_JIT"])


class Packed:
    """A tuple in memory: named tuples, arrays and numbers, given to kernels by its ``address``.

    It keeps the arrays alive, and must be made anew when one of them is replaced.
    """

    def __init__(self, values: tuple[Any, ...]) -> None:
        self.values = values
        self._words = np.array(_words(values), np.uint64)
        self._places: dict[str, int] = {}
        self.address: int = self._words.ctypes.data

    def change(self, name: str, value: float) -> None:
        """Change a number of the first value, a named tuple, for kernels; ``values`` stay."""
        first = self.values[0]
        place = self._places.get(name)
        if place is None:
            place = self._places[name] = len(_words(first[: first._fields.index(name)]))
        kind = type(getattr(first, name))
        (self._words[place],) = _words(kind(value))


def packed(values: Values) -> Values | Packed:
    """Return a tuple in a form that kernels read at once; as it is where nothing is compiled."""
    return values if _INTERPRETED else Packed(values)


def _words(values: Any) -> list[int]:
    """Return the words of a value as numba lays it out; null for owners, which nothing counts."""
    if isinstance(values, np.ndarray):
        address = values.__array_interface__["data"][0]
        return [0, 0, values.size, values.itemsize, address, *values.shape, *values.strides]
    if isinstance(values, tuple):
        return [word for value in values for word in _words(value)]
    if isinstance(values, float):
        return list(unpack("Q", pack("d", values)))
    return [int(values or 0) % 2**64]


class PackedType(types.Type):
    """The type of a `Packed` tuple to numba, by the type of the tuple."""

    def __init__(self, values: Any) -> None:
        self.values = values
        super().__init__(name=f"Packed({values})")


@typeof_impl.register(Packed)
def _type_of(value: Packed, context: Any) -> PackedType:
    return PackedType(typeof_impl(value.values, context))


@register_model(PackedType)
class _PackedModel(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: PackedType) -> None:
        super().__init__(manager, kind, ir.IntType(64))


@unbox(PackedType)
def _unbox(kind: PackedType, value: Any, c: Any) -> NativeValue:
    address = c.pyapi.object_getattr_string(value, "address")
    number = c.pyapi.long_as_ulonglong(address)
    c.pyapi.decref(address)
    return NativeValue(number)


@intrinsic
def _load(typing: Any, values: Any) -> Any:
    if not isinstance(values, PackedType):
        return values(values), lambda context, builder, signature, arguments: arguments[0]

    def load(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kind = context.get_value_type(signature.return_type)
        address = builder.inttoptr(arguments[0], kind.as_pointer())
        return _leaves(builder, address, kind)

    return values.values(values), load


def _leaves(builder: Any, address: Any, kind: Any) -> Any:
    """Load a value part by part: LLVM keeps what is loaded as a whole in one piece."""
    if not isinstance(kind, ir.Aggregate):
        return builder.load(address)
    value = ir.Constant(kind, ir.Undefined)
    for place, part in enumerate(kind.elements):
        leaf = builder.gep(address, [ir.IntType(32)(0), ir.IntType(32)(place)])
        value = builder.insert_value(value, _leaves(builder, leaf, part), place)
    return value


unpacked: Any = (lambda values: values) if _INTERPRETED else _load
"""In a kernel: return the tuple that was packed, or a tuple as it is."""
