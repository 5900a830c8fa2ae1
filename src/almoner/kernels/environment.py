"""Environment of a simulation: true statistics, random streams, and the contexts that arrive."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from almoner.jit import jit_callable
from almoner.kernels.draws import CONTEXTS, ONLY_LANE, POLICY, REWARDS, stream_key, uniform
from almoner.types import Floats

__all__ = [
    "Environment",
    "Streams",
    "draw_context",
    "make_environment",
    "streams_of",
]


class Environment(NamedTuple):
    """True statistics of a problem: context probabilities, mean rewards, reward noise.

    ``probs`` are the context probabilities, ``cuts`` and ``aliases`` (contexts, 2) Walker's alias
    table of them. ``spread`` is the variance of a reward as a share of a Bernoulli reward's.
    ``worth`` and ``losses`` (contexts, 1 + actions, skip first) are the mean reward of an action
    and its loss against the best option at the price of the budget; ``wrong`` is the part of that
    loss by which it is worse than the best action, 0 for skipping.
    """

    probs: Floats
    cuts: Floats
    aliases: npt.NDArray[np.uint32]
    spread: float
    worth: Floats
    losses: Floats
    wrong: Floats


class Streams(NamedTuple):
    """The keys of the random streams of one replication."""

    contexts: np.uint64
    rewards: np.uint64
    choices: np.uint64


@jit_callable
def streams_of(root: np.uint64, run: int) -> Streams:
    """Return the stream keys of one replication."""
    return Streams(
        stream_key(root, run, CONTEXTS),
        stream_key(root, run, REWARDS),
        stream_key(root, run, POLICY),
    )


def make_environment(
    context_probs: Floats, means: Floats, defaults: Floats, spread: float, losses: Floats
) -> Environment:
    """Return the arrays of an environment, with Walker's alias table of the contexts."""
    contexts = len(context_probs)
    cuts = np.ones(contexts)
    aliases = np.column_stack([np.arange(contexts, dtype=np.uint32)] * 2)
    mass = context_probs / context_probs.sum() * contexts
    small = [j for j in range(contexts) if mass[j] < 1]
    large = [j for j in range(contexts) if mass[j] >= 1]
    while small and large:
        low, high = small.pop(), large.pop()
        cuts[low], aliases[low, 1] = mass[low], high
        mass[high] -= 1 - mass[low]
        (small if mass[high] < 1 else large).append(high)
    worth = np.column_stack([defaults, means])
    wrong = losses - losses[:, 1:].min(axis=1, keepdims=True)
    wrong[:, 0] = 0.0
    return Environment(
        np.array(context_probs), cuts, aliases, float(spread), worth, np.array(losses), wrong
    )


@jit_callable
def draw_context(environment: Environment, key: np.uint64) -> int:
    """Draw the context that arrives in the round of this key, by Walker's alias method: O(1).

    The table of both outcomes avoids a branch that processors cannot predict; it is unsigned, so
    that indexing with the context needs no check of the sign.
    """
    position = uniform(key, ONLY_LANE) * len(environment.cuts)
    column = int(position)
    outcome = int(position - column >= environment.cuts[column])
    return int(np.int64(environment.aliases[column, outcome]))
