"""Rank the columns of a log by the worth of their contexts to a plan, by cross-validation.

A plan is made with the contexts of some columns on all folds but one, and judged on that one beside
the plan without contexts; spending more or less than it counts at its price. Gains of actions are
shrunk before they are planned with. A column whose contexts differ by no more than chance in any
mean makes no contexts: its gain is 0. A pair of columns is a candidate only if it beats the better
one of the two by more than chance.
"""

from __future__ import annotations

from itertools import combinations
from typing import NamedTuple

import numpy as np

from almoner.fit import Split
from almoner.logs.columns import Cells, Column, product
from almoner.logs.log import Log
from almoner.logs.shrinkage import heterogeneity, shrink
from almoner.logs.sums import Model, Sums, folds_of, model_of, sum_rows, weigh_rows
from almoner.types import Floats, Ints

__all__ = ["best_split", "rank_splits"]

FOLDS, SEED = 10, 2015
"""Folds of the cross-validation, and the seed that they are drawn with."""

SHARES = (0.1, 0.3, 0.6)
"""Budgets at which columns are ranked if none is given: shares of the dearest action for all."""

DIFFERENT, BETTER = 3.0, 2.0
"""Standard errors by which the contexts of a column must differ, and by which a pair must beat the
better one of its columns."""

ROUNDING = 1e-9
"""Share of a context up to which two plans are the same."""


class _Plans(NamedTuple):
    """Plans of each ratio and fold, (ratios, folds, contexts, 1 + actions), with their prices."""

    chosen: Floats
    prices: Floats
    model: Model


def rank_splits(log: Log, ratio: float | None = None) -> tuple[Split, ...]:
    """Return single columns, then pairs that add to them, each the most valuable first.

    ``ratio`` is the budget per arrival; without one, gains are means over several.
    """
    judge = _Judge(log, ratio)
    scores = {column.name: judge.scores((column,)) for column in log.columns}
    singles = [judge.split((column,), scores[column.name]) for column in log.columns]
    # Contexts that differ in nothing come last, also behind those that differ and gain nothing;
    # of equal gains, the contexts come first that differ most.
    singles.sort(
        key=lambda split: (scores[split.columns[0]] is None, -split.gain, -split.difference)
    )
    pairs = []
    for two in combinations(log.columns, 2):
        single = [score for column in two if (score := scores[column.name]) is not None]
        score = judge.scores(two) if len(single) == 2 else None
        if score is not None and _beats(score, max(single, key=np.mean)):
            pairs.append(judge.split(two, score))
    pairs.sort(key=lambda split: -split.gain)
    largest = max((split.gain for split in (*singles, *pairs)), default=0.0)
    return tuple(
        split._replace(share=max(0.0, split.gain / largest) if largest > 0.0 else 0.0)
        for split in (*singles, *pairs)
    )


def best_split(splits: tuple[Split, ...]) -> tuple[str, ...]:
    """Return the columns of the largest gain: of a single column, or of a pair if there is any.

    They are none if the contexts of several columns differ by chance only.
    """
    if len(splits) == 1:
        return splits[0].columns
    best = max(splits, key=lambda split: (split.stderr > 0.0, split.gain))
    return best.columns if best.stderr > 0.0 else ()


def _beats(score: Floats, other: Floats) -> bool:
    """Return whether one score is larger than another by more than chance."""
    beyond = score - other
    return bool(beyond.mean() > BETTER * beyond.std() / np.sqrt(len(beyond)))


class _Judge:
    """Cross-validation of plans with contexts against the plan without."""

    def __init__(self, log: Log, ratio: float | None) -> None:
        self.log, self.folds = log, folds_of(log, FOLDS, SEED)
        dearest = float(log.costs.max())
        self.ratios = [share * dearest for share in SHARES] if ratio is None else [ratio]
        actions = range(-1, len(log.actions))
        rewards = [log.rewards[log.taken == action] for action in actions]
        self.variances = np.array([each.var() if each.size else 0.0 for each in rewards])
        self.kurtoses = np.array([_excess_kurtosis(each) for each in rewards])
        self.base = self._plans(product((), len(log)))
        self.differences: dict[tuple[str, ...], float] = {}

    def split(self, columns: tuple[Column, ...], score: Floats | None) -> Split:
        """Return the figures of a score, 0 where there is none."""
        cells = product(columns, len(self.log))
        names, count, differ = cells.columns, len(cells.labels), self.differences[cells.columns]
        if score is None:
            return Split(names, 0.0, 0.0, 0.0, count, differ)
        stderr = float(score.std() / np.sqrt(len(score)))
        return Split(names, float(score.mean()), stderr, 0.0, count, differ)

    def scores(self, columns: tuple[Column, ...]) -> Floats | None:
        """Return the gain of each row, None if the contexts differ by chance only."""
        cells = product(columns, len(self.log))
        sums, squares = self._sums(cells)
        whole = sums.together()
        means = model_of(whole, self.log.skip_reward).means[0]
        chance = self._variances(whole, squares.together())[0]
        tails = self._tails(cells)
        known = 0 if self.log.skip_reward is None else 1
        differ = heterogeneity(means[:, known:], chance[:, known:], tails[:, known:])
        self.differences[cells.columns] = differ
        if differ < DIFFERENT:
            return None
        return _scores(self.log, cells, self.folds, self._plans(cells), self.base)

    def _sums(self, cells: Cells) -> tuple[Sums, Sums]:
        """Return the sums of each fold, and those with squares of the weights as weights."""
        rows = weigh_rows(self.log, cells.codes, len(cells.labels), self.folds)
        return sum_rows(rows), sum_rows(rows._replace(weights=rows.weights**2))

    def _variances(self, sums: Sums, squares: Sums) -> Floats:
        """Return the sampling variances of means: that of a reward, over the effective rows."""
        seen = sums.weights > 0.0
        return np.where(
            seen, self.variances * squares.weights / np.where(seen, sums.weights, 1.0) ** 2, np.inf
        )

    def _tails(self, cells: Cells) -> Floats:
        """Return the excess kurtoses of means: that of a reward, over the effective rows."""
        rows = weigh_rows(self.log, cells.codes, len(cells.labels))
        squares, fourths = (
            sum_rows(rows._replace(weights=rows.weights**power)).weights[0] for power in (2, 4)
        )
        tails: Floats = self.kurtoses * fourths / np.where(squares > 0.0, squares, 1.0) ** 2
        return tails

    def _plans(self, cells: Cells) -> _Plans:
        """Return plans for each ratio and fold, made on the other folds with shrunk gains."""
        sums, squares = self._sums(cells)
        others, skip_reward = sums.others(), self.log.skip_reward
        model = model_of(others, skip_reward)
        chance = self._variances(others, squares.others())
        skipped = model.means[:, :, :1]
        noise = chance[:, :, 1:] + (chance[:, :, :1] if skip_reward is None else 0.0)
        gains = shrink(model.means[:, :, 1:] - skipped, noise)
        model = model._replace(
            means=np.concatenate([skipped, skipped + gains], axis=2),
            costs=model_of(sums.together(), skip_reward).costs,
        )
        made = [
            [model.plan(fold, ratio) for fold in range(len(model.means))] for ratio in self.ratios
        ]
        return _Plans(
            np.array([[chosen for chosen, _ in each] for each in made]),
            np.array([np.mean([price for _, price in each]) for each in made]),
            model,
        )


def _excess_kurtosis(rewards: Floats) -> float:
    """Return how much heavier the tails of rewards are than those of a normal distribution."""
    largest = np.abs(rewards).max(initial=0.0)
    away = rewards / largest if largest > 0.0 else rewards  # fourth powers of 1e100 overflow
    squares = (away - away.mean()) ** 2 if rewards.size else away
    variance = squares.mean() if rewards.size else 0.0
    return max(0.0, float((squares**2).mean() / variance**2) - 3.0) if variance > 0.0 else 0.0


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
        if np.abs(change).max() < ROUNDING:
            continue  # a gain of 1e-19 in every row would have no standard error
        bills = (chosen * plans.model.costs).sum(-1) - (usual * base.model.costs).sum(-1)
        fixed = (change * means).sum(-1) - price * bills
        total += fixed[folds, cells.codes] + change[folds, cells.codes, taken] * residuals
    return total / len(plans.chosen)
