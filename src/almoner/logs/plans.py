"""Plans of several models evaluated at all prices in one pass.

A price λ and the means of a model are an ordinary policy: in each context take the action with the
largest m − λc. As the price falls, a context moves from one candidate of its hull to the next
(`almoner.lp`); each move changes value and cost by what its fold says. Cumulative sums over the
moves of all folds, by falling price, are value and cost as functions of the price.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from almoner.logs.sums import Model, Sums
from almoner.lp import hull_steps
from almoner.types import Floats, Ints

__all__ = ["Curve", "trace_prices"]


class Curve(NamedTuple):
    """Value of an arrival against its cost, rising, with a point for each price.

    ``robust`` is the doubly robust value, ``snips`` the self-normalised one with its own cost
    ``snips_costs``.
    """

    prices: Floats
    costs: Floats
    robust: Floats
    snips_costs: Floats
    snips: Floats

    def at(self, ratio: float) -> tuple[float, float]:
        """Return the doubly robust and the self-normalised value at a budget per arrival."""
        return _read(ratio, self.costs, self.robust), _read(ratio, self.snips_costs, self.snips)


def trace_prices(sums: Sums, model: Model, *, skip_known: bool) -> Curve:
    """Return the curve of the plans that the models make, judged by the sums of their folds."""
    rows = float(sums.arrivals.sum())
    means = np.where(np.isfinite(model.means), model.means, 0.0)
    residuals = sums.rewards - means * sums.weights
    if skip_known:
        residuals[:, :, 0] = 0.0  # known: nothing to correct
    robust = sums.arrivals[:, :, None] * means + residuals
    costs = sums.arrivals[:, :, None] * model.costs
    weights, rewards, bills = sums.weights.copy(), sums.rewards.copy(), sums.costs.copy()
    if skip_known:  # every arrival could be skipped, and brings this
        weights[:, :, 0], bills[:, :, 0] = sums.arrivals, 0.0
        rewards[:, :, 0] = sums.arrivals * means[:, :, 0]
    prices, fold, context, start, end = _moves(model)
    free = int(np.count_nonzero(np.isinf(prices)))
    totals = [
        np.append(base, base + np.cumsum(table[fold, context, end] - table[fold, context, start]))
        for table in (costs, robust, weights, rewards, bills)
        for base in [float(table[:, :, 0].sum())]
    ]
    cost, value, weight, reward, bill = (total[free:] for total in totals)
    weight = np.where(weight > 0.0, weight, np.nan)
    return Curve(
        prices=np.append(np.inf, prices)[free:],
        costs=cost / rows,
        robust=value / rows,
        snips_costs=bill / weight,
        snips=reward / weight,
    )


def _moves(model: Model) -> tuple[Floats, Ints, Ints, Ints, Ints]:
    """Return price, fold, context, old and new action of every move, by falling price."""
    prices, places = [], []
    for fold in range(len(model.means)):
        gains = model.means[fold, :, 1:] - model.means[fold, :, :1]
        slopes, _, steps = hull_steps(model.shares[fold], gains, model.costs[:, 1:])
        prices.append(slopes)
        places.append(np.column_stack([np.full(len(slopes), fold), steps[:, 0], steps[:, 1:] + 1]))
    price, place = np.concatenate(prices), np.concatenate(places)
    order = np.argsort(-price, kind="stable")
    fold, context, start, end = place[order].T
    return price[order], fold, context, start, end


def _read(ratio: float, costs: Floats, values: Floats) -> float:
    """Interpolate a curve: a mixture of the plans at two neighbouring prices."""
    known = np.isfinite(costs)
    rising = np.maximum.accumulate(costs[known])
    last = np.append(rising[1:] > rising[:-1], True)  # the last of several points of one cost
    return float(np.interp(ratio, rising[last], values[known][last]))
