"""Bounds for `alp` at unequal costs: the tail of the budget left (Lemma 12), and regret.

On regret the paper says only that it is O(1), or O(√T) on a boundary. The constants here are ours;
docs/mathematics.md has the proof.

Letters: v(ρ) is the value of the LP, with slopes η_1 ≥ η_2 ≥ … that end at Q_1 ≤ Q_2 ≤ …, and
η = 0 beyond the last; c is the dearest action that the LP ever takes. Regret is against T·v(ρ).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from almoner import checks
from almoner.lp import hull_steps
from almoner.money import amounts, on_grid
from almoner.problem import Problem
from almoner.types import Floats

__all__ = ["ValueCurve", "general_alp_regret", "general_budget_tail"]


def general_budget_tail(problem: Problem, rounds_left: int, *, gap: float) -> float:
    """Bound the chance that b_τ/τ is off ρ by more than ``gap`` to one side (Lemma 12).

    e^{−κδ²τ} with κ = 1/(2c_max²), c_max being the dearest cost; the paper has a stray ρ² in it.
    The rest of the budget that the costs' grid cuts off is left in every round and counts against
    the gap. A gap that reaches beyond the last boundary counts only up to there, since no policy
    can use more; with ρ beyond it the bound is 1.

    Examples
    --------
    >>> from almoner.scenarios import scenario
    >>> round(general_budget_tail(scenario("heterogeneous"), 5_000, gap=0.2), 4)
    0.0019
    """
    rounds_left = checks.whole("rounds_left", rounds_left)
    gap = checks.number("gap", gap, low=0)
    counted = _counted(problem)
    idle = (problem.budget - counted) * (1 / rounds_left - 1 / problem.horizon)
    room = float(ValueCurve.of(problem).ends.max(initial=0)) - counted / problem.horizon
    gap = max(0.0, min(gap - max(0.0, idle), room))
    dearest = float(problem.costs.max())
    return math.exp(-(gap**2) * rounds_left / (2 * dearest**2))


def general_alp_regret(problem: Problem) -> float:
    """Bound the regret of `alp` at any costs, on the boundaries and off them.

    η_1 c + Σ_i (η_i − η_{i+1}) min(R, S_i): the rest too small for an action at the end, and the
    loss at each kink of v while the ratio of budget left to rounds left fluctuates across it.
    R = (π/4) √(m (c − m) T) with m = min(ρ, c/2) holds for any kink, S_i = c e^{4x} / (8 sinh x²)
    with x = min(|ρ − Q_i| / c, ½) for one that is away from ρ. With equal costs it is mostly
    far below the paper's `alp_regret`.

    Examples
    --------
    >>> from almoner import alp, exact_value, upper_bound
    >>> problem = Problem(
    ...     context_probs=[0.4, 0.6], reward_means=[[0.8], [0.4]], horizon=10_000, budget=4_000)
    >>> round(general_alp_regret(problem), 1)
    17.7
    >>> round(upper_bound(problem) - exact_value(problem, alp()), 1)
    12.2
    """
    counted = _counted(problem) / problem.horizon
    return ValueCurve.of(problem).alp_regret(problem.horizon, counted, problem.ratio)


def _counted(problem: Problem) -> float:
    """Return the spendable budget: whole units of the costs' grid."""
    grid = on_grid(problem.budget, problem.costs)
    return min(problem.budget, float(amounts(grid, np.array(grid.budget))))


@dataclass(frozen=True, kw_only=True, eq=False)
class ValueCurve:
    """The piecewise linear, concave v(ρ): slopes of its pieces, falling, and their ends Q_i."""

    slopes: Floats
    ends: Floats
    dearest: float

    @classmethod
    def of(cls, problem: Problem) -> ValueCurve:
        """Return the curve of a problem, net of the rewards of skipping."""
        slopes, weights, steps = hull_steps(problem.context_probs, problem.gains, problem.costs)
        paid = problem.costs[steps[:, 0], steps[:, 2]]
        return cls(slopes=slopes, ends=np.cumsum(weights), dearest=float(paid.max(initial=0)))

    @property
    def steepest(self) -> float:
        """η_1, the largest gain per unit of budget."""
        return float(self.slopes.max(initial=0))

    @property
    def unlimited(self) -> float:
        """v(∞): the gain of a round over skipping without a budget."""
        return float(self.slopes @ np.diff(self.ends, prepend=0))

    def alp_regret(self, horizon: int, low: float, high: float) -> float:
        """Bound the regret of `alp` for any ratio from ``low`` to ``high``."""
        c = self.dearest
        if low >= c:  # enough for the dearest action in every round
            return 0.0
        spent = min(high, c / 2)
        anywhere = math.pi / 4 * math.sqrt(spent * (c - spent) * horizon)
        away = np.maximum(0, np.maximum(self.ends - high, low - self.ends))
        x = np.minimum(away / c, 0.5)
        with np.errstate(divide="ignore"):
            apart = c * np.exp(4 * x) / (8 * np.sinh(x**2))
        drops = self.slopes - np.append(self.slopes[1:], 0)
        return self.steepest * c + float(drops @ np.minimum(anywhere, apart))
