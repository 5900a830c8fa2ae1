"""Bounds on the optimal value at equal costs: dynamic programming over a band of budgets.

With D(b) = X(τ, b) − X(τ, b−1) and φ(d) = Σ_j π_j (h_j − d)⁺, h = g − λ, a round adds φ(D(b)) to
X(b), less m(λ). D falls in b, so φ is linear on runs of b between the h_j, and within a run the
new X is an average of two neighbours and a constant. A round takes O(w) for w budgets in the band,
and a search of O(log J) for each run.
"""

from __future__ import annotations

import math

import numpy as np

from almoner.jit import jit
from almoner.kernels.band import Band, Planes, lp_bound, plane_at, window
from almoner.types import Floats, Ints

__all__ = ["unit_bound"]

NOISE = 1e-15
"""Rounding error by which D may rise in b."""


@jit
def unit_bound(
    gains: Floats, mass: Floats, worth: Floats, band: Band, planes: Planes, above: bool
) -> float:
    """Return a bound on X(T, B), from ``above`` or from below, where every action costs one unit.

    ``gains`` are the h_j of the best actions, falling; ``mass`` and ``worth`` are the cumulative
    sums of the probabilities π and of π·h. From below, a budget above the band is cut to its edge,
    and an action that leads below it is not allowed: a feasible policy. From above, X outside the
    band is bounded by the LP, and by the largest X at the end of the wedge, at the price of each
    plane: the largest X never grows with τ. ``now[b + 1]`` holds X(τ, b).
    """
    now, after = np.empty(band.budget + 2), np.empty(band.budget + 2)
    now[0] = after[0] = -math.inf
    price, drift = planes.price, planes.drift
    for b in range(band.budget + 1):
        now[b + 1] = -price * b
    starts = np.zeros(len(gains), np.int64)
    peaks = np.zeros(len(planes.slopes))
    bottom, top = 0, band.budget
    for tau in range(1, band.horizon + 1):
        low, high = window(band, tau)
        for b in range(top + 1, high + 1):
            if above:
                now[b + 1] = _outside(planes, peaks, b, tau - 1)
                _make_concave(now, b + 1, -1, bottom + 1)
            else:
                now[b + 1] = now[b] - price
        if 0 < low <= bottom:
            now[low] = _outside(planes, peaks, low - 1, tau - 1) if above else -math.inf
            if above:
                _make_concave(now, low, 1, high + 1)
        _advance(gains, mass, worth, drift, starts, now, after, low, high)
        now, after = after, now
        bottom, top = low, high
        if above and tau == band.wedge:
            _find_peaks(planes, peaks, now, low, high, tau)
    return now[band.budget + 1]


@jit
def _advance(
    gains: Floats,
    mass: Floats,
    worth: Floats,
    drift: float,
    starts: Ints,
    now: Floats,
    after: Floats,
    low: int,
    high: int,
) -> None:
    """Write X with one round more into ``after``; ``starts`` keeps the beginning of each run."""
    count, i, b = len(gains), 0, low
    for _ in range(low, high + 1):  # a limit: a run is one budget long or more
        if b > high:
            break
        rise = now[b + 1] - now[b]
        i = _first_at_most(gains, i, rise)
        stop = high + 1
        if i < count:
            stop = min(max(starts[i], b + 1), stop)
            while stop <= high and now[stop + 1] - now[stop] >= gains[i]:
                stop += 1
            while stop > b + 1 and now[stop] - now[stop - 1] < gains[i]:
                stop -= 1
            starts[i] = stop
        here, there = now[b + 1 : stop + 1], after[b + 1 : stop + 1]
        if i == 0:
            for cell in range(len(here)):
                there[cell] = here[cell] - drift
        else:
            below, weight, gain = now[b:stop], mass[i - 1], worth[i - 1] - drift
            for cell in range(len(here)):
                there[cell] = here[cell] + (gain - weight * (here[cell] - below[cell]))
        b = stop


@jit
def _first_at_most(gains: Floats, start: int, rise: float) -> int:
    """Return the first index, from ``start`` on, of a gain that is at most ``rise``.

    Galloping search: steps double until they pass it, then bisection; O(log n) for n indices on.
    """
    low, step = start, 1
    for _ in range(64):  # doublings of a step, which is at most the number of gains
        if low + step > len(gains) or gains[low + step - 1] <= rise:
            break
        low += step
        step *= 2
    high = min(low + step - 1, len(gains))
    while low < high:
        m = (low + high) // 2
        if gains[m] > rise:
            low = m + 1
        else:
            high = m
    return low


@jit
def _outside(planes: Planes, peaks: Floats, b: int, tau: int) -> float:
    """Return a bound on X from above at a budget outside the band."""
    bound = lp_bound(planes, b, tau)
    for which in range(len(peaks)):
        bound = min(bound, peaks[which] + plane_at(planes, which, b, tau))
    return bound


@jit
def _make_concave(now: Floats, end: int, step: int, last: int) -> None:
    """Raise the values next to ``now[end]``, in direction ``step``, until D falls in b again.

    They are raised to the chord from the end to the first value at which the chord is no steeper
    than the next difference. ``last`` is the last value in that direction.
    """
    stop = last
    for near in range(end + step, last, step):
        chord = (now[near] - now[end]) / (near - end)
        following = (now[near + step] - now[near]) * step
        if step * (chord - following) >= -NOISE:
            stop = near
            break
    chord = (now[stop] - now[end]) / (stop - end)
    for b in range(end + step, stop, step):
        now[b] = now[end] + chord * (b - end)


@jit
def _find_peaks(planes: Planes, peaks: Floats, now: Floats, low: int, high: int, tau: int) -> None:
    """Write the largest X at the price of each plane, over all budgets.

    The bound of the LP is concave and touches a plane inside the wedge, so that outside of it the
    largest difference is next to it.
    """
    for which in range(len(peaks)):
        peak = -math.inf
        for b in range(low, high + 1):
            peak = max(peak, now[b + 1] - plane_at(planes, which, b, tau))
        for b in (low - 1, high + 1):
            if b >= 0:
                peak = max(peak, lp_bound(planes, b, tau) - plane_at(planes, which, b, tau))
        peaks[which] = peak
