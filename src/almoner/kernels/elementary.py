"""The natural logarithm, for one number or for a vector of them, with the same bits.

Kernels that play eight replications at once must round as those that play one do. The C library has
a logarithm for one number only; this one is the same source for both.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from almoner.jit import jit_inline
from almoner.kernels.lanes.vector import as_floats, bits_of, float_of

__all__ = ["log"]

_HALF = np.uint64(0x3FE6A09E00000000)
"""Bits of about √½, where the mantissas begin: they lie between it and √2."""

_OFFSET = np.uint64(0x3FF0000000000000 - 0x3FE6A09E00000000)
_EXPONENT, _MANTISSA = np.uint64(52), np.uint64(0x000FFFFFFFFFFFFF)
_BIAS = 1023.0

_LN2_HIGH, _LN2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10
"""log 2 in two parts. Products of the first, of 32 bits, with an exponent are exact."""

_C1, _C3, _C5, _C7 = 0.6666666666666735, 0.2857142874366239, 0.1818357216161805, 0.14798198605116586
_C2, _C4, _C6 = 0.3999999999940942, 0.22222198432149784, 0.15313837699209373
"""Coefficients of (log(1 + f) − 2s)/s in powers of s², s = f/(2 + f): the minimax polynomial of
FreeBSD's msun (e_log.c), off by 2^-58.45 at most."""


@jit_inline
def log(x: Any) -> Any:
    """Return log x for a normal x > 0, to within one unit in the last place.

    With x = 2^k (1 + f) it is k log 2 + log(1 + f). The terms are added from the smallest on; the
    polynomial is in two halves, which a processor computes at the same time. Tables would take
    longer: a vector reads them entry by entry.
    """
    scaled = bits_of(x) + _OFFSET
    k = as_floats(scaled >> _EXPONENT) - _BIAS
    f = float_of((scaled & _MANTISSA) + _HALF) - 1.0
    s = f / (2.0 + f)
    square = s * s
    fourth = square * square
    rest = fourth * (_C2 + fourth * (_C4 + fourth * _C6))
    rest += square * (_C1 + fourth * (_C3 + fourth * (_C5 + fourth * _C7)))
    half = 0.5 * f * f
    return k * _LN2_HIGH - ((half - (s * (half + rest) + k * _LN2_LOW)) - f)
