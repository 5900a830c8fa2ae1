"""Lowering of policies on rows to the codes and numbers that their kernels take."""

from __future__ import annotations

from typing import NamedTuple

from almoner.errors import InvalidPolicy
from almoner.policy.base import Policy
from almoner.policy.rows import (
    EMAPacing,
    GivenScores,
    LinearModel,
    Market,
    PIDPacing,
    Priced,
    Unpriced,
)

__all__ = [
    "CALIBRATED",
    "GIVEN",
    "LINEAR",
    "NO_DEFAULT",
    "WARM_UP",
    "LoweredRows",
    "lower_rows",
]

GIVEN, CALIBRATED, LINEAR = range(3)
"""Models of the value of an action: its score, a line through its scores, a line on features."""

NO_DEFAULT = -1
"""Code of skipping in the place of a default action."""

WARM_UP = 100
"""Arrivals whose mean and spread standardise features and scores."""


class LoweredRows(NamedTuple):
    """A policy on rows with its terms, constant for a whole run.

    ``model`` is one of the models above and ``rule`` the code of the allocation rule; ``first`` and
    ``second`` are the parameters of the rule. ``horizon`` is T and ``budget`` is B in whole units.
    ``size`` is that of the market, ``warm_up`` the number of arrivals that standardise. ``prior``
    is the weight of scores, or the prior precision of a coefficient. ``learns_costs`` and
    ``learns_skip`` are 1 if bills, and rewards of skipping, have a model of their own. ``default``
    is the action that takes the place of skipping, -1 without one: values and costs are counted
    from it.
    """

    model: int
    rule: int
    first: float
    second: float
    horizon: int
    budget: int
    size: int
    warm_up: int
    prior: float
    learns_costs: int
    learns_skip: int
    default: int


def lower_rows(
    policy: Policy,
    *,
    horizon: int,
    budget: int,
    features: int,
    learns_skip: bool = False,
    default: int = NO_DEFAULT,
) -> LoweredRows:
    """Return a policy on rows lowered on these terms; the budget is in units.

    Rewards of skipping are learned by a linear model alone, and where no default takes its place.
    """
    rewards, market, rule = policy.rewards, policy.contexts, policy.allocation
    if not isinstance(market, Market):
        raise InvalidPolicy(
            f"rows need a policy on rows, got {policy!r}; give priced(), linear() or a peer of them"
        )
    if default != NO_DEFAULT and not isinstance(rule, (Priced, Unpriced)):
        raise InvalidPolicy(
            f"{type(rule).__name__} paces the whole budget and cannot set money aside for a "
            "default action; leave default out, or give priced() or linear()"
        )
    model, prior = GIVEN, 0.0
    if isinstance(rewards, LinearModel):
        model, prior = LINEAR, rewards.ridge * (features + 1)
    elif isinstance(rewards, GivenScores) and rewards.trust is not None:
        model, prior = CALIBRATED, rewards.trust
    first, second = getattr(rule, "step", 0.0), 0.0
    if isinstance(rule, PIDPacing):
        first, second = rule.proportional, rule.integral
    if isinstance(rule, EMAPacing):
        second = rule.weight
    return LoweredRows(
        model=model,
        rule=rule.code,
        first=first,
        second=second,
        horizon=horizon,
        budget=budget,
        size=market.size_for(horizon),
        warm_up=min(WARM_UP, max(2, horizon // 20)),
        prior=prior,
        learns_costs=int(model == LINEAR and getattr(rewards, "learn_costs", False)),
        learns_skip=int(learns_skip and model == LINEAR and default == NO_DEFAULT),
        default=default,
    )
