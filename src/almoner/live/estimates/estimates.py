"""Estimates of a campaign's statistics: confidence intervals, and the optimum of the static LP."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from almoner.live.estimates.group_sums import Z95
from almoner.live.policy.statistics import PairStatistics
from almoner.lp import ROUNDING, TOLERANCE, Solution, add_steps, hull_steps, solve, step_runs
from almoner.types import Floats, Ints

__all__ = ["UNSEEN", "Estimates", "PairMeans", "interval", "optimum", "pair_means"]

UNSEEN = 0.5
"""Mean of a pair without an estimate in the plan of a report."""


class PairMeans(NamedTuple):
    """The mean of each pair (contexts, actions), and the rewards of its own and borrowed in it.

    Without either a mean is `UNSEEN`.
    """

    means: Floats
    own: Floats
    borrowed: Floats


class Estimates(NamedTuple):
    """The statistics of a campaign that `solve` takes, as estimated by its policy."""

    context_probs: Floats
    reward_means: Floats
    costs: Floats
    default_rewards: Floats
    ratio: float


def pair_means(state: PairStatistics, *, overall: float | None = None) -> PairMeans:
    """Return the means that a policy has learned: (S + n m)/(C + n) with the prior's m and n.

    They are computed as in `almoner.kernels.refit.update_mean`; ``overall`` is the mean of all
    decisions where rewards come within a window.
    """
    own, borrowed = state.counts, np.zeros(state.counts.shape)
    counts, sums = own, state.sums
    if state.prior_counts.size:
        borrowed = state.prior_counts.copy()
        counts, sums = own + borrowed, sums + borrowed * state.prior_means
    if overall is not None:
        lone = np.where(borrowed > 0, 0.0, 1.0)
        counts, sums = counts + lone, sums + lone * overall
        return PairMeans(np.minimum(1.0, sums / counts), own, borrowed + lone)
    seen = counts > 0
    return PairMeans(np.where(seen, sums / np.where(seen, counts, 1.0), UNSEEN), own, borrowed)


def optimum(
    estimates: Estimates,
    *,
    reserves: Ints,
    funds: int,
    ratio: float | None = None,
) -> Solution:
    """Return the optimum among the actions whose reserves fit the funds.

    If none does, nothing is served, and the price is the reward of the first unit of money.
    Contexts without arrivals have no weight in the optimum, and get the actions worth its price.
    """
    fits = reserves <= funds
    if not fits.any():
        return solve(estimates, ratio=0.0)
    means = np.where(fits, estimates.reward_means, 0.0)  # without reward it is not taken
    affordable = estimates._replace(reward_means=means)
    solution = solve(affordable, ratio=ratio)
    nothing = solution.ratio == 0 and (affordable.costs > 0).all()
    if nothing or (estimates.context_probs > 0).all():
        return solution
    probabilities = solution.probabilities + _priced(affordable, solution)
    probabilities.setflags(write=False)
    return replace(solution, probabilities=probabilities)


def _priced(estimates: Estimates, solution: Solution) -> Floats:
    """Return the probabilities of actions in contexts without arrivals, 0 in all others.

    Hull steps steeper than the price are taken; those as steep as it, at the rate of the piece that
    the budget fills in part. Without a budget only steps that cost nothing are taken.
    """
    absent = estimates.context_probs <= 0
    gains = np.where(
        absent[:, None], estimates.reward_means - estimates.default_rewards[:, None], 0
    )
    slopes, _, steps = hull_steps(absent.astype(np.float64), gains, estimates.costs)
    free = int(np.count_nonzero(np.isinf(slopes)))  # they come first
    paid, runs = slopes[free:], step_runs(estimates.costs, steps)[free:]
    nearly = np.maximum(TOLERANCE * paid, ROUNDING / runs)
    above = np.where(paid > solution.price + nearly, float(solution.ratio > 0), 0.0)
    rates = np.where(abs(paid - solution.price) <= nearly, _rate(solution), above)
    probabilities = np.zeros(gains.shape)
    add_steps(probabilities, steps, np.append(np.ones(free), rates))
    return probabilities


def _rate(solution: Solution) -> float:
    """Return the share of the piece at the price that the budget pays for."""
    ends, ratio = solution.boundaries, solution.ratio
    full = int(np.count_nonzero(ratio >= ends * (1 - TOLERANCE)))
    if full == len(ends):
        return 0.0
    start = float(ends[full - 1]) if full else 0.0
    return max(0.0, (ratio - start) / (float(ends[full]) - start))


def interval(total: float, count: float) -> tuple[float, float]:
    """Return the 95 % Wilson interval of a mean of numbers in [0, 1]; [0, 1] without data."""
    if count == 0:
        return 0.0, 1.0
    mean, spread = min(1.0, total / count), Z95 * Z95 / count
    centre = (mean + spread / 2) / (1 + spread)
    half = Z95 * math.sqrt(mean * (1 - mean) / count + spread / (4 * count)) / (1 + spread)
    return max(0.0, centre - half), min(1.0, centre + half)
