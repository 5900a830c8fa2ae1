"""Indices of eight replications: those of `almoner.kernels.indices` and `pair_index`, as vectors.

Formulas without a branch are the same functions. Each branch on data is a `where` here.
"""

from __future__ import annotations

import math
from typing import Any

from almoner.jit import jit_inline
from almoner.kernels.elementary import log
from almoner.kernels.indices import (
    CONVERGED,
    LAST_AFFINE,
    exploration_level,
    kl_at_most,
    score_bound,
    widened_bound,
)
from almoner.kernels.lanes.state import BORROWS, EVIDENCE, STAKE, LaneState
from almoner.kernels.lanes.vector import any_lane, floats, where
from almoner.kernels.pair_index import evidence_after
from almoner.policy.lowering import LoweredPolicy
from almoner.policy.rewards import KLUCB, HorizonUCB, InsuredWilson, LogPlus, Wilson

__all__ = [
    "curved_index",
    "index_at",
    "index_beside",
    "index_of",
    "insured_at_most",
    "insured_index",
    "kl_bound",
    "level_of",
    "own_at_most",
    "own_index_of",
    "shared_bound",
]

_KL, _LOG_PLUS, _HORIZON_UCB = KLUCB.code, LogPlus.code, HorizonUCB.code
_WILSON, _INSURED = Wilson.code, InsuredWilson.code


@jit_inline
def level_of(policy: LoweredPolicy, common: float, share: Any, t: Any, left: Any) -> Any:
    """Return the index level of a context with this share (`pair_index.level_of`)."""
    if policy.reward in (_WILSON, _INSURED):
        return max(1.0, min(share * (policy.horizon - t + 1), left / policy.cheapest_paid))
    if policy.reward == _HORIZON_UCB:
        return share * (policy.horizon - t + 1)
    return floats(common)


@jit_inline
def index_at(policy: LoweredPolicy, state: LaneState, context: Any, option: Any, level: Any) -> Any:
    """Return the index of one option at a level, without insurance (`indices.index`)."""
    if policy.reward <= LAST_AFFINE:
        return state.means[context, option] + level * state.roots[context, option]
    return curved_index(policy, state, context, option, level, level > -math.inf)


@jit_inline
def index_of(
    policy: LoweredPolicy, state: LaneState, context: Any, option: Any, level: Any, asked: Any
) -> Any:
    """Return the index of one pair at a level, while another context is decided.

    Only the lanes in ``asked`` need it, here and below.
    """
    if policy.reward <= LAST_AFFINE:
        return state.means[context, option] + level * state.roots[context, option]
    if policy.reward == _INSURED:
        share = floats(policy.insurance.others)
        return _shared_bound(policy, state, context, option, level, share)
    return curved_index(policy, state, context, option, level, asked)


@jit_inline
def own_index_of(
    policy: LoweredPolicy,
    state: LaneState,
    context: Any,
    option: Any,
    level: Any,
    asked: Any,
    floor: Any,
) -> Any:
    """Return the index of one pair at a level, while its own context is decided.

    If what is insured is below ``floor``, an index below it may be returned as another one below.
    """
    if policy.reward != _INSURED:
        return index_of(policy, state, context, option, level, asked)
    bound = _shared_bound(policy, state, context, option, level, _own_share(policy, state))
    insured = insured_index(policy, state, context, option, level, asked, max(bound, floor))
    return max(bound, insured)


@jit_inline
def insured_index(
    policy: LoweredPolicy,
    state: LaneState,
    context: Any,
    option: Any,
    level: Any,
    asked: Any,
    floor: Any,
) -> Any:
    """Return the largest mean of a pair not ruled out, less the margin; -inf if below ``floor``."""
    margin, is_insured = _margin(state, level)
    at_most = state.at_most[context, option]
    asked &= is_insured & (at_most - margin > floor)
    insured = floats(-math.inf)
    if any_lane(asked):
        largest = state.largest[context, option]
        unknown = asked & (largest != largest)  # noqa: PLR0124  # NaN
        if any_lane(unknown):
            count, total = state.taken[context, option], state.sums[context, option]
            asked_for = _evidence_asked(policy, state.fit[EVIDENCE], count)
            found = kl_bound(total / count, asked_for, unknown)
            largest = where(unknown, where(total < count, found, at_most), largest)
            state.largest[context, option] = largest
            state.at_most[context, option] = where(unknown, largest, at_most)
        insured = where(asked, largest - margin, -math.inf)
    return insured


@jit_inline
def index_beside(
    policy: LoweredPolicy, state: LaneState, context: Any, option: Any, level: Any, own: Any
) -> Any:
    """Return the index of one pair at a level, without insurance.

    It is that of `own_index_of` in the lanes ``own``, where its context is decided.
    """
    if policy.reward != _INSURED:
        return index_of(policy, state, context, option, level, own | ~own)
    share = where(own, _own_share(policy, state), policy.insurance.others)
    return _shared_bound(policy, state, context, option, level, share)


@jit_inline
def own_at_most(
    policy: LoweredPolicy, state: LaneState, context: Any, option: Any, level: Any, most: Any
) -> Any:
    """Return a bound of `own_index_of` from one of `index_of` (`pair_index.own_bracket_of`)."""
    if policy.reward != _INSURED:
        return most
    factor = _own_share(policy, state) / policy.insurance.others
    high = widened_bound(state.means[context, option], most, factor)
    margin, is_insured = _margin(state, level)
    return where(is_insured, max(high, state.at_most[context, option] - margin), high)


@jit_inline
def insured_at_most(policy: LoweredPolicy, evidence: Any, count: Any, total: Any) -> Any:
    """Return `pair_index.insured_at_most` of a pair with these rewards of its own."""
    bound = kl_at_most(total / count, _evidence_asked(policy, evidence, count))
    return where(total < count, bound, 1.0 + 1e-9 * count)


@jit_inline
def _own_share(policy: LoweredPolicy, state: LaneState) -> Any:
    return where(state.fit[BORROWS] > 0.0, 1.0, policy.insurance.own)


@jit_inline
def _margin(state: LaneState, level: Any) -> tuple[Any, Any]:
    """Return the margin of what is insured, and whether anything is."""
    margin = state.fit[STAKE] / level
    return margin, (state.fit[EVIDENCE] > 0.0) & (margin < 1.0)


@jit_inline
def _evidence_asked(policy: LoweredPolicy, evidence: Any, count: Any) -> Any:
    """Return the evidence asked for, per reward of a pair."""
    return min(evidence, evidence_after(policy, count)) / count


@jit_inline
def _shared_bound(
    policy: LoweredPolicy, state: LaneState, context: Any, option: Any, level: Any, share: Any
) -> Any:
    """Return the Wilson bound of a pair at a share of its exploration level.

    Every reward is seen at once, so that the level is that of all plays left.
    """
    mean, count = state.means[context, option], state.counts[context, option]
    common = pooled = floats(0.0)
    if policy.pooled == 1:
        common, pooled = state.action_shares[context, option], state.action_levels[option]
    return shared_bound(policy, mean, count, level, share, common, pooled)


@jit_inline
def shared_bound(
    policy: LoweredPolicy, mean: Any, count: Any, level: Any, share: Any, common: Any, pooled: Any
) -> Any:
    """Return `pair_index._shared_bound` of pairs with these numbers.

    Of their variance a part ``common`` is due to the action, whose level is ``pooled``.
    """
    g = exploration_level(max(1.0, level) / count)
    if policy.pooled == 1:
        g = (1.0 - common) * g + common * pooled
    bound = where(mean >= 1.0, 1.0 + 1e-9 * count, score_bound(mean, share * g / count))
    return where(count == 0.0, 1.0, bound)


@jit_inline
def curved_index(
    policy: LoweredPolicy, state: LaneState, context: Any, option: Any, level: Any, asked: Any
) -> Any:
    """Return the index of one pair at a level, for indices that are not affine in it.

    Only the lanes in ``asked`` need it.
    """
    mean, count = state.means[context, option], state.counts[context, option]
    if policy.reward == _LOG_PLUS:
        bonus = math.sqrt(policy.width * max(0.0, level - log(count)))
        value = mean + bonus * state.roots[context, option]
    elif policy.reward == _HORIZON_UCB:
        bonus = math.sqrt(policy.width * log(1.0 + level / count))
        value = mean + bonus * state.roots[context, option]
    elif policy.reward == _KL:
        value = kl_bound(mean, level / count, asked)
    else:
        bound = score_bound(mean, exploration_level(level / count) / count)
        value = where(mean >= 1.0, 1.0 + 1e-9 * count, bound)
    return where(count == 0.0, 1.0, value)


@jit_inline
def kl_bound(mean: Any, level: Any, asked: Any) -> Any:
    """Return `almoner.kernels.indices.kl_bound`; a lane that is done keeps its result."""
    entropy = where(mean <= 0.0, 0.0, mean * log(mean))
    entropy += (1.0 - mean) * log(1.0 - mean)
    low, high = mean, floats(1.0)
    q = min(mean + math.sqrt(0.5 * level), 0.5 * (mean + 1.0))
    active = asked & (mean < 1.0) & (level > 0.0) & (level < math.inf)
    for _ in range(64):
        if not any_lane(active):
            break
        excess = entropy - (1.0 - mean) * log(1.0 - q) - level
        excess = where(mean > 0.0, excess - mean * log(q), excess)
        high = where(active & (excess > 0.0), q, high)
        low = where(active & ~(excess > 0.0), q, low)
        slope = (q - mean) / (q * (1.0 - q))
        step = where(slope > 0.0, q - excess / slope, low)
        near = CONVERGED * min(q - mean, 1.0 - q)
        done = (slope > 0.0) & (max(step - q, q - step) <= near)
        inside = done | ((low < step) & (step < high))
        step = where(inside, step, 0.5 * (low + high))
        q = where(active, step, q)
        active &= ~(done | (step == low) | (step == high))
    return where(mean >= 1.0, 1.0, where(level <= 0.0, mean, q))
