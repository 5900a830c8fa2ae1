"""Rank of a Thompson draw among the contexts, without drawing for the other ones, at equal costs.

The value of a context is its best draw, so that a value v of another one is exceeded with
probability 1 − Π_k F_jk(v), F_jk the distribution function of the posterior of a pair. One uniform
number decides it. With two values it also decides whether the best draw lies between them: it is
the same draw, by its quantile. Nearly all contexts are settled by the brackets of their values
(`almoner.kernels.brackets`), which hold for a draw with a probability of 1 − `LIKELY`, or by bounds
of F at v. F itself is computed only for the others, as long as the decision hangs on them.

The bounds say that a Beta(a, b) distribution is sub-Gaussian with a variance proxy of
1/(4(a + b + 1)) (Marchal and Arbel, 2017): a draw is further than z above its mean with a
probability of at most e^−x, x = 2(a + b + 1)z², and as rarely below it.
"""

from __future__ import annotations

import math

import numpy as np

from almoner.jit import jit_inline, jit_large
from almoner.kernels.beta_distribution import beta_cdf
from almoner.kernels.draws import comparison_draw
from almoner.kernels.pair_index import weights_of
from almoner.kernels.state import ROUND, Memo, State
from almoner.policy.lowering import LoweredPolicy

__all__ = ["draws_above", "exceeds", "likely_range"]

LIKELY = 3.36e-4
"""Probability, a little above e^−8, that a draw lies beyond one end of its likely range."""

CERTAIN = 36.0
"""Exponent of a probability below 2^-51."""


@jit_inline
def draws_above(
    policy: LoweredPolicy,
    state: State,
    memo: Memo,
    context: int,
    value: float,
    limit: float,
    key: np.uint64,
) -> float:
    """Return the weight of the other contexts whose best draw exceeds a value.

    If it is certain that the weight is at most ``limit``, or above it, the result may be another
    weight of which the same holds; with NaN it is exact.
    """
    weights, _, _ = weights_of(policy, state, state.progress[ROUND] + 1)
    ahead, undecided, unclear = 0.0, 0.0, 0
    unlikely = LIKELY * policy.costs.shape[1]
    for other in range(policy.costs.shape[0]):
        if other == context or weights[other] <= 0.0:
            continue
        chance = comparison_draw(key, other * policy.costs.shape[1])
        if value >= memo.high[other] and chance >= unlikely:
            continue
        order = 1
        if value > memo.low[other] or chance >= 1.0 - LIKELY:
            order = _order_by_bounds(policy, memo, other, value, chance)
        if order > 0:
            ahead += weights[other]
            if ahead > limit:
                return ahead
        elif order == 0:
            memo.unclear[unclear] = other
            undecided += weights[other]
            unclear += 1
    for i in range(unclear):
        if ahead > limit or ahead + undecided <= limit:
            break
        other = int(np.int64(memo.unclear[i]))
        undecided -= weights[other]
        if exceeds(policy, memo, other, value, key):
            ahead += weights[other]
    return ahead


@jit_large
def exceeds(policy: LoweredPolicy, memo: Memo, context: int, value: float, key: np.uint64) -> bool:
    """Return whether the best draw of a context that has not arrived exceeds a value."""
    chance = comparison_draw(key, context * policy.costs.shape[1])
    closest, nearest, others = 0, math.inf, 0.0
    for action in range(policy.costs.shape[1]):
        exponent = _signed_exponent(memo, context, action, value)
        closest, nearest = (action, exponent) if exponent < nearest else (closest, nearest)
        others += 1.0 / _least_exp(max(exponent, 0.0))
    others -= 1.0 / _least_exp(max(nearest, 0.0))  # now at least the chance of the other pairs
    below = _chance_below(memo, context, closest, value)
    if 1.0 - below > chance:
        return True
    if others < 1.0 and 1.0 - below * (1.0 - others) <= chance:
        return False
    for action in range(policy.costs.shape[1]):
        exponent = _signed_exponent(memo, context, action, value)
        if action != closest and exponent < CERTAIN:
            below *= _chance_below(memo, context, action, value)
            if 1.0 - below > chance:
                return True
    return False


@jit_large
def _chance_below(memo: Memo, context: int, action: int, value: float) -> float:
    """Return the probability that the draw of a pair is below a value."""
    count = memo.counts[context, action]
    successes = memo.means[context, action] * count
    return beta_cdf(1.0 + successes, 1.0 + count - successes, value)


@jit_inline
def likely_range(memo: Memo, context: int, action: int) -> tuple[float, float]:
    """Return two numbers of which a draw of a pair is below one, or above the other, unlikely."""
    count = memo.counts[context, action]
    mean = (1.0 + memo.means[context, action] * count) / (count + 2.0)
    reach = 2.0 / math.sqrt(count + 3.0)
    return mean - reach, mean + reach


@jit_inline
def _order_by_bounds(
    policy: LoweredPolicy, memo: Memo, context: int, value: float, chance: float
) -> int:
    """Return 1 if the best draw of a context exceeds a value for certain, −1 if not, 0 if unclear.

    With e^x replaced by the first terms of its series the bounds hold all the more.
    """
    upper, lower = CERTAIN, 0.0
    for action in range(policy.costs.shape[1]):
        exponent = _signed_exponent(memo, context, action, value)
        upper, lower = min(upper, exponent), min(lower, exponent)
    if policy.costs.shape[1] <= chance * _least_exp(max(upper, 0.0)):
        return -1
    return 1 if (1.0 - chance) * _least_exp(-lower) > 1.0 else 0


@jit_inline
def _signed_exponent(memo: Memo, context: int, action: int, value: float) -> float:
    """Return x of the bounds, or a little less, for a value; −x if that is below the mean."""
    count = memo.counts[context, action]
    gap = value * (count + 2.0) - (memo.means[context, action] * count + 1.0)  # z times a + b
    return 2.0 * gap * abs(gap) / (count + 2.0)


@jit_inline
def _least_exp(x: float) -> float:
    """Return a number that is at most e^x, for x of at least 0: the first terms of its series."""
    square = x * x
    half = 1.0 + x / 2.0 + square / 8.0 + square * x / 48.0 + square * square / 384.0
    return half * half
