"""Plans of cross-fitted models evaluated at all prices in one pass.

A price λ and the means of a model are an ordinary policy: in each context take the action with the
largest m − λc. As the price falls, a context moves from one candidate of its hull to the next
(`almoner.lp`), and each move changes value and cost by what the fold says that judges the model.
Cumulative sums over the moves are value and cost as functions of the price, and are read where the
budget is spent, in each fold for itself: a fold that looks good to the others is one that had bad
luck, and served first it would pull the value down.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from almoner.logs.sums import Model, Sums
from almoner.lp import hull_steps
from almoner.types import Floats, Ints

__all__ = ["Judgement", "Moves", "judge", "moves_of"]


class Moves(NamedTuple):
    """The moves of one model by falling price: context, old and new action, skipping being 0."""

    prices: Floats
    contexts: Ints
    old: Ints
    new: Ints


class Judgement(NamedTuple):
    """The value of an arrival at a budget: doubly robust, and self-normalised."""

    robust: float
    snips: float


def moves_of(model: Model) -> list[Moves]:
    """Return the moves of each model."""
    moves = []
    for shares, means in zip(model.shares, model.means, strict=True):
        prices, _, steps = hull_steps(shares, means[:, 1:] - means[:, :1], model.costs[:, 1:])
        moves.append(Moves(prices, steps[:, 0], steps[:, 1] + 1, steps[:, 2] + 1))
    return moves


def judge(
    sums: Sums, model: Model, moves: list[Moves], ratio: float, *, skip_known: bool
) -> Judgement:
    """Return the value of the plans of all models at a budget per arrival.

    Each is judged by the sums of its own fold.
    """
    totals, slope = np.zeros(len(TABLES)), 0.0
    tables = _tables(sums, model, skip_known)
    for fold, path in enumerate(moves):
        rows = float(sums.arrivals[fold].sum())
        paths = [_path(table[fold], path) for table in tables]
        place, price = _place(paths[0], path.prices, ratio * rows)
        totals += [np.interp(place, np.arange(len(values)), values) for values in paths]
        slope += price * rows
    _, value, weight, reward, bill = totals
    everyone = float(sums.arrivals.sum())
    snips = np.nan
    if weight > 0.0:  # its own cost differs a little from the budget, and counts at the price
        beyond = totals[0] / everyone - bill / weight
        snips = reward / weight + slope / everyone * beyond
    return Judgement(float(value / everyone), float(snips))


TABLES = ("cost", "value", "weight", "reward", "bill")
"""Tables by fold, context and action that `judge` sums along the moves."""


def _tables(sums: Sums, model: Model, skip_known: bool) -> tuple[Floats, ...]:
    means = np.where(np.isfinite(model.means), model.means, 0.0)
    arrivals = sums.arrivals[:, :, None]
    residuals = sums.rewards - means * sums.weights
    weights, rewards, bills = sums.weights, sums.rewards, sums.costs
    if skip_known:  # nothing to correct: every arrival could be skipped, and brings this
        residuals, weights, rewards = residuals.copy(), weights.copy(), rewards.copy()
        residuals[:, :, 0], weights[:, :, 0] = 0.0, sums.arrivals
        rewards[:, :, 0] = sums.arrivals * means[:, :, 0]
    return arrivals * model.costs, arrivals * means + residuals, weights, rewards, bills


def _path(table: Floats, moves: Moves) -> Floats:
    """Return the sum over contexts before the first move and after each."""
    changes = table[moves.contexts, moves.new] - table[moves.contexts, moves.old]
    start = float(table[:, 0].sum())
    return np.append(start, start + np.cumsum(changes))


def _place(costs: Floats, prices: Floats, budget: float) -> tuple[float, float]:
    """Return the number of moves that a budget pays for, the last in part, and its price."""
    place = int(np.searchsorted(costs, budget * (1 + 1e-12), side="right")) - 1
    if place >= len(prices):
        return float(len(prices)), 0.0
    room = costs[place + 1] - costs[place]
    return place + (budget - costs[place]) / room, float(prices[place])
