"""The static allocation problem: how to spend ρ per round, on average, when statistics are known.

Choose for every context j the probabilities p_jk of its actions, the rest being skipped, so as to

    maximise    Σ_j π_j Σ_k p_jk (u_jk − u_j0)
    subject to  Σ_j π_j Σ_k p_jk c_jk ≤ ρ,    Σ_k p_jk ≤ 1,    p ≥ 0,

where π are the context probabilities, u the mean rewards, u_0 those of skipping, and c the costs.
It has a closed form. Within a context only the actions on the upper concave hull of the points
(cost, gain), from (0, 0) on and as long as it rises, are ever worth taking: the *candidates*. Each
step along a hull, from one candidate to the next dearer one, buys gain at a rate, its slope. So
spend on the steps of all contexts in order of slope until ρ is used up. The slope at which the
money runs out is the *price* λ, what a little more budget would bring; the sums of the steps'
weights in that order are the *boundaries*, where the price jumps. An action that costs nothing is
a step of infinite slope: the best of them is taken whenever it gains anything, at every ρ.

Two contexts, one action each of cost 1, with gains 0.8 and 0.4: at ρ = 0.5 the better context
(40 %) is always served, and a sixth of the other, which uses up the remaining 0.1:

>>> from almoner import Problem
>>> solution = solve(Problem(
...     context_probs=[0.4, 0.6], reward_means=[[0.8], [0.4]], horizon=100, budget=50))
>>> solution.probabilities.round(4).tolist()
[[1.0], [0.1667]]
>>> round(solution.value, 4), solution.price, solution.boundaries.tolist()
(0.36, 0.4, [0.4, 1.0])
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from almoner import checks
from almoner.jit import jit, specialize
from almoner.types import Floats, Ints, Mask

__all__ = [
    "Pieces",
    "Solution",
    "Statistics",
    "add_steps",
    "candidates",
    "first_of_pieces",
    "hull_steps",
    "pieces",
    "solve",
    "step_runs",
]

TOLERANCE = 1e-12
"""Numbers are tied if they differ by no more than this: slopes, ratios and weights relative to
themselves, indices and gains (of rewards between 0 and 1) in absolute terms."""

ROUNDING = 1e-15
"""Rounding error of a difference of two rewards between 0 and 1, however small it is."""


class Statistics(Protocol):
    """Input of `solve`: true statistics, or estimates of them."""

    @property
    def context_probs(self) -> Floats: ...  # noqa: D102
    @property
    def reward_means(self) -> Floats: ...  # noqa: D102
    @property
    def costs(self) -> Floats: ...  # noqa: D102
    @property
    def default_rewards(self) -> Floats: ...  # noqa: D102
    @property
    def ratio(self) -> float: ...  # noqa: D102


@dataclass(frozen=True, kw_only=True, eq=False)
class Solution:
    """The optimum of the allocation problem at one ratio.

    Attributes
    ----------
    probabilities
        Probability of each action in each context, (contexts, actions); the rest is skipped.
    value
        Expected reward of a round, v(ρ).
    price
        Value of one more unit of budget per round: the slope of v to the right of ρ.
    boundaries
        Ratios at which the price jumps, rising; beyond the last, more budget is of no use.
    ratio
        The ρ it was solved for.
    """

    probabilities: Floats
    value: float
    price: float
    boundaries: Floats
    ratio: float

    @property
    def boundary_distance(self) -> float:
        """Distance of the ratio from the nearest boundary."""
        if not len(self.boundaries):
            return math.inf
        return float(np.min(np.abs(self.boundaries - self.ratio)))


def solve(problem: Statistics, *, ratio: float | None = None) -> Solution:
    """Solve the allocation problem, at the problem's own ratio or at another one."""
    if not hasattr(problem, "reward_means"):
        raise checks.refuse("problem", "be a Problem", problem)
    ratio = float(problem.ratio if ratio is None else checks.number("ratio", ratio, low=0))
    arrays = problem.context_probs, problem.reward_means, problem.default_rewards, problem.costs
    context_probs, means, defaults, costs = (
        np.ascontiguousarray(array, np.float64) for array in arrays
    )
    gains = means - defaults[:, None]
    slopes, weights, steps, chosen = _scratch(gains)
    collect, fill = _compiled()
    count = collect(context_probs, gains, costs, chosen, slopes, weights, steps)
    order = np.argsort(-slopes[:count], kind="stable")
    probabilities, boundaries = np.zeros(gains.shape), np.empty(count)
    value, price, found = fill(
        context_probs, gains, costs, slopes, weights, steps, order, ratio, probabilities, boundaries
    )
    boundaries = boundaries[:found]
    probabilities.setflags(write=False)
    boundaries.setflags(write=False)
    return Solution(
        probabilities=probabilities,
        value=value + float(context_probs @ defaults),
        price=price,
        boundaries=boundaries,
        ratio=ratio,
    )


@cache
def _compiled() -> tuple[Callable[..., int], Callable[..., tuple[float, float, int]]]:
    """Return two kernels without type dispatch, which would take as long as a small problem."""
    row, table = np.zeros(1), np.zeros((1, 1))
    step, chosen = np.zeros((1, 3), np.int64), np.zeros(1, np.int64)
    return (
        specialize(collect_steps, row, table, table, chosen, row, row, step),
        specialize(fill_optimum, row, table, table, row, row, step, chosen, 0.0, table, row),
    )


def _scratch(gains: Floats) -> tuple[Floats, Floats, Ints, Ints]:
    """Return space for the slopes, weights and steps of all hulls, and for one hull."""
    slopes, weights = np.empty(gains.size), np.empty(gains.size)
    return slopes, weights, np.empty((gains.size, 3), np.int64), np.empty(gains.shape[1], np.int64)


@jit
def fill_optimum(
    context_probs: Floats,
    gains: Floats,
    costs: Floats,
    slopes: Floats,
    weights: Floats,
    steps: Ints,
    order: Ints,
    ratio: float,
    probabilities: Floats,
    boundaries: Floats,
) -> tuple[float, float, int]:
    """Write the optimum at a ratio and its boundaries; return gain, price and number of boundaries.

    ``order`` is that of the hull steps by falling slope.
    """
    count, free, gain = len(order), 0, 0.0
    while free < count and slopes[order[free]] == math.inf:  # they cost nothing
        step = order[free]
        gain += context_probs[steps[step, 0]] * gains[steps[step, 0], steps[step, 2]]
        add_step(probabilities, steps, step, 1.0)
        free += 1
    falling, nearly = np.empty(count - free), np.empty(count - free)
    for i in range(free, count):
        step = order[i]
        falling[i - free] = slopes[step]
        nearly[i - free] = nearly_equal(slopes[step], step_run(costs, steps, step))
    first, price, filled, found = first_of_pieces(falling, nearly), 0.0, 0.0, 0
    for i in range(free, count):
        if i > free and not first[i - free]:
            continue  # of the same piece as the step before
        stop, width = i + 1, weights[order[i]]
        while stop < count and not first[stop - free]:
            width += weights[order[stop]]
            stop += 1
        room = ratio - filled if ratio > filled * (1.0 + TOLERANCE) else 0.0
        rate = min(max(room / width, 0.0), 1.0)
        for j in range(i, stop):
            add_step(probabilities, steps, order[j], rate)
        gain += rate * width * falling[i - free]
        filled += width
        if price == 0.0 and ratio < filled * (1.0 - TOLERANCE):
            price = falling[i - free]
        boundaries[found] = filled
        found += 1
    for i in range(count):  # differences of rates may be off by a last bit
        context, end = steps[order[i], 0], steps[order[i], 2]
        probabilities[context, end] = min(max(probabilities[context, end], 0.0), 1.0)
    return gain, price, found


@jit
def add_step(probabilities: Floats, steps: Ints, step: int, rate: float) -> None:
    """Add the probabilities of actions, given the rate at which a hull step is taken."""
    context, start = steps[step, 0], steps[step, 1]
    probabilities[context, steps[step, 2]] += rate
    if start >= 0:
        probabilities[context, start] -= rate


@jit
def step_run(costs: Floats, steps: Ints, step: int) -> float:
    """Return the cost difference of a hull step."""
    context, start = steps[step, 0], steps[step, 1]
    run: float = costs[context, steps[step, 2]] - (costs[context, start] if start >= 0 else 0.0)
    return run


@jit
def nearly_equal(slope: float, run: float) -> float:
    """Return the difference up to which a slope is that of its piece, for a step of this run."""
    return max(TOLERANCE * slope, ROUNDING / run)


def hull_steps(context_probs: Floats, gains: Floats, costs: Floats) -> tuple[Floats, Floats, Ints]:
    """Return slope, weight and (context, from, to) of every hull step, steepest first.

    ``from`` is −1 where the step starts at skipping. Contexts that never come have no steps. The
    slope of a step that costs nothing is infinite.
    """
    slopes, weights, steps, chosen = _scratch(gains)
    count = collect_steps(context_probs, gains, costs, chosen, slopes, weights, steps)
    order = np.argsort(-slopes[:count], kind="stable")
    return slopes[order], weights[order], steps[order]


def add_steps(probabilities: Floats, steps: Ints, rates: Floats) -> None:
    """Add the probabilities of actions, given the rate at which every hull step is taken."""
    context, start, end = steps.T
    np.add.at(probabilities, (context, end), rates)
    later = start >= 0
    np.subtract.at(probabilities, (context[later], start[later]), rates[later])


class Pieces(NamedTuple):
    """The linear pieces of v, steepest first: steps of equal slope form one piece.

    They are filled at a common rate, so that the order of the contexts does not matter.

    Attributes
    ----------
    prices
        Slope of each piece.
    boundaries
        Ratio at which each piece ends.
    weights
        Length of each piece in budget per round.
    piece_of
        Piece of every hull step.
    """

    prices: Floats
    boundaries: Floats
    weights: Floats
    piece_of: Ints


def step_runs(costs: npt.NDArray[Any], steps: Ints) -> npt.NDArray[Any]:
    """Return the cost difference of every hull step."""
    context, start, end = steps.T
    runs: npt.NDArray[Any] = costs[context, end] - np.where(start >= 0, costs[context, start], 0)
    return runs


def pieces(slopes: Floats, weights: Floats, runs: npt.NDArray[Any]) -> Pieces:
    """Group hull steps, given by falling slope, into the linear pieces of v."""
    first = first_of_pieces(slopes, np.maximum(TOLERANCE * slopes, ROUNDING / runs))
    piece_of = np.cumsum(first) - 1
    widths = np.bincount(piece_of, weights, np.count_nonzero(first)).astype(np.float64)
    return Pieces(slopes[first], np.cumsum(widths), widths, piece_of)


@jit
def first_of_pieces(slopes: Floats, nearly: Floats) -> Mask:
    """Return which of the falling slopes begin a piece: not near the first slope of the last piece.

    Neighbours are not compared: a long chain of them, each near the next, would be one piece.
    """
    first = np.empty(len(slopes), np.bool_)
    head = math.inf
    for step in range(len(slopes)):
        first[step] = slopes[step] < head - nearly[step]
        if first[step]:
            head = slopes[step]
    return first


@jit
def candidates(
    gains: Floats, costs: npt.NDArray[Any], chosen: Ints, rounding: float = ROUNDING
) -> int:
    """Write the candidates of one context into ``chosen``, cheapest first; return their number.

    From the last candidate, starting at (0, 0), the next is the dearer action with the steepest
    rise, and the dearest of those where several lie on one line (the paper's Algorithm 4). Before
    them comes the best action that costs nothing, if it gains anything. ``rounding`` is the error
    of a gain.
    """
    count, cost, gain = 0, 0.0, 0.0
    for action in range(len(gains)):
        if costs[action] <= 0.0 and gains[action] > gain:
            chosen[0], count, gain = action, 1, gains[action]
    for _ in range(len(gains)):  # each candidate is dearer than the one before it
        best, steepest = -1, 0.0
        for action in range(len(gains)):
            if costs[action] > cost and gains[action] > gain:
                rise, run = gains[action] - gain, costs[action] - cost
                slope = rise / run
                nearly = max(TOLERANCE * rise, rounding) / run
                if (
                    best < 0
                    or slope > steepest + nearly
                    or (slope > steepest - nearly and costs[action] > costs[best])
                ):
                    best, steepest = action, slope
        if best < 0:
            break
        chosen[count] = best
        count += 1
        cost, gain = costs[best], gains[best]
    return count


@jit
def collect_steps(
    context_probs: Floats,
    gains: Floats,
    costs: Floats,
    chosen: Ints,
    slopes: Floats,
    weights: Floats,
    steps: Ints,
) -> int:
    """Write every hull step, context by context, and return their number."""
    count = 0
    for context in range(gains.shape[0]):
        if context_probs[context] <= 0.0:
            continue
        start, gain, cost = -1, 0.0, 0.0
        for i in range(candidates(gains[context], costs[context], chosen)):
            action = chosen[i]
            rise, run = gains[context, action] - gain, costs[context, action] - cost
            slopes[count] = rise / run if run > 0.0 else math.inf
            weights[count] = context_probs[context] * run
            steps[count, 0], steps[count, 1], steps[count, 2] = context, start, action
            start, gain, cost = action, gains[context, action], costs[context, action]
            count += 1
    return count
