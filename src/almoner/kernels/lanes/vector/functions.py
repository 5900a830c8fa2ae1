"""Functions of vectors."""

# mypy: disallow-untyped-decorators=False, disallow-untyped-calls=False

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import types
from numba.extending import overload

from almoner.kernels.lanes.vector.kinds import (
    FLOATS,
    INTEGERS,
    MASK,
    SCALARS,
    WIDTH,
    VectorType,
    as_vector,
    generates,
    llvm_type,
    operation,
    vector_among,
)

__all__ = [
    "any_lane",
    "as_floats",
    "as_integers",
    "bits_of",
    "float_of",
    "floats",
    "integers",
    "lane",
    "where",
]


def where(mask: Any, x: Any, y: Any) -> Any:
    """Return x in the lanes of a mask, and y in the others; of numbers, x if the mask holds."""
    return x if mask else y


@generates(where)
def _where(typing_context: Any, mask: Any, x: Any, y: Any) -> Any:
    if mask != MASK:
        return types.float64(
            mask, types.float64, types.float64
        ), lambda _, builder, __, args: builder.select(*args)
    vector = vector_among((x, y))
    if vector is None:
        whole = isinstance(x, types.Integer) and isinstance(y, types.Integer)
        vector = INTEGERS if whole else FLOATS

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        chosen, other = (as_vector(context, builder, args[i], sig.args[i], vector) for i in (1, 2))
        return builder.select(args[0], chosen, other)

    return vector(mask, x, y), generate


def any_lane(mask: Any) -> bool:
    """Return whether a mask holds in any lane; of a single one, whether it holds."""
    return bool(mask)


@generates(any_lane)
def _any_lane(typing_context: Any, mask: Any) -> Any:
    if mask != MASK:
        return types.boolean(mask), lambda _, __, ___, args: args[0]

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        bits = ir.IntType(WIDTH)
        return builder.icmp_unsigned("!=", builder.bitcast(args[0], bits), ir.Constant(bits, 0))

    return types.boolean(mask), generate


def _full(vector: VectorType) -> Any:
    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return as_vector(context, builder, args[0], sig.args[0], vector)

    return generate


@operation
def floats(typing_context: Any, number: Any) -> Any:
    """Return a vector with the same float64 in all lanes."""
    return FLOATS(number), _full(FLOATS)


@operation
def integers(typing_context: Any, number: Any) -> Any:
    """Return a vector with the same uint64 in all lanes."""
    return INTEGERS(number), _full(INTEGERS)


@operation
def as_integers(typing_context: Any, x: Any) -> Any:
    """Return floats from 0 on, rounded down, as integers."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return builder.fptoui(args[0], llvm_type(INTEGERS))

    return INTEGERS(x), generate


@operation
def lane(typing_context: Any, vector: Any, i: Any) -> Any:
    """Return the number in lane i of a vector."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return builder.extract_element(args[0], builder.trunc(args[1], ir.IntType(32)))

    return vector.number(vector, types.intp), generate


def bits_of(x: Any) -> Any:
    """Return the 64 bits of a float, or of each lane of a vector, as an unsigned integer."""
    return np.float64(x).view(np.uint64)


def float_of(bits: Any) -> Any:
    """Return the float, or the vector of floats, with these bits."""
    return bits.view(np.float64)


def as_floats(x: Any) -> Any:
    """Return an unsigned integer below 2**53, or a vector of them, as floats; of a mask, 1 or 0."""
    return np.float64(x)


def _conversion(vector: VectorType, number: Any, method: str) -> Any:
    """Return the operation that converts numbers, or vectors, by a method of the LLVM builder."""

    @operation
    def convert(typing_context: Any, x: Any) -> Any:
        single = not isinstance(x, VectorType)

        def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            target = SCALARS[vector] if single else llvm_type(vector)
            return getattr(builder, method)(args[0], target)

        return (number if single else vector)(x), generate

    return convert


_to_bits = _conversion(INTEGERS, types.uint64, "bitcast")
_to_float = _conversion(FLOATS, types.float64, "bitcast")
_to_whole = _conversion(FLOATS, types.float64, "uitofp")


@overload(bits_of, strict=False)
def _bits_of(x: Any) -> Any:
    return lambda x: _to_bits(x)  # noqa: PLW0108


@overload(float_of, strict=False)
def _float_of(bits: Any) -> Any:
    return lambda bits: _to_float(bits)  # noqa: PLW0108


@overload(as_floats, strict=False)
def _as_floats(x: Any) -> Any:
    return lambda x: _to_whole(x)  # noqa: PLW0108
