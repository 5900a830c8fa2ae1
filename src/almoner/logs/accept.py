"""Accept the rows of a log on which a policy agrees, in compiled code or in Python."""

from __future__ import annotations

import copy
from typing import NamedTuple

import numpy as np

from almoner import checks
from almoner.errors import InvalidPolicy
from almoner.logs.log import Log
from almoner.money import amounts, budget_left, usable_grid
from almoner.policy.base import Policy
from almoner.policy.lowering import for_kernels, lower
from almoner.problem import Problem
from almoner.simulation.python_policy import SKIP, Arrival, PlainPolicy
from almoner.simulation.replications import root_key
from almoner.types import Floats, Ints

__all__ = ["AcceptedRounds", "accept_rows"]


class AcceptedRounds(NamedTuple):
    """The accepted rows of one replay, the rows passed, and the money spent."""

    rows: Ints
    passed: int
    spend: float


def accept_rows(
    log: Log, problem: Problem, policy: Policy | PlainPolicy, smallest: float, seed: int, run: int
) -> AcceptedRounds:
    low, high = log.reward_range
    rewards = (log.rewards - low) / (high - low)
    keep = smallest / log.probabilities
    if isinstance(policy, Policy):
        return _compiled(log, problem, policy, rewards, keep, root_key(seed), run)
    return _in_python(log, problem, copy.deepcopy(policy), rewards, keep, seed, run)


def _compiled(
    log: Log,
    problem: Problem,
    policy: Policy,
    rewards: Floats,
    keep: Floats,
    root: np.uint64,
    run: int,
) -> AcceptedRounds:
    from almoner.kernels.rejection import replay_rows
    from almoner.kernels.state import new_hulls, new_memo, new_state

    lowered = lower(policy, **problem.terms())
    state = new_state(lowered)
    accepted = np.zeros(problem.horizon, np.int64)
    rounds, passed, units = replay_rows(
        for_kernels(lowered),
        state,
        new_memo(lowered, state),
        new_hulls(lowered),
        root,
        run,
        log.cells.codes,
        log.taken,
        rewards,
        keep,
        accepted,
    )
    return AcceptedRounds(accepted[:rounds], passed, float(amounts(lowered, np.array(units))))


def _in_python(
    log: Log,
    problem: Problem,
    policy: PlainPolicy,
    rewards: Floats,
    keep: Floats,
    seed: int,
    run: int,
) -> AcceptedRounds:
    """Replay the rows with a policy in Python; it must not learn when it decides."""
    draws = np.random.default_rng((seed, 3, run))
    grid = usable_grid(problem.horizon, problem.budget, problem.costs)
    left, row = grid.budget, 0
    rounds: list[int] = []
    contexts, actions = log.cells.codes.tolist(), log.taken.tolist()
    while row < len(log) and len(rounds) < problem.horizon:
        if draws.random() < keep[row]:
            arrival = Arrival(
                context=contexts[row],
                round=len(rounds) + 1,
                rounds_left=problem.horizon - len(rounds),
                budget_left=float(budget_left(problem.budget, grid, np.array(left))),
                key=np.uint64(draws.integers(2**63)),
            )
            action = policy.decide(arrival)
            if action == actions[row]:
                if action != SKIP:
                    cost = int(grid.costs[contexts[row], action])
                    if cost > left:
                        raise checks.refuse(
                            "decide",
                            "return an action that the budget still affords",
                            action,
                            "look at arrival.budget_left",
                            InvalidPolicy,
                        )
                    left -= cost
                    policy.learn(arrival, action, float(rewards[row]))
                rounds.append(row)
        row += 1
    spend = problem.budget - float(budget_left(problem.budget, grid, np.array(left)))
    return AcceptedRounds(np.array(rounds, np.int64), row, spend)
