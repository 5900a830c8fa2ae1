"""Distribution function of the Beta distribution with shapes from 1 on: posteriors of means."""

from __future__ import annotations

import math

from almoner.jit import jit

__all__ = ["beta_cdf", "log_gamma"]

TERMS = 10_000
"""Limit of terms of the continued fraction, which takes some √(a + b) of them."""


@jit
def log_gamma(x: float) -> float:
    """Return log Γ(x) for x from 1 on, by Stirling's series beyond 10; error below 1e-12."""
    factor = 1.0
    while x < 10.0:
        factor *= x
        x += 1.0
    y = 1.0 / (x * x)
    series = (1.0 / 12.0 - y * (1.0 / 360.0 - y * (1.0 / 1260.0 - y * (1.0 / 1680.0)))) / x
    return (x - 0.5) * math.log(x) - x + 0.9189385332046727418 + series - math.log(factor)


@jit
def beta_cdf(a: float, b: float, x: float) -> float:
    """Return the probability that a Beta(a, b) draw is below x, for a and b of at least 1.

    By the continued fraction, on the side of the mean where it converges fast; error below 1e-10.
    """
    if x <= 0.0 or x >= 1.0:
        return 0.0 if x <= 0.0 else 1.0
    scale = log_gamma(a + b) - log_gamma(a) - log_gamma(b) + a * math.log(x) + b * math.log1p(-x)
    if x < (a + 1.0) / (a + b + 2.0):
        return math.exp(scale) * _fraction(a, b, x) / a
    return 1.0 - math.exp(scale) * _fraction(b, a, 1.0 - x) / b


@jit
def _fraction(a: float, b: float, x: float) -> float:
    """Return the continued fraction of the incomplete beta function (DLMF 8.17.22).

    Numerators and denominators follow Wallis' recurrence, scaled so that it needs no divisions.
    """
    top, top_before, bottom, bottom_before, value = a, 0.0, a, 1.0, 1.0
    for m in range(TERMS):
        odd, even = -(a + m) * (a + b + m) * x, (m + 1.0) * (b - m - 1.0) * x
        top_before = (a + 2.0 * m + 1.0) * top + odd * top_before
        bottom_before = (a + 2.0 * m + 1.0) * bottom + odd * bottom_before
        top = (a + 2.0 * m + 2.0) * top_before + even * top
        bottom = (a + 2.0 * m + 2.0) * bottom_before + even * bottom
        before, value = value, top / bottom
        if abs(value - before) < 1e-13 * value:
            break
        if abs(bottom) > 1e100:
            top, top_before = top * 1e-100, top_before * 1e-100
            bottom, bottom_before = bottom * 1e-100, bottom_before * 1e-100
    return value
