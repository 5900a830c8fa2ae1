"""Decisions on rows in numpy: the price solved anew for each arrival; LinUCB with a paced price."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

__all__ = ["linucb", "resolving"]

Floats = npt.NDArray[np.float64]

WINDOW, HALVINGS = 256, 40
"""Rows of the market, and halvings of the interval that holds the price."""


def resolving(scores: Floats, costs: Floats, budget: float) -> float:
    """Play rows by their scores: each decision solves for the price on the latest rows."""
    total, left = 0.0, budget
    for t in range(len(scores)):
        seen = slice(max(0, t + 1 - WINDOW), t + 1)
        price = _price(scores[seen], costs[seen], left / (len(scores) - t))
        surplus = np.where(costs[t] <= left, scores[t] - price * costs[t], -1.0)
        best = int(surplus.argmax())
        if surplus[best] > 0.0:
            total += scores[t, best]
            left -= costs[t, best]
    return total


def linucb(features: Floats, rewards: Floats, costs: Floats, budget: float) -> float:
    """Play rows by LinUCB less price times cost; the price follows the spend by descent."""
    count, actions = rewards.shape
    width = features.shape[1]
    inverses = np.tile(np.eye(width) / width, (actions, 1, 1))
    sums = np.zeros((actions, width))
    total, left, ratio, price = 0.0, budget, budget / count, 0.0
    for t in range(count):
        x = features[t]
        gains = inverses @ x
        bounds = np.einsum("ki,ki->k", gains, sums) + np.sqrt(gains @ x)
        surplus = np.where(costs[t] <= left, bounds - price * costs[t], -1.0)
        best, cost = int(surplus.argmax()), 0.0
        if surplus[best] > 0.0:
            cost = costs[t, best]
            total += rewards[t, best]
            left -= cost
            inverses[best] -= np.outer(gains[best], gains[best]) / (1.0 + gains[best] @ x)
            sums[best] += rewards[t, best] * x
        price = max(0.0, price + 0.05 * (cost / ratio - 1.0))
    return total


def _price(scores: Floats, costs: Floats, room: float) -> float:
    """Return the price at which rows spend ``room`` each, by bisection."""

    def spend(price: float) -> float:
        surplus = scores - price * costs
        best = surplus.argmax(axis=1)
        chosen = np.arange(len(best))
        return float((costs[chosen, best] * (surplus[chosen, best] > 0.0)).mean())

    if spend(0.0) <= room:
        return 0.0
    low, high = 0.0, float((scores / costs).max())
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if spend(middle) > room else (low, middle)
    return high
