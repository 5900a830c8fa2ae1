"""Decisions where costs differ, or skipping has a reward: the LP solved by its dual price.

The indices of each context, less that of skipping, have a hull (`almoner.kernels.hulls`); the steps
of all hulls compete for the budget per round. Steps steeper than the price are taken for sure, and
those at the price at a common rate (`almoner.kernels.price`). A decision takes O(J·K²) for J
contexts and K actions, and O(K²) where the statistics are known.
"""

from __future__ import annotations

import math

import numpy as np

from almoner.jit import jit_inline
from almoner.kernels.draws import SERVE_LANE, TIE_LANE, uniform
from almoner.kernels.hulls import compute_hulls, restrict
from almoner.kernels.pair_index import weights_of
from almoner.kernels.price import PricedTerms, find_price, nearness
from almoner.kernels.state import LEFT, ROUND, UNIT_PRICE, Hulls, Memo, State
from almoner.lp import TOLERANCE
from almoner.policy.allocation import AdaptiveLP, EagerRounding, FixedLP, RoundedLP, SkipAlways
from almoner.policy.lowering import LoweredPolicy
from almoner.types import Floats, Mask

__all__ = [
    "SKIP",
    "allocate",
    "break_tie",
    "draw_option",
    "options_at",
    "priced_ratio",
    "write_spread",
]

SKIP = -1
"""Code of skipping, beside the indices of actions."""

_ADAPTIVE, _FIXED, _ROUNDED = AdaptiveLP.code, FixedLP.code, RoundedLP.code
_EAGER, _SKIP_ALWAYS = EagerRounding.code, SkipAlways.code


@jit_inline
def allocate(
    policy: LoweredPolicy,
    state: State,
    memo: Memo,
    hulls: Hulls,
    context: int,
    key: np.uint64,
    available: Mask | None,
    spread: Floats | None,
) -> tuple[int, float]:
    """Return the action for the context that has arrived, or SKIP, and its probability.

    The price is that of all actions in all contexts; the actions available to this arrival are then
    compared at that price. For ``spread`` see `almoner.kernels.steps.decide`.
    """
    t, left = state.progress[ROUND] + 1, state.progress[LEFT]
    remaining = policy.horizon - t + 1
    if policy.rule == _SKIP_ALWAYS:
        return SKIP, 1.0
    _, total, _ = weights_of(policy, state, t)
    room = priced_ratio(policy, left, remaining) * total
    compute_hulls(policy, state, memo, hulls, context, key)
    price, rate = find_price(policy, hulls, total, room)
    return draw_option(policy, hulls, context, price, rate, key, available, spread)


@jit_inline
def draw_option(
    policy: LoweredPolicy,
    hulls: Hulls,
    context: int,
    price: float,
    rate: float,
    key: np.uint64,
    available: Mask | None,
    spread: Floats | None,
) -> tuple[int, float]:
    """Draw one of the options of a context at a price; return it and its probability."""
    if available is not None and restrict(policy, hulls, context, available):
        price, rate = _next_unit_price(hulls, price, rate)
    base, step, rate = options_at(policy, hulls, context, price, rate)
    if spread is not None:
        write_spread(policy, hulls, context, step, rate, spread)
        write_spread(policy, hulls, context, base, 1.0 - rate, spread)
    if uniform(key, SERVE_LANE) < rate:
        return break_tie(policy, hulls, context, step, rate, key)
    return break_tie(policy, hulls, context, base, 1.0 - rate, key)


@jit_inline
def _next_unit_price(hulls: Hulls, price: float, rate: float) -> tuple[float, float]:
    """Return the price of the next unit of budget, and the rate of the steps at it.

    Steps at a lower slope than the price found have a rate of 0: the budget does not reach them.
    """
    beyond = hulls.price[UNIT_PRICE]
    if beyond == price:
        return price, rate
    return beyond, 0.0 if beyond > 0.0 else 1.0


@jit_inline
def options_at(
    policy: PricedTerms, hulls: Hulls, context: int, price: float, rate: float
) -> tuple[int, int, float]:
    """Return the two options of a context at a price, and the probability of the dearer one.

    ``rate`` is that of the steps at the price itself. The probability is NaN for an unknown rule.
    """
    base, step, near = SKIP, SKIP, nearness(policy, price)
    for i in range(hulls.sizes[context]):
        slope = hulls.slopes[context, i]
        if slope > price + near:
            base = hulls.tops[context, i]
        elif slope >= price - near:
            step = hulls.tops[context, i]
    if step == SKIP:
        return base, step, 0.0
    if policy.rule == _ROUNDED:
        return base, step, 1.0 if rate >= 0.5 else 0.0
    return base, step, rate if policy.rule in (_ADAPTIVE, _FIXED, _EAGER) else math.nan


@jit_inline
def priced_ratio(policy: LoweredPolicy, left: int, remaining: int) -> float:
    """Return the budget per round of the LP: b/τ, or B/T for a fixed LP.

    With ``override`` a fixed LP uses b/τ once that affords the dearest action in every round left.
    A plan that is held back uses a share of it.
    """
    if policy.rule != _FIXED:
        return policy.held * (left / remaining)
    if policy.override == 1 and left // policy.dearest >= remaining:  # the product may not fit
        return policy.held * (left / remaining)
    return policy.held * (policy.budget / policy.horizon)


@jit_inline
def write_spread(
    policy: PricedTerms,
    hulls: Hulls,
    context: int,
    action: int,
    probability: float,
    spread: Floats,
) -> None:
    """Divide the probability of an action among those with the same cost and gain."""
    if action == SKIP or probability <= 0.0:
        return
    ties = 0
    for other in range(policy.costs.shape[1]):
        ties += _is_tied(policy, hulls, context, action, other)
    for other in range(policy.costs.shape[1]):
        if _is_tied(policy, hulls, context, action, other):
            spread[other] = probability / ties


@jit_inline
def break_tie(
    policy: PricedTerms,
    hulls: Hulls,
    context: int,
    action: int,
    probability: float,
    key: np.uint64,
) -> tuple[int, float]:
    """Draw one of the actions with the same cost and gain as the one chosen."""
    if action == SKIP:
        return SKIP, probability
    ties = 0
    for other in range(policy.costs.shape[1]):
        ties += _is_tied(policy, hulls, context, action, other)
    pick = int(uniform(key, TIE_LANE) * ties)
    for other in range(policy.costs.shape[1]):
        if _is_tied(policy, hulls, context, action, other):
            if pick == 0:
                return other, probability / ties
            pick -= 1
    return action, probability


@jit_inline
def _is_tied(policy: PricedTerms, hulls: Hulls, context: int, action: int, other: int) -> bool:
    gain = hulls.gains[context, action]
    near = TOLERANCE * (abs(gain) if policy.dearest == math.inf else 1.0)
    return (
        policy.costs[context, action] == policy.costs[context, other]
        and abs(gain - hulls.gains[context, other]) <= near
    )
