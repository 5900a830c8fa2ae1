"""Band of budgets in which the optimal value is computed, and upper bounds on it outside.

Let V(τ, b) be the most that b units can gain in τ rounds, c the costs and g the gains over
skipping. For any price λ of a unit,

    V(τ, b) ≤ λb + τ·m(λ),    m(λ) = Σ_j π_j max(0, max_k g_jk − λc_jk),

and the least of these bounds over all λ is the value τ·v(b/τ) of the LP. The kernels compute

    X(τ, b) = V(τ, b) − λb − τ·m(λ) ≤ 0

at the price λ of the LP at B/T. It obeys the recursion of V with gains g − λc, from
X(0, b) = −λb, and less m(λ) in every round. X stays small, and with it every rounding error.
"""

from __future__ import annotations

from typing import NamedTuple

from almoner.jit import jit
from almoner.types import Floats

__all__ = ["Band", "Planes", "lp_bound", "plane_at", "window"]


class Band(NamedTuple):
    """Budgets within ``reach`` of the straight line from (``horizon``, ``budget``) to (0, 0).

    In the last ``wedge`` rounds also those within ``reach`` of a ratio from ``left`` to ``right``.
    """

    horizon: int
    budget: int
    reach: int
    wedge: int
    left: float
    right: float


class Planes(NamedTuple):
    """Upper bounds on V that hold for every budget, and λb + τ·m(λ), from which X is measured.

    ``price`` is λ and ``drift`` m(λ). ``corners`` and ``heights`` are the points between which
    v(r) − λr − m(λ) is linear, up to a ratio that no budget exceeds. ``slopes`` and ``drifts`` are
    λ' − λ and m(λ') − m(λ) of the prices λ' at which a better bound is computed.
    """

    price: float
    drift: float
    corners: Floats
    heights: Floats
    slopes: Floats
    drifts: Floats


@jit
def window(band: Band, tau: int) -> tuple[int, int]:
    """Return the least and the largest budget of the band with ``tau`` rounds to go."""
    centre = (band.budget * tau) // band.horizon
    low, high = centre, centre
    if tau <= band.wedge:
        low, high = min(low, int(band.left * tau)), max(high, int(band.right * tau) + 1)
    return max(0, low - band.reach), min(band.budget, high + band.reach)


@jit
def lp_bound(planes: Planes, b: int, tau: int) -> float:
    """Return the bound τ·v(b/τ) on V, expressed as a bound on X; O(log n) for n corners."""
    corners, heights = planes.corners, planes.heights
    low, high = 0, len(corners) - 1
    while low + 1 < high:
        middle = (low + high) // 2
        if b <= corners[middle] * tau:
            high = middle
        else:
            low = middle
    slope = (heights[high] - heights[low]) / (corners[high] - corners[low])
    return tau * heights[low] + (b - corners[low] * tau) * slope


@jit
def plane_at(planes: Planes, which: int, b: int, tau: int) -> float:
    """Return the bound λ'b + τ·m(λ') on V, expressed as a bound on X."""
    return planes.slopes[which] * b + planes.drifts[which] * tau
