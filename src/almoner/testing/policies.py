"""What every policy must satisfy, whoever wrote it."""

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
    """Try a policy on every tiny problem; return the names of those it ran on.

    Anything it does wrong raises an AssertionError that says what, where.

    Parameters
    ----------
    policy
        A `Policy`, which is passed over where it does not apply, or any object with ``decide`` and
        ``learn``, which is not: it must play every problem that it is given.
    seed
        Everything random follows from it.
    problems
        What to play, by name. Give those that an object was made for if it does not fit all the
        tiny ones: it is not told costs, nor how many contexts and actions there are.

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
            lacking = missing_branch(lower(policy, **problem.terms()))
            _require(not lacking, name, lacking)
        try:
            games = _play(problem, policy, seed)
        except Exception as error:
            raise AssertionError(
                f"on the problem {name!r} the policy fails: {type(error).__name__}: {error}"
            ) from error
        _check_trace(name, problem, games.first)
        if isinstance(policy, Policy):
            unknown = bool(np.isnan(games.first.probabilities).any())
            _require(not unknown, name, "does not say how likely its decisions are")
        _check_same(name, problem, games)
        ran.append(name)
    if not ran:
        raise AssertionError("the policy applies to none of the problems: nothing was checked")
    return ran


class _Games(NamedTuple):
    """One replication, the same one again, and the same with another one in `simulate`."""

    first: Trace
    again: Trace
    runs: Runs


def _play(problem: Problem, policy: Policy | PlainPolicy, seed: int) -> _Games:
    first, again = (trace(problem, policy, seed=seed) for _ in range(2))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UntriedPairs)  # tiny problems are over before exploration
        runs = simulate(problem, policy, runs=2, seed=seed, against="upper bound")
    return _Games(first, again, runs)


def _check_trace(name: str, problem: Problem, played: Trace) -> None:
    actions = problem.reward_means.shape[1]
    real = (played.actions >= SKIP) & (played.actions < actions)
    _require(bool(np.all(real)), name, "invents actions")
    spent = problem.budget - played.budget_left
    _require(bool(np.all(spent <= problem.budget)), name, "overspends")
    _require(bool(np.all(np.diff(spent, prepend=0.0) >= 0)), name, "gives money back")
    bought = played.actions != SKIP
    costs = np.where(bought, problem.costs[played.contexts, played.actions], 0.0)
    _require(bool(np.allclose(np.cumsum(costs), spent)), name, "spends other than its actions cost")
    known = played.probabilities[~np.isnan(played.probabilities)]
    _require(bool(np.all((known > 0) & (known <= 1))), name, "did what it gave no probability")


def _check_same(name: str, problem: Problem, games: _Games) -> None:
    same = np.array_equal(games.again.actions, games.first.actions)
    _require(same, name, "does another thing on the same seed")
    spent = problem.budget - games.first.budget_left[-1]
    _require(
        bool(np.isclose(games.runs.spend[0], spent)), name, "spends another amount in simulate"
    )
    drawn = games.first.rewards.sum()
    _require(
        bool(np.isclose(games.runs.reward_drawn[0], drawn)), name, "earns another sum in simulate"
    )


def _require(holds: bool, problem: str, what: str) -> None:
    if not holds:
        raise AssertionError(f"on the problem {problem!r} the policy {what}")
