"""Runs of other rules on a problem, and their regret."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

import almoner as al
from almoner.kernels.state import new_memo, new_state
from almoner.policy.lowering import LoweredPolicy, for_kernels, lower
from almoner.simulation.replications import environment_of, root_key
from almoner.types import Floats
from benchmarks.learner.gittins import boundary
from benchmarks.learner.other_indices import BAYES_ROUNDS, Rule
from benchmarks.learner.other_rules import play_other

__all__ = ["SEED", "Setting", "lowered", "regret"]

SEED = 3_100


@dataclass(frozen=True)
class Setting:
    """A problem with the rounds that its rewards are late, and the number of runs."""

    name: str
    problem: al.Problem
    runs: int
    late: int = 0


def lowered(policy: al.Policy, problem: al.Problem, premium: float | None = None) -> LoweredPolicy:
    """Return a policy lowered on a problem, its insurance with another premium if one is given."""
    terms = lower(policy, horizon=problem.horizon, budget=problem.budget, costs=problem.costs)
    if premium is None:
        return terms
    return terms._replace(insurance=terms.insurance._replace(premium=premium))


def regret(terms: LoweredPolicy, rule: Rule, setting: Setting) -> Floats:
    """Return the regret of each run, estimated as `almoner.simulate` does.

    Rules that take many times as long as the others are played in a quarter of the runs.
    """
    problem = setting.problem
    environment, price = environment_of(problem)
    slow = rule.kind >= BAYES_ROUNDS or rule.sampling == 1
    runs = setting.runs // 4 if slow else setting.runs
    state, out = new_state(terms), np.zeros((runs, 2))
    memo = new_memo(terms, state)
    root, late = root_key(SEED), setting.late
    play_other(rule, for_kernels(terms), environment, state, memo, boundary(), root, late, out)
    left = out[:, 1] / terms.budget * problem.budget
    gap = al.upper_bound(problem) - al.optimal_value(problem)
    return np.asarray(out[:, 0] + price * left - gap)
