"""The loop: replications of a run, folded from `decide`, `take` and `learn`."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from almoner.checks import Floats
from almoner.jit import exposed, inlined
from almoner.kernels.draws import CONTEXTS, POLICY, REWARDS, beta, round_key, stream_key, uniform
from almoner.kernels.state import EXPLORED, LEFT, ROUND, Hulls, Memo, State, reset
from almoner.kernels.steps import decide, learn, take
from almoner.policy.lowering import Plan

__all__ = [
    "FIGURES",
    "Streams",
    "World",
    "draw_context",
    "draw_reward",
    "make_world",
    "play",
    "streams_of",
]

FIGURES = 5
"""How many figures `play` writes of each replication."""


class World(NamedTuple):
    """The truth: what contexts come, what actions bring, what each choice gives away.

    ``probs`` is the law of the contexts, ``cuts`` and ``aliases`` (contexts, 2) are Walker's alias
    table of it. ``worth`` and ``losses`` (contexts, 1 + actions, skip first) are the mean reward of
    a choice, and what it forgoes at the price of the budget.
    """

    probs: Floats
    cuts: Floats
    aliases: npt.NDArray[np.uint32]
    spread: float
    worth: Floats
    losses: Floats


class Streams(NamedTuple):
    """The keys of one replication's named streams."""

    contexts: np.uint64
    rewards: np.uint64
    choices: np.uint64


@exposed
def streams_of(root: np.uint64, run: int) -> Streams:
    """Return the streams of one replication."""
    return Streams(
        stream_key(root, run, CONTEXTS),
        stream_key(root, run, REWARDS),
        stream_key(root, run, POLICY),
    )


def make_world(
    context_probs: Floats, means: Floats, defaults: Floats, spread: float, losses: Floats
) -> World:
    """Return the world of a problem; building the alias table is all there is to it."""
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
    return World(np.array(context_probs), cuts, aliases, float(spread), worth, np.array(losses))


@exposed
def draw_context(world: World, key: np.uint64) -> int:
    """Return the context that arrives in the round of this key.

    A table of both outcomes spares a branch that nobody can predict; unsigned ones, that every use
    of the context as an index looks at its sign first.
    """
    place = uniform(key, 0) * len(world.cuts)
    column = int(place)
    return int(np.int64(world.aliases[column, int(place - column >= world.cuts[column])]))


@exposed
def draw_reward(world: World, context: int, action: int, key: np.uint64) -> float:
    """Return the reward that an action brings in the round of this key."""
    mean = world.worth[context, action + 1]
    if mean == 0.0:
        return 0.0
    if world.spread == 1.0:
        return 1.0 if uniform(key, 0) < mean else 0.0
    if world.spread == 0.0 or mean in (0.0, 1.0):
        return mean
    strength = 1.0 / world.spread - 1.0
    return beta(mean * strength, (1.0 - mean) * strength, key)


@inlined
def untried_pairs(plan: Plan, world: World, state: State) -> int:
    """Return how many pairs were never tried, of those that may come and can still be afforded."""
    untried = 0
    if state.clock[ROUND] < plan.horizon:
        for context in range(plan.costs.shape[0]):
            for action in range(plan.costs.shape[1]):
                fits = plan.costs[context, action] <= state.clock[LEFT]
                unseen = state.counts[context, action] == 0.0
                untried += unseen and fits and world.probs[context] > 0.0
    return untried


@exposed
def play(
    plan: Plan,
    world: World,
    state: State,
    memo: Memo,
    hulls: Hulls | None,
    root: np.uint64,
    first: int,
    marks: npt.NDArray[np.int64],
    out: Floats,
    left_at: Floats,
    choices: npt.NDArray[np.int64],
    numbers: Floats,
) -> None:
    """Play replications ``first``, ``first + 1``, … and write a row of ``out`` for each.

    A row holds the mean reward of what was done, the reward drawn, the loss at the price, the spend
    in units, and how many pairs the end of exploration found untried (0 where nothing ends).
    ``left_at`` gets the units left before each of the rounds ``marks``. Where
    ``choices`` and ``numbers`` have a row for every round they get all of it: context and action;
    probability, reward and the units left. Skipping earns its mean: nobody learns from it, so there
    is nothing to draw.
    """
    for row in range(out.shape[0]):
        reset(plan, state, memo)
        streams = streams_of(root, first + row)
        expected, drawn, loss, mark, untried = 0.0, 0.0, 0.0, 0, 0
        coming = draw_context(world, round_key(streams.contexts, 0))
        for t in range(plan.horizon):
            while mark < len(marks) and marks[mark] == t + 1:
                left_at[row, mark] = state.clock[LEFT]
                mark += 1
            # Drawn a round ahead, so that it is at hand when the processor has guessed wrong.
            context, coming = coming, draw_context(world, round_key(streams.contexts, t + 1))
            key = round_key(streams.choices, t)
            action, probability = decide(plan, state, memo, hulls, context, key)
            take(plan, state, memo, hulls, context, action)
            reward = draw_reward(world, context, action, round_key(streams.rewards, t))
            learn(plan, state, memo, context, action, t, reward, key)
            if hulls is not None and state.clock[EXPLORED] == t + 1:
                untried = untried_pairs(plan, world, state)
            expected += world.worth[context, action + 1]
            loss += world.losses[context, action + 1]
            drawn += reward
            if len(choices) > 0:
                choices[t, 0], choices[t, 1] = context, action
                numbers[t, 0], numbers[t, 1] = probability, reward
                numbers[t, 2] = state.clock[LEFT]
        out[row, 0], out[row, 1], out[row, 2] = expected, drawn, loss
        out[row, 3], out[row, 4] = plan.budget - state.clock[LEFT], untried
