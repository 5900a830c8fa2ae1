"""Accept the rows of a log on which a policy agrees, in compiled code or in Python."""

from __future__ import annotations

import copy
from typing import NamedTuple

import numpy as np

from almoner.logs.log import Log
from almoner.money import amounts, budget_left, usable_grid
from almoner.policy.base import Policy
from almoner.policy.lowering import for_kernels, lower
from almoner.problem import Problem
from almoner.simulation.python_policy import SKIP, Arrival, PlainPolicy, ask
from almoner.simulation.replications import root_key
from almoner.types import Floats

__all__ = ["AcceptedRounds", "accept_rows"]


class AcceptedRounds(NamedTuple):
    """The rewards of the accepted rows of one replay, the rows passed, and the money spent."""

    rewards: Floats
    passed: int
    spend: float


def accept_rows(
    log: Log, problem: Problem, policy: Policy | PlainPolicy, smallest: float, seed: int, run: int
) -> AcceptedRounds:
    """Return one replay of a policy on the terms of a problem; rewards are those of the log."""
    low, high = log.reward_range
    skip_reward = -1.0 if log.skip_reward is None else (log.skip_reward - low) / (high - low)
    kept = _Kept(
        (log.rewards - low) / (high - low),
        smallest / log.probabilities,
        -1.0 if log.skip_reward is None else smallest,
        skip_reward,
    )
    if isinstance(policy, Policy):
        rounds = _compiled(log, problem, policy, kept, root_key(seed), run)
    else:
        rounds = _in_python(log, problem, copy.deepcopy(policy), kept, seed, run)
    return rounds._replace(rewards=low + (high - low) * rounds.rewards)


class _Kept(NamedTuple):
    """Rewards in [0, 1], the probability of keeping each row, and both for a known skip.

    The probability of keeping a row for a skip is negative if skips must match.
    """

    rewards: Floats
    keep: Floats
    keep_skip: float
    skip_reward: float


def _compiled(
    log: Log, problem: Problem, policy: Policy, kept: _Kept, root: np.uint64, run: int
) -> AcceptedRounds:
    from almoner.kernels.rejection import replay_rows
    from almoner.kernels.state import new_hulls, new_memo, new_state

    lowered = lower(policy, **problem.terms())
    state = new_state(lowered)
    earned = np.zeros(problem.horizon)
    rounds, passed, units = replay_rows(
        for_kernels(lowered),
        state,
        new_memo(lowered, state),
        new_hulls(lowered),
        root,
        run,
        log.cells.codes,
        log.taken,
        *kept,
        earned,
    )
    return AcceptedRounds(earned[:rounds], passed, float(amounts(lowered, np.array(units))))


def _in_python(
    log: Log, problem: Problem, policy: PlainPolicy, kept: _Kept, seed: int, run: int
) -> AcceptedRounds:
    """Replay the rows with a policy in Python, which must not learn when it decides."""
    draws = np.random.default_rng((seed, 3, run))
    grid = usable_grid(problem.horizon, problem.budget, problem.costs)
    left, row = grid.budget, 0
    earned: list[float] = []
    contexts, actions = log.cells.codes.tolist(), log.taken.tolist()
    while row < len(log) and len(earned) < problem.horizon:
        draw, key = draws.random(), np.uint64(draws.integers(2**63))
        context = contexts[row]
        if draw < max(kept.keep[row], kept.keep_skip):
            arrival = Arrival(
                context=context,
                round=len(earned) + 1,
                rounds_left=problem.horizon - len(earned),
                budget_left=float(budget_left(problem.budget, grid, np.array(left))),
                key=key,
            )
            action, cost = ask(policy, arrival, problem, grid, left)
            if action == SKIP and kept.keep_skip >= 0.0:
                if draw < kept.keep_skip:
                    earned.append(kept.skip_reward)
            elif action == actions[row] and draw < kept.keep[row]:
                if action != SKIP:
                    left -= cost
                    policy.learn(arrival, action, float(kept.rewards[row]))
                earned.append(float(kept.rewards[row]))
        row += 1
    spend = problem.budget - float(budget_left(problem.budget, grid, np.array(left)))
    return AcceptedRounds(np.array(earned), row, spend)
