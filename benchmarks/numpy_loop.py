"""UCB-ALP in numpy: a round is a few operations on whole arrays."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

import almoner as al

__all__ = ["Allocate", "by_sorting", "play"]

Floats = npt.NDArray[np.float64]

Allocate = Callable[[Floats, Floats, float], Floats]
"""Function from values and probabilities of contexts and budget per round to shares served."""


def play(problem: al.Problem, allocate: Allocate, rng: np.random.Generator) -> float:
    """Play one replication and return the reward drawn; ``allocate`` solves the LP of a round."""
    probs, shape = problem.context_probs, problem.reward_means.shape
    counts, sums = np.zeros(shape), np.zeros(shape)
    contexts = rng.choice(len(probs), size=problem.horizon, p=probs)
    left, total = int(problem.budget), 0.0
    for t in range(1, problem.horizon + 1):
        if left == 0:
            break
        tried = np.maximum(counts, 1)
        indices = np.where(counts > 0, sums / tried + np.sqrt(np.log(t) / (2 * tried)), 1.0)
        indices += 1e-9 * rng.random(shape)  # breaks ties at random
        chances = allocate(indices.max(axis=1), probs, left / (problem.horizon - t + 1))
        context = contexts[t - 1]
        if rng.random() < chances[context]:
            action = indices[context].argmax()
            reward = float(rng.random() < problem.reward_means[context, action])
            counts[context, action] += 1
            sums[context, action] += reward
            total += reward
            left -= 1
    return total


def by_sorting(values: Floats, probs: Floats, ratio: float) -> Floats:
    """Serve the best contexts first, for as long as the budget per round lasts."""
    order = np.argsort(-values)
    sorted_probs = probs[order]
    room = ratio - (np.cumsum(sorted_probs) - sorted_probs)
    chances = np.empty(len(values))
    chances[order] = np.clip(room / sorted_probs, 0, 1)
    return chances
