"""Estimates of a campaign's statistics, and the optimum for them."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from almoner.checks import Floats
from almoner.lp import Solution, solve

__all__ = ["UNSEEN", "Estimates", "interval", "optimum"]

Z95 = 1.959964
"""The two-sided 95 % point of a standard normal."""

UNSEEN = 0.5
"""What a pair never seen counts as in the plan of a report: halfway."""


class Estimates(NamedTuple):
    """What `solve` needs of a campaign: somebody's idea of its statistics."""

    context_probs: Floats
    reward_means: Floats
    costs: Floats
    default_rewards: Floats
    ratio: float


def optimum(
    estimates: Estimates,
    *,
    reserves: npt.NDArray[np.int64],
    funds: int,
    ratio: float | None = None,
) -> Solution:
    """Return the optimum among the actions whose reserves fit the funds.

    Nobody is served where none of them does; the price is then what the first money would bring.
    """
    fits = reserves <= funds
    if not fits.any():
        return solve(estimates, ratio=0.0)
    means = np.where(fits, estimates.reward_means, 0.0)  # brings nothing, so it is not taken
    return solve(estimates._replace(reward_means=means), ratio=ratio)


def interval(total: float, count: int) -> tuple[float, float]:
    """Return the 95 % Wilson interval of a mean of numbers in [0, 1]; all of it without data."""
    if count == 0:
        return 0.0, 1.0
    mean, spread = total / count, Z95 * Z95 / count
    centre = (mean + spread / 2) / (1 + spread)
    half = Z95 * math.sqrt(mean * (1 - mean) / count + spread / (4 * count)) / (1 + spread)
    return max(0.0, centre - half), min(1.0, centre + half)
