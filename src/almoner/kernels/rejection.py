"""Replay of a log by rejection: `decide`, `take` and `learn` on the rows that agree with a policy.

A row whose action has probability p is kept with probability m/p, and then accepted if the policy
decides on the same action. So an arrival is accepted with probability m whatever its context, and
accepted rounds are arrivals that the policy itself has served. Where the reward of skipping is
known, a skip needs no row that was skipped: any row is kept for it with probability m.
"""

from __future__ import annotations

import numpy as np

from almoner.jit import jit_callable
from almoner.kernels.draws import ONLY_LANE, round_key, uniform
from almoner.kernels.environment import streams_of
from almoner.kernels.state import LEFT, Hulls, Memo, State, reset
from almoner.kernels.steps import SKIP, decide, learn, take
from almoner.policy.lowering import LoweredPolicy
from almoner.types import Floats, Ints

__all__ = ["replay_rows"]


@jit_callable
def replay_rows(
    policy: LoweredPolicy,
    state: State,
    memo: Memo,
    hulls: Hulls | None,
    root: np.uint64,
    run: int,
    contexts: Ints,
    actions: Ints,
    rewards: Floats,
    keep: Floats,
    keep_skip: float,
    skip_reward: float,
    earned: Floats,
) -> tuple[int, int, int]:
    """Replay the rows in order until the horizon; return rounds, rows passed and units spent.

    ``keep`` is m/p of each row, ``keep_skip`` is m if the reward of skipping is known, else
    negative; ``earned`` gets the rewards of the rounds. The stream of rewards, which a log does not
    draw, decides on keeping rows.
    """
    reset(policy, state, memo)
    streams = streams_of(root, run)
    rounds, row = 0, 0
    while row < len(contexts) and rounds < policy.horizon:
        draw = uniform(round_key(streams.rewards, row), ONLY_LANE)
        if draw < max(keep[row], keep_skip):
            context, key = contexts[row], round_key(streams.choices, row)
            action, _ = decide(policy, state, memo, hulls, context, key)
            known = action == SKIP and keep_skip >= 0.0
            if draw < keep_skip if known else action == actions[row] and draw < keep[row]:
                reward = skip_reward if known else rewards[row]
                take(policy, state, memo, hulls, context, action)
                learn(policy, state, memo, context, action, rounds, reward, key)
                earned[rounds] = reward
                rounds += 1
        row += 1
    return rounds, row, policy.budget - state.progress[LEFT]
