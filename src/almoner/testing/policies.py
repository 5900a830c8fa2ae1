"""What every policy must satisfy, whoever wrote it."""

from __future__ import annotations

import warnings

import numpy as np

from almoner.errors import AlmonerError, UntriedPairs
from almoner.plain import SKIP, PlainPolicy
from almoner.policy.base import Policy
from almoner.problem import Problem
from almoner.runs import Trace
from almoner.simulation import simulate, trace
from almoner.testing.problems import TINY

__all__ = ["check_policy"]


def check_policy(policy: Policy | PlainPolicy, *, seed: int = 0) -> list[str]:
    """Try a policy on every tiny problem; return the names of those it ran on.

    A problem that the policy refuses with an `AlmonerError` is passed over. Anything it does wrong
    raises an AssertionError that says what, where.

    Examples
    --------
    >>> from almoner import pb
    >>> "three contexts" in check_policy(pb())
    False
    """
    ran = []
    for name, problem in TINY.items():
        try:
            played = trace(problem, policy, seed=seed)
        except AlmonerError:
            continue
        _check_trace(name, problem, played)
        _check_same(name, problem, policy, played, seed)
        ran.append(name)
    return ran


def _check_trace(name: str, problem: Problem, played: Trace) -> None:
    spent = problem.budget - played.budget_left
    _require(bool(np.all(spent <= problem.budget)), name, "overspends")
    _require(bool(np.all(np.diff(played.budget_left) <= 0)), name, "gives money back")
    bought = played.actions != SKIP
    costs = np.where(bought, problem.costs[played.contexts, played.actions], 0.0)
    _require(bool(np.allclose(np.cumsum(costs), spent)), name, "spends other than its actions cost")
    _require(bool(np.all(played.actions < problem.reward_means.shape[1])), name, "invents actions")
    known = played.probabilities[~np.isnan(played.probabilities)]
    _require(bool(np.all((known > 0) & (known <= 1))), name, "did what it gave no probability")


def _check_same(
    name: str, problem: Problem, policy: Policy | PlainPolicy, played: Trace, seed: int
) -> None:
    again = trace(problem, policy, seed=seed)
    same = np.array_equal(again.actions, played.actions)
    _require(same, name, "does another thing on the same seed")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UntriedPairs)  # tiny problems are over before exploration
        runs = simulate(problem, policy, runs=2, seed=seed, against="upper bound")
    spent = problem.budget - played.budget_left[-1]
    _require(bool(np.isclose(runs.spend[0], spent)), name, "spends another amount in simulate")


def _require(holds: bool, problem: str, what: str) -> None:
    if not holds:
        raise AssertionError(f"on the problem {problem!r} the policy {what}")
