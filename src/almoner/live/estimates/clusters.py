"""Clusters of arrivals: those of the same persons are not independent of each other.

A campaign that holds persons out spreads them over groups, by a hash under its key, and logs the
group of each arrival. Persons are independent, and so are groups of them: the arrivals of a group
are taken together. Of N arrivals with the mean m, let r be the rewards of those without a person,
and n and S the number and the sum of rewards of a group. The variance of the mean is

    (Σ (r − m)² + c Σ (S − n m)²) / N²,    c = G/(G − 1) · (t/z)²,

for G groups, with Student's t of G − 1 degrees of freedom in place of the normal z.
"""

from __future__ import annotations

import math
from collections.abc import Collection

from almoner.live.estimates.group_sums import Z95, GroupSums

__all__ = ["clustered_variance"]


def clustered_variance(sums: GroupSums, groups: Collection[GroupSums]) -> float:
    """Return the variance of the mean of arrivals, some of which are those of groups of persons.

    A single group says nothing of it: then all arrivals together count as one.
    """
    mean = sums.total / sums.arrivals
    if len(groups) == 1:
        return mean * (1 - mean)
    alone = GroupSums(*(all_ - sum(part) for all_, *part in zip(sums, *groups, strict=True)))
    residuals = alone.squares - 2 * mean * alone.total + mean * mean * alone.arrivals
    if groups:
        between = sum((group.total - mean * group.arrivals) ** 2 for group in groups)
        degrees = len(groups) - 1
        residuals += between * len(groups) / degrees * (_student(degrees) / Z95) ** 2
    return max(0.0, residuals) / sums.arrivals**2


def _student(degrees: int) -> float:
    """Return the two-sided 95 % point of Student's distribution, by its expansion in 1/degrees."""
    z = Z95
    terms = (
        z,
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
    )
    return math.fsum(term / degrees**power for power, term in enumerate(terms))
