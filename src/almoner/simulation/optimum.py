"""Gain of the best policy by dynamic programming, certified by two bounds that meet.

Only a band of budgets around the straight line from (T, B) to (0, 0) is computed. Two programs on
it bound the optimum, one from below and one from above (`almoner.kernels.band`). Where they meet
within the tolerance the optimum is known; otherwise the band is doubled, until it holds every
budget and both are plain dynamic programming.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from almoner.lp import hull_steps, pieces, step_runs
from almoner.money import Grid, usable_grid
from almoner.problem import Problem
from almoner.simulation.limits import LARGEST_TABLE, refuse_rounding, too_large
from almoner.types import Floats, Ints

if TYPE_CHECKING:
    from almoner.kernels.band import Band, Planes

__all__ = ["Program", "optimal_gain"]

ABSOLUTE, RELATIVE = 1e-9, 1e-13
"""The bounds meet if they differ by no more than this, or by this share of the optimum."""

UNIT_WORK, GRID_WORK = 1e11, 4e10
"""Array elements that one band may take, at equal and at unequal costs: about a minute."""

ROUND = 512
"""The overhead of a round, in array elements."""

RUN = 200
"""The time to find one run of budgets between two gains, in array elements."""

WIDER = 1.5
"""Reach of the band of the upper bound, in those of the lower one: the LP outside it is less tight,
so that the best policy for the upper bound steers out of a band which holds the best policy."""

WEDGE = 4
"""Width of the wedge at its end, in reaches."""

REMEDY = "compare against the upper bound instead"


def optimal_gain(problem: Problem) -> float:
    """Return the gain of the best policy over skipping, to within the tolerance."""
    if problem.budget < problem.costs.min():
        return 0.0
    refuse_rounding(problem, "the exact oracle", REMEDY)
    program, bounds = Program.of(problem), ""
    reach = program.first_reach
    while True:
        if program.work(reach) > 1 or program.budget > LARGEST_TABLE:
            raise too_large(problem, program.grid, "the exact oracle", REMEDY, bounds)
        low = program.bound(reach, above=False)
        high = low
        if reach < program.budget:
            high = program.bound(program.upper_reach(reach), above=True)
        if high - low <= max(ABSOLUTE, RELATIVE * high):
            return (low + high) / 2
        reach *= 2
        idle = problem.horizon * float(problem.context_probs @ problem.default_rewards)
        bounds = f": the optimum lies between {idle + low!r} and {idle + high!r}"


@dataclass(frozen=True, eq=False)
class Program:
    """A problem in whole units of money, and the linear pieces of its static LP.

    Attributes
    ----------
    prices
        The LP's price on each of its linear pieces, and 0 beyond the last one.
    corners, heights
        The ends of the pieces, in units per round, and the LP's gain there.
    strides
        The greatest common divisor of the steps of each piece, in units.
    """

    problem: Problem
    grid: Grid
    prices: Floats
    corners: Floats
    heights: Floats
    strides: Ints

    @classmethod
    def of(cls, problem: Problem) -> Program:
        """Count a problem in whole units and compute the pieces of its LP."""
        problem = _affordable(problem)
        grid = usable_grid(problem.horizon, problem.budget, problem.costs)
        costs = grid.costs.astype(np.float64)
        slopes, weights, steps = hull_steps(problem.context_probs, problem.gains, costs)
        runs = step_runs(grid.costs, steps)
        prices, boundaries, widths, piece_of = pieces(slopes, weights, runs)
        strides = np.zeros(len(prices), np.int64)
        np.gcd.at(strides, piece_of, runs)
        return cls(
            problem=problem,
            grid=grid,
            prices=np.append(prices, 0.0),
            corners=np.append(0.0, boundaries),
            heights=np.append(0.0, np.cumsum(prices * widths)),
            strides=strides,
        )

    @cached_property
    def dearest(self) -> int:
        """The highest cost in units; 1 where all costs are equal."""
        return int(self.grid.costs.max())

    @cached_property
    def budget(self) -> int:
        """The budget in units, or all of it that can be spent."""
        return min(self.grid.budget, self.dearest * self.problem.horizon)

    @property
    def ratio(self) -> float:
        """Units per round."""
        return self.budget / self.problem.horizon

    @cached_property
    def piece(self) -> int:
        """The index of the piece that the ratio lies on, or of the one to its right."""
        return int(np.searchsorted(self.corners, self.ratio, side="right")) - 1

    @cached_property
    def distance(self) -> float:
        """The distance from the ratio to the nearest boundary."""
        return float(np.min(np.abs(self.corners[1:] - self.ratio), initial=math.inf))

    @property
    def first_reach(self) -> int:
        """Half the width of the first band, which suffices for most problems.

        A round spends an amount with a variance of at most ρ(c − ρ), c the dearest cost. While the
        ratio stays on one piece the best policy can steer at no loss, and the budget leaves a band
        with a probability that falls like exp(−2 · reach · δ / variance), δ the distance to the
        nearest boundary. At a boundary it cannot steer: the budget spreads like a random walk, and
        so does the spending still to come, which together leaves exp(−2 · reach² / (variance · T)).
        """
        variance = self.ratio * (self.dearest - self.ratio)
        reach = 3.5 * math.sqrt(variance * self.problem.horizon)
        if self.distance > 0:
            reach = min(reach, 12 * variance / self.distance)
        return min(self.budget, int(reach) + 16 * self.dearest)

    def upper_reach(self, reach: int) -> int:
        """Return half the width of the band of the upper bound, given that of the lower one.

        At a boundary between two pieces much longer than the band, bounds on each of them suffice.
        """
        horizon, widths = self.problem.horizon, np.diff(self.corners)
        corner = int(np.argmin(np.abs(self.corners - self.ratio)))
        beside = widths[max(0, corner - 1) : corner + 1]
        if self.distance * horizon <= 1 and beside.min(initial=math.inf) * horizon > 4 * reach:
            return reach
        return min(self.budget, int(WIDER * reach))

    def work(self, reach: int) -> float:
        """Return the work of a band, as a share of the largest acceptable one."""
        width = min(self.budget, 2 * self.upper_reach(reach)) + ROUND
        if self.dearest == 1:
            return 2 * (self.problem.horizon * width + RUN * self._runs(reach)) / UNIT_WORK
        return 3 * self.problem.horizon * width * self.grid.costs.size / GRID_WORK

    def _runs(self, reach: int) -> float:
        """Return the number of runs of budgets in all rounds together, at equal costs.

        With τ rounds to go the band holds ratios up to reach / τ away, and each boundary of the
        LP among them ends a run; but a round has no more runs than budgets.
        """
        horizon, away = self.problem.horizon, np.abs(self.corners - self.ratio)
        rounds = np.minimum(horizon, reach / np.maximum(away, reach / horizon))
        return min(float(rounds.sum()), horizon * (2.0 * reach + 1))

    def bound(self, reach: int, *, above: bool) -> float:
        """Return a bound on the optimum, from above or from below."""
        from almoner.jit import call_interruptibly
        from almoner.kernels.optimum_equal_costs import unit_bound
        from almoner.kernels.optimum_unequal_costs import grid_bound

        near, gains = self._near(reach), self.problem.gains
        band, planes = self._band(near, reach), self._planes(near)
        if self.dearest == 1:
            best = gains.max(axis=1) - planes.price
            order = np.argsort(-best, kind="stable")
            best, probs = best[order], self.problem.context_probs[order]
            sums = np.cumsum(probs), np.cumsum(probs * best)
            loss = call_interruptibly(unit_bound, best, *sums, band, planes, above)
        else:
            strides = self.strides[near]
            moduli = strides * -(-reach // strides) if above else strides[:0]
            gains = gains - planes.price * self.grid.costs
            probs = np.array(self.problem.context_probs)
            loss = call_interruptibly(
                grid_bound, probs, gains, self.grid.costs, moduli, band, planes, above
            )
        return planes.price * self.budget + self.problem.horizon * planes.drift + loss

    def _near(self, reach: int) -> Ints:
        """Return the pieces that the edges of a band may lie on.

        Beyond the last piece the LP is exact, so that no better bound is needed.
        """
        near = [self.piece]
        if self.distance * self.problem.horizon < reach:
            corner = 1 + int(np.argmin(np.abs(self.corners[1:] - self.ratio)))
            near = [corner - 1, corner]
        return np.array([piece for piece in near if piece < len(self.strides)], np.int64)

    def _band(self, near: Ints, reach: int) -> Band:
        """Return the band, with a wedge long enough for the largest X of each piece to settle."""
        from almoner.kernels.band import Band

        wedge, left, right = 0, 0.0, 0.0
        if len(near) and self.dearest == 1:
            left, right = float(self.corners[near[0]]), float(self.corners[near[-1] + 1])
            wedge = int(min(self.problem.horizon, WEDGE * reach / (right - left)))
        return Band(self.problem.horizon, self.budget, reach, wedge, left, right)

    def _planes(self, near: Ints) -> Planes:
        """Return the bounds on V outside a band."""
        from almoner.kernels.band import Planes

        price = float(self.prices[self.piece])
        drift = self._surplus(price)
        end = self.corners[-1] + self.budget  # beyond every ratio
        corners = np.append(self.corners, end)
        heights = np.append(self.heights, self.heights[-1])
        return Planes(
            price=price,
            drift=drift,
            corners=corners,
            heights=heights - price * corners - drift,
            slopes=self.prices[near] - price,
            drifts=np.array([self._surplus(other) - drift for other in self.prices[near]]),
        )

    def _surplus(self, price: float) -> float:
        """Return m(price): the gain of a round over skipping, net of the price of its units."""
        surplus = (self.problem.gains - price * self.grid.costs).max(axis=1)
        return float(self.problem.context_probs @ np.maximum(surplus, 0))


def _affordable(problem: Problem) -> Problem:
    """Replace actions that cost more than the whole budget by ones at the least cost, of no gain.

    They can never be taken, and would only enlarge the tables.
    """
    dear = problem.costs > problem.budget
    if not dear.any() or dear.all():
        return problem
    worthless = np.minimum(problem.reward_means, problem.default_rewards[:, None])
    return problem.replace(
        costs=np.where(dear, problem.costs.min(), problem.costs),
        reward_means=np.where(dear, worthless, problem.reward_means),
    )
