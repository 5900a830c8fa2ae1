"""What can be had at best: the exact oracle, exact values of policies, and the upper bound."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from almoner import checks
from almoner.errors import NotComputable
from almoner.money import Grid, on_grid
from almoner.policy.base import Policy
from almoner.policy.contexts import EmpiricalContexts, TruncatedContexts
from almoner.policy.plan import Plan, for_kernels, make_plan
from almoner.policy.recipes import recipe
from almoner.policy.rewards import KnownRewards
from almoner.problem import FROM_FILE, Problem

if TYPE_CHECKING:
    from almoner.core.state import Hulls

__all__ = ["exact_value", "optimal_value", "upper_bound"]

TIE = 1e-12

LARGEST_PROGRAM, LARGEST_TABLE = 2e10, 10**7
"""What dynamic programming is worth trying: some ten seconds, and a few hundred megabytes."""


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

    checks.kind("problem", problem, Problem, FROM_FILE)
    return problem.horizon * solve(problem).value


def optimal_value(problem: Problem) -> float:
    """Return the expected reward of the best policy there is, by dynamic programming.

    It knows all statistics but not the future, and never exceeds the budget. Costs must lie on a
    common grid that is not too fine, such as whole numbers or multiples of 0.25.
    """
    checks.kind("problem", problem, Problem, FROM_FILE)
    grid = on_grid(problem.budget, problem.costs)
    if np.all(problem.costs == problem.costs.flat[0]):
        gain = _optimal_gain(problem, grid)
    else:
        gain = _optimal_gain_on_grid(problem, grid)
    return _idle_reward(problem) + gain


def _optimal_gain(problem: Problem, grid: Grid) -> float:
    from almoner.compiled import interruptibly
    from almoner.core.exact import optimal_gain

    best = problem.gains.max(axis=1)
    order = np.argsort(-best, kind="stable")
    order = order[(best[order] > 0) & (problem.context_probs[order] > 0)]
    gains, probs = best[order], problem.context_probs[order]
    return interruptibly(
        optimal_gain,
        gains,
        np.cumsum(probs),
        np.cumsum(probs * gains),
        problem.horizon,
        min(grid.budget, problem.horizon),
    )


def _optimal_gain_on_grid(problem: Problem, grid: Grid) -> float:
    from almoner.compiled import interruptibly
    from almoner.core.exact import optimal_gain_on_grid
    from almoner.lp import solve

    _refuse_fine_grid(problem, grid, "the exact oracle", "compare against the upper bound instead")
    budget = min(grid.budget, int(grid.costs.max()) * problem.horizon)
    unit = grid.top / grid.bottom
    corners = solve(problem).boundaries
    heights = [solve(problem, ratio=corner).value for corner in [0.0, *corners]]
    idle = problem.context_probs @ problem.default_rewards
    return interruptibly(
        optimal_gain_on_grid,
        np.array(problem.context_probs),
        problem.gains,
        grid.costs,
        problem.horizon,
        budget,
        np.array([0.0, *corners]) / unit,
        np.array(heights) - idle,
    )


def _refuse_fine_grid(problem: Problem, grid: Grid | Plan, what: str, remedy: str) -> None:
    """Refuse to carry a table of budgets through all rounds where it would be too long."""
    from almoner.core.exact import REACH

    dearest = int(grid.costs.max())
    budget = min(grid.budget, dearest * problem.horizon)
    band = min(budget, 2 * REACH * dearest * problem.horizon**0.5)
    if band * problem.horizon * grid.costs.size > LARGEST_PROGRAM or budget > LARGEST_TABLE:
        raise NotComputable(
            f"{what} needs costs on a coarser common grid, got costs from "
            f"{problem.costs.min():g} to {problem.costs.max():g} in steps of "
            f"{grid.top / grid.bottom:g}; {remedy}"
        )


def exact_value(problem: Problem, policy: Policy | str) -> float:
    """Return the expected reward of a policy with known statistics, without simulation.

    Such a policy (`alp`, `flp`, `pb`, `rounded`) only looks at the rounds and the budget left, so
    the distribution of the budget can be carried forward exactly. Costs must lie on a common grid
    that is not too fine, as for `optimal_value`.

    Examples
    --------
    >>> from almoner import pb
    >>> problem = Problem(
    ...     context_probs=[0.4, 0.6], reward_means=[[0.8], [0.4]], horizon=1000, budget=400)
    >>> round(exact_value(problem, pb()), 4)
    317.5285
    """
    from almoner.core.state import new_hulls

    checks.kind("problem", problem, Problem, FROM_FILE)
    policy = recipe(policy) if isinstance(policy, str) else checks.kind("policy", policy, Policy)
    if not isinstance(policy.rewards, KnownRewards) or isinstance(
        policy.contexts, (EmpiricalContexts, TruncatedContexts)
    ):
        raise NotComputable(
            "exact_value needs a policy with known statistics, such as alp(), flp(), pb() or "
            f"rounded(), got {policy!r}; use simulate for one that learns"
        )
    plan = make_plan(policy, **problem.terms())
    hulls = new_hulls(plan)
    if hulls is None:
        return _idle_reward(problem) + _policy_gain(problem, plan)
    return _idle_reward(problem) + _policy_gain_on_grid(problem, plan, hulls)


def _policy_gain(problem: Problem, plan: Plan) -> float:
    from almoner.compiled import interruptibly
    from almoner.core.exact import policy_gain

    values = plan.prior.max(axis=1)
    tied_actions = plan.prior >= values[:, None] - TIE
    truth = problem.gains
    gains = np.where(tied_actions, truth, 0).sum(axis=1) / tied_actions.sum(axis=1)
    difference = values[None, :] - values[:, None]
    weights = plan.context_weights
    tied = (np.abs(difference) <= TIE) @ weights - weights
    served = values > 0  # no gain is worth no money
    return interruptibly(
        policy_gain,
        for_kernels(plan._replace(budget=min(plan.budget, plan.horizon))),
        np.where(served, problem.context_probs, 0.0),
        gains,
        weights,
        (difference > TIE) @ weights,
        np.maximum(tied, 0.0),
    )


def _policy_gain_on_grid(problem: Problem, plan: Plan, hulls: Hulls) -> float:
    from almoner.compiled import interruptibly
    from almoner.core.exact import policy_gain_on_grid
    from almoner.core.state import new_memo, new_state

    _refuse_fine_grid(problem, plan, "exact_value", "use simulate")
    alike = (np.abs(plan.prior[:, :, None] - plan.prior[:, None, :]) <= TIE) & (
        plan.costs[:, :, None] == plan.costs[:, None, :]
    )
    gains = (alike * problem.gains[:, None, :]).sum(axis=2) / alike.sum(axis=2)
    state = new_state(plan)
    return interruptibly(
        policy_gain_on_grid,
        for_kernels(plan),
        state,
        new_memo(plan, state),
        hulls,
        np.array(problem.context_probs),
        gains,
        *np.zeros((2, plan.budget + 1)),
    )


def _idle_reward(problem: Problem) -> float:
    return problem.horizon * float(problem.context_probs @ problem.default_rewards)
