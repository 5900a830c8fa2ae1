"""Plan: a policy and the terms it runs on, as the codes and arrays that kernels take."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from almoner.checks import Floats
from almoner.errors import InvalidPolicy
from almoner.money import on_grid
from almoner.policy.allocation import FixedLP, Procrastinate
from almoner.policy.base import Policy
from almoner.policy.contexts import KnownContexts, TruncatedContexts
from almoner.policy.rewards import KnownRewards

__all__ = ["BY_RULE", "NEVER", "Plan", "applicable", "make_plan"]

NEVER, BY_RULE = 0, -1
"""Where ``Plan.freeze`` is no round: shares are never frozen, or the paper's rule decides."""


class Plan(NamedTuple):
    """What stays the same for a whole run.

    ``reward``, ``context`` and ``rule`` are the codes of the three parts; ``horizon`` is T,
    ``budget`` is B in whole units of the amount ``top / bottom``, and so are ``costs`` (contexts,
    actions).
    ``context_weights`` are the known probabilities, or ones; ``prior`` is what a pair counts as
    before it is seen: its known gain over skipping, or 1.
    """

    reward: int
    context: int
    rule: int
    horizon: int
    budget: int
    top: int
    bottom: int
    width: float
    freeze: int
    override: int
    context_weights: Floats
    prior: Floats
    costs: npt.NDArray[np.int64]


def make_plan(
    policy: Policy,
    *,
    horizon: int,
    budget: float,
    costs: Floats,
    context_probs: Floats | None = None,
    reward_means: Floats | None = None,
    default_rewards: Floats | None = None,
) -> Plan:
    """Return the plan of ``policy`` on these terms.

    ``context_probs`` and ``reward_means`` stand in for knowledge that the policy was told to have
    but not given; a live campaign has nothing to stand in and is asked for the numbers.
    """
    contexts = len(costs)
    if isinstance(policy.allocation, Procrastinate) and contexts != 2:
        raise InvalidPolicy(
            f"Procrastinate is defined for two contexts, got {contexts} contexts; "
            "use rounded() or thrifty() for more"
        )
    grid = on_grid(budget, costs)
    if not np.all(grid.costs == grid.costs.flat[0]):
        raise InvalidPolicy(
            "every action must cost the same for this policy, got costs from "
            f"{costs.min():g} to {costs.max():g}; unequal costs can be solved but not yet simulated"
        )
    prior = np.ones(costs.shape)
    if isinstance(policy.rewards, KnownRewards):
        means = _known("means", policy.rewards.means, reward_means, costs.shape)
        prior = means - (0 if default_rewards is None else default_rewards[:, None])
    elif default_rewards is not None and default_rewards.any():
        raise InvalidPolicy(
            "a policy that learns cannot yet learn a default reward too, got default_rewards "
            f"up to {default_rewards.max():g}; use a policy with known rewards"
        )
    weights = np.ones(contexts)
    if isinstance(policy.contexts, KnownContexts):
        weights = _known("probs", policy.contexts.probs, context_probs, (contexts,))
    freeze = NEVER
    if isinstance(policy.contexts, TruncatedContexts):
        freeze = BY_RULE if policy.contexts.until is None else policy.contexts.until
    return Plan(
        reward=policy.rewards.code,
        context=policy.contexts.code,
        rule=policy.allocation.code,
        horizon=horizon,
        budget=grid.budget,
        top=grid.top,
        bottom=grid.bottom,
        width=getattr(policy.rewards, "width", 0.0),
        freeze=freeze,
        override=int(isinstance(policy.allocation, FixedLP) and policy.allocation.override),
        context_weights=np.array(weights, dtype=np.float64),  # copies: kernels are compiled
        prior=np.array(prior, dtype=np.float64),  # for arrays that can be written to
        costs=grid.costs,
    )


def applicable(policy: Policy, **terms: Any) -> bool:
    """Return whether a policy makes sense on these terms, instead of why it does not."""
    try:
        make_plan(policy, **terms)
    except InvalidPolicy:
        return False
    return True


def _known(name: str, given: object, truth: Floats | None, shape: tuple[int, ...]) -> Floats:
    known = truth if given is None else np.asarray(given, dtype=np.float64)
    if known is None:
        raise InvalidPolicy(
            f"the policy takes {name} as known, but they were not given; give {name}=… in the "
            "policy, or choose one that learns, such as thrifty()"
        )
    if known.shape != shape:
        raise InvalidPolicy(f"{name} must have shape {shape} as the costs have, got {known.shape}")
    return known
