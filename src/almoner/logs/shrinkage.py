"""Means of contexts shrunk towards each other, as far as they differ by chance only.

The means of an action in J contexts have sampling variances v_j. About their weighted mean, let
Q = Σ (m_j − m̄)²/v_j. If the contexts do not differ, Q has J − 1 degrees of freedom; the
excess estimates the variance τ² between contexts (DerSimonian and Laird, 1986). The variance of Q
is 2 (J − 1) + Σ κ_j (1 − h_j)² for means of excess kurtosis κ_j and share h_j of the weights: with
rewards such as revenue, a few large ones make it much larger than that of normal means.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from almoner.types import Floats, Mask

__all__ = ["heterogeneity", "shrink"]

HEAVIEST = 4.0
"""Largest excess kurtosis of a mean that is judged: beyond it, single rows decide the mean."""


class _Spread(NamedTuple):
    """Weighted mean, Q, its degrees of freedom, and the variance between contexts.

    ``seen`` says which means count, and ``shares`` are their shares of the weights.
    """

    seen: Mask
    shares: Floats
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


def heterogeneity(means: Floats, variances: Floats, tails: Floats) -> float:
    """Return how far means (contexts, actions) differ between contexts, in standard errors.

    Q of all actions together, as a multiple of chi-squared with the variance of Q, is made normal
    by the cube root of Wilson and Hilferty. ``tails`` are the excess kurtoses of the means; a mean
    of so few rows that a single one decides it is left out.
    """
    spread = _spread(np.where(tails <= HEAVIEST, means, -np.inf), variances)
    freedom, statistic = float(spread.freedom.sum()), float(spread.statistic.sum())
    if freedom < 1.0:
        return 0.0
    chance = 2.0 * freedom + float((tails * (1.0 - spread.shares) ** 2)[spread.seen].sum())
    unit = chance / (9.0 * freedom**2)
    return float((np.cbrt(statistic / freedom) - (1.0 - unit)) / np.sqrt(unit))


def _spread(means: Floats, variances: Floats) -> _Spread:
    seen = np.isfinite(means) & np.isfinite(variances) & (variances > 0.0)
    weights = np.where(seen, 1.0 / np.where(seen, variances, 1.0), 0.0)
    values = np.where(seen, means, 0.0)
    total = weights.sum(axis=-2)
    total = np.where(total > 0.0, total, 1.0)
    mean = (weights * values).sum(axis=-2) / total
    statistic = (weights * (values - mean[..., None, :]) ** 2).sum(axis=-2)
    freedom = np.maximum(seen.sum(axis=-2) - 1.0, 0.0)
    scale = total - (weights**2).sum(axis=-2) / total
    excess = np.maximum(statistic - freedom, 0.0)
    between = excess / np.where(scale > 0.0, scale, np.inf)
    return _Spread(seen, weights / total[..., None, :], mean, statistic, freedom, between)
