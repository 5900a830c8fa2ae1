"""Halves of a log: statistics fitted on one, a policy judged on the other."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from almoner.errors import InvalidInput
from almoner.logs.conditions import RARE
from almoner.logs.fit_problem import fit_problem
from almoner.logs.log import Log
from almoner.policy.base import Policy
from almoner.policy.rewards import KnownRewards
from almoner.problem import Problem
from almoner.simulation.python_policy import PlainPolicy

__all__ = ["Halves", "fitted_problem", "halves_of", "knows_means"]


def knows_means(policy: Policy | PlainPolicy) -> bool:
    """Return whether a policy takes mean rewards as known, and has none itself.

    Shares of contexts that it takes as known may be those of the rows that judge it: they say
    nothing of rewards.
    """
    if not isinstance(policy, Policy):
        return False
    return isinstance(policy.rewards, KnownRewards) and policy.rewards.means is None


class Halves(NamedTuple):
    """Halves to fit on and to judge on, both ways; the log of their rows, and what is left out."""

    pairs: list[tuple[Log, Log]]
    log: Log
    notes: list[str]


def halves_of(log: Log, seed: int) -> Halves:
    """Return random halves of a log, without the few contexts that one of them lacks.

    A log in which these are many is refused.
    """
    order = np.random.default_rng((seed, 2)).permutation(len(log))
    halves = [np.sort(order[half::2]) for half in range(2)]
    codes, names = log.cells.codes, log.contexts
    counts = [np.bincount(codes[rows], minlength=len(names)) for rows in halves]
    common = (counts[0] > 0) & (counts[1] > 0)
    notes: list[str] = []
    if not common.all():
        lost = int(np.count_nonzero(~common[codes]))
        missing = ", ".join([names[context] for context in np.flatnonzero(~common)][:3])
        if lost > RARE * len(log):
            raise InvalidInput(
                f"{log.source}: both halves of the log need every context, as means of one are "
                f"judged on the other, and {lost:,} of {len(log):,} rows have contexts that one "
                f"lacks, such as {missing}; use fewer contexts"
            )
        notes = [f"{lost:,} rows are left out, whose contexts one half of the log lacks: {missing}"]
        halves = [rows[common[codes[rows]]] for rows in halves]
    first, second = (log.indices(rows) for rows in halves)
    kept = log.indices(np.sort(np.concatenate(halves))) if notes else log
    return Halves([(first, second), (second, first)], kept, notes)


def fitted_problem(fitted: Log, horizon: int, ratio: float) -> Problem:
    """Return the terms of a replay, with the statistics of a log for policies that need them."""
    return fit_problem(fitted, budget=ratio * horizon, horizon=horizon, context=fitted.split)
