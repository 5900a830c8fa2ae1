"""Environment of eight replications: their contexts and rewards, drawn as for one of them.

Random draws are pure functions of replication and round (`almoner.kernels.draws`), so that a lane
draws what its replication draws alone.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from almoner.jit import jit_inline
from almoner.kernels.draws import round_key
from almoner.kernels.environment import Environment, streams_of
from almoner.kernels.lanes.vector import WIDTH, as_floats, as_integers, as_lanes, lane, where
from almoner.kernels.reward_noise import draw_reward

__all__ = [
    "CHOICES",
    "CONTEXTS",
    "REWARDS",
    "draw_context",
    "draw_rewards",
    "start_streams",
    "uniform",
]

CONTEXTS, REWARDS, CHOICES = range(3)
"""Indices in ``LaneState.streams``."""

_S11 = np.uint64(11)


@jit_inline
def start_streams(root: np.uint64, first: int, keys: Any) -> None:
    """Write the stream keys of eight replications from ``first`` on."""
    for i in range(WIDTH):
        streams = streams_of(root, first + i)
        keys[CONTEXTS, i], keys[REWARDS, i] = streams.contexts, streams.rewards
        keys[CHOICES, i] = streams.choices


@jit_inline
def uniform(key: Any, number: int) -> Any:
    """Return the uniform draws in [0, 1) of one of the lanes of `almoner.kernels.draws`."""
    bits = key if number == 0 else round_key(key, number)
    return as_floats(bits >> _S11) * 2.0**-53


@jit_inline
def draw_context(environment: Environment, key: Any) -> Any:
    """Draw the contexts that arrive, by Walker's alias method."""
    position = uniform(key, 0) * len(environment.cuts)
    column = as_integers(position)
    outcome = where(position - as_floats(column) >= environment.cuts[column], 1, 0)
    return environment.aliases[column, outcome]


@jit_inline
def draw_rewards(
    environment: Environment, context: Any, option: Any, mean: Any, stream: Any, t: int, row: Any
) -> Any:
    """Draw the reward of each option (0 for skipping), given its mean; ``row`` is scratch space.

    Noise other than of a coin is drawn lane by lane.
    """
    if environment.spread == 1.0:
        return where(uniform(round_key(stream, t), 0) < mean, 1.0, 0.0)
    if environment.spread == 0.0:
        return mean
    for i in range(WIDTH):
        one, action = int(np.int64(lane(context, i))), int(np.int64(lane(option, i))) - 1
        key = round_key(lane(stream, i), t)
        row[0, i] = draw_reward(environment, one, action, key)
    return as_lanes(row, row)[0]
