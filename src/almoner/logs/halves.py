"""Halves of a log: statistics fitted on one, a policy judged on the other."""

from __future__ import annotations

import numpy as np

from almoner.errors import InvalidInput
from almoner.logs.fit_problem import fit_problem
from almoner.logs.log import Log
from almoner.policy.base import Policy
from almoner.policy.rewards import KnownRewards
from almoner.problem import Problem
from almoner.simulation.python_policy import PlainPolicy

__all__ = ["fitted_problem", "halves_of", "knows_means"]


def knows_means(policy: Policy | PlainPolicy) -> bool:
    """Return whether a policy takes mean rewards as known, and has none itself.

    Shares of contexts that it takes as known may be those of the rows that judge it: they say
    nothing of rewards.
    """
    if not isinstance(policy, Policy):
        return False
    return isinstance(policy.rewards, KnownRewards) and policy.rewards.means is None


def halves_of(log: Log, seed: int) -> list[tuple[Log, Log]]:
    """Return random halves of a log, to fit on one and to judge on the other, both ways."""
    order = np.random.default_rng((seed, 2)).permutation(len(log))
    first, second = (log.indices(np.sort(order[half::2])) for half in range(2))
    return [(first, second), (second, first)]


def fitted_problem(fitted: Log, judged: Log, horizon: int, ratio: float) -> Problem:
    """Return the terms of a replay, with the statistics of one half for policies that need them."""
    if fitted.contexts != judged.contexts:
        raise InvalidInput(
            f"{fitted.source}: replay of known means needs every context in both halves of "
            "the log; use fewer contexts, or a policy that learns"
        )
    columns = fitted.split
    return fit_problem(fitted, budget=ratio * horizon, horizon=horizon, context=columns)
