"""Halves of a log: statistics fitted on one, a policy judged on the other."""

from __future__ import annotations

import numpy as np

from almoner.errors import InvalidInput
from almoner.logs.fit_problem import fit_problem
from almoner.logs.log import Log
from almoner.policy.base import Policy
from almoner.policy.contexts import KnownContexts
from almoner.policy.rewards import KnownRewards
from almoner.problem import Problem
from almoner.simulation.python_policy import PlainPolicy

__all__ = ["fitted_problem", "halves_of", "knows_statistics"]


def knows_statistics(policy: Policy | PlainPolicy) -> bool:
    """Return whether a policy takes statistics of the problem as known, and has none itself."""
    if not isinstance(policy, Policy):
        return False
    rewards, contexts = policy.rewards, policy.contexts
    return (isinstance(rewards, KnownRewards) and rewards.means is None) or (
        isinstance(contexts, KnownContexts) and contexts.probs is None
    )


def halves_of(log: Log, seed: int) -> list[tuple[Log, Log]]:
    """Return random halves of a log, to fit on one and to judge on the other, both ways."""
    order = np.random.default_rng((seed, 2)).permutation(len(log))
    first, second = (log.indices(np.sort(order[half::2])) for half in range(2))
    return [(first, second), (second, first)]


def fitted_problem(fitted: Log, judged: Log, horizon: int, ratio: float) -> Problem:
    """Return the terms of a replay, with the statistics of one half for policies that need them."""
    if fitted.contexts != judged.contexts:
        raise InvalidInput(
            f"{fitted.source}: replay of known statistics needs every context in both halves of "
            "the log; use fewer contexts, or a policy that learns"
        )
    columns = fitted.split
    return fit_problem(fitted, budget=ratio * horizon, horizon=horizon, context=columns)
