"""Vectors of lanes: values that hold one number for each of eight replications of a run.

Kernels of lanes are written like those for one replication. A vector stands where a number
stood, and the processor computes all eight lanes at once. Think of a numpy array of shape (8,):

| written | numpy, for arrays of shape (8,) |
|---|---|
| ``x + y``, ``x * 2.0``, ``x < y``, ``a & b``, ``~a`` | the same, lane by lane |
| ``max(x, y)``, ``math.sqrt(x)`` | ``np.maximum(x, y)``, ``np.sqrt(x)`` |
| ``where(mask, x, y)`` | ``np.where(mask, x, y)``; both sides are computed |
| ``any_lane(mask)`` | ``mask.any()``; the only way from a mask to a branch |
| ``floats(1.0)``, ``integers(0)`` | ``np.full(8, 1.0)``, ``np.full(8, 0, np.uint64)`` |

There are vectors of float64, of uint64 (contexts, actions, keys of random draws) and of bool.
``if`` takes none of them: a branch that depends on data is written with `where`.

Arrays of lanes have a last axis of length 8. `as_lanes` drops that axis: an entry is a vector, and
an index may be a vector too, so that each lane reads or writes an entry of its own:

| written, for ``a`` from `as_lanes` | numpy, with ``w = np.arange(8)`` |
|---|---|
| ``a[j, k]``, for numbers j and k | ``array[j, k]`` |
| ``a[x, k]``, for a vector x | ``array[x[w], k, w]`` |
| ``table[x]``, for an array of numbers | ``table[x[w]]`` |

Nothing checks such an index: arrays are sized in `almoner.kernels.lanes.state` alone.

Beside `almoner.jit` only this package imports numba. Each operation is an instruction of LLVM on a
vector type, which LLVM maps to AVX-512 registers, to pairs of AVX2 registers, or to what there is.
Floating-point operations round as for single numbers, so that a lane has the same bits.
"""

from __future__ import annotations

from almoner.kernels.lanes.vector import operators  # noqa: F401  # defines them
from almoner.kernels.lanes.vector.functions import (
    any_lane,
    as_floats,
    as_integers,
    bits_of,
    float_of,
    floats,
    integers,
    lane,
    where,
)
from almoner.kernels.lanes.vector.indexing import as_lanes
from almoner.kernels.lanes.vector.kinds import WIDTH, instructions

__all__ = [
    "WIDTH",
    "any_lane",
    "as_floats",
    "as_integers",
    "as_lanes",
    "bits_of",
    "float_of",
    "floats",
    "instructions",
    "integers",
    "lane",
    "where",
]
