"""Sums over the rounds of traces, for replications that are played in Python."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from almoner.problem import Problem
from almoner.simulation.runs import Trace
from almoner.types import Floats, Ints

__all__ = ["NotedRounds", "add_pairs", "noted_rounds"]


class NotedRounds(NamedTuple):
    """Sums before some rounds: the budget left, and a quantity summed over the rounds so far."""

    left: Floats
    total: Floats


def noted_rounds(problem: Problem, trace: Trace, values: Floats, marks: Ints) -> NotedRounds:
    """Return the budget left before the rounds ``marks``, and the sum of ``values`` so far."""
    left = np.concatenate([[problem.budget], trace.budget_left])
    total = np.concatenate([[0.0], np.cumsum(values)])
    return NotedRounds(left[marks - 1], total[marks - 1])


def add_pairs(pairs: Ints, trace: Trace) -> None:
    """Add the actions of a trace to the counts (contexts, 1 + actions, skip first)."""
    np.add.at(pairs, (trace.contexts, trace.actions + 1), 1)
