"""Curve: regret over the rounds of a simulation, with its mean and bands."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from almoner import checks
from almoner.types import Floats, Ints

__all__ = ["Curve", "curve_rounds"]

POINTS = 50
"""Points of a curve, if there are so many rounds."""

LARGEST = 10_000_000
"""Numbers that a curve may hold: with many replications it has fewer points."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Curve:
    """Regret so far after some of the rounds, one curve per replication.

    The regret after round t is the share t/T of the benchmark minus the rewards of t rounds. It
    may fall, or be negative, while a policy spends faster than B/T, and ends at the regret of the
    run.

    Attributes
    ----------
    rounds
        The rounds after which it is noted, up to the horizon.
    values
        The regret of each replication after each of them, (replications, rounds).

    Examples
    --------
    >>> curve = Curve(rounds=np.array([1, 2]), values=np.array([[0.0, 1.0], [1.0, 4.0]]))
    >>> curve.mean.tolist(), curve.stderr.round(3).tolist(), curve.quantile(0.5).tolist()
    ([0.5, 2.5], [0.5, 1.5], [0.5, 2.5])
    """

    rounds: Ints
    values: Floats

    @property
    def mean(self) -> Floats:
        """The average over the replications."""
        return np.asarray(self.values.mean(axis=0))

    @property
    def stderr(self) -> Floats:
        """The standard error of the average; NaN for a single replication."""
        runs = len(self.values)
        if runs < 2:
            return np.full(len(self.rounds), math.nan)
        return np.asarray(self.values.std(axis=0, ddof=1) / math.sqrt(runs))

    def interval(self, level: float = 0.95) -> tuple[Floats, Floats]:
        """Return a band around the mean: a confidence interval at each of the rounds."""
        level = checks.number("level", level, above=0, high=1 - 1e-12)
        reach = NormalDist().inv_cdf((1 + level) / 2) * self.stderr
        return self.mean - reach, self.mean + reach

    def quantile(self, level: float) -> Floats:
        """Return the curve that a share ``level`` of the replications stays below."""
        level = checks.number("level", level, low=0, high=1)
        return np.asarray(np.quantile(self.values, level, axis=0))


def curve_rounds(horizon: int, runs: int) -> Ints:
    """Return the rounds of a curve, evenly spaced, the last one included.

    Examples
    --------
    >>> curve_rounds(3, 10).tolist(), curve_rounds(1000, 10)[:3].tolist()
    ([1, 2, 3], [20, 40, 60])
    """
    points = max(1, min(POINTS, horizon, LARGEST // runs))
    return np.unique(np.arange(1, points + 1) * horizon // points)
