"""Lowering of a campaign's policy: terms to the codes and arrays that the kernels take."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from almoner.errors import InvalidInput, InvalidPolicy
from almoner.live.policy.must_serve import MustServe, improvement_costs
from almoner.live.terms.terms import LEARNED, Terms
from almoner.live.times.closing_time import ClosingTime
from almoner.policy.allocation import Procrastinate
from almoner.policy.base import Policy
from almoner.policy.lowering import LoweredPolicy, cost_bounds, lower
from almoner.policy.rewards import KnownRewards
from almoner.types import Floats

__all__ = ["lower_terms"]


def lower_terms(terms: Terms, contexts: tuple[str, ...]) -> LoweredPolicy:
    """Return the policy of a campaign with these contexts, as the kernels take it."""
    costs = np.array([improvement_costs(terms, name) for name in contexts], np.float64)
    horizon = terms.horizon
    if isinstance(horizon, ClosingTime):
        horizon = max(1, round(horizon.arrivals))
    defaults = None
    if terms.default_rewards != LEARNED and (terms.default_rewards or terms.scale.zero):
        defaults = np.array([terms.default_in(name) for name in contexts])
    lowered = lower(
        _on_actions(terms),
        horizon=horizon,
        budget=float(terms.budget),
        costs=costs,
        default_rewards=defaults,
        defaults_known=defaults is not None,
        learn_defaults=terms.default_rewards == LEARNED,
    )
    if lowered.bottom != 1:
        raise InvalidInput("costs are whole numbers of units, so their grid is")
    # A simulation caps the budget at what its actions can cost; live bills may exceed costs.
    budget = terms.budget
    if terms.default is not None:  # the plan buys improvements with the rest
        budget = max(0, budget - MustServe(terms).expected(horizon))
    lowered = lowered._replace(
        budget=budget // lowered.top, windowed=int(terms.reward_window is not None)
    )
    if terms.learned_costs or terms.on_rows:
        return _with_any_cost(lowered, terms, costs)
    return lowered


def _with_any_cost(lowered: LoweredPolicy, terms: Terms, costs: Floats) -> LoweredPolicy:
    """Return a policy whose costs may become any number of units: its unit is that of the money."""
    if isinstance(terms.policy.allocation, Procrastinate):
        raise InvalidPolicy(
            "Procrastinate is defined where every action costs the same, which learned costs do "
            "not; use rounded() or thrifty() instead"
        )
    units = costs.astype(np.int64)
    return lowered._replace(
        top=1,
        budget=terms.budget,
        costs=units,
        priced=1,
        **cost_bounds(units),
    )


def _on_actions(terms: Terms) -> Policy:
    """Return the policy; if it knows the means of all actions, with those of the active ones."""
    policy = terms.policy
    if not (terms.stopped and isinstance(policy.rewards, KnownRewards) and policy.rewards.means):
        return policy
    active = [index for index, name in enumerate(terms.actions) if name not in terms.stopped]
    means = np.asarray(policy.rewards.means)[:, active].tolist()
    return replace(policy, rewards=KnownRewards(means=means))
