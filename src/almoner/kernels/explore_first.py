"""Exploration before exploitation (ε-first): the action to explore, and tests that end exploration.

The *literal* test is the paper's Confidence Level Test: every comparison made while solving the LP
must be significant; where two slopes are close it may never pass. The *usable* test asks only that
the options outside the LP's support are worse: it passes once the expected cost of mistakes about
them, in the rounds left, is within three times the cost of exploration so far. It has no guarantee.
A test is repeated after 2 % more rounds, at least five. They take O((J·K)²) and O(J·K²) for J
contexts and K actions.
"""

from __future__ import annotations

import math

import numpy as np

from almoner.jit import jit, jit_callable, jit_inline
from almoner.kernels.draws import TIE_LANE, uniform
from almoner.kernels.hulls import compute_hulls
from almoner.kernels.pair_index import weights_of
from almoner.kernels.price import find_price, nearness
from almoner.kernels.priced import SKIP
from almoner.kernels.state import LEFT, ROUND, TESTED, Hulls, Memo, State
from almoner.lp import TOLERANCE
from almoner.policy.lowering import LEARNED_DEFAULTS, LITERAL_TEST, USABLE_TEST, LoweredPolicy
from almoner.types import Floats, Mask

__all__ = ["exploration_over", "least_tried"]

RISK_FACTOR = 3.0
"""Exploration ends when the risk of mistakes is at most this many times its cost so far."""


@jit_inline
def least_tried(
    policy: LoweredPolicy,
    state: State,
    context: int,
    key: np.uint64,
    available: Mask | None,
    spread: Floats | None,
) -> tuple[int, float]:
    """Return the least tried available action of a context, ties broken at random.

    Skipping counts as an action where its reward must be learned. For ``spread`` see
    `almoner.kernels.steps.decide`.
    """
    first = SKIP if policy.default_mode == LEARNED_DEFAULTS else 0
    fewest, ties = math.inf, 0
    for action in range(first, policy.costs.shape[1]):
        if _is_available(policy, state, context, action, available):
            count = _tries(state, context, action)
            ties = ties + 1 if count == fewest else (1 if count < fewest else ties)
            fewest = min(fewest, count)
    if spread is not None:
        for action in range(policy.costs.shape[1]):
            fits = _is_available(policy, state, context, action, available)
            if fits and _tries(state, context, action) == fewest:
                spread[action] = 1.0 / ties
    pick = int(uniform(key, TIE_LANE) * ties)
    for action in range(first, policy.costs.shape[1]):
        fits = _is_available(policy, state, context, action, available)
        if fits and _tries(state, context, action) == fewest:
            if pick == 0:
                return action, 1.0 / ties
            pick -= 1
    return SKIP, 1.0


@jit_inline
def _tries(state: State, context: int, action: int) -> float:
    return state.skip_counts[context] if action == SKIP else state.counts[context, action]


@jit_inline
def _is_available(
    policy: LoweredPolicy, state: State, context: int, action: int, available: Mask | None
) -> bool:
    """Return whether an action is affordable and available to this arrival."""
    if action == SKIP:
        return True
    if available is not None and not available[action]:
        return False
    return policy.costs[context, action] <= state.progress[LEFT]


@jit_callable
def exploration_over(policy: LoweredPolicy, state: State, memo: Memo, hulls: Hulls) -> bool:
    """Return whether exploration ends after the round just recorded."""
    t, spent = state.progress[ROUND], policy.budget - state.progress[LEFT]
    if t >= policy.exploration.rounds or spent >= policy.exploration.spend:
        return True
    last = state.progress[TESTED]
    if policy.exploration.test == 0 or t < max(last + 5, 1.02 * last) or t >= policy.horizon:
        return False
    state.progress[TESTED] = t
    weights, total, _ = weights_of(policy, state, t)
    for context in range(policy.costs.shape[0]):
        for action in range(policy.costs.shape[1]):
            if weights[context] > 0.0 and state.counts[context, action] == 0.0:
                return False
    compute_hulls(policy, state, memo, hulls, -1, np.uint64(0))
    if policy.exploration.test == LITERAL_TEST:
        return _literal_test(policy, state, hulls)
    return policy.exploration.test == USABLE_TEST and _usable_test(policy, state, hulls, total)


@jit
def _usable_test(policy: LoweredPolicy, state: State, hulls: Hulls, total: float) -> bool:
    """Return whether the expected cost of mistakes is small against the cost of exploration."""
    remaining = policy.horizon - state.progress[ROUND]
    price, _ = find_price(policy, hulls, total, state.progress[LEFT] / remaining * total)
    edge, start, end = _marginal_step(policy, hulls, price)
    risk, spent = 0.0, 0.0
    for context in range(policy.costs.shape[0]):
        if hulls.weights[context] <= 0.0:
            continue
        best, surplus = _best_option(policy, hulls, context, price)
        worst = 0.0
        for option in range(SKIP, policy.costs.shape[1]):
            gain, cost = _option(policy, hulls, context, option)
            shortfall = surplus - (gain - price * cost)
            if option != SKIP:
                spent += state.counts[context, option] * shortfall
            deviation = _deviation(policy, state, context, best, option, edge, start, end)
            if option != best and deviation > 0.0:
                worst = max(worst, deviation * _expected_excess(shortfall / deviation))
        risk += hulls.weights[context] / total * worst
    return remaining * risk <= RISK_FACTOR * spent


@jit_inline
def _option(policy: LoweredPolicy, hulls: Hulls, context: int, option: int) -> tuple[float, float]:
    """Return the gain and the cost of an action or of skipping."""
    if option == SKIP:
        return 0.0, 0.0
    return hulls.gains[context, option], float(policy.costs[context, option])


@jit_inline
def _best_option(
    policy: LoweredPolicy, hulls: Hulls, context: int, price: float
) -> tuple[int, float]:
    """Return the option with the largest surplus, gain less price times cost, and that surplus."""
    best, surplus = SKIP, 0.0
    for action in range(policy.costs.shape[1]):
        value = hulls.gains[context, action] - price * policy.costs[context, action]
        if value > surplus + TOLERANCE:
            best, surplus = action, value
    return best, surplus


@jit_inline
def _marginal_step(policy: LoweredPolicy, hulls: Hulls, price: float) -> tuple[int, int, int]:
    """Return the context and the two options between which the budget runs out; −1 if none."""
    for context in range(policy.costs.shape[0]):
        start = SKIP
        for i in range(hulls.sizes[context]):
            if abs(hulls.slopes[context, i] - price) <= nearness(policy, price):
                return context, start, hulls.tops[context, i]
            start = hulls.tops[context, i]
    return -1, SKIP, SKIP


@jit_inline
def _deviation(
    policy: LoweredPolicy,
    state: State,
    context: int,
    best: int,
    option: int,
    edge: int,
    start: int,
    end: int,
) -> float:
    """Return a bound on the standard deviation of a reduced cost, linear in at most four means.

    The reduced cost is g_best − g_option − λ(c_best − c_option), where the price λ is itself the
    slope between two options of the context ``edge``. A mean of C rewards in [0, 1] has a variance
    of at most 1/(4C).
    """
    lean = 0.0
    if edge >= 0:
        span = float(policy.costs[edge, end]) - (policy.costs[edge, start] if start != SKIP else 0)
        dear = float(policy.costs[context, best]) if best != SKIP else 0.0
        cheap = float(policy.costs[context, option]) if option != SKIP else 0.0
        lean = (dear - cheap) / span
    here = edge == context
    variance = 0.0
    for action in range(policy.costs.shape[1]):
        weight = (action == best) * 1.0 - (action == option) * 1.0
        if here:
            weight += lean * ((action == start) * 1.0 - (action == end) * 1.0)
        variance += weight * weight / (4.0 * state.counts[context, action])
        if edge >= 0 and not here and (action in (start, end)):
            variance += lean * lean / (4.0 * state.counts[edge, action])
    return math.sqrt(variance)


@jit_inline
def _expected_excess(z: float) -> float:
    """Return E(N − z)⁺ of a standard normal N: φ(z) − zΦ(−z)."""
    density = math.exp(-0.5 * z * z) / math.sqrt(2.0 * math.pi)
    return density - z * 0.5 * math.erfc(z / math.sqrt(2.0))


@jit
def _literal_test(policy: LoweredPolicy, state: State, hulls: Hulls) -> bool:
    """Return whether every comparison made while solving the LP is significant."""
    for context in range(policy.costs.shape[0]):
        if hulls.weights[context] <= 0.0:
            continue
        for first in range(policy.costs.shape[1]):
            for second in range(first):
                rates = (
                    _slope(policy, hulls, context, SKIP, first),
                    _slope(policy, hulls, context, SKIP, second),
                )
                fewest = min(state.counts[context, first], state.counts[context, second])
                rise = _slope(policy, hulls, context, first, second)
                if not (
                    _differ(policy, rates[0] - rates[1], fewest) and _differ(policy, rise, fewest)
                ):
                    return False
        if not _hull_is_significant(policy, state, hulls, context):
            return False
    return _order_is_significant(policy, state, hulls)


@jit_inline
def _hull_is_significant(policy: LoweredPolicy, state: State, hulls: Hulls, context: int) -> bool:
    """Return whether at each vertex of a hull the next step is significantly the steepest."""
    start = SKIP
    for i in range(hulls.sizes[context]):
        top = hulls.tops[context, i]
        cost = policy.costs[context, start] if start != SKIP else 0
        for action in range(policy.costs.shape[1]):
            if action != top and policy.costs[context, action] > cost:
                gap = hulls.slopes[context, i] - _slope(policy, hulls, context, start, action)
                fewest = min(state.counts[context, top], state.counts[context, action])
                if start != SKIP:
                    fewest = min(fewest, state.counts[context, start])
                if not _differ(policy, gap, fewest):
                    return False
        start = top
    return True


@jit_inline
def _order_is_significant(policy: LoweredPolicy, state: State, hulls: Hulls) -> bool:
    """Return whether any two hull steps differ significantly in slope."""
    for first in range(policy.costs.shape[0]):
        for i in range(hulls.sizes[first]):
            for second in range(first + 1):
                for other in range(i if second == first else hulls.sizes[second]):
                    gap = hulls.slopes[first, i] - hulls.slopes[second, other]
                    fewest = min(
                        _fewest(state, hulls, first, i), _fewest(state, hulls, second, other)
                    )
                    if not _differ(policy, gap, fewest):
                        return False
    return True


@jit_inline
def _fewest(state: State, hulls: Hulls, context: int, i: int) -> float:
    """Return the smaller count of the two ends of a hull step; skipping has no limit."""
    fewest = state.counts[context, hulls.tops[context, i]]
    if i > 0:
        fewest = min(fewest, state.counts[context, hulls.tops[context, i - 1]])
    return fewest


@jit_inline
def _slope(policy: LoweredPolicy, hulls: Hulls, context: int, first: int, second: int) -> float:
    """Return the slope between two options; at equal costs, over the smallest cost difference."""
    gain, cost = _option(policy, hulls, context, first)
    other_gain, other_cost = _option(policy, hulls, context, second)
    if cost == other_cost:
        return (other_gain - gain) / policy.exploration.cost_gap
    return (other_gain - gain) / (other_cost - cost)


@jit_inline
def _differ(policy: LoweredPolicy, gap: float, count: float) -> bool:
    """Return whether a gap between slopes is significant at level T⁻² (the paper's Algorithm 6)."""
    margin = 0.5 * policy.exploration.cost_gap * gap
    return margin * margin * count >= math.log(policy.horizon)
