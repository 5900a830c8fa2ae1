"""Means of contexts shrunk towards each other, as far as they differ by chance only.

The means of an action in J contexts have sampling variances v_j. About their weighted mean, let
Q = Σ (m_j − m̄)²/v_j. If the contexts do not differ, Q has J − 1 degrees of freedom; the
excess estimates the variance τ² between contexts (DerSimonian and Laird, 1986).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from almoner.types import Floats

__all__ = ["heterogeneity", "shrink"]


class _Spread(NamedTuple):
    """Weighted mean, Q, its degrees of freedom, and the variance between contexts."""

    mean: Floats
    statistic: Floats
    freedom: Floats
    variance: Floats


def shrink(means: Floats, variances: Floats) -> Floats:
    """Return means (…, contexts, actions) shrunk towards their mean over contexts.

    Entries that are not finite have no rows, and stay as they are.

    Examples
    --------
    >>> means = np.array([[0.1], [0.3]])
    >>> shrink(means, np.full((2, 1), 0.02)).round(3).tolist()  # nothing but chance
    [[0.2], [0.2]]
    >>> shrink(means, np.full((2, 1), 0.001)).round(3).tolist()
    [[0.105], [0.295]]
    """
    spread = _spread(means, variances)
    kept = spread.variance[..., None, :]
    middle = spread.mean[..., None, :]
    seen = np.isfinite(means)
    share = kept / np.where(kept + variances > 0.0, kept + variances, 1.0)
    near = middle + share * (np.where(seen, means, 0.0) - middle)
    return np.where(seen, near, means)


def heterogeneity(means: Floats, variances: Floats) -> float:
    """Return how far means (contexts, actions) differ between contexts, in standard errors.

    Q of all actions together is made normal by the cube root of Wilson and Hilferty.
    """
    spread = _spread(means, variances)
    freedom, statistic = float(spread.freedom.sum()), float(spread.statistic.sum())
    if freedom < 1.0:
        return 0.0
    unit = 2.0 / (9.0 * freedom)
    return float((np.cbrt(statistic / freedom) - (1.0 - unit)) / np.sqrt(unit))


def _spread(means: Floats, variances: Floats) -> _Spread:
    seen = np.isfinite(means) & (variances > 0.0)
    weights = np.where(seen, 1.0 / np.where(seen, variances, 1.0), 0.0)
    values = np.where(seen, means, 0.0)
    total = weights.sum(axis=-2)
    total = np.where(total > 0.0, total, 1.0)
    mean = (weights * values).sum(axis=-2) / total
    statistic = (weights * (values - mean[..., None, :]) ** 2).sum(axis=-2)
    freedom = np.maximum(seen.sum(axis=-2) - 1.0, 0.0)
    scale = total - (weights**2).sum(axis=-2) / total
    excess = np.maximum(statistic - freedom, 0.0)
    return _Spread(mean, statistic, freedom, excess / np.where(scale > 0.0, scale, np.inf))
