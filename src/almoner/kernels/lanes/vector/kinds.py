"""The types of vectors to numba and LLVM."""

# mypy: disallow-untyped-decorators=False, disallow-untyped-calls=False

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import binding, ir
from numba.core import cgutils, types
from numba.core.typing.templates import infer, infer_global, make_intrinsic_template
from numba.extending import NativeValue, box, intrinsic, models, register_model, unbox

__all__ = [
    "FLOATS",
    "INTEGERS",
    "MASK",
    "SCALARS",
    "SUFFIXES",
    "WIDTH",
    "VectorType",
    "as_vector",
    "generates",
    "instructions",
    "llvm_type",
    "operation",
    "splat",
    "vector_among",
]

WIDTH = 8
"""Number of lanes: float64 numbers in a register of AVX-512."""


class VectorType(types.Type):
    """The type of a vector to numba, by the type of its numbers."""

    def __init__(self, number: Any) -> None:
        self.number = number
        super().__init__(name=f"Lanes({number})")


FLOATS, INTEGERS, MASK = (VectorType(t) for t in (types.float64, types.uint64, types.boolean))

SCALARS = {FLOATS: ir.DoubleType(), INTEGERS: ir.IntType(64), MASK: ir.IntType(1)}
SUFFIXES = {FLOATS: "f64", INTEGERS: "i64"}


def llvm_type(vector: VectorType) -> Any:
    """Return the type of a vector to LLVM."""
    return ir.VectorType(SCALARS[vector], WIDTH)


def instructions() -> str:
    """Return the vector instructions of this machine that the registers belong to."""
    features = binding.get_host_cpu_features()
    known = {"avx512f": "AVX-512", "avx2": "AVX2", "neon": "NEON"}
    return next(
        (name for key, name in known.items() if features.get(key)), "no vector instructions"
    )


operation: Callable[[Any], Any] = intrinsic
"""Decorator of functions that generate LLVM instructions where a kernel calls them."""


def generates(function: Callable[..., Any]) -> Callable[[Any], Any]:
    """Return a decorator of the LLVM code of a function that Python can call on numbers, too."""

    def register(definition: Any) -> Any:
        template = make_intrinsic_template(function, definition, function.__name__)
        infer(template)
        infer_global(function, types.Function(template))
        return definition

    return register


@register_model(VectorType)
class _VectorModel(models.PrimitiveModel):
    def __init__(self, manager: Any, vector: VectorType) -> None:
        super().__init__(manager, vector, llvm_type(vector))


@unbox(VectorType)
def _unbox(vector: VectorType, _: Any, c: Any) -> NativeValue:
    """Vectors never come from Python; numba wants the code for functions that Python may call."""
    return NativeValue(cgutils.get_null_value(llvm_type(vector)))


@box(VectorType)
def _box(vector: VectorType, value: Any, c: Any) -> Any:
    return c.pyapi.make_none()


def splat(builder: Any, number: Any, vector: VectorType) -> Any:
    """Return a vector with the same number in all lanes."""
    kind = llvm_type(vector)
    undefined, zero = ir.Constant(kind, ir.Undefined), ir.Constant(ir.IntType(32), 0)
    first = builder.insert_element(undefined, number, zero)
    lanes = ir.Constant(ir.VectorType(ir.IntType(32), WIDTH), [0] * WIDTH)
    return builder.shuffle_vector(first, undefined, lanes)


def as_vector(context: Any, builder: Any, value: Any, kind: Any, vector: VectorType) -> Any:
    """Return a vector as it is, and a number in all lanes."""
    if isinstance(kind, VectorType):
        return value
    return splat(builder, context.cast(builder, value, kind, vector.number), vector)


def vector_among(kinds: tuple[Any, ...]) -> Any:
    """Return the vector type among operands if there is one, and the others can be cast to it."""
    vectors = {kind for kind in kinds if isinstance(kind, VectorType)}
    numbers = (VectorType, types.Number, types.Boolean)
    if len(vectors) != 1 or not all(isinstance(kind, numbers) for kind in kinds):
        return None
    return vectors.pop()
