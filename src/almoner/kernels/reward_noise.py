"""Reward noise of a simulation: draws a reward around its mean."""

from __future__ import annotations

import numpy as np

from almoner.jit import jit_callable
from almoner.kernels.draws import ONLY_LANE, beta, uniform
from almoner.kernels.environment import Environment

__all__ = ["draw_reward"]


@jit_callable
def draw_reward(environment: Environment, context: int, action: int, key: np.uint64) -> float:
    """Draw the reward of an action in the round of this key: its mean and its noise.

    Bernoulli at a spread of 1, the mean itself at 0, and a beta distribution between.
    """
    mean = environment.worth[context, action + 1]
    if mean == 0.0:
        return 0.0
    if environment.spread == 1.0:
        return 1.0 if uniform(key, ONLY_LANE) < mean else 0.0
    if environment.spread == 0.0 or mean in (0.0, 1.0):
        return mean
    strength = 1.0 / environment.spread - 1.0
    return beta(mean * strength, (1.0 - mean) * strength, key)
