"""Decisions where costs differ, or skipping has a reward of its own: the LP with a price.

Every context's indices, less that of skipping, give a hull (`almoner.lp.candidates`); the steps of
all hulls compete for the budget per round. The price at which it runs out splits the steps into
those taken for sure and those taken at a common rate (`almoner.kernels.price`).
"""

from __future__ import annotations

import math

import numpy as np

from almoner.jit import inlined
from almoner.kernels.draws import round_key, uniform
from almoner.kernels.indices import THOMPSON_LANE, index
from almoner.kernels.price import find_price, nearness
from almoner.kernels.ranking import (
    TIE_LANE,
    TOLERANCE,
    Mask,
    index_of,
    level_at,
    level_of,
    weights_of,
)
from almoner.kernels.state import (
    BEFORE,
    BEYOND_LEFT,
    LEAST_LEFT,
    LEFT,
    NOW,
    REPORTED,
    ROUND,
    Hulls,
    Memo,
    State,
)
from almoner.lp import candidates
from almoner.policy.allocation import AdaptiveLP, EagerRounding, FixedLP, RoundedLP, SkipAlways
from almoner.policy.lowering import LEARNED_DEFAULTS, Plan
from almoner.policy.rewards import Thompson

__all__ = [
    "SKIP",
    "allocate",
    "default_index",
    "find_price",
    "nearness",
    "options_at",
    "priced_ratio",
    "raise_hulls",
]

SKIP = -1
"""The action of doing nothing."""

SERVE_LANE = 0

_MOST = np.iinfo(np.int64).max
_ADAPTIVE, _FIXED, _ROUNDED = AdaptiveLP.code, FixedLP.code, RoundedLP.code
_EAGER, _SKIP_ALWAYS, _THOMPSON = EagerRounding.code, SkipAlways.code, Thompson.code


@inlined
def allocate(
    plan: Plan,
    state: State,
    memo: Memo,
    hulls: Hulls,
    context: int,
    key: np.uint64,
    available: Mask | None,
) -> tuple[int, float]:
    """Return the action for the context that has arrived, or SKIP, and its probability.

    The price is that of all actions in all contexts; what is available to this request is then
    weighed at that price.
    """
    t, left = state.clock[ROUND] + 1, state.clock[LEFT]
    remaining = plan.horizon - t + 1
    if plan.rule == _SKIP_ALWAYS:
        return SKIP, 1.0
    _, total, _ = weights_of(plan, state, t)
    room = priced_ratio(plan, left, remaining) * total
    raise_hulls(plan, state, memo, hulls, context, key)
    price, rate = find_price(plan, hulls, total, room)
    if available is not None and _restrict(plan, hulls, context, available):
        price, rate = _price_beyond(hulls, price, rate)
    base, step, rate = options_at(plan, hulls, context, price, rate)
    if uniform(key, SERVE_LANE) < rate:
        return _untie(plan, hulls, context, step, rate, key)
    return _untie(plan, hulls, context, base, 1.0 - rate, key)


@inlined
def _price_beyond(hulls: Hulls, price: float, rate: float) -> tuple[float, float]:
    """Return the price of the next unit of budget, and the rate of the steps at it.

    Of a slope that is not reached yet nothing is bought.
    """
    beyond = hulls.price[REPORTED]
    if beyond == price:
        return price, rate
    return beyond, 0.0 if beyond > 0.0 else 1.0


@inlined
def _restrict(plan: Plan, hulls: Hulls, context: int, available: Mask) -> bool:
    """Work out the hull of a context anew if not every action is available; return whether so."""
    if hulls.weights[context] <= 0.0:  # its gains were not worked out
        return False
    restricted = False
    for action in range(plan.costs.shape[1]):
        if not available[action]:
            hulls.gains[context, action] = -math.inf
            restricted = True
    if restricted:
        _raise_hull(plan, hulls, context)
    return restricted


@inlined
def options_at(
    plan: Plan, hulls: Hulls, context: int, price: float, rate: float
) -> tuple[int, int, float]:
    """Return what a context gets at least, what it gets at most, and how likely the latter is.

    ``rate`` is that of the steps at the price itself. NaN for the code of an unknown rule.
    """
    base, step, near = SKIP, SKIP, nearness(plan, price)
    for place in range(hulls.sizes[context]):
        slope = hulls.slopes[context, place]
        if slope > price + near:
            base = hulls.tops[context, place]
        elif slope >= price - near:
            step = hulls.tops[context, place]
    if step == SKIP:
        return base, step, 0.0
    if plan.rule == _ROUNDED:
        return base, step, 1.0 if rate >= 0.5 else 0.0
    return base, step, rate if plan.rule in (_ADAPTIVE, _FIXED, _EAGER) else math.nan


@inlined
def priced_ratio(plan: Plan, left: int, remaining: int) -> float:
    """Return the budget per round that the rule plans with: as it was, or as it is.

    A fixed plan may be told to drop its frugality once what is left suffices for the dearest action
    in every round left.
    """
    if plan.rule != _FIXED:
        return left / remaining
    if plan.override == 1 and left // plan.dearest >= remaining:  # the product may not fit
        return left / remaining
    return plan.budget / plan.horizon


@inlined
def _untie(
    plan: Plan, hulls: Hulls, context: int, action: int, probability: float, key: np.uint64
) -> tuple[int, float]:
    """Draw among the actions that cost and promise the same as the one chosen."""
    if action == SKIP:
        return SKIP, probability
    ties = 0
    for other in range(plan.costs.shape[1]):
        ties += _alike(plan, hulls, context, action, other)
    pick = int(uniform(key, TIE_LANE) * ties)
    for other in range(plan.costs.shape[1]):
        if _alike(plan, hulls, context, action, other):
            if pick == 0:
                return other, probability / ties
            pick -= 1
    return action, probability


@inlined
def _alike(plan: Plan, hulls: Hulls, context: int, action: int, other: int) -> bool:
    return (
        plan.costs[context, action] == plan.costs[context, other]
        and abs(hulls.gains[context, action] - hulls.gains[context, other]) <= TOLERANCE
    )


@inlined
def raise_hulls(
    plan: Plan, state: State, memo: Memo, hulls: Hulls, context: int, key: np.uint64
) -> None:
    """Work out the gains of all pairs and the hull of every context, of what is still affordable.

    Actions dearer than what is left are dropped before the LP is solved, in every context: that
    loses less than skipping the round when one of them comes up.

    Where the statistics are known, hulls are kept for as long as the same actions are affordable.
    Those of the present context, and of the one before it, may be of what was available to a
    request: they are worked out anew.
    """
    t, left = state.clock[ROUND] + 1, state.clock[LEFT]
    weights, total, arrival = weights_of(plan, state, t)
    clock, last = level_at(plan, memo, t), -1
    hulls.kept[BEFORE], hulls.kept[NOW] = hulls.kept[NOW], context
    holds = hulls.kept[LEAST_LEFT] <= left < hulls.kept[BEYOND_LEFT]
    for place in range(2 if holds else plan.costs.shape[0]):
        other = hulls.kept[BEFORE + place] if holds else place
        if other < 0:
            continue
        hulls.weights[other] = weights[other] + (arrival if other == context else 0.0)
        hulls.sizes[other] = 0
        if hulls.weights[other] <= 0.0:
            continue
        fresh = _is_fresh(plan, state, other)
        if fresh and last not in (-1, other) and _same_terms(plan, memo, last, other):
            _copy_hull(plan, hulls, last, other)
            continue
        last = other if fresh else last
        level = level_of(plan, clock, hulls.weights[other] / total, t, float(left))
        idle = default_index(plan, state, other, level, key)
        for action in range(plan.costs.shape[1]):
            gain = -math.inf
            if plan.costs[other, action] <= left:
                gain = index_of(plan, state, memo, other, action, level, key) - idle
            hulls.gains[other, action] = gain
        _raise_hull(plan, hulls, other)
    if len(hulls.ranked) > 0 and not holds:
        _keep(plan, hulls, left)


@inlined
def _keep(plan: Plan, hulls: Hulls, left: int) -> None:
    """Note for which budgets the same actions are affordable as with ``left`` units."""
    least, beyond = 0, _MOST
    for context in range(plan.costs.shape[0]):
        for action in range(plan.costs.shape[1]):
            cost = plan.costs[context, action]
            if cost <= left:
                least = max(least, cost)
            else:
                beyond = min(beyond, cost)
    hulls.kept[LEAST_LEFT], hulls.kept[BEYOND_LEFT] = least, beyond


@inlined
def _is_fresh(plan: Plan, state: State, context: int) -> bool:
    """Return whether a context was never rewarded: its indices do not depend on its level then."""
    rewards = state.skip_counts[context]
    for action in range(plan.costs.shape[1]):
        rewards += state.counts[context, action]
    return plan.reward != _THOMPSON and rewards == 0.0


@inlined
def _same_terms(plan: Plan, memo: Memo, one: int, other: int) -> bool:
    """Return whether two contexts that were never rewarded cost and promise the same."""
    for action in range(plan.costs.shape[1]):
        if plan.costs[one, action] != plan.costs[other, action]:
            return False
        if memo.means[one, action] != memo.means[other, action]:
            return False
    return plan.defaults[one] == plan.defaults[other]


@inlined
def _copy_hull(plan: Plan, hulls: Hulls, source: int, target: int) -> None:
    """Copy gains and hull of a context, where there are thousands of the same kind."""
    for action in range(plan.costs.shape[1]):
        hulls.gains[target, action] = hulls.gains[source, action]
    hulls.sizes[target] = hulls.sizes[source]
    for place in range(hulls.sizes[source]):
        hulls.tops[target, place] = hulls.tops[source, place]
        hulls.slopes[target, place] = hulls.slopes[source, place]
        hulls.spans[target, place] = hulls.spans[source, place]


@inlined
def _raise_hull(plan: Plan, hulls: Hulls, context: int) -> None:
    """Work out the hull of one context from its gains."""
    count = candidates(hulls.gains[context], plan.costs[context], hulls.tops[context])
    hulls.sizes[context] = count
    gain, cost = 0.0, 0
    for place in range(count):
        action = hulls.tops[context, place]
        run = plan.costs[context, action] - cost
        hulls.slopes[context, place] = (hulls.gains[context, action] - gain) / run
        hulls.spans[context, place] = run
        gain, cost = hulls.gains[context, action], plan.costs[context, action]


@inlined
def default_index(plan: Plan, state: State, context: int, level: float, key: np.uint64) -> float:
    """Return what skipping is taken to bring: what is known of it, or the index of it.

    Known defaults are zeros where the gains over skipping are known.

    An unknown default gets the same index as the actions: a plain mean could lock in, paying for
    ever for actions that gain nothing over a default that is never tried.
    """
    if plan.default_mode != LEARNED_DEFAULTS:
        return plan.defaults[context]
    count = state.skip_counts[context]
    mean, root = 1.0, 0.0
    if count > 0.0:
        mean, root = state.skip_sums[context] / count, 1.0 / math.sqrt(count)
    if plan.reward == _THOMPSON:
        key = round_key(key, THOMPSON_LANE + plan.costs.size + context)
    return index(plan.reward, plan.width, level, mean, root, count, key)
