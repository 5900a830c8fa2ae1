"""Boundary of the finite-horizon Gittins index, computed instead of fitted.

An action has been played C times, and n plays are left; its posterior mean moves like a Brownian
motion. The index lies √(2g) standard deviations above the mean, where g depends on n/C alone.
`almoner.kernels.indices.exploration_level` is the fit to g that `thrifty` and `wilson_eager` use.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from almoner.types import Floats

__all__ = ["STEP", "boundary"]

STEP = 0.02
"""Step of log(1 + n/C) in the table of g."""

LARGEST = 14.0
STAGES = 8
"""Stages of the recursion for each entry of the table."""

REACH, POINTS = 9.0, 3001
"""Range of the mean in standard deviations, and the number of its points."""


@cache
def boundary() -> Floats:
    """Return g for log(1 + n/C) = 0, `STEP`, 2 · `STEP`, …, by backward induction.

    With 1 as the number of all plays, C goes from 1 back to e^−14. The value of a mean y, in
    standard deviations above a known alternative of 0, is max(0, gain of the next plays + value
    after them); the mean at which it becomes 0 is −√(2g).
    """
    width = STEP / STAGES
    at, weights = np.polynomial.hermite_e.hermegauss(9)
    weights = weights / weights.sum()
    y = np.linspace(-REACH, REACH, POINTS)
    value = np.zeros_like(y)
    levels = [0.0]
    for stage in range(1, round(LARGEST / width) + 1):
        plays = np.exp(-stage * width)
        after = np.exp(0.5 * width) * y[:, None] + np.sqrt(np.expm1(width)) * at
        gain = plays * np.expm1(width) * y / np.sqrt(plays)
        beyond = np.maximum(0.0, after - REACH)  # there the value is linear
        slope = (value[-1] - value[-2]) / (y[1] - y[0])
        future = (np.interp(after, y, value) + slope * beyond) @ weights
        worth = gain + future
        value = np.maximum(0.0, worth)
        if stage % STAGES == 0:
            first = int(np.argmax(worth > 0.0))
            share = worth[first - 1] / (worth[first - 1] - worth[first])
            zero = y[first - 1] + share * (y[first] - y[first - 1])
            levels.append(0.5 * zero**2)
    return np.array(levels)
