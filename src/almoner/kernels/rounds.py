"""Single rounds of a run, for environments written in Python: decide and take, then learn."""

from __future__ import annotations

import numpy as np

from almoner.jit import jit_entry
from almoner.kernels.draws import round_key
from almoner.kernels.state import LEFT, ROUND, Hulls, Memo, State
from almoner.kernels.steps import decide, learn, take
from almoner.policy.lowering import LoweredPolicy

__all__ = ["decide_round", "learn_round"]


@jit_entry
def decide_round(
    policy: LoweredPolicy,
    state: State,
    memo: Memo,
    hulls: Hulls | None,
    stream: np.uint64,
    context: int,
) -> tuple[int, float, int]:
    """Decide the next round and take the decision; return action, probability and units left."""
    key = round_key(stream, state.progress[ROUND])
    action, probability = decide(policy, state, memo, hulls, context, key)
    take(policy, state, memo, hulls, context, action)
    return action, probability, state.progress[LEFT]


@jit_entry
def learn_round(
    policy: LoweredPolicy,
    state: State,
    memo: Memo,
    stream: np.uint64,
    context: int,
    action: int,
    reward: float,
) -> None:
    """Learn the reward of the round that was decided last."""
    t = state.progress[ROUND] - 1
    learn(policy, state, memo, context, action, t, reward, round_key(stream, t))
