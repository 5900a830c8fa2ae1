"""Regret: the benchmark it is measured from, its estimators, its mean and standard error."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from statistics import NormalDist
from typing import Any

import numpy as np

from almoner import checks
from almoner.errors import NotComputable
from almoner.problem import Problem
from almoner.simulation.oracle import optimal_value, upper_bound
from almoner.types import Floats, Ints

__all__ = ["Against", "Benchmark", "Estimator", "Sample"]


class Against(StrEnum):
    """Benchmarks of regret: the exact optimum, or the LP's upper bound on it."""

    ORACLE = "oracle"
    UPPER_BOUND = "upper bound"


class Estimator(StrEnum):
    """Estimators of regret: by the losses at the price of the budget, or by the rewards drawn."""

    REDUCED = "reduced"
    RAW = "raw"


@dataclass(frozen=True)
class Benchmark:
    """The expected reward that the regret on a problem is measured from, computed once."""

    problem: Problem
    against: Against

    @classmethod
    def of(cls, problem: Problem) -> Benchmark:
        """Return the exact oracle's, or the upper bound's where the oracle cannot be computed."""
        oracle = cls(problem, Against.ORACLE)
        try:
            oracle.value  # noqa: B018  # computed here, kept for every policy
        except NotComputable:
            return cls(problem, Against.UPPER_BOUND)
        return oracle

    @cached_property
    def upper_bound(self) -> float:
        """T · v(B/T)."""
        return upper_bound(self.problem)

    @cached_property
    def value(self) -> float:
        """The benchmark itself; the exact oracle may take up to a minute."""
        if self.against == Against.UPPER_BOUND:
            return self.upper_bound
        return optimal_value(self.problem)

    def reduced_regret(self, loss: Floats, spend: Floats, price: float) -> Floats:
        """Return regret from the losses at the price of the budget, and the budget not spent."""
        unspent = price * (self.problem.budget - spend)
        return loss + unspent - (self.upper_bound - self.value)

    def regret_so_far(self, rounds: Ints, loss: Floats, left: Floats, price: float) -> Floats:
        """Return regret after some rounds: their share of the benchmark minus their rewards."""
        share = rounds / self.problem.horizon
        unspent = price * (left - (1 - share) * self.problem.budget)
        return loss + unspent - share * (self.upper_bound - self.value)

    def raw_regret(self, drawn: Floats) -> Floats:
        """Return regret from the rewards as they were drawn."""
        return self.value - drawn


@dataclass(frozen=True, eq=False)
class Sample:
    """Numbers, one per replication, with their mean, standard error, quantiles and maximum.

    Examples
    --------
    >>> sample = Sample(np.array([1.0, 2.0, 3.0, 6.0]))
    >>> sample.mean, round(sample.stderr, 3), sample.quantile(0.5), sample.max
    (3.0, 1.08, 2.5, 6.0)
    """

    values: Floats

    def __len__(self) -> int:
        return len(self.values)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Floats:
        return np.array(self.values, dtype=dtype, copy=copy)

    @property
    def mean(self) -> float:
        """The average."""
        return float(np.mean(self.values))

    @property
    def stderr(self) -> float:
        """The standard error of the average; NaN for a single replication."""
        if len(self.values) < 2:
            return math.nan
        return float(np.std(self.values, ddof=1) / math.sqrt(len(self.values)))

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """Return the ends of a confidence interval of the mean, by the normal approximation.

        Examples
        --------
        >>> low, high = Sample(np.array([1.0, 2.0, 3.0, 6.0])).interval(0.9)
        >>> round(low, 2), round(high, 2)
        (1.22, 4.78)
        """
        level = checks.number("level", level, above=0, high=1 - 1e-12)
        reach = NormalDist().inv_cdf((1 + level) / 2) * self.stderr
        return self.mean - reach, self.mean + reach

    @property
    def max(self) -> float:
        """The largest value."""
        return float(np.max(self.values))

    def quantile(self, level: float) -> float:
        """Return the value that a share ``level`` of the replications stays below."""
        return float(np.quantile(self.values, checks.number("level", level, low=0, high=1)))
