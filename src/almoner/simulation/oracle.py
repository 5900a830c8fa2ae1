"""Exact values: the oracle's optimum, the value of a policy, and the LP's upper bound."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from almoner import checks
from almoner.errors import NotComputable
from almoner.lp import TOLERANCE, solve
from almoner.policy.base import Policy
from almoner.policy.contexts import EmpiricalContexts, TruncatedContexts
from almoner.policy.lowering import LoweredPolicy, for_kernels, lower
from almoner.policy.recipes import recipe
from almoner.policy.rewards import KnownRewards
from almoner.problem import FROM_FILE, Problem
from almoner.simulation.limits import LARGEST_TABLE, refuse_rounding, too_large
from almoner.simulation.optimum import optimal_gain

if TYPE_CHECKING:
    from almoner.kernels.state import Hulls

__all__ = ["exact_value", "has_exact_value", "optimal_value", "upper_bound"]

REACH = 4.0
"""Most of a distribution of the budget lies within so many √T dearest costs of its mean."""

LARGEST_WORK = 2e10
"""Probabilities to carry forward, times contexts or pairs: half a minute."""


def upper_bound(problem: Problem) -> float:
    """Return T · v(B/T), the LP's bound on the expected reward of any policy.

    Examples
    --------
    >>> problem = Problem(
    ...     context_probs=[0.4, 0.6], reward_means=[[0.8], [0.4]], horizon=1000, budget=400)
    >>> round(upper_bound(problem), 6), round(optimal_value(problem), 4)
    (320.0, 317.5285)
    """
    checks.kind("problem", problem, Problem, FROM_FILE)
    return problem.horizon * solve(problem).value


def optimal_value(problem: Problem) -> float:
    """Return the expected reward of the best policy, by dynamic programming.

    That policy knows all statistics but not the future, and never exceeds the budget. Costs must
    lie on a common grid that is not too fine, such as whole numbers or multiples of 0.25.

    The number is certified: two programs bound the optimum from below and from above, and it is
    returned only where they meet within 1e-9, or 1e-13 of itself where that is more. Where this
    would take too long, `NotComputable` is raised.

    Examples
    --------
    A thousand actions at odd costs have an even sum, which cannot use up 2,001:

    >>> problem = Problem(
    ...     context_probs=[1], reward_means=[[0.5, 0.9]], costs=[1, 3], horizon=1000, budget=2001)
    >>> round(upper_bound(problem), 6), round(optimal_value(problem), 6)
    (700.2, 700.0)
    """
    checks.kind("problem", problem, Problem, FROM_FILE)
    return _idle_reward(problem) + optimal_gain(problem)


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
    from almoner.kernels.state import new_hulls

    lowered = _lower(problem, policy)
    hulls = new_hulls(lowered)
    if hulls is None:
        return _idle_reward(problem) + _policy_gain(problem, lowered)
    return _idle_reward(problem) + _policy_gain_on_grid(problem, lowered, hulls)


def has_exact_value(problem: Problem, policy: Policy) -> bool:
    """Return whether `exact_value` computes the value of a policy, or refuses to."""
    try:
        _lower(problem, policy)
    except NotComputable:
        return False
    return True


def _lower(problem: Problem, policy: Policy | str) -> LoweredPolicy:
    """Lower a policy whose exact value can be computed; refuse another one."""
    checks.kind("problem", problem, Problem, FROM_FILE)
    policy = recipe(policy) if isinstance(policy, str) else checks.kind("policy", policy, Policy)
    if not isinstance(policy.rewards, KnownRewards) or isinstance(
        policy.contexts, (EmpiricalContexts, TruncatedContexts)
    ):
        raise NotComputable(
            "exact_value needs a policy with known statistics, such as alp(), flp(), pb() or "
            f"rounded(), got {policy!r}; use simulate for one that learns"
        )
    refuse_rounding(problem, "exact_value", "use simulate")
    lowered = lower(policy, **problem.terms())
    _refuse_size(problem, lowered)
    return lowered


def _refuse_size(problem: Problem, lowered: LoweredPolicy) -> None:
    """Refuse a problem whose distribution of the budget takes too long to carry forward."""
    dearest = int(lowered.costs.max())
    budget = min(lowered.budget, dearest * problem.horizon)
    options = lowered.costs.size if lowered.priced else len(problem.context_probs)
    band = 16 + min(budget, 2 * REACH * dearest * problem.horizon**0.5)
    work = band * problem.horizon * options + len(problem.context_probs) ** 2
    if work > LARGEST_WORK or budget > LARGEST_TABLE:
        raise too_large(problem, lowered, "exact_value", "use simulate")


def _policy_gain(problem: Problem, lowered: LoweredPolicy) -> float:
    from almoner.jit import call_interruptibly
    from almoner.kernels.exact import policy_gain, rank_weights

    values = lowered.prior.max(axis=1)
    tied_actions = lowered.prior >= values[:, None] - TOLERANCE
    truth = problem.gains
    gains = np.where(tied_actions, truth, 0).sum(axis=1) / tied_actions.sum(axis=1)
    weights = lowered.context_weights
    ahead, tied = rank_weights(values, weights, TOLERANCE)
    served = values > 0  # an action without a gain is never taken
    return call_interruptibly(
        policy_gain,
        for_kernels(lowered._replace(budget=min(lowered.budget, lowered.horizon))),
        np.where(served, problem.context_probs, 0.0),
        gains,
        weights,
        ahead,
        tied,
    )


def _policy_gain_on_grid(problem: Problem, lowered: LoweredPolicy, hulls: Hulls) -> float:
    from almoner.jit import call_interruptibly
    from almoner.kernels.exact import policy_gain_on_grid
    from almoner.kernels.state import new_memo, new_state

    alike = (np.abs(lowered.prior[:, :, None] - lowered.prior[:, None, :]) <= TOLERANCE) & (
        lowered.costs[:, :, None] == lowered.costs[:, None, :]
    )
    gains = (alike * problem.gains[:, None, :]).sum(axis=2) / alike.sum(axis=2)
    state = new_state(lowered)
    return call_interruptibly(
        policy_gain_on_grid,
        for_kernels(lowered),
        state,
        new_memo(lowered, state),
        hulls,
        np.array(problem.context_probs),
        gains,
        *np.zeros((2, lowered.budget + 1)),
    )


def _idle_reward(problem: Problem) -> float:
    return problem.horizon * float(problem.context_probs @ problem.default_rewards)
