"""The hindsight optimum of rows: the allocation LP with all rewards and costs known at once."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from almoner import checks
from almoner.lp import solve
from almoner.simulation.rows.rows import Rows
from almoner.types import Floats, Ints

__all__ = ["HindsightOptimum", "optimum"]


@dataclass(frozen=True, kw_only=True, eq=False)
class HindsightOptimum:
    """The best use of a budget on rows, by the LP; ``float`` of it is the value.

    Attributes
    ----------
    value
        The reward of all rows together.
    price
        What one more unit of budget would bring.
    probabilities
        Probability of each action in each row, (rows, actions); the rest is skipped.
    spend
        The budget that it uses.
    budget
        The budget that it was computed for.
    """

    value: float
    price: float
    probabilities: Floats
    spend: float
    budget: float

    def __float__(self) -> float:
        return self.value


class _Totals(NamedTuple):
    """Rows as contexts that come once each: the ratio is then the whole budget."""

    context_probs: Floats
    reward_means: Floats
    costs: Floats
    default_rewards: Floats
    ratio: float


def optimum(rows: Rows, budget: float, *, default: str | None = None) -> HindsightOptimum:
    """Return the hindsight optimum; with a default, that in which every row is served.

    Where the budget cannot serve every row with its cheapest action, rows may be skipped.
    """
    budget = checks.number("budget", budget, low=0.0)
    if rows.action_index(default) >= 0:
        cheapest = _cheapest(rows)
        base = np.take_along_axis(rows.costs, cheapest[:, None], axis=1)[:, 0]
        if budget >= base.sum():
            return _serving_all(rows, budget, cheapest, base)
    return _optimum(rows, budget, rows.costs, rows.skip_rewards, budget)


def _cheapest(rows: Rows) -> Ints:
    """Return the cheapest action of each row, the best one of several."""
    cheapest: Ints = np.lexsort((-rows.rewards, rows.costs), axis=1)[:, 0]
    return cheapest


def _serving_all(rows: Rows, budget: float, cheapest: Ints, base: Floats) -> HindsightOptimum:
    """Return the optimum over improvements on the cheapest action, which every row gets."""
    idle = np.take_along_axis(rows.rewards, cheapest[:, None], axis=1)[:, 0]
    beyond = _optimum(rows, budget - float(base.sum()), rows.costs - base[:, None], idle, budget)
    probabilities = beyond.probabilities.copy()
    rest = 1.0 - probabilities.sum(axis=1)
    probabilities[np.arange(len(rows)), cheapest] += rest.clip(0.0, 1.0)
    return HindsightOptimum(
        value=beyond.value,
        price=beyond.price,
        probabilities=probabilities,
        spend=beyond.spend + float(base.sum()),
        budget=budget,
    )


def _optimum(
    rows: Rows, room: float, costs: Floats, idle: Floats, budget: float
) -> HindsightOptimum:
    gain, money = _binary_scale(rows.rewards, idle), _binary_scale(costs)
    solution = solve(
        _Totals(np.ones(len(rows)), rows.rewards / gain, costs / money, idle / gain, room / money)
    )
    return HindsightOptimum(
        value=solution.value * gain,
        price=solution.price * (gain / money),
        probabilities=solution.probabilities,
        spend=float((solution.probabilities * costs).sum()),
        budget=budget,
    )


def _binary_scale(*arrays: Floats) -> float:
    """Return a power of two that brings the largest magnitude to between 1 and 2.

    Rewards and costs may have any unit, and the solver has tolerances; a division by a power of two
    rounds nothing.
    """
    largest = max(float(np.abs(array).max()) for array in arrays)
    return math.ldexp(1.0, math.frexp(largest)[1] - 1) if largest > 0.0 else 1.0
