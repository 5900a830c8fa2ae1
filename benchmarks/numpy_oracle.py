"""The exact oracle in numpy: each step of the recursion on whole arrays."""

from __future__ import annotations

import numpy as np

import almoner as al

__all__ = ["optimal_value"]


def optimal_value(problem: al.Problem) -> float:
    """Return the value of the best policy of a unit-cost problem by plain dynamic programming."""
    best = problem.reward_means.max(axis=1)[:, None]
    values = np.zeros(int(problem.budget) + 1)
    for _ in range(problem.horizon):
        served = np.maximum(best + values[:-1], values[1:])
        values[1:] = problem.context_probs @ served
    return float(values[-1])
