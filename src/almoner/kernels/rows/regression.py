"""Bayesian linear regression, one observation at a time, in O(d²).

No operation is reordered by the compiler, so that two machines that fold the same log agree to the
last bit; loops run along rows of symmetric matrices, so that they still use vector registers.
"""

from __future__ import annotations

from almoner.jit import jit_inline, jit_large
from almoner.types import Floats

__all__ = ["copy_matrix", "dot", "observe", "quadratic"]


@jit_inline
def dot(a: Floats, b: Floats) -> float:
    """Return the inner product of two vectors."""
    total = 0.0
    for i in range(len(a)):
        total += a[i] * b[i]
    return total


@jit_inline
def copy_matrix(source: Floats, target: Floats) -> None:
    """Copy a matrix into another one of the same shape, without allocation."""
    for i in range(source.shape[0]):
        for j in range(source.shape[1]):
            target[i, j] = source[i, j]


@jit_inline
def multiply(matrix: Floats, x: Floats, product: Floats) -> None:
    """Write the product of a symmetric matrix and a vector, four rows of the matrix at a time."""
    width = len(x)
    whole = width - width % 4
    for i in range(width):
        product[i] = 0.0
    for j in range(0, whole, 4):
        a, b, c, d = x[j], x[j + 1], x[j + 2], x[j + 3]
        for i in range(width):
            first = matrix[j, i] * a + matrix[j + 1, i] * b
            product[i] += first + (matrix[j + 2, i] * c + matrix[j + 3, i] * d)
    for j in range(whole, width):
        factor = x[j]
        for i in range(width):
            product[i] += matrix[j, i] * factor


@jit_large
def quadratic(matrix: Floats, x: Floats, product: Floats) -> float:
    """Return x'Ax of a symmetric matrix; ``product`` gets Ax."""
    multiply(matrix, x, product)
    return max(0.0, dot(product, x))


@jit_large
def observe(covariance: Floats, x: Floats, gain: Floats) -> float:
    """Add an observation to a covariance, A ← (A⁻¹ + xx')⁻¹ (Sherman and Morrison).

    Returns h = x'Ax of before, the variance of the prediction; ``gain`` gets the new A times x, by
    which an error of 1 moves the coefficients.
    """
    h = quadratic(covariance, x, gain)
    factor = 1.0 / (1.0 + h)
    for j in range(len(x)):
        for i in range(len(x)):
            covariance[j, i] -= factor * (gain[j] * gain[i])  # exactly symmetric
    for i in range(len(x)):
        gain[i] *= factor
    return h
