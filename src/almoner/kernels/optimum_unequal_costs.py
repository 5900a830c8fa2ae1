"""Bounds on the optimal value at unequal costs: dynamic programming over a band of budgets.

A round takes O(w·J·K) for w budgets in the band, J contexts and K actions. Outside the band the
bounds come from programs with budgets modulo n, one for each of several prices: every action is
affordable there, and only the remainder modulo n is left at the end. Every policy that keeps to the
budget has at least the same value there, so the optimum of that small program is an upper bound. It
is lower than the LP's, which ignores that whole costs seldom add up to the budget left.
"""

from __future__ import annotations

import math

import numpy as np

from almoner.jit import jit
from almoner.kernels.band import Band, Planes, lp_bound, plane_at, window
from almoner.types import Floats, Ints

__all__ = ["grid_bound"]


@jit
def grid_bound(
    probs: Floats,
    gains: Floats,
    costs: Ints,
    moduli: Ints,
    band: Band,
    planes: Planes,
    above: bool,
) -> float:
    """Return a bound on X(T, B), from ``above`` or from below, where costs are whole numbers.

    ``gains`` are g − λc. From below, a budget above the band is cut to its edge, and an action that
    leads below it is not allowed: a feasible policy. From above, X outside the band is bounded by
    the LP, and at the price of each plane by the program modulo one of ``moduli``.
    """
    price, drift, dearest = planes.price, planes.drift, costs.max()
    cycles = np.zeros((2, len(moduli), moduli.max() if len(moduli) > 0 else 0))
    shifted = np.empty((len(moduli), *gains.shape))
    for which in range(len(moduli)):
        shifted[which] = gains - planes.slopes[which] * costs
        for rest in range(moduli[which]):
            cycles[0, which, rest] = -(price + planes.slopes[which]) * rest
    now, after = np.empty(band.budget + 1), np.empty(band.budget + 1)
    best = np.empty(max(band.budget + 1, cycles.shape[2]))
    for b in range(band.budget + 1):
        now[b] = -price * b
    bottom, top = 0, band.budget
    for tau in range(1, band.horizon + 1):
        low, high = window(band, tau)
        for b in range(max(0, low - dearest), bottom):
            now[b] = _outside(planes, moduli, cycles[0], b, tau - 1) if above else -math.inf
        for b in range(top + 1, high + 1):
            now[b] = (
                _outside(planes, moduli, cycles[0], b, tau - 1) if above else now[b - 1] - price
            )
        _advance(probs, gains, costs, drift, now, after, best, low, high)
        now, after = after, now
        bottom, top = low, high
        if above:
            for which in range(len(moduli)):
                length, excess = moduli[which], drift + planes.drifts[which]
                cycle, following = cycles[0, which, :length], cycles[1, which, :length]
                _advance_cycle(probs, shifted[which], costs, excess, cycle, following, best)
                cycle[:] = following
    return now[band.budget]


@jit
def _advance(
    probs: Floats,
    gains: Floats,
    costs: Ints,
    drift: float,
    now: Floats,
    after: Floats,
    best: Floats,
    low: int,
    high: int,
) -> None:
    """Write X with one round more into ``after``, vectorised over the budgets from low to high."""
    after[low : high + 1] = -drift
    for context in range(len(probs)):
        best[low : high + 1] = now[low : high + 1]
        for action in range(gains.shape[1]):
            cost = costs[context, action]
            first = min(max(low, cost), high + 1)
            _improve(
                best[first : high + 1], now[first - cost : high + 1 - cost], gains[context, action]
            )
        _add(after[low : high + 1], best[low : high + 1], probs[context])


@jit
def _advance_cycle(
    probs: Floats,
    gains: Floats,
    costs: Ints,
    drift: float,
    now: Floats,
    after: Floats,
    best: Floats,
) -> None:
    """Write the values of the program modulo ``len(now)`` with one round more into ``after``."""
    length = len(now)
    after[:] = -drift
    for context in range(len(probs)):
        best[:length] = now
        for action in range(gains.shape[1]):
            gain, shift = gains[context, action], costs[context, action] % length
            _improve(best[:shift], now[length - shift :], gain)
            _improve(best[shift:length], now[: length - shift], gain)
        _add(after, best[:length], probs[context])


@jit
def _improve(best: Floats, rest: Floats, gain: float) -> None:
    """Raise the best values to those of one action where these are larger."""
    for i in range(len(best)):
        value = gain + rest[i]
        best[i] = value if value > best[i] else best[i]


@jit
def _add(total: Floats, best: Floats, prob: float) -> None:
    """Add the best values of a context, weighted by its probability."""
    for i in range(len(total)):
        total[i] += prob * best[i]


@jit
def _outside(planes: Planes, moduli: Ints, cycles: Floats, b: int, tau: int) -> float:
    """Return a bound on X from above at a budget outside the band."""
    bound = lp_bound(planes, b, tau)
    for which in range(len(moduli)):
        rest = cycles[which, b % moduli[which]]
        bound = min(bound, plane_at(planes, which, b, tau) + rest)
    return bound
