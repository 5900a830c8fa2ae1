"""ParetoBandit's rules as we read them: LinUCB, and a price that follows the average spend.

A model is scored by its LinUCB index minus the price times its cost on a scale from 0 (the
cheapest) to 1 (the dearest), logarithmic. The price rises by 0.05 times the excess of a moving
average of the spend over the budget per prompt, between 0 and 5; models dearer than the dearest
divided by 1 + price are left out. The budget is hard here, as it is for everybody on the page.
"""

from __future__ import annotations

import numpy as np

import almoner as al
from almoner.types import Floats, Ints

__all__ = ["play"]

WIDTH, RIDGE, STEP, WEIGHT, HIGHEST = 0.5, 1.0, 0.05, 0.05, 5.0


def play(rows: al.Rows, *, budget: float, order: Ints) -> float:
    """Return the reward of one pass over the rows."""
    features = _standardised(np.asarray(rows.features, np.float64))
    mean_costs = rows.costs.mean(axis=0)
    scale = np.log(mean_costs / mean_costs.min()) / np.log(mean_costs.max() / mean_costs.min())
    models, size = rows.costs.shape[1], features.shape[1]
    inverse = np.stack([np.eye(size) / RIDGE] * models)
    sums, weights = np.zeros((models, size)), np.zeros((models, size))
    left, price, average, rate = budget, 0.0, budget / len(order), budget / len(order)
    reward = 0.0
    for row in order:
        x = features[row]
        spread = np.einsum("kij,i,j->k", inverse, x, x)
        scores = weights @ x + WIDTH * np.sqrt(spread) - price * scale
        allowed = mean_costs <= mean_costs.max() / (1 + price)
        allowed = (allowed if allowed.any() else np.ones(models, bool)) & (mean_costs <= left)
        bill = 0.0
        if allowed.any():
            model = int(np.argmax(np.where(allowed, scores, -np.inf)))
            bill = min(float(rows.costs[row, model]), left)
            gained = float(rows.rewards[row, model])
            reward, left = reward + gained, left - bill
            moved = inverse[model] @ x
            inverse[model] -= np.outer(moved, moved) / (1 + float(x @ moved))
            sums[model] += gained * x
            weights[model] = inverse[model] @ sums[model]
        average += WEIGHT * (bill - average)
        price = min(HIGHEST, max(0.0, price + STEP * (average / rate - 1)))
    return reward


def _standardised(features: Floats) -> Floats:
    spread = features.std(axis=0)
    scaled = (features - features.mean(axis=0)) / np.where(spread > 0, spread, 1)
    return np.column_stack([np.ones(len(features)), np.clip(scaled, -5, 5)])
