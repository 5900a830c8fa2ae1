"""Bayesian linear regression, one observation at a time, against its closed form."""

from __future__ import annotations

import numpy as np
import pytest
from support.plain_kernels import plain

from almoner.kernels.rows.learning import _learn
from almoner.kernels.rows.regression import multiply, observe, quadratic
from almoner.kernels.rows.state import COUNTS, NOW, RESIDUALS, Models, X

WIDTHS = [1, 2, 3, 4, 5, 8, 11]
"""Multiples of four, which the product is unrolled for, and others."""


def models_of(width: int, precision: float) -> Models:
    return Models(
        covariances=np.tile(np.eye(width) / precision, (2, 1, 1, 1)),
        coefficients=np.zeros((2, 1, width)),
        tallies=np.zeros((3, 1)),
        visits=np.zeros((2, width, width)),
        scratch=np.zeros((2, width)),
    )


@pytest.mark.parametrize("width", WIDTHS)
def test_a_product_is_that_of_the_matrix_and_the_vector(width: int) -> None:
    rng = np.random.default_rng(width)
    matrix, x, product = rng.random((width, width)), rng.random(width), np.empty(width)
    matrix = matrix + matrix.T
    plain(multiply)(matrix, x, product)
    assert product == pytest.approx(matrix @ x, rel=1e-13)
    assert plain(quadratic)(matrix, x, product) == pytest.approx(x @ matrix @ x, rel=1e-13)


@pytest.mark.parametrize("width", WIDTHS)
def test_learned_one_by_one_a_model_is_the_ridge_regression_on_all(width: int) -> None:
    """A⁻¹ = P + X'X and θ = A X'y, by numpy."""
    rng, precision = np.random.default_rng(7 + width), 2.5
    points, outcomes = rng.normal(size=(40, width)), rng.normal(size=40)
    models = models_of(width, precision)
    for x, y in zip(points, outcomes, strict=True):
        models.scratch[X] = x
        plain(_learn)(models, 0, y)
    inverse = precision * np.eye(width) + points.T @ points
    assert models.covariances[NOW, 0] == pytest.approx(np.linalg.inv(inverse), rel=1e-9, abs=1e-12)
    theta = np.linalg.solve(inverse, points.T @ outcomes)
    assert models.coefficients[NOW, 0] == pytest.approx(theta, rel=1e-9, abs=1e-12)
    assert models.tallies[COUNTS, 0] == 40


def test_the_sum_of_scaled_squares_is_that_of_the_marginal_likelihood() -> None:
    """Σ e²/(1 + h) = y'y − θ'A⁻¹θ for a prior mean of 0, so that it estimates the noise."""
    rng = np.random.default_rng(3)
    points, outcomes = rng.normal(size=(60, 4)), rng.normal(size=60)
    models = models_of(4, 1.5)
    for x, y in zip(points, outcomes, strict=True):
        models.scratch[X] = x
        plain(_learn)(models, 0, y)
    inverse = 1.5 * np.eye(4) + points.T @ points
    theta = models.coefficients[NOW, 0]
    expected = outcomes @ outcomes - theta @ inverse @ theta
    assert models.tallies[RESIDUALS, 0] == pytest.approx(expected, rel=1e-9)


def test_a_covariance_stays_exactly_symmetric() -> None:
    rng, covariance, gain = np.random.default_rng(1), np.eye(7) / 3, np.empty(7)
    for _ in range(500):
        plain(observe)(covariance, rng.normal(size=7), gain)
    assert np.array_equal(covariance, covariance.T)
    assert np.linalg.eigvalsh(covariance).min() > 0
