"""Sums over the rows of a log by fold, context and action: all that the estimators need."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from almoner.logs.log import Log
from almoner.lp import solve
from almoner.types import Floats, Ints

__all__ = [
    "Model",
    "PlanInput",
    "Sums",
    "WeightedRows",
    "folds_of",
    "model_of",
    "sum_rows",
    "weigh_rows",
]


class WeightedRows(NamedTuple):
    """WeightedRows ready to be summed: the place of each in the sums, and its weighted numbers.

    The weight w of a row is the inverse of its probability. ``shape`` is (folds, contexts, 1 +
    actions), skipping being the first action.
    """

    places: Ints
    arrivals: Ints
    weights: Floats
    rewards: Floats
    costs: Floats
    shape: tuple[int, int, int]


class Sums(NamedTuple):
    """Sums by fold, context and action, skipping being the first action.

    ``arrivals`` (folds, contexts) counts rows, ``weights``, ``rewards`` and ``costs`` are the sums
    of w, wr and wc.
    """

    arrivals: Floats
    weights: Floats
    rewards: Floats
    costs: Floats

    def together(self) -> Sums:
        """Return the sums over all folds, as those of one."""
        return Sums(*(sums.sum(axis=0, keepdims=True) for sums in self))

    def others(self) -> Sums:
        """Return for each fold the sums of all other folds."""
        return Sums(*(sums.sum(axis=0, keepdims=True) - sums for sums in self))


def folds_of(log: Log, folds: int, seed: int) -> Ints:
    """Return a fold for each row, at random and of equal size."""
    order = np.random.default_rng(seed).permutation(len(log))
    return np.asarray(order % folds, np.int64)


def weigh_rows(log: Log, codes: Ints, contexts: int, folds: Ints | None = None) -> WeightedRows:
    """Return the rows of a log, to be summed by fold, context and action."""
    actions, count = len(log.actions) + 1, 1 if folds is None else int(folds.max()) + 1
    arrivals = codes if folds is None else folds * contexts + codes
    weights = 1.0 / log.probabilities
    return WeightedRows(
        places=arrivals * actions + log.taken + 1,
        arrivals=arrivals,
        weights=weights,
        rewards=weights * log.rewards,
        costs=weights * log.costs,
        shape=(count, contexts, actions),
    )


def sum_rows(rows: WeightedRows, copies: Floats | None = None) -> Sums:
    """Return the sums of the rows, each counted as often as ``copies`` says."""
    folds, contexts, _ = rows.shape
    size = int(np.prod(rows.shape))

    def total(values: Floats) -> Floats:
        each = values if copies is None else values * copies
        return np.asarray(np.bincount(rows.places, each, size), np.float64).reshape(rows.shape)

    arrived = np.bincount(rows.arrivals, copies, folds * contexts).reshape(folds, contexts)
    return Sums(
        np.asarray(arrived, np.float64),
        total(rows.weights),
        total(rows.rewards),
        total(rows.costs),
    )


class PlanInput(NamedTuple):
    """Estimates as `almoner.lp.solve` takes them."""

    context_probs: Floats
    reward_means: Floats
    costs: Floats
    default_rewards: Floats
    ratio: float


class Model(NamedTuple):
    """Estimates for each fold.

    ``means`` (folds, contexts, 1 + actions) has skipping first, and minus infinity for an action
    that no row of the context took; ``costs`` (contexts, 1 + actions) are the same for all folds.
    """

    shares: Floats
    means: Floats
    costs: Floats

    def plan(self, fold: int, ratio: float) -> tuple[Floats, float]:
        """Return the plan of a fold's model, (contexts, 1 + actions), and its price."""
        means = self.means[fold]
        solution = solve(
            PlanInput(self.shares[fold], means[:, 1:], self.costs[:, 1:], means[:, 0], ratio)
        )
        skipped = 1.0 - solution.probabilities.sum(axis=1)
        return np.column_stack([skipped, solution.probabilities]).clip(0.0, 1.0), solution.price


def model_of(sums: Sums, skip_reward: float | None) -> Model:
    """Return the shares of contexts, weighted means of rewards, and mean costs.

    A cost that no row has is that of the action in other contexts. The reward of skipping in a
    context where nobody was skipped is that of the others.
    """
    seen = sums.weights > 0.0
    means = np.where(seen, sums.rewards / np.where(seen, sums.weights, 1.0), -np.inf)
    skipped = sums.weights[:, :, 0].sum(axis=1)
    overall = sums.rewards[:, :, 0].sum(axis=1) / np.where(skipped > 0.0, skipped, 1.0)
    means[:, :, 0] = np.where(seen[:, :, 0], means[:, :, 0], overall[:, None])
    if skip_reward is not None:
        means[:, :, 0] = skip_reward
    weights, costs = sums.weights.sum(axis=0), sums.costs.sum(axis=0)
    usual = costs.sum(axis=0) / np.where(weights.sum(axis=0) > 0.0, weights.sum(axis=0), 1.0)
    costs = np.where(weights > 0.0, costs / np.where(weights > 0.0, weights, 1.0), usual)
    rows = sums.arrivals.sum(axis=1, keepdims=True)
    return Model(sums.arrivals / np.where(rows > 0.0, rows, 1.0), means, costs)
