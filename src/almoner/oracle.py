"""What can be had at best: the exact oracle, exact values of policies, and the upper bound."""

from __future__ import annotations

import numpy as np

from almoner.errors import NotComputable
from almoner.money import on_grid
from almoner.policy.base import Policy
from almoner.policy.contexts import EmpiricalContexts, TruncatedContexts
from almoner.policy.plan import make_plan
from almoner.policy.rewards import KnownRewards
from almoner.problem import Problem

__all__ = ["exact_value", "optimal_value", "upper_bound"]

TIE = 1e-12


def upper_bound(problem: Problem) -> float:
    """Return T · v(B/T): what nobody can exceed on average, and the paper's benchmark.

    Examples
    --------
    >>> problem = Problem(
    ...     context_probs=[0.4, 0.6], reward_means=[[0.8], [0.4]], horizon=1000, budget=400)
    >>> round(upper_bound(problem), 6), round(optimal_value(problem), 4)
    (320.0, 317.5285)
    """
    from almoner.lp import solve

    return problem.horizon * solve(problem).value


def optimal_value(problem: Problem) -> float:
    """Return the expected reward of the best policy there is, by dynamic programming.

    It knows all statistics but not the future, and never exceeds the budget. Every action must
    cost the same.
    """
    from almoner.core.exact import optimal_gain

    grid = on_grid(problem.budget, problem.costs)
    if np.any(grid.costs != grid.costs.flat[0]):
        raise NotComputable(
            "the exact oracle needs every action to cost the same, got costs from "
            f"{problem.costs.min():g} to {problem.costs.max():g}; use upper_bound, or compare "
            'against="upper bound"'
        )
    best = (problem.reward_means - problem.default_rewards[:, None]).max(axis=1)
    order = np.argsort(-best, kind="stable")
    order = order[(best[order] > 0) & (problem.context_probs[order] > 0)]
    gains, probs = best[order], problem.context_probs[order]
    gain = optimal_gain(
        gains,
        np.cumsum(probs),
        np.cumsum(probs * gains),
        problem.horizon,
        min(grid.budget, problem.horizon),
    )
    return _idle_reward(problem) + gain


def exact_value(problem: Problem, policy: Policy) -> float:
    """Return the expected reward of a policy with known statistics, without simulation.

    Such a policy (`alp`, `flp`, `pb`, `rounded`) only looks at the rounds and the budget left, so
    the distribution of the budget can be carried forward exactly.

    Examples
    --------
    >>> from almoner import pb
    >>> problem = Problem(
    ...     context_probs=[0.4, 0.6], reward_means=[[0.8], [0.4]], horizon=1000, budget=400)
    >>> round(exact_value(problem, pb()), 4)
    317.5285
    """
    from almoner.core.exact import policy_gain

    if not isinstance(policy.rewards, KnownRewards) or isinstance(
        policy.contexts, (EmpiricalContexts, TruncatedContexts)
    ):
        raise NotComputable(
            "exact_value needs a policy with known statistics, such as alp(), flp(), pb() or "
            f"rounded(), got {policy!r}; use simulate for one that learns"
        )
    plan = make_plan(policy, **problem.terms())
    values = plan.prior.max(axis=1)
    tied_actions = plan.prior >= values[:, None] - TIE
    truth = problem.reward_means - problem.default_rewards[:, None]
    gains = np.where(tied_actions, truth, 0).sum(axis=1) / tied_actions.sum(axis=1)
    difference = values[None, :] - values[:, None]
    weights = plan.context_weights
    tied = (np.abs(difference) <= TIE) @ weights - weights
    served = values > 0  # no gain is worth no money
    gain = policy_gain(
        plan._replace(budget=min(plan.budget, plan.horizon)),
        np.where(served, problem.context_probs, 0.0),
        gains,
        weights,
        (difference > TIE) @ weights,
        np.maximum(tied, 0.0),
    )
    return _idle_reward(problem) + gain


def _idle_reward(problem: Problem) -> float:
    return problem.horizon * float(problem.context_probs @ problem.default_rewards)
