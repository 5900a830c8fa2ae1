"""Policies written outside the package, as plain Python objects.

They run in `simulate` beside the compiled ones: slowly, on the same contexts and reward noise. It
is the way to try an idea in an evening, and the independent check on the kernels.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass
from numbers import Integral
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from almoner import checks
from almoner.errors import InvalidPolicy
from almoner.money import budget_left, usable_grid
from almoner.problem import Problem
from almoner.simulation.runs import Trace, unusable

if TYPE_CHECKING:
    from almoner.kernels.loop import World

__all__ = ["SKIP", "Arrival", "PlainPolicy", "as_plain", "play_plain"]

SKIP = -1
"""The action of doing nothing."""


@dataclass(frozen=True, kw_only=True)
class Arrival:
    """What a policy sees when a context arrives.

    Attributes
    ----------
    context
        Which one, counted from 0.
    round
        Which round this is, counted from 1.
    rounds_left
        How many rounds are left, this one included.
    budget_left
        How much is left to spend.
    key
        This round's randomness; `uniform` reads it.
    """

    context: int
    round: int
    rounds_left: int
    budget_left: float
    key: np.uint64

    def uniform(self, lane: int = 0) -> float:
        """Return this round's random number in [0, 1); each lane holds another one."""
        from almoner.kernels.draws import uniform

        return float(uniform(self.key, lane))


class PlainPolicy(Protocol):
    """Any object with these two methods; every replication starts from a deep copy of it."""

    def decide(self, arrival: Arrival) -> int:
        """Return the action to take, counted from 0, or SKIP."""

    def learn(self, arrival: Arrival, action: int, reward: float) -> None:
        """Take note of what an action has brought; called after each action taken."""


def as_plain(policy: Any) -> PlainPolicy:
    """Return the object if it has the two methods; say what is missing if not."""
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


def play_plain(
    problem: Problem, policy: PlainPolicy, world: World, root: np.uint64, run: int
) -> Trace:
    """Play one replication of a plain policy on the streams that the kernels would use."""
    from almoner.kernels.draws import round_key
    from almoner.kernels.loop import draw_context, draw_reward, streams_of

    def key_of(stream: np.uint64, t: int) -> np.uint64:
        return np.uint64(round_key(np.uint64(stream), t))  # compiled code hands back plain ints

    policy = copy.deepcopy(policy)
    grid = usable_grid(problem.horizon, problem.budget, problem.costs)
    contexts, rewards, drawn = streams_of(root, run)
    left = grid.budget
    choices, numbers = np.empty((problem.horizon, 2), np.int64), np.empty((problem.horizon, 2))
    for t in range(problem.horizon):
        context = draw_context(world, key_of(contexts, t))
        arrival = Arrival(
            context=context,
            round=t + 1,
            rounds_left=problem.horizon - t,
            budget_left=float(budget_left(problem.budget, grid, np.array(left))),
            key=key_of(drawn, t),
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
            reward = draw_reward(world, context, action, key_of(rewards, t))
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
