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
from almoner.money import Grid, budget_left, usable_grid
from almoner.problem import Problem
from almoner.simulation.replications import Totals
from almoner.simulation.runs import Trace, unusable
from almoner.simulation.traced import add_pairs, noted_rounds
from almoner.types import Ints

if TYPE_CHECKING:
    from almoner.kernels.environment import Environment

__all__ = [
    "SKIP",
    "Arrival",
    "PlainPolicy",
    "ask",
    "check_methods",
    "play_python",
    "play_rounds",
    "trace_python",
]

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
    reward, drawn, loss, spend, untried, wrong, left = np.zeros((7, runs))
    left_at, loss_at = np.empty((2, runs, len(marks)))
    pairs = np.zeros(environment.worth.shape, np.int64)
    for run in range(runs):
        rounds = trace_python(problem, policy, environment, root, run)
        choices = rounds.contexts, rounds.actions + 1
        left[run] = rounds.budget_left[-1]
        reward[run] = environment.worth[choices].sum()
        drawn[run] = rounds.rewards.sum()
        losses = environment.losses[choices]
        loss[run], wrong[run] = losses.sum(), environment.wrong[choices].sum()
        spend[run] = problem.budget - left[run]
        left_at[run], loss_at[run] = noted_rounds(problem, rounds, losses, marks)
        add_pairs(pairs, rounds)
        progress(1)
    return Totals(reward, drawn, loss, spend, untried, wrong, left, left_at, loss_at, pairs)


def trace_python(
    problem: Problem, policy: PlainPolicy, environment: Environment, root: np.uint64, run: int
) -> Trace:
    """Play one replication of a policy in Python on the random streams of the kernels."""
    from almoner.kernels.environment import draw_context, streams_of
    from almoner.kernels.reward_noise import draw_reward

    streams = streams_of(root, run)

    def reward_of(t: int, context: int, action: int) -> float:
        if action == SKIP:
            return float(problem.default_rewards[context])
        return draw_reward(environment, context, action, _key_of(streams.rewards, t - 1))

    contexts = [
        draw_context(environment, _key_of(streams.contexts, t)) for t in range(problem.horizon)
    ]
    return play_rounds(
        problem, policy, np.array(contexts, np.int64), reward_of, np.uint64(streams.choices)
    )


def play_rounds(
    problem: Problem,
    policy: PlainPolicy,
    contexts: Ints,
    reward_of: Callable[[int, int, int], float],
    choices: np.uint64,
) -> Trace:
    """Play given contexts; ``reward_of`` takes round, context and action."""
    policy = copy.deepcopy(policy)
    grid = usable_grid(problem.horizon, problem.budget, problem.costs)
    left = grid.budget
    actions, numbers = np.empty(problem.horizon, np.int64), np.empty((problem.horizon, 2))
    for t, context in enumerate(contexts.tolist()):
        arrival = Arrival(
            context=context,
            round=t + 1,
            rounds_left=problem.horizon - t,
            budget_left=float(budget_left(problem.budget, grid, np.array(left))),
            key=_key_of(choices, t),
        )
        action, cost = ask(policy, arrival, problem, grid, left)
        reward = reward_of(t + 1, context, action)
        left -= cost
        if action != SKIP:
            policy.learn(arrival, action, reward)
        actions[t], numbers[t] = action, (reward, left)
    after = budget_left(problem.budget, grid, numbers[:, 1])
    return Trace(
        contexts=contexts,
        actions=actions,
        probabilities=np.full(problem.horizon, np.nan),
        rewards=numbers[:, 0],
        budget_left=after,
        unusable=float(unusable(after[-1], problem.costs)),
    )


def ask(
    policy: PlainPolicy, arrival: Arrival, problem: Problem, grid: Grid, left: int
) -> tuple[int, int]:
    """Return the action of a policy for an arrival, and its cost in units of money.

    An action that the problem does not have, or that the units left do not afford, is refused.
    """
    action = policy.decide(arrival)
    whole = isinstance(action, Integral) and not isinstance(action, bool)
    if not whole or not SKIP <= action < problem.costs.shape[1]:
        raise InvalidPolicy(
            f"decide must return an action from 0 to {problem.reward_means.shape[1] - 1} or SKIP, "
            f"got {action!r}"
        )
    cost = 0 if action == SKIP else int(grid.costs[arrival.context, action])
    if cost > left:
        raise InvalidPolicy(
            f"decide must return an action that the budget still affords, got action {action} at "
            f"cost {problem.costs[arrival.context, action]:g} with {arrival.budget_left:g} left; "
            "look at arrival.budget_left"
        )
    return int(action), cost


def _key_of(stream: np.uint64, t: int) -> np.uint64:
    from almoner.kernels.draws import round_key

    return np.uint64(round_key(np.uint64(stream), t))  # compiled code returns an int
