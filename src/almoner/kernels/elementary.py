"""The natural logarithm and its inverse, for one number or for a vector, with the same bits.

Kernels that play eight replications at once must round as those that play one do. The C library has
both for one number only; here they are the same source for both.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from almoner.jit import jit_inline
from almoner.kernels.lanes.vector import as_floats, bits_of, float_of

__all__ = ["exp", "log"]

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

_P1, _P2, _P3 = 1.66666666666666019037e-01, -2.77777777770155933842e-03, 6.61375632143793436117e-05
_P4, _P5 = -1.65339022054652515390e-06, 4.13813679705723846039e-08
"""Coefficients of r(e^r + 1)/(e^r − 1) − 2 in powers of r² (e_exp.c), off by 2^-59 at most."""

_PER_LN2 = 1.44269504088896338700
_TO_WHOLE = 1.5 * 2.0**52
"""Adding a number this large rounds to a whole number, which the last bits of the sum hold."""

_BIAS_BITS, _EXPONENT_BITS = np.uint64(1023), np.uint64(0x7FF)


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


@jit_inline
def exp(x: Any) -> Any:
    """Return e^x for |x| of at most 700, to within one unit in the last place: 2^k e^r."""
    shifted = x * _PER_LN2 + _TO_WHOLE
    k = shifted - _TO_WHOLE
    high, low = x - k * _LN2_HIGH, k * _LN2_LOW
    r = high - low
    square = r * r
    c = r - square * (_P1 + square * (_P2 + square * (_P3 + square * (_P4 + square * _P5))))
    power = ((bits_of(shifted) + _BIAS_BITS) & _EXPONENT_BITS) << _EXPONENT
    return float_of(power) * (1.0 - ((low - r * c / (2.0 - c)) - high))
