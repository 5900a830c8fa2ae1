"""Conformance check of a policy: spending, reproducibility, probabilities, branches."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from almoner.errors import UntriedPairs
from almoner.policy.base import Policy
from almoner.policy.lowering import applicable, lower
from almoner.problem import Problem
from almoner.simulation.python_policy import SKIP, PlainPolicy, check_methods
from almoner.simulation.runs import Runs, Trace
from almoner.simulation.simulate import simulate, trace
from almoner.testing.branches import missing_branch
from almoner.testing.problems import TINY

__all__ = ["check_policy"]


def check_policy(
    policy: Policy | PlainPolicy, *, seed: int = 0, problems: Mapping[str, Problem] = TINY
) -> list[str]:
    """Check a policy on every tiny problem; return the names of those it ran on.

    A violation raises an AssertionError with the name of the problem and of the rule.

    Parameters
    ----------
    policy
        A `Policy`, which skips problems that it does not apply to, or any object with ``decide``
        and ``learn``, which must run on every problem.
    seed
        Determines all random draws.
    problems
        Problems by name. Pass your own for an object that does not fit all the tiny ones: it does
        not learn the costs, nor the number of contexts and actions.

    Examples
    --------
    >>> from almoner import pb
    >>> "three contexts" in check_policy(pb())
    False
    """
    if not isinstance(policy, Policy):
        check_methods(policy)
    ran = []
    for name, problem in problems.items():
        if isinstance(policy, Policy):
            if not applicable(policy, **problem.terms()):
                continue
            missing = missing_branch(lower(policy, **problem.terms()))
            _require(not missing, name, missing)
        try:
            replications = _play(problem, policy, seed)
        except Exception as error:
            raise AssertionError(
                f"on the problem {name!r} the policy fails: {type(error).__name__}: {error}"
            ) from error
        _check_trace(name, problem, replications.first)
        if isinstance(policy, Policy):
            unknown = bool(np.isnan(replications.first.probabilities).any())
            _require(not unknown, name, "does not say how likely its decisions are")
        _check_same(name, problem, replications)
        ran.append(name)
    if not ran:
        raise AssertionError("the policy applies to none of the problems: nothing was checked")
    return ran


class _Replications(NamedTuple):
    """Results to compare: two traces of replication 0, and `simulate` of replications 0 and 1."""

    first: Trace
    second: Trace
    runs: Runs


def _play(problem: Problem, policy: Policy | PlainPolicy, seed: int) -> _Replications:
    first, second = (trace(problem, policy, seed=seed) for _ in range(2))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UntriedPairs)  # tiny problems end before exploration does
        runs = simulate(problem, policy, runs=2, seed=seed, against="upper bound")
    return _Replications(first, second, runs)


def _check_trace(name: str, problem: Problem, rounds: Trace) -> None:
    actions = problem.reward_means.shape[1]
    real = (rounds.actions >= SKIP) & (rounds.actions < actions)
    _require(bool(np.all(real)), name, "invents actions")
    spent = problem.budget - rounds.budget_left
    _require(bool(np.all(spent <= problem.budget)), name, "overspends")
    _require(bool(np.all(np.diff(spent, prepend=0.0) >= 0)), name, "gives money back")
    served = rounds.actions != SKIP
    costs = np.where(served, problem.costs[rounds.contexts, rounds.actions], 0.0)
    _require(bool(np.allclose(np.cumsum(costs), spent)), name, "spends other than its actions cost")
    chances = rounds.probabilities[~np.isnan(rounds.probabilities)]
    _require(bool(np.all((chances > 0) & (chances <= 1))), name, "did what it gave no probability")


def _check_same(name: str, problem: Problem, replications: _Replications) -> None:
    same = np.array_equal(replications.second.actions, replications.first.actions)
    _require(same, name, "does another thing on the same seed")
    spent = problem.budget - replications.first.budget_left[-1]
    _require(
        bool(np.isclose(replications.runs.spend[0], spent)),
        name,
        "spends another amount in simulate",
    )
    drawn = replications.first.rewards.sum()
    _require(
        bool(np.isclose(replications.runs.reward_drawn[0], drawn)),
        name,
        "earns another sum in simulate",
    )


def _require(holds: bool, problem: str, violation: str) -> None:
    if not holds:
        raise AssertionError(f"on the problem {problem!r} the policy {violation}")
