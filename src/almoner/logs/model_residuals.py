"""Value of a policy by a model and its residuals, for horizons that a log is too short for.

Means fitted on one half of a log are the world of a simulation, on contexts of the other half. The
average of what the policy does there in each context, π̄, is an ordinary policy; the weighted
residuals of the other half, π̄(a|x)/p · (r − m(x, a)), correct the error of the means. Both halves
take both parts.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from almoner.logs.basis import basis_of
from almoner.logs.halves import fitted_problem, halves_of
from almoner.logs.log import Log
from almoner.logs.replay import Replay
from almoner.policy.base import Policy
from almoner.problem import Problem
from almoner.simulation.python_policy import PlainPolicy
from almoner.simulation.simulate_problem import trace_problem
from almoner.types import Floats

__all__ = ["simulate_model"]


def simulate_model(
    log: Log,
    policy: Policy | PlainPolicy,
    name: Any,
    *,
    budget: float,
    horizon: int,
    runs: int,
    seed: int,
) -> Replay:
    """Return the value of a policy at any horizon: see `almoner.replay`."""
    scores, spends, shares = [], [], []
    halves = halves_of(log, seed)
    for fitted, judged in halves.pairs:
        problem = fitted_problem(fitted, horizon, budget / horizon)
        arrived = np.bincount(judged.cells.codes, minlength=len(judged.contexts))
        world = problem.replace(context_probs=arrived / arrived.sum())
        chosen, spend = _choices(world, policy, runs, seed)
        scores.append(_scores(judged, world, problem, chosen))
        spends.append(spend)
        shares.append(chosen)
    score, basis = np.concatenate(scores), basis_of(halves.log, np.mean(shares, axis=0))
    return Replay.of_rounds(
        float(score.mean()),
        float(score.std() / math.sqrt(len(score))),
        policy=name,
        accepted=0.0,
        horizon=horizon,
        budget=budget,
        spend=float(np.mean(spends)),
        runs=runs,
        basis=replace(basis, rows=len(log), warnings=(*basis.warnings, *halves.notes)),
    )


def _choices(
    world: Problem, policy: Policy | PlainPolicy, runs: int, seed: int
) -> tuple[Floats, float]:
    """Return the share of each action in each context, (contexts, 1 + actions), and the spend."""
    contexts, actions = world.reward_means.shape
    counts, left = np.zeros((contexts, actions + 1)), 0.0
    for run in range(runs):
        rounds = trace_problem(world, policy, seed=seed, run=run)
        np.add.at(counts, (rounds.contexts, rounds.actions + 1), 1.0)
        left += float(rounds.budget_left[-1])
    arrived = counts.sum(axis=1, keepdims=True)
    chosen = counts / np.where(arrived > 0.0, arrived, 1.0)
    chosen[arrived[:, 0] == 0.0, 0] = 1.0
    return chosen, world.budget - left / runs


def _scores(log: Log, world: Problem, fitted: Problem, chosen: Floats) -> Floats:
    """Return for each row the reward of the model, corrected by the row's weighted residual."""
    assert fitted.fit is not None  # noqa: S101
    means = np.column_stack([world.default_rewards, world.reward_means])
    low, high = fitted.fit.reward_range
    means = low + (high - low) * means
    codes, taken = log.cells.codes, log.taken + 1
    residuals = (log.rewards - means[codes, taken]) / log.probabilities
    if log.skip_reward is not None:
        residuals[taken == 0] = 0.0
    modelled: Floats = (chosen * means).sum(axis=1)[codes]
    return modelled + chosen[codes, taken] * residuals
