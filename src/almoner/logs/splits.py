"""Rank the columns of a log by the worth of their contexts to a plan, by cross-validation.

A plan is made with the contexts of some columns on all folds but one, and judged on that one beside
the plan without contexts; spending more or less than it counts at its price. A split by noise makes
worse plans, and its gain is below 0. A pair of columns is a candidate only if it beats the better
one of the two by more than chance.
"""

from __future__ import annotations

from itertools import combinations
from typing import NamedTuple

import numpy as np

from almoner.fit import Split
from almoner.logs.columns import Cells, Column, product
from almoner.logs.log import Log
from almoner.logs.sums import Model, folds_of, model_of, sum_rows, weigh_rows
from almoner.types import Floats, Ints

__all__ = ["best_split", "rank_splits"]

FOLDS, SEED = 10, 2015
"""Folds of the cross-validation, and the seed that they are drawn with."""

SHARES = (0.1, 0.3, 0.6)
"""Budgets at which columns are ranked if none is given: shares of the dearest action for all."""

SIGMAS = 2.0
"""Standard errors by which a pair must beat the better one of its columns."""


class _Plans(NamedTuple):
    """Plans of each ratio and fold, (ratios, folds, contexts, 1 + actions), with their prices."""

    chosen: Floats
    prices: Floats
    model: Model


def rank_splits(log: Log, ratio: float | None = None) -> tuple[Split, ...]:
    """Return single columns, then pairs that add to them, each the most valuable first.

    ``ratio`` is the budget per arrival; without one, gains are means over several.
    """
    folds = folds_of(log, FOLDS, SEED)
    ratios = [share * float(log.costs.max()) for share in SHARES] if ratio is None else [ratio]
    everyone = product((), len(log))
    base = _plans(log, everyone, folds, ratios)
    scores: dict[tuple[str, ...], Floats] = {}
    splits: list[Split] = []

    def judge(columns: tuple[Column, ...]) -> Split:
        cells = product(columns, len(log))
        score = _scores(log, cells, folds, _plans(log, cells, folds, ratios), base)
        scores[cells.columns] = score
        gain, stderr = float(score.mean()), float(score.std() / np.sqrt(len(score)))
        return Split(cells.columns, gain, stderr, 0.0, len(cells.labels))

    singles = [judge((column,)) for column in log.columns]
    splits += sorted(singles, key=lambda split: -split.gain)
    pairs = []
    for two in combinations(log.columns, 2):
        split = judge(two)
        better = max((scores[(column.name,)] for column in two), key=lambda score: score.mean())
        beyond = scores.pop(split.columns) - better
        if beyond.mean() > SIGMAS * beyond.std() / np.sqrt(len(beyond)):
            pairs.append(split)
    splits += sorted(pairs, key=lambda split: -split.gain)
    largest = max((split.gain for split in splits), default=0.0)
    if largest <= 0.0:
        return tuple(splits)
    return tuple(split._replace(share=max(0.0, split.gain / largest)) for split in splits)


def best_split(splits: tuple[Split, ...]) -> tuple[str, ...]:
    """Return the columns of the largest gain, or the first column if none gains anything."""
    return max(splits, key=lambda split: split.gain).columns


def _plans(log: Log, cells: Cells, folds: Ints, ratios: list[float]) -> _Plans:
    """Return plans for each ratio and fold, made on the other folds."""
    sums = sum_rows(weigh_rows(log, cells.codes, len(cells.labels), folds))
    model = model_of(sums.others(), log.skip_reward)
    model = model._replace(costs=model_of(sums.together(), log.skip_reward).costs)
    made = [[model.plan(fold, ratio) for fold in range(FOLDS)] for ratio in ratios]
    return _Plans(
        np.array([[chosen for chosen, _ in each] for each in made]),
        np.array([np.mean([price for _, price in each]) for each in made]),
        model,
    )


def _scores(log: Log, cells: Cells, folds: Ints, plans: _Plans, base: _Plans) -> Floats:
    """Return for each row the gain of the plans over those without contexts, doubly robust.

    The model is that without contexts, which serves as a control variate.
    """
    means = np.where(np.isfinite(base.model.means), base.model.means, 0.0)  # (folds, 1, actions)
    taken = log.taken + 1
    residuals = (log.rewards - means[folds, 0, taken]) / log.probabilities
    if log.skip_reward is not None:
        residuals[taken == 0] = 0.0
    total = np.zeros(len(log))
    for chosen, usual, price in zip(plans.chosen, base.chosen, base.prices, strict=True):
        change = chosen - usual
        bills = (chosen * plans.model.costs).sum(-1) - (usual * base.model.costs).sum(-1)
        fixed = (change * means).sum(-1) - price * bills
        total += fixed[folds, cells.codes] + change[folds, cells.codes, taken] * residuals
    return total / len(plans.chosen)
