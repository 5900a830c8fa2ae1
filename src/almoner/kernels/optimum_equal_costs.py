"""Bounds on the optimal value at equal costs: dynamic programming over a band of budgets.

With D(b) = X(τ, b) − X(τ, b−1) and φ(d) = Σ_j π_j (h_j − d)⁺, h = g − λ, a round adds φ(D(b)) to
X(b), less m(λ). φ is convex: the largest of J + 1 lines, of which line i serves the i best
contexts. D falls in b, so that a block of budgets needs only the lines from that of its first D to
that of its last: usually one, and then the new X is an average of two neighbours and a constant. A
round takes O(w) for w budgets in the band, with vector instructions where a block needs few lines,
and a search of O(log J) for each block, or for each budget where the lines are dense.
"""

from __future__ import annotations

import math

import numpy as np

from almoner.jit import jit, jit_inline, jit_large
from almoner.kernels.band import Band, Planes, lp_bound, plane_at, window
from almoner.types import Floats

__all__ = ["unit_bound"]

NOISE = 1e-15
"""Rounding error by which D may rise in b."""

LONG, SHORT = 128, 32
"""Budgets in a block with one line, and with several."""

MOST_LINES = 8
"""Beyond these a block is no faster than its budgets one by one."""


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
    weights, heights = np.zeros(len(gains) + 1), np.zeros(len(gains) + 1)
    heights[0] = -drift
    for line in range(len(gains)):  # not slices: errors of their shapes take a second to compile
        weights[line + 1], heights[line + 1] = mass[line], worth[line] - drift
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
        _advance(gains, weights, heights, now, after, low, high)
        now, after = after, now
        bottom, top = low, high
        if above and tau == band.wedge:
            _find_peaks(planes, peaks, now, low, high, tau)
    return now[band.budget + 1]


@jit_large
def _advance(
    gains: Floats,
    weights: Floats,
    heights: Floats,
    now: Floats,
    after: Floats,
    low: int,
    high: int,
) -> None:
    """Write X with one round more into ``after``, for the budgets from ``low`` to ``high``.

    Line i adds ``heights[i]`` − ``weights[i]`` · D to X.
    """
    line, b = 0, low
    if now[b] == -math.inf:  # no budget below: only skipping is allowed
        after[b + 1] = now[b + 1] + heights[0]
        b += 1
    for _ in range(low, high + 1):  # a limit: a block is one budget long or more
        if b > high:
            break
        line = _first_at_most(gains, line, now[b + 1] - now[b])
        size = min(LONG, high + 1 - b)
        last, stop = line, min(len(gains), line + MOST_LINES)
        if line < len(gains) and now[b + size] - now[b + size - 1] < gains[line]:
            size = min(SHORT, size)
            while last < stop and gains[last] > now[b + size] - now[b + size - 1]:
                last += 1
        if last == line:
            _add_line(now, after, b, size, heights[line], weights[line])
        elif last < line + MOST_LINES:
            _add_two_lines(now, after, b, size, heights, weights, line, line + 1)
            for pair in range(line + 2, last + 1, 2):
                _raise_to_lines(now, after, b, size, heights, weights, pair, min(pair + 1, last))
        else:
            _add_dense_lines(gains, weights, heights, now, after, b, size, line)
        line, b = last, b + size


@jit_inline
def _add_line(now: Floats, after: Floats, b: int, size: int, height: float, weight: float) -> None:
    """Add one line to a block of budgets."""
    here, below, there = now[b + 1 : b + 1 + size], now[b : b + size], after[b + 1 : b + 1 + size]
    for cell in range(size):
        there[cell] = here[cell] + (height - weight * (here[cell] - below[cell]))


@jit_inline
def _add_two_lines(
    now: Floats,
    after: Floats,
    b: int,
    size: int,
    heights: Floats,
    weights: Floats,
    one: int,
    other: int,
) -> None:
    """Add the larger of two lines to each of a block of budgets."""
    here, below, there = now[b + 1 : b + 1 + size], now[b : b + size], after[b + 1 : b + 1 + size]
    height, weight, height_too, weight_too = (
        heights[one],
        weights[one],
        heights[other],
        weights[other],
    )
    for cell in range(size):
        rise = here[cell] - below[cell]
        first, second = height - weight * rise, height_too - weight_too * rise
        there[cell] = here[cell] + (first if first > second else second)


@jit_inline
def _raise_to_lines(
    now: Floats,
    after: Floats,
    b: int,
    size: int,
    heights: Floats,
    weights: Floats,
    one: int,
    other: int,
) -> None:
    """Raise the new X of a block of budgets to those by two more lines, where these are larger."""
    here, below, there = now[b + 1 : b + 1 + size], now[b : b + size], after[b + 1 : b + 1 + size]
    height, weight, height_too, weight_too = (
        heights[one],
        weights[one],
        heights[other],
        weights[other],
    )
    for cell in range(size):
        rise = here[cell] - below[cell]
        first, second = height - weight * rise, height_too - weight_too * rise
        raised = here[cell] + (first if first > second else second)
        there[cell] = raised if raised > there[cell] else there[cell]


@jit_inline
def _add_dense_lines(
    gains: Floats,
    weights: Floats,
    heights: Floats,
    now: Floats,
    after: Floats,
    b: int,
    size: int,
    line: int,
) -> None:
    """Find the line of each of a block of budgets, and add it."""
    for cell in range(b, b + size):
        rise = now[cell + 1] - now[cell]
        if line < len(gains) and gains[line] > rise:
            line = _first_at_most(gains, line + 1, rise)
        after[cell + 1] = now[cell + 1] + (heights[line] - weights[line] * rise)


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
