"""Environments of one's own: any object with `contexts` and `reward`, in Python.

They run in `simulate` in place of a problem: drifting or correlated rewards, noise of any shape, a
recorded stream of contexts. Compiled policies decide by the kernels of a simulation, round by
round.
"""

from __future__ import annotations

import copy
import math
from typing import Any, Protocol

import numpy as np

from almoner import checks
from almoner.errors import InvalidInput
from almoner.problem import Problem
from almoner.simulation.python_policy import SKIP
from almoner.types import Floats, Ints

__all__ = ["OwnRounds", "PlainEnvironment", "check_environment"]

REWARDS, CONTEXTS = 0, 1
"""Streams of random numbers of a replication."""


class PlainEnvironment(Protocol):
    """Protocol of an environment in Python; every replication starts from a deep copy of it.

    A method ``mean(t, context, action)`` may be added. If there is one, `Runs.reward` and regret
    count the means that it returns instead of the rewards drawn, which has less noise.

    Examples
    --------
    Rewards of which the first action's fall and the second one's rise:

    >>> import almoner as al
    >>> class Drift:
    ...     def contexts(self, rng, horizon):
    ...         return rng.choice(2, size=horizon, p=[0.4, 0.6])
    ...     def mean(self, t, context, action):
    ...         way = (t - 1) / 999
    ...         return [0.8 - 0.6 * way, 0.2 + 0.6 * way][action] / (1 + context)
    ...     def reward(self, rng, t, context, action):
    ...         return float(rng.random() < self.mean(t, context, action))
    >>> terms = al.Problem(
    ...     context_probs=[0.4, 0.6], reward_means=[[0.5, 0.5], [0.25, 0.25]],
    ...     horizon=1000, budget=400)
    >>> runs = al.simulate(Drift(), al.ucb_alp(), terms=terms, runs=5, seed=1)
    >>> float(runs.spend.max())
    400.0
    """

    def contexts(self, rng: np.random.Generator, horizon: int) -> Any:
        """Return the contexts of all rounds, counted from 0; called once per replication, first."""

    def reward(self, rng: np.random.Generator, t: int, context: int, action: int) -> float:
        """Return the reward, from 0 to 1, of an action in round t, the first of which is 1.

        The numbers that ``rng`` draws in a round are the same under every policy. Skipping has the
        action `SKIP`, and is asked about only where the terms have default rewards.
        """


def check_environment(environment: Any) -> PlainEnvironment:
    """Return the environment if it has both methods; refuse it if not."""
    rule = "be a Problem, Rows, a Log, or an object with contexts and reward"
    if remedy := checks.uncalled(environment):
        raise checks.refuse("problem", rule, environment, remedy)
    for method in ("contexts", "reward"):
        if not callable(getattr(environment, method, None)):
            raise checks.refuse(
                "problem", rule, environment, f"it has no {method}; or give a Problem"
            )
    mean = getattr(environment, "mean", None)
    if mean is not None and not callable(mean):
        raise checks.refuse(
            "problem", rule, environment, "its mean is no method; make it one, or rename it"
        )
    return environment  # type: ignore[no-any-return]


class OwnRounds:
    """The rounds of one replication of an environment: contexts, rewards, and their means.

    The generator of a round starts from a counter of its own, so that the numbers of a round depend
    on no earlier draw: every policy meets the same noise.
    """

    def __init__(self, environment: PlainEnvironment, terms: Problem, seed: int, run: int) -> None:
        self._environment = copy.deepcopy(environment)
        self._terms = terms
        key = np.random.SeedSequence((seed, run)).generate_state(2, np.uint64)
        self._bits = np.random.Philox(key=key)
        self._start: Any = self._bits.state
        self._rng = np.random.Generator(self._bits)
        self._means: Any = getattr(self._environment, "mean", None)
        self._restart(CONTEXTS, 0)
        self.contexts = self._checked(self._environment.contexts(self._rng, terms.horizon))

    def reward(self, t: int, context: int, action: int) -> float:
        """Return the reward of an action in round t, counted from 1."""
        if action == SKIP and not self._terms.default_rewards.any():
            return 0.0
        self._restart(REWARDS, t)
        drawn: Any = self._environment.reward(self._rng, t, context, action)
        reward = _number(drawn)
        if not 0.0 <= reward <= 1.0:
            raise InvalidInput(
                f"reward must return a number from 0 to 1, got {drawn!r} in round {t} for context "
                f"{context} and action {action}; clip or rescale it"
            )
        return reward

    def worth(self, contexts: Ints, actions: Ints, rewards: Floats) -> Floats:
        """Return the mean of each reward where the environment tells it, else the reward drawn."""
        if self._means is None:
            return rewards
        skipped = not self._terms.default_rewards.any()
        rounds = enumerate(zip(contexts.tolist(), actions.tolist(), strict=True), start=1)
        return np.array(
            [
                0.0 if action == SKIP and skipped else self._mean(t, context, action)
                for t, (context, action) in rounds
            ]
        )

    def _mean(self, t: int, context: int, action: int) -> float:
        told: Any = self._means(t, context, action)
        mean = _number(told)
        if not math.isfinite(mean):
            raise InvalidInput(
                f"mean must return a finite number, got {told!r} in round {t} for context "
                f"{context} and action {action}; leave the method out if means are unknown"
            )
        return mean

    def _restart(self, stream: int, t: int) -> None:
        """Set the generator to the first number of a round of a stream."""
        self._start["state"]["counter"][:] = (0, t, stream, 0)
        self._bits.state = self._start

    def _checked(self, value: Any) -> Ints:
        contexts, count = np.asarray(value), len(self._terms.context_probs)
        shape = (self._terms.horizon,)
        if contexts.shape != shape or contexts.dtype.kind not in "iu":
            raise InvalidInput(
                f"contexts must return {self._terms.horizon} whole numbers, one for each round, "
                f"got an array of shape {contexts.shape} and type {contexts.dtype}"
            )
        if contexts.min(initial=0) < 0 or contexts.max(initial=0) >= count:
            raise InvalidInput(
                f"contexts must return numbers from 0 to {count - 1}, as the terms have {count} "
                f"contexts, got {int(contexts.min())} to {int(contexts.max())}"
            )
        return contexts.astype(np.int64)


def _number(value: Any) -> float:
    """Return what a method of the environment has returned as a float, NaN if it is no number."""
    try:
        return float(value)
    except (TypeError, ValueError):
        return math.nan
