"""Policies written in Python by users: any object with `decide` and `learn`.

They run in `simulate` beside the compiled policies: slowly, on the same contexts and reward noise.
So an idea can be tried without touching the package, and the kernels be checked independently.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from almoner import checks
from almoner.errors import InvalidPolicy
from almoner.money import budget_left, usable_grid
from almoner.problem import Problem
from almoner.simulation.replications import Totals
from almoner.simulation.runs import Trace, unusable
from almoner.types import Ints

if TYPE_CHECKING:
    from almoner.kernels.environment import Environment

__all__ = ["SKIP", "Arrival", "PlainPolicy", "check_methods", "play_python", "trace_python"]

SKIP = -1
"""The action of doing nothing."""


@dataclass(frozen=True, kw_only=True)
class Arrival:
    """The arguments of a decision: the context that arrived, rounds and budget left.

    Attributes
    ----------
    context
        Index of the context, from 0.
    round
        Number of the round, from 1.
    rounds_left
        Rounds left, this one included.
    budget_left
        Budget left.
    key
        This round's randomness; `uniform` reads it.
    """

    context: int
    round: int
    rounds_left: int
    budget_left: float
    key: np.uint64

    def uniform(self, lane: int = 0) -> float:
        """Return a random number in [0, 1) of this round, another one for each lane."""
        from almoner.kernels.draws import uniform

        return float(uniform(self.key, lane))


class PlainPolicy(Protocol):
    """Protocol of a policy in Python; every replication starts from a deep copy of the object."""

    def decide(self, arrival: Arrival) -> int:
        """Return the action to take, counted from 0, or SKIP."""

    def learn(self, arrival: Arrival, action: int, reward: float) -> None:
        """Update the policy with the reward of an action; called after each action taken."""


def check_methods(policy: Any) -> PlainPolicy:
    """Return the policy if it has both methods; refuse it if not."""
    if remedy := checks.uncalled(policy):
        rule = "be a Policy or an object with decide and learn"
        raise checks.refuse("a policy", rule, policy, remedy, InvalidPolicy)
    for method in ("decide", "learn"):
        if not callable(getattr(policy, method, None)):
            raise InvalidPolicy(
                f"a policy must be a Policy or an object with decide and learn, got {policy!r} "
                f"without {method}; use a recipe such as almoner.thrifty()"
            )
    return policy  # type: ignore[no-any-return]


def play_python(
    problem: Problem,
    policy: PlainPolicy,
    environment: Environment,
    root: np.uint64,
    *,
    runs: int,
    marks: Ints,
    progress: Callable[[int], object],
) -> Totals:
    """Play replications 0 to ``runs`` − 1 of a policy in Python."""
    reward, drawn, loss, spend, untried, left = np.zeros((6, runs))
    left_at = np.empty((runs, len(marks)))
    for run in range(runs):
        rounds = trace_python(problem, policy, environment, root, run)
        choices = rounds.contexts, rounds.actions + 1
        left_before = np.concatenate([[problem.budget], rounds.budget_left])
        left[run], left_at[run] = left_before[-1], left_before[marks - 1]
        reward[run] = environment.worth[choices].sum()
        drawn[run] = rounds.rewards.sum()
        loss[run] = environment.losses[choices].sum()
        spend[run] = problem.budget - left[run]
        progress(1)
    return Totals(reward, drawn, loss, spend, untried, left, left_at)


def trace_python(
    problem: Problem, policy: PlainPolicy, environment: Environment, root: np.uint64, run: int
) -> Trace:
    """Play one replication of a policy in Python on the random streams of the kernels."""
    from almoner.kernels.draws import round_key
    from almoner.kernels.environment import draw_context, streams_of
    from almoner.kernels.reward_noise import draw_reward

    def key_of(stream: np.uint64, t: int) -> np.uint64:
        return np.uint64(round_key(np.uint64(stream), t))  # compiled code returns an int

    policy = copy.deepcopy(policy)
    grid = usable_grid(problem.horizon, problem.budget, problem.costs)
    streams = streams_of(root, run)
    left = grid.budget
    choices, numbers = np.empty((problem.horizon, 2), np.int64), np.empty((problem.horizon, 2))
    for t in range(problem.horizon):
        context = draw_context(environment, key_of(streams.contexts, t))
        arrival = Arrival(
            context=context,
            round=t + 1,
            rounds_left=problem.horizon - t,
            budget_left=float(budget_left(problem.budget, grid, np.array(left))),
            key=key_of(streams.choices, t),
        )
        action = policy.decide(arrival)
        whole = isinstance(action, Integral) and not isinstance(action, bool)
        if not whole or not SKIP <= action < problem.costs.shape[1]:
            raise InvalidPolicy(
                f"decide must return an action from 0 to {problem.reward_means.shape[1] - 1} or "
                f"SKIP, got {action!r}"
            )
        reward = float(problem.default_rewards[context])
        if action != SKIP:
            if grid.costs[context, action] > left:
                raise InvalidPolicy(
                    f"decide must return an action that the budget still affords, got action "
                    f"{action} at cost {problem.costs[context, action]:g} with "
                    f"{arrival.budget_left:g} left; look at arrival.budget_left"
                )
            left -= int(grid.costs[context, action])
            reward = draw_reward(environment, context, action, key_of(streams.rewards, t))
            policy.learn(arrival, action, reward)
        choices[t], numbers[t] = (context, action), (reward, left)
    after = budget_left(problem.budget, grid, numbers[:, 1])
    return Trace(
        contexts=choices[:, 0],
        actions=choices[:, 1],
        probabilities=np.full(problem.horizon, np.nan),
        rewards=numbers[:, 0],
        budget_left=after,
        unusable=float(unusable(after[-1], problem.costs)),
    )
