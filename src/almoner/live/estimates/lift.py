"""Lift: the reward of an arrival with the campaign less that without it, with a 95 % interval.

**Hold-out.** Arrivals or persons are held out at random: the means of the two groups are compared,
the arrivals of persons as those of clusters.

**Exploration.** Without a hold-out, actions are compared with skips of arrivals that were about as
likely to be skipped. With the probability P of its skip, a skip stands for (1 − P)/P actions: the
odds o. Strata are arrivals with similar odds. In a stratum with a share c of actions among all
arrivals, mean reward m of its actions and the mean reward s of its skips, weighted by their odds,
the lift is c(m − s); the lift of an arrival is the sum over strata. Arrivals are drawn one by one,
those of a person too, so that the variance is that of arrivals.

**Intervals.** That of a mean m with the variance v is Wilson's, for the m(1 − m)/v yes-or-no
rewards that would have the same variance: for yes and no it is Wilson's own, and for c times a yes
or no it is c times that one, while a normal interval is wrong for small rates. The interval of a
sum of independent parts, each of them with an interval of its own, is Newcombe's (1998, method 10;
Zou and Donner 2008): the distance to its lower end is the root of the sum of the squared distances
of the parts to theirs. Of a difference m − s those are m to its lower and s to its upper end.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple

from almoner.live.estimates.clusters import clustered_variance
from almoner.live.estimates.group_sums import Z95, GroupSums, OddsSums

__all__ = [
    "Difference",
    "Estimate",
    "compare",
    "group_mean",
    "score_interval",
    "stratified_lift",
    "stratum",
]

STRATUM = 4.0
"""Ratio of the largest odds in a stratum to the smallest."""


class Estimate(NamedTuple):
    """A mean with the ends of its 95 % interval."""

    mean: float
    low: float
    high: float


class Difference(NamedTuple):
    """A difference of means with the ends of its 95 % interval."""

    value: float
    low: float
    high: float


def score_interval(mean: float, variance: float, count: float) -> tuple[float, float]:
    """Return the 95 % interval of a mean in [0, 1], given the variance of that mean.

    ``count`` is the number of rewards of which it is the mean; it matters where all are equal.

    Examples
    --------
    Wilson's interval of 4 in 16:

    >>> [round(end, 4) for end in score_interval(0.25, 0.25 * 0.75 / 16, 16)]
    [0.1018, 0.495]
    """
    spread = mean * (1 - mean)
    if spread > 0 and variance > 0:
        count = spread / variance
    shift = Z95 * Z95 / count
    centre = (mean + shift / 2) / (1 + shift)
    half = Z95 * math.sqrt(spread / count + shift / (4 * count)) / (1 + shift)
    return max(0.0, centre - half), min(1.0, centre + half)


def group_mean(sums: GroupSums, clusters: Collection[GroupSums] = ()) -> Estimate:
    """Return the mean reward of a group of at least one arrival.

    ``clusters`` are the arrivals of groups of persons (`almoner.live.estimates.clusters`).
    """
    count = float(sums.arrivals)
    if not clusters:
        return _mean(sums.total / count, sums.squares / count, count, count)
    mean = min(1.0, max(0.0, sums.total / count))
    return Estimate(mean, *score_interval(mean, clustered_variance(sums, clusters), count))


def compare(first: Estimate, second: Estimate) -> Difference:
    """Return the difference of two independent means.

    Examples
    --------
    Newcombe's example: 56 of 70 and 48 of 80.

    >>> groups = GroupSums(70, 56, 56), GroupSums(80, 48, 48)
    >>> [round(value, 4) for value in compare(*map(group_mean, groups))]
    [0.2, 0.0524, 0.3339]
    """
    return _sum([(1.0, first, second)])


def stratum(odds: float) -> int:
    """Return the number of the stratum of an arrival with these odds of an action, above 0."""
    return math.floor(math.log(odds, STRATUM))


def stratified_lift(
    actions: Mapping[int, GroupSums], skips: Mapping[int, OddsSums], arrivals: int
) -> Difference | None:
    """Return the lift of an arrival from actions and skips by stratum; None without any skip.

    A stratum without a skip has the mean of all skips, and the interval [0, 1].
    """
    odds, total = sum(s.odds for s in skips.values()), sum(s.total for s in skips.values())
    if odds <= 0:
        return None
    unknown = Estimate(min(1.0, max(0.0, total / odds)), 0.0, 1.0)
    return _sum(
        (
            group.arrivals / arrivals,
            group_mean(group),
            _skip_mean(skips[number]) if number in skips else unknown,
        )
        for number, group in actions.items()
    )


def _skip_mean(sums: OddsSums) -> Estimate:
    """Return the mean of skips weighted by odds.

    Their residuals are taken not to depend on the odds, which differ little within a stratum: with
    few skips, the residuals of those with large odds may all be 0 by chance.
    """
    count = sums.odds * sums.odds / sums.squares
    degrees = count - 1 if count > 1 else count  # which matters here: there are few of them
    return _mean(sums.total / sums.odds, sums.total_squares / sums.odds, count, degrees)


def _mean(mean: float, square: float, count: float, degrees: float) -> Estimate:
    """Return the estimate of a mean, given the mean of the squares and the degrees of freedom."""
    mean = min(1.0, max(0.0, mean))
    variance = max(0.0, square - mean * mean) / degrees
    return Estimate(mean, *score_interval(mean, variance, count))


def _sum(parts: Iterable[tuple[float, Estimate, Estimate]]) -> Difference:
    """Return the sum of independent differences of means, each with a factor."""
    value = below = above = 0.0
    for factor, first, second in parts:
        value += factor * (first.mean - second.mean)
        below += factor**2 * ((first.mean - first.low) ** 2 + (second.high - second.mean) ** 2)
        above += factor**2 * ((first.high - first.mean) ** 2 + (second.mean - second.low) ** 2)
    return Difference(value, value - math.sqrt(below), value + math.sqrt(above))
