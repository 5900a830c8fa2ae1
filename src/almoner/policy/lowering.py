"""Lowering: a policy and the terms it runs on, as the codes and arrays that kernels take."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from almoner.errors import InvalidPolicy
from almoner.money import Grid, usable_grid
from almoner.policy.allocation import FixedLP, Procrastinate
from almoner.policy.base import Policy
from almoner.policy.contexts import KnownContexts, TruncatedContexts
from almoner.policy.insurance import INSURANCES, Insurance
from almoner.policy.priors import PriorKnowledge
from almoner.policy.rewards import (
    EXPLORATION_TESTS,
    ExploreFirst,
    InsuredWilson,
    KnownRewards,
    RewardKnowledge,
)
from almoner.types import Floats, Ints

__all__ = [
    "BY_RULE",
    "KNOWN_DEFAULTS",
    "LEARNED_DEFAULTS",
    "LITERAL_TEST",
    "NEVER",
    "NO_DEFAULTS",
    "USABLE_TEST",
    "Exploration",
    "LoweredPolicy",
    "applicable",
    "cost_bounds",
    "for_kernels",
    "lower",
]

NEVER, BY_RULE = 0, -1
"""Values of ``LoweredPolicy.freeze`` that are no round: never freeze, or by the paper's rule."""

NO_DEFAULTS, LEARNED_DEFAULTS, KNOWN_DEFAULTS = range(3)
"""Rewards of skipping, beyond those that ``LoweredPolicy.prior`` includes: none, learned, or
``LoweredPolicy.defaults``."""

NO_TEST, USABLE_TEST, LITERAL_TEST = range(3)
"""Tests that may end exploration: the indices in ``EXPLORATION_TESTS``."""


_GIVEN_AS = {
    "means": "reward_means=… to its recipe, or rewards=KnownRewards(means=…) to Policy",
    "probs": "contexts=KnownContexts(probs=…), or context_probs=… to a recipe without contexts=",
}
"""Remedies where a policy lacks known statistics: the arguments that give them."""


class Exploration(NamedTuple):
    """End of exploration: after ``rounds``, at a spend of ``spend`` units, or by a test.

    ``update`` is 1 if means are learned after it too; ``cost_gap`` is the smallest difference
    between two costs of a context, skipping included.
    """

    rounds: int = 0
    spend: float = 0.0
    test: int = NO_TEST
    update: int = 1
    cost_gap: float = 1.0


class LoweredPolicy(NamedTuple):
    """A policy on given terms, constant for a whole run.

    ``reward``, ``context`` and ``rule`` are the codes of three parts; ``horizon`` is T,
    ``budget`` is B in whole units of the amount ``top / bottom``, and so are ``costs`` (contexts,
    actions), with the ``cheapest`` and the ``dearest`` of them and the cheapest above 0,
    ``cheapest_paid`` (the last two are 1 if all are free). ``context_weights`` are the known
    probabilities, or ones; ``prior`` is the value of a pair before its first reward: its known gain
    over skipping, or 1 (0 if a policy that explores first says so). ``defaults`` are the known
    rewards of skipping for a policy that learns the other rewards, else zeros. ``priced`` says
    that decisions need the price, because costs differ or are 0, skipping has a reward, or the
    policy explores first. ``pooled`` is 1 if a prior is fitted, ``proof`` the log-likelihood ratio
    that it must reach to be used, and ``insurance`` has the numbers of an insured index.
    ``windowed`` is 1 if silence is evidence, as rewards come
    within a window (`almoner.kernels.window`). ``held`` is the share of the budget per round that
    the plan may use; below 1 a live campaign holds it back, for its pace.
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
    costs: Ints
    cheapest: int
    cheapest_paid: int
    dearest: int
    priced: int
    default_mode: int
    defaults: Floats
    exploration: Exploration
    pooled: int
    proof: float
    insurance: Insurance
    windowed: int
    held: float


def lower(
    policy: Policy,
    *,
    horizon: int,
    budget: float,
    costs: Floats,
    context_probs: Floats | None = None,
    reward_means: Floats | None = None,
    default_rewards: Floats | None = None,
    defaults_known: bool = False,
    learn_defaults: bool = False,
) -> LoweredPolicy:
    """Return a policy lowered on these terms.

    ``context_probs`` and ``reward_means`` are used by parts with known statistics that hold no
    numbers of their own; a live campaign has none, and refuses such parts. Default rewards other
    than 0 are known to a policy with known rewards; the others know them if ``defaults_known``, and
    learn them if not. ``learn_defaults`` has them learned without a number.
    """
    if policy.on_rows:
        raise InvalidPolicy(
            f"contexts need a policy on contexts, got {policy!r}, which decides on rows; give Rows "
            "instead of a problem, or a policy such as thrifty()"
        )
    contexts = len(costs)
    grid = usable_grid(horizon, budget, costs)
    defaults = np.zeros(contexts) if default_rewards is None else default_rewards
    default_mode = _default_mode(defaults, known=defaults_known, learn=learn_defaults)
    prior = np.full(costs.shape, getattr(policy.rewards, "untried", 1.0))
    if isinstance(policy.rewards, KnownRewards):
        if learn_defaults:
            raise InvalidPolicy(
                "a policy that takes means as known must know the default rewards too, and cannot "
                "learn them; give default_rewards, or choose one that learns, such as thrifty()"
            )
        means = _known("means", policy.rewards.means, reward_means, costs.shape)
        prior, default_mode = means - defaults[:, None], NO_DEFAULTS
    weights = np.ones(contexts)
    if isinstance(policy.contexts, KnownContexts):
        weights = _known("probs", policy.contexts.probs, context_probs, (contexts,))
    freeze = NEVER
    if isinstance(policy.contexts, TruncatedContexts):
        freeze = BY_RULE if policy.contexts.until is None else policy.contexts.until
    equal = bool(np.all(costs == costs.flat[0])) and costs.flat[0] > 0
    explores = isinstance(policy.rewards, ExploreFirst)
    priced = not equal or default_mode != NO_DEFAULTS or explores
    _refuse_procrastination(policy, contexts, priced)
    return LoweredPolicy(
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
        **cost_bounds(grid.costs),
        priced=int(priced),
        default_mode=default_mode,
        defaults=defaults * (default_mode == KNOWN_DEFAULTS),
        exploration=_exploration(policy.rewards, horizon, grid) if explores else Exploration(),
        pooled=policy.prior.code,
        proof=_proof(policy.prior),
        insurance=_insurance(policy.rewards),
        windowed=0,
        held=1.0,
    )


def _proof(prior: PriorKnowledge) -> float:
    proof = getattr(prior, "proof", None)
    return -math.inf if proof is None else float(proof)


def _insurance(rewards: RewardKnowledge) -> Insurance:
    if isinstance(rewards, InsuredWilson):
        return INSURANCES[rewards.evidence]._replace(caution=rewards.caution)
    return INSURANCES["flat"]._replace(caution=0.0)


def cost_bounds(costs: Ints) -> dict[str, Any]:
    """Return the fields of `LoweredPolicy` on the least and the largest of some costs."""
    dearest = max(1, int(costs.max()))
    paid = int(costs[costs > 0].min(initial=dearest))
    return {"cheapest": int(costs.min()), "cheapest_paid": paid, "dearest": dearest}


def for_kernels(lowered: LoweredPolicy) -> LoweredPolicy:
    """Return a lowered policy without the amount of a unit, which may not fit 64 bits.

    Amounts of 1e-10 with all their digits are multiples of 1e-26. Kernels count units only.
    """
    return lowered._replace(top=0, bottom=0)


def _default_mode(defaults: Floats, *, known: bool, learn: bool) -> int:
    if known and learn:
        raise InvalidPolicy(
            "default rewards are either known or learned, got defaults_known=True and "
            "learn_defaults=True; give one of the two"
        )
    if learn:
        return LEARNED_DEFAULTS
    if not defaults.any():
        return NO_DEFAULTS
    return KNOWN_DEFAULTS if known else LEARNED_DEFAULTS


def applicable(policy: Policy, **terms: Any) -> bool:
    """Return whether a policy can be lowered on these terms."""
    try:
        lower(policy, **terms)
    except InvalidPolicy:
        return False
    return True


def _exploration(spec: Any, horizon: int, grid: Grid) -> Exploration:
    rounds = spec.rounds
    if spec.factor is not None:
        rounds = max(1, math.ceil(spec.factor * math.log(horizon)))
    cap = (0.1 if rounds is None else 1.0) if spec.cap is None else spec.cap
    gaps = [
        abs(int(cost) - int(other))
        for row in np.unique(grid.costs, axis=0)
        for cost in (0, *row)
        for other in (0, *row)
        if cost != other
    ]
    return Exploration(
        rounds=int(cap * horizon) if rounds is None else min(rounds, horizon),
        spend=cap * grid.budget if cap < 1 else float(grid.budget + 1),
        test=EXPLORATION_TESTS.index(spec.test),
        update=int(spec.update),
        cost_gap=float(min(gaps, default=1)),
    )


def _refuse_procrastination(policy: Policy, contexts: int, priced: bool) -> None:
    if not isinstance(policy.allocation, Procrastinate):
        return
    if contexts != 2:
        raise InvalidPolicy(
            f"Procrastinate is defined for two contexts, got {contexts} contexts; "
            "use rounded() or thrifty() for more"
        )
    if priced:
        raise InvalidPolicy(
            "Procrastinate is defined where every action costs the same and skipping brings "
            "nothing; use rounded() or thrifty() instead"
        )


def _known(name: str, value: object, truth: Floats | None, shape: tuple[int, ...]) -> Floats:
    """Return the known statistics that a part holds, or else the true ones."""
    array = truth if value is None else np.asarray(value, dtype=np.float64)
    if array is None:
        raise InvalidPolicy(
            f"the policy takes {name} as known, but they were not given; give {_GIVEN_AS[name]}; "
            "or choose a policy that learns, such as thrifty()"
        )
    if array.shape != shape:
        raise InvalidPolicy(f"{name} must have shape {shape} as the costs have, got {array.shape}")
    return array
