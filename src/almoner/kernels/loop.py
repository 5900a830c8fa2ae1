"""The loop of a simulation: replications of a run, folded from `decide`, `take` and `learn`."""

from __future__ import annotations

import numpy as np

from almoner.jit import jit_callable, jit_inline
from almoner.kernels.draws import round_key
from almoner.kernels.environment import Environment, draw_context, streams_of
from almoner.kernels.reward_noise import draw_reward
from almoner.kernels.state import EXPLORED, LAST_PRICE, LEFT, ROUND, Hulls, Memo, State, reset
from almoner.kernels.steps import decide, learn, take
from almoner.policy.lowering import LoweredPolicy
from almoner.types import Floats, Ints

__all__ = ["FIGURES", "play"]

FIGURES = 6
"""Number of columns that `play` writes for each replication."""


@jit_inline
def untried_pairs(policy: LoweredPolicy, environment: Environment, state: State) -> int:
    """Return the number of untried pairs that are affordable and whose context can arrive."""
    untried = 0
    if state.progress[ROUND] < policy.horizon:
        for context in range(policy.costs.shape[0]):
            for action in range(policy.costs.shape[1]):
                fits = policy.costs[context, action] <= state.progress[LEFT]
                unseen = state.counts[context, action] == 0.0
                untried += unseen and fits and environment.probs[context] > 0.0
    return untried


@jit_callable
def play(
    policy: LoweredPolicy,
    environment: Environment,
    state: State,
    memo: Memo,
    hulls: Hulls | None,
    root: np.uint64,
    first: int,
    marks: Ints,
    out: Floats,
    noted: Floats,
    pairs: Ints,
    choices: Ints,
    numbers: Floats,
) -> None:
    """Play replications ``first``, ``first + 1``, … and write a row of ``out`` for each.

    A row holds the mean reward of the actions taken, the reward drawn, the loss at the price, the
    spend in units, the number of pairs left untried at the end of exploration (0 if there is none),
    and the part of the loss by wrong actions. ``noted`` gets the units left and the loss so far
    before each of the rounds ``marks``. ``pairs`` (contexts, 1 + actions, skip first) is added to:
    how often each action was taken. If ``choices`` and ``numbers`` have a row for every round, they
    get its context and action, and its probability, reward and units left.
    """
    for row in range(out.shape[0]):
        reset(policy, state, memo)
        if hulls is not None:
            hulls.price[LAST_PRICE] = 0.0  # a run does not depend on the one before it
        streams = streams_of(root, first + row)
        expected, drawn, loss, wrong, mark, untried = 0.0, 0.0, 0.0, 0.0, 0, 0
        coming = draw_context(environment, round_key(streams.contexts, 0))
        for t in range(policy.horizon):
            while mark < len(marks) and marks[mark] == t + 1:
                noted[row, mark, 0], noted[row, mark, 1] = state.progress[LEFT], loss
                mark += 1
            # Drawn a round ahead: it is ready when the processor has mispredicted a branch.
            context, coming = coming, draw_context(environment, round_key(streams.contexts, t + 1))
            key = round_key(streams.choices, t)
            action, probability = decide(policy, state, memo, hulls, context, key)
            take(policy, state, memo, hulls, context, action)
            reward = draw_reward(environment, context, action, round_key(streams.rewards, t))
            learn(policy, state, memo, context, action, t, reward, key)
            if hulls is not None and state.progress[EXPLORED] == t + 1:
                untried = untried_pairs(policy, environment, state)
            expected += environment.worth[context, action + 1]
            loss += environment.losses[context, action + 1]
            wrong += environment.wrong[context, action + 1]
            pairs[context, action + 1] += 1
            drawn += reward
            if len(choices) > 0:
                choices[t, 0], choices[t, 1] = context, action
                numbers[t, 0], numbers[t, 1] = probability, reward
                numbers[t, 2] = state.progress[LEFT]
        out[row, 0], out[row, 1], out[row, 2] = expected, drawn, loss
        out[row, 3], out[row, 4] = policy.budget - state.progress[LEFT], untried
        out[row, 5] = wrong
