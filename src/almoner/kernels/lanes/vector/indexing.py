"""Arrays of lanes, and vectors as indices of arrays."""

# mypy: disallow-untyped-decorators=False, disallow-untyped-calls=False

from __future__ import annotations

import operator
from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import overload

from almoner.kernels.lanes.vector.kinds import (
    FLOATS,
    INTEGERS,
    MASK,
    SCALARS,
    SUFFIXES,
    WIDTH,
    VectorType,
    as_vector,
    llvm_type,
    operation,
    splat,
)

__all__ = ["as_lanes"]

_BYTE_SHIFT = 3
"""Logarithm of the eight bytes of a number."""


@operation
def as_lanes(typing_context: Any, array: Any, alike: Any) -> Any:
    """Return an array with a last axis of length 8 as an array of vectors.

    It must be contiguous, aligned to 64 bytes, and have the shape of ``alike``: the same vector is
    an index into all arrays of one shape, and LLVM computes it once if it knows that.
    """
    vector = FLOATS if array.dtype == types.float64 else INTEGERS
    viewed = types.Array(vector, array.ndim - 1, "C")

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        given, model = (
            context.make_array(kind)(context, builder, value)
            for kind, value in zip(sig.args, args, strict=True)
        )
        view = context.make_array(viewed)(context, builder)
        view.data = builder.bitcast(given.data, context.get_data_type(vector).as_pointer())
        for name in ("shape", "strides"):
            axes = cgutils.unpack_tuple(builder, getattr(model, name), array.ndim)[:-1]
            setattr(view, name, cgutils.pack_array(builder, axes, ir.IntType(64)))
        view.itemsize = context.get_constant(types.intp, 8 * WIDTH)
        view.nitems = builder.udiv(model.nitems, context.get_constant(types.intp, WIDTH))
        view.meminfo = cgutils.get_null_value(view.meminfo.type)
        view.parent = cgutils.get_null_value(view.parent.type)
        return view._getvalue()

    return viewed(array, alike), generate


def _is_gathered(array: Any, index: Any) -> bool:
    """Return whether an index into an array is a vector, or has one among its parts."""
    parts = getattr(index, "types", (index,))  # those of a tuple
    return isinstance(array, types.Array) and any(part == INTEGERS for part in parts)


def _addresses(context: Any, builder: Any, kinds: tuple[Any, Any], args: Any) -> Any:
    """Return the address of the entry that each lane has at an index of its own."""
    array_kind, index_kind = kinds
    array = context.make_array(array_kind)(context, builder, args[0])
    shape = cgutils.unpack_tuple(builder, array.shape, array_kind.ndim)
    parts, part_kinds = [args[1]], [index_kind]
    if hasattr(index_kind, "types"):
        parts, part_kinds = cgutils.unpack_tuple(builder, args[1]), list(index_kind.types)
    flat = None
    for part, kind, length in zip(parts, part_kinds, shape, strict=True):
        vector = as_vector(context, builder, part, kind, INTEGERS)
        if flat is not None:
            vector = builder.add(builder.mul(flat, splat(builder, length, INTEGERS)), vector)
        flat = vector
    if isinstance(array_kind.dtype, VectorType):
        width = ir.Constant(llvm_type(INTEGERS), [WIDTH] * WIDTH)
        flat = builder.add(
            builder.mul(flat, width), ir.Constant(llvm_type(INTEGERS), list(range(WIDTH)))
        )
    start = splat(builder, builder.ptrtoint(array.data, ir.IntType(64)), INTEGERS)
    shift = ir.Constant(llvm_type(INTEGERS), [_BYTE_SHIFT] * WIDTH)
    return builder.add(start, builder.shl(flat, shift))


def _vector_of(array: Any) -> VectorType:
    """Return the type of the vector that an array's entries make."""
    if isinstance(array.dtype, VectorType):
        return array.dtype
    return FLOATS if array.dtype == types.float64 else INTEGERS


@operation
def _gather(typing_context: Any, array: Any, index: Any) -> Any:
    vector = _vector_of(array)

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        kind = ir.VectorType(SCALARS[vector].as_pointer(), WIDTH)
        places = builder.inttoptr(_addresses(context, builder, sig.args, args), kind)
        flags = llvm_type(MASK)
        of = ir.FunctionType(llvm_type(vector), [kind, ir.IntType(32), flags, llvm_type(vector)])
        name = f"llvm.masked.gather.v{WIDTH}{SUFFIXES[vector]}.v{WIDTH}p0"
        function = cgutils.get_or_insert_function(builder.module, of, name)
        alignment, all_lanes = ir.Constant(ir.IntType(32), 8), ir.Constant(flags, [1] * WIDTH)
        undefined = ir.Constant(llvm_type(vector), ir.Undefined)
        return builder.call(function, [places, alignment, all_lanes, undefined])

    return vector(array, index), generate


@operation
def _scatter(typing_context: Any, array: Any, index: Any, value: Any) -> Any:
    vector = _vector_of(array)

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        addresses = _addresses(context, builder, sig.args[:2], args)
        values = as_vector(context, builder, args[2], sig.args[2], vector)
        for i in range(WIDTH):
            which = ir.Constant(ir.IntType(32), i)
            place = builder.extract_element(addresses, which)
            pointer = builder.inttoptr(place, SCALARS[vector].as_pointer())
            builder.store(builder.extract_element(values, which), pointer)
        return context.get_dummy_value()

    return types.void(array, index, value), generate


@overload(operator.getitem, strict=False)
def _getitem(array: Any, index: Any) -> Any:
    return (lambda array, index: _gather(array, index)) if _is_gathered(array, index) else None  # noqa: PLW0108


@overload(operator.setitem, strict=False)
def _setitem(array: Any, index: Any, value: Any) -> Any:
    if not _is_gathered(array, index):
        return None
    return lambda array, index, value: _scatter(array, index, value)  # noqa: PLW0108
