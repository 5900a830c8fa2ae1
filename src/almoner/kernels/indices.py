"""Indices of context-action pairs: UCB, KL-UCB, log⁺, Thompson, horizon UCB, Wilson; O(1) each.

`index` has a branch for each part of `almoner.policy.rewards`. An index rises with its *level*:
log t for the classical ones, the plays left for the horizon-aware ones. Levels move slowly, so two
of them bracket an index for many rounds (`almoner.kernels.ranking`).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from almoner.jit import jit
from almoner.kernels.draws import beta_above_one
from almoner.kernels.elementary import log
from almoner.kernels.lanes.vector import where
from almoner.policy.rewards import (
    KLUCB,
    UCB,
    EmpiricalMean,
    ExploreFirst,
    HorizonUCB,
    InsuredWilson,
    KnownRewards,
    LogPlus,
    Thompson,
    Wilson,
)
from almoner.types import Floats

__all__ = [
    "CONVERGED",
    "LAST_AFFINE",
    "clock_level",
    "exploration_level",
    "fill_levels",
    "index",
    "kl_at_most",
    "kl_bound",
    "kl_divergence",
    "score_bound",
    "widened_bound",
    "wilson_bound",
]

_KNOWN, _MEAN, _EXPLORE = KnownRewards.code, EmpiricalMean.code, ExploreFirst.code
_UCB, _KL, _LOG_PLUS = UCB.code, KLUCB.code, LogPlus.code
_THOMPSON, _WILSON, _HORIZON_UCB = Thompson.code, Wilson.code, HorizonUCB.code
_INSURED = InsuredWilson.code

CONVERGED = 1e-8
"""Largest last step of the search for a KL bound, as a share of the distance to the mean and to 1.
A step by Newton's method leaves an error of the order of its square, which is below rounding."""

LAST_AFFINE = _UCB
"""Codes up to this one have the index ū + level/√C, with level 0 if they do not explore."""


@jit
def clock_level(reward: int, width: float, t: int) -> float:
    """Return the level that all contexts have in round t; NaN for an unknown code.

    It is 0 for an index without a level, and for one whose level depends on the context
    (`almoner.kernels.pair_index.level_of`).
    """
    if reward == _UCB:
        return math.sqrt(width * math.log(t))
    if reward == _KL:
        return width * math.log(t)
    if reward == _LOG_PLUS:
        return math.log(t)
    if reward in (_KNOWN, _MEAN, _EXPLORE, _THOMPSON, _WILSON, _HORIZON_UCB, _INSURED):
        return 0.0
    return math.nan


@jit
def fill_levels(reward: int, width: float, levels: Floats) -> None:
    """Write `clock_level` of every round into a table."""
    levels[0] = 0.0
    for t in range(1, len(levels)):
        levels[t] = clock_level(reward, width, t)


@jit
def index(
    reward: int, width: float, level: float, mean: float, root: float, count: float, key: np.uint64
) -> float:
    """Return the index of a pair from its level, ū, 1/√C and C; NaN for an unknown code.

    A pair never seen has ū = 1 and 1/√C = 0, and its index is 1 (Thompson draws from the uniform
    prior instead). Known means are passed as ``mean``. An insured index has the Wilson bound here;
    `almoner.kernels.pair_index` adds the rest.
    """
    if reward <= LAST_AFFINE:
        return mean + level * root
    if reward == _THOMPSON:
        successes = mean * count
        return beta_above_one(1.0 + successes, 1.0 + count - successes, key)
    if count == 0.0:
        return 1.0
    if reward == _KL:
        return kl_bound(mean, level / count)
    if reward == _LOG_PLUS:
        return mean + math.sqrt(width * max(0.0, level - log(count))) * root
    if reward == _HORIZON_UCB:
        return mean + math.sqrt(width * log(1.0 + level / count)) * root
    if reward in (_WILSON, _INSURED):
        return wilson_bound(mean, count, level)
    return math.nan


@jit
def wilson_bound(mean: float, count: float, plays_left: float) -> float:
    """Return a Wilson score bound whose width falls with the plays left.

    Where ū = 1 the bound is 1 at every level; adding 1e-9 per reward breaks the ties of such pairs.
    """
    if mean >= 1.0:
        return 1.0 + 1e-9 * count
    return score_bound(mean, exploration_level(plays_left / count) / count)


@jit
def exploration_level(x: float) -> float:
    """Return g(x) for x = n/C: half the squared width of the bound after C of C + n plays.

    g is a fit to the Bayes boundary of the Gaussian one-armed bandit with n plays left (Lai, Annals
    of Statistics 15, 1987), solved numerically.
    """
    return log(1.0 + x / (5.0 + 1.5 * log(1.0 + x)))


@jit
def score_bound(mean: float, d: float) -> float:
    """Return the largest q with (q − mean)² ≤ 2d q(1 − q): Wilson's bound at d = g/C."""
    return (mean + d + math.sqrt(d * d + 2.0 * d * mean * (1.0 - mean))) / (1.0 + 2.0 * d)


@jit
def widened_bound(mean: Any, bound: Any, factor: Any) -> Any:
    """Return a bound of `score_bound` at c times d, for a factor c from 1 on, from a bound at d.

    With a width w the bound is q = ū + w, and w² = 2d q(1 − q). Of a larger d the width is at most
    cw, as it is concave in d; and 1 − q is less.
    """
    width = bound - mean
    square = factor * width * width / bound
    return mean + min(factor * width, 0.5 * (square + math.sqrt(square * (square + 4.0 * mean))))


@jit
def kl_at_most(mean: Any, level: Any) -> Any:
    """Return a bound of `kl_bound`, without a search.

    kl(p, q) is at least (q − p)² / 2v, with v the largest x(1 − x) from p to q. That is at most ¼,
    which is Pinsker's inequality, and at most q(1 − p); it is p(1 − p) from p = ½ on.
    """
    square = 2.0 * level * (1.0 - mean)
    width = where(mean >= 0.5, math.sqrt(square * mean), math.sqrt(0.5 * level))
    return mean + min(width, 0.5 * (square + math.sqrt(square * (square + 4.0 * mean))))


@jit
def kl_divergence(p: Any, q: Any) -> Any:
    """Return the Bernoulli divergence kl(p, q), for q between 0 and 1."""
    divergence = where(p >= 1.0, 0.0, (1.0 - p) * log((1.0 - p) / (1.0 - q)))
    return where(p <= 0.0, divergence, divergence + p * log(p / q))


@jit
def kl_bound(mean: float, level: float) -> float:
    """Return the largest q with kl(mean, q) ≤ level, for Bernoulli kl, by safeguarded Newton."""
    if mean >= 1.0:
        return 1.0
    if level <= 0.0:
        return mean
    entropy = 0.0 if mean <= 0.0 else mean * log(mean)
    entropy += (1.0 - mean) * log(1.0 - mean)
    low, high = mean, 1.0
    q = min(mean + math.sqrt(0.5 * level), 0.5 * (mean + 1.0))  # Pinsker, kept inside
    for _ in range(64):
        excess = entropy - (1.0 - mean) * log(1.0 - q) - level
        if mean > 0.0:
            excess -= mean * log(q)
        if excess > 0.0:
            high = q
        else:
            low = q
        slope = (q - mean) / (q * (1.0 - q))
        step = q - excess / slope if slope > 0.0 else low
        if slope > 0.0 and abs(step - q) <= CONVERGED * min(q - mean, 1.0 - q):
            return step
        if not low < step < high:
            step = 0.5 * (low + high)
        if step in (low, high):
            return step
        q = step
    return q
