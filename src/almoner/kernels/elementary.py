"""The natural logarithm, for one number or for a vector of them, with the same bits.

Kernels that play eight replications at once must round as those that play one do. The C library has
a logarithm for one number only; this one is the same source for both.
"""

from __future__ import annotations

from decimal import Context, Decimal
from typing import Any

import numpy as np

from almoner.jit import jit_inline
from almoner.kernels.lanes.vector import as_floats, bits_of, float_of
from almoner.types import Floats

__all__ = ["log"]

_HALF = np.uint64(0x3FE6A09E00000000)
"""Bits of about √½, where the mantissas begin: they lie between it and √2."""

_OFFSET = np.uint64(0x3FF0000000000000 - 0x3FE6A09E00000000)
_EXPONENT, _MANTISSA = np.uint64(52), np.uint64(0x000FFFFFFFFFFFFF)
_BIAS = 1023.0
_LN2_HIGH, _LN2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10
_THIRD, _SIXTH, _SEVENTH = 1.0 / 3.0, 1.0 / 6.0, 1.0 / 7.0
_UPPER = np.uint64(0xFFFFFFFFF8000000)
"""The upper 26 bits of a mantissa."""

_PARTS = 256
_PART = np.uint64(44)
"""Position of the bits of a mantissa that number its interval, one of 256."""


def _tables() -> tuple[Floats, Floats, Floats]:
    """Return for each interval of mantissas 1/c, log c to 42 binary places, and the rest of log c.

    c is near the middle of the interval, and 1/c has 13 bits, so that products with half a mantissa
    are exact. In the two intervals next to 1 it is 1, where logarithms are small.
    """
    starts = int(_HALF) + (np.arange(_PARTS + 1, dtype=np.int64) << int(_PART))
    ends = starts.view(np.float64)
    inverses = np.round(2.0**12 * 2.0 / (ends[:-1] + ends[1:])) / 2.0**12
    near_one = int(np.searchsorted(ends, 1.0))
    inverses[near_one - 1 : near_one + 1] = 1.0
    exact = [-Context(prec=40).ln(Decimal(inverse)) for inverse in inverses.tolist()]
    high = np.round(np.array([float(value) for value in exact]) * 2.0**42) / 2.0**42
    low = [float(value - Decimal(part)) for value, part in zip(exact, high.tolist(), strict=True)]
    return inverses, high, np.array(low)


_INVERSES, _LOGS_HIGH, _LOGS_LOW = _tables()


@jit_inline
def log(x: Any) -> Any:
    """Return log x for a normal x > 0, to within one unit in the last place.

    With x = 2^k m, and c near m, it is k log 2 + log c + log(1 + r), r = m/c − 1, without rounding
    up to r. The series of log(1 + r) ends with r⁷, as r is less than 1/250.
    """
    scaled = bits_of(x) + _OFFSET
    k = as_floats(scaled >> _EXPONENT) - _BIAS
    mantissa = scaled & _MANTISSA
    part, bits = mantissa >> _PART, mantissa + _HALF
    upper, inverse = float_of(bits & _UPPER), _INVERSES[part]
    r = (upper * inverse - 1.0) + (float_of(bits) - upper) * inverse
    square = r * r
    series = (_THIRD * r - 0.5) + square * ((0.2 * r - 0.25) + square * (_SEVENTH * r - _SIXTH))
    known = k * _LN2_HIGH + _LOGS_HIGH[part]
    sum_ = known + r
    rest = (known - sum_) + r + (_LOGS_LOW[part] + k * _LN2_LOW)
    return sum_ + (rest + square * series)
