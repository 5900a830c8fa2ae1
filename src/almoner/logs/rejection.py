"""Replay of a log by rejection: the value of a policy on the rows where the log agrees with it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from almoner.logs.accept import accept_rows
from almoner.logs.basis import Basis, refuse_certainty
from almoner.logs.conditions import (
    acceptance_notes,
    horizon_of,
    smallest_of,
    with_all_actions,
)
from almoner.logs.halves import Halves, fitted_problem, halves_of, knows_means
from almoner.logs.log import Log
from almoner.logs.replay import Replay
from almoner.policy.base import Policy
from almoner.simulation.python_policy import PlainPolicy

__all__ = ["replay_by_rejection"]

SHUFFLES = 10
"""Shuffles of the rows from which the luck of a learner is estimated."""


def replay_by_rejection(
    log: Log, policy: Policy | PlainPolicy, name: Any, *, budget: float, runs: int, seed: int
) -> Replay:
    """Return the replay of a policy: see `almoner.replay`."""
    refuse_certainty(log, "replay")
    ratio, total = budget / len(log), len(log)
    log, notes = with_all_actions(log)
    halves = Halves([(log, log)], log, [])
    if knows_means(policy):
        halves = halves_of(log, seed)
        notes += halves.notes
    smallest = smallest_of(log)
    horizon = min(horizon_of(len(judged), smallest) for _, judged in halves.pairs)
    rewards, spends, passed, rounds = [], [], 0, 0
    for fitted, judged in halves.pairs:
        problem = fitted_problem(fitted, horizon, ratio)
        for run in range(runs):
            one = accept_rows(judged, problem, policy, smallest, seed, run)
            rewards.append(one.rewards)
            spends.append(one.spend)
            passed, rounds = passed + one.passed, rounds + len(one.rewards)
    drawn = np.concatenate(rewards)
    accepted = rounds / runs
    chance = float(drawn.std() / math.sqrt(accepted))  # runs use the same rows: they count once
    paths = 0.0 if knows_means(policy) else _path_noise(log, policy, smallest, horizon, ratio, seed)
    basis = Basis(
        rows=total,
        matches=accepted,
        effective=accepted,
        smallest_probability=smallest,
        warnings=(*log.notes, *notes, *acceptance_notes(rounds, passed, smallest, runs)),
    )
    return Replay.of_rounds(
        float(drawn.mean()),
        math.hypot(chance, paths),
        policy=name,
        accepted=accepted,
        horizon=horizon,
        budget=ratio * horizon,
        spend=float(np.mean(spends)),
        runs=runs,
        basis=basis,
    )


def _path_noise(
    log: Log, policy: Policy | PlainPolicy, smallest: float, horizon: int, ratio: float, seed: int
) -> float:
    """Return the standard deviation of the mean reward over shuffles of the rows.

    A learner that settles on something by luck does so at another point of every order of rows,
    of which the log has one.
    """
    means = []
    for shuffle in range(SHUFFLES):
        order = np.random.default_rng((seed, 4, shuffle)).permutation(len(log))
        shuffled = log.indices(order)
        problem = fitted_problem(shuffled, horizon, ratio)
        one = accept_rows(shuffled, problem, policy, smallest, seed, shuffle)
        means.append(one.rewards.mean())
    return float(np.std(means, ddof=1))
