"""Operators of vectors, and the functions of Python that work on them as on numbers."""

# mypy: disallow-untyped-decorators=False, disallow-untyped-calls=False

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.core.imputils import lower_builtin
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import overload

from almoner.kernels.lanes.vector.kinds import (
    FLOATS,
    INTEGERS,
    MASK,
    WIDTH,
    VectorType,
    as_vector,
    llvm_type,
    operation,
    vector_among,
)

Emit = Callable[[Any, Any, Any], Any]


def _define(operators: tuple[Any, ...], instructions: dict[Any, Emit], result: Any = None) -> None:
    """Define an operator of two vectors, or of a vector and a number, by LLVM instructions."""

    def generic(_: Any, kinds: tuple[Any, ...], __: Any) -> Any:
        vector = vector_among(kinds) if len(kinds) == 2 else None
        return signature(result or vector, *kinds) if vector in instructions else None

    def lower(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        vector = vector_among(sig.args)
        pair = zip(args, sig.args, strict=True)
        return instructions[vector](
            builder, *(as_vector(context, builder, value, kind, vector) for value, kind in pair)
        )

    for symbol in operators:
        infer_global(symbol)(type("Template", (AbstractTemplate,), {"generic": generic}))
        for one in (VectorType, types.Number, types.Boolean):
            lower_builtin(symbol, VectorType, one)(lower)
            if one is not VectorType:
                lower_builtin(symbol, one, VectorType)(lower)


def _comparison(sign: str) -> dict[Any, Emit]:
    """Return the instructions of a comparison; with NaN all but != are false."""
    compare = "fcmp_unordered" if sign == "!=" else "fcmp_ordered"
    return {
        FLOATS: lambda builder, x, y: getattr(builder, compare)(sign, x, y),
        INTEGERS: lambda builder, x, y: builder.icmp_unsigned(sign, x, y),
    }


def _method(name: str) -> Emit:
    return lambda builder, x, y: getattr(builder, name)(x, y)


_define((operator.add, operator.iadd), {FLOATS: _method("fadd"), INTEGERS: _method("add")})
_define((operator.sub, operator.isub), {FLOATS: _method("fsub"), INTEGERS: _method("sub")})
_define((operator.mul, operator.imul), {FLOATS: _method("fmul"), INTEGERS: _method("mul")})
_define((operator.truediv, operator.itruediv), {FLOATS: _method("fdiv")})
_define((operator.rshift,), {INTEGERS: _method("lshr")})
_define((operator.lshift,), {INTEGERS: _method("shl")})
for _both, _name in (
    ((operator.and_, operator.iand), "and_"),
    ((operator.or_, operator.ior), "or_"),
    ((operator.xor, operator.ixor), "xor"),
):
    _define(_both, {INTEGERS: _method(_name), MASK: _method(_name)})
for _operator, _sign in (
    (operator.lt, "<"),
    (operator.le, "<="),
    (operator.gt, ">"),
    (operator.ge, ">="),
    (operator.eq, "=="),
    (operator.ne, "!="),
):
    _define((_operator,), _comparison(_sign), MASK)


@infer_global(operator.invert)
class _Invert(AbstractTemplate):
    def generic(self, kinds: tuple[Any, ...], _: Any) -> Any:
        return signature(MASK, MASK) if kinds == (MASK,) else None


@lower_builtin(operator.invert, VectorType)
def _invert(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    return builder.not_(args[0])


@infer_global(operator.neg)
class _Negative(AbstractTemplate):
    def generic(self, kinds: tuple[Any, ...], _: Any) -> Any:
        return signature(FLOATS, FLOATS) if kinds == (FLOATS,) else None


@lower_builtin(operator.neg, VectorType)
def _negative(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    return builder.fneg(args[0])


def _pick(sign: str) -> Any:
    """Return the larger or smaller of two vectors, as numba does: the first one if NaN or tied."""

    @operation
    def pick(typing_context: Any, x: Any, y: Any) -> Any:
        def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            one, other = (as_vector(context, builder, args[i], sig.args[i], FLOATS) for i in (0, 1))
            return builder.select(builder.fcmp_ordered(sign, other, one), other, one)

        return FLOATS(x, y), generate

    return pick


_larger, _smaller = _pick(">"), _pick("<")


@overload(max, strict=False)
def _max(x: Any, y: Any) -> Any:
    return (lambda x, y: _larger(x, y)) if vector_among((x, y)) == FLOATS else None  # noqa: PLW0108


@overload(min, strict=False)
def _min(x: Any, y: Any) -> Any:
    return (lambda x, y: _smaller(x, y)) if vector_among((x, y)) == FLOATS else None  # noqa: PLW0108


@operation
def _root(typing_context: Any, x: Any) -> Any:
    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        kind = ir.FunctionType(llvm_type(FLOATS), [llvm_type(FLOATS)])
        name = f"llvm.sqrt.v{WIDTH}f64"
        return builder.call(cgutils.get_or_insert_function(builder.module, kind, name), args)

    return FLOATS(x), generate


@overload(math.sqrt, strict=False)
def _sqrt(x: Any) -> Any:
    return (lambda x: _root(x)) if x == FLOATS else None  # noqa: PLW0108
