"""The steps of eight replications: `decide`, `take` and `learn` as in `almoner.kernels.steps`.

Each branch on data there is a `where` here, with the same operations in the same order, so that a
lane has the same bits. Rewards come at once in a simulation: none is pending.
"""

from __future__ import annotations

import math
from typing import Any

from almoner.jit import jit_inline
from almoner.kernels.draws import SERVE_LANE
from almoner.kernels.lanes.environment import uniform
from almoner.kernels.lanes.indices import insured_at_most
from almoner.kernels.lanes.ranking import (
    best_mean,
    choose,
    is_between,
    rank,
    rank_by_brackets,
    value_of,
)
from almoner.kernels.lanes.shares import budget_ratio, serve_share
from almoner.kernels.lanes.state import (
    EVIDENCE,
    LaneState,
    counts_contexts,
    level_at,
    totals,
)
from almoner.kernels.lanes.vector import any_lane, floats, where
from almoner.kernels.state import FROZEN, LEFT
from almoner.lp import TOLERANCE
from almoner.policy.allocation import EagerRounding
from almoner.policy.contexts import TruncatedContexts
from almoner.policy.lowering import BY_RULE, LoweredPolicy
from almoner.policy.rewards import KLUCB, InsuredWilson, KnownRewards, Wilson
from almoner.types import Floats

__all__ = ["decide", "learn", "take"]

SLACK = 1e-9
"""Weight that the order of a sum does not change: rounding errors are below it by far."""

_EAGER, _TRUNCATED = EagerRounding.code, TruncatedContexts.code
_KNOWN, _INSURED = KnownRewards.code, InsuredWilson.code

_ROOTLESS = (KLUCB.code, Wilson.code, InsuredWilson.code)
"""Indices that do not read 1/√C."""


@jit_inline
def decide(
    policy: LoweredPolicy,
    state: LaneState,
    levels: Floats,
    bottom: float,
    t: int,
    context: Any,
    key: Any,
) -> tuple[Any, Any]:
    """Return whether each context that has arrived is served, and its best action.

    Costs are equal. ``bottom`` is the least level of the epoch, for `rank_by_brackets`.
    """
    left, level = state.progress[LEFT], level_at(policy, levels, t)
    value, action = choose(policy, state, context, level, key)
    may_serve = (left >= policy.cheapest) & (value > 0.0)
    ahead, tied = rank(policy, state, context, value, level)
    draw, own, room = uniform(key, SERVE_LANE), *_own_and_room(policy, state, t, context, ahead)
    if _order_matters(policy) and any_lane(may_serve & _is_close(draw, own, room, tied)):
        ahead = rank_by_brackets(policy, state, value, level, bottom)
        own, room = _own_and_room(policy, state, t, context, ahead)
    plentiful = policy.held * left >= policy.horizon - t + 1
    share = serve_share(policy, plentiful, room, own, ahead, tied)
    if policy.rule == _EAGER:
        total, _ = totals(policy, state, t)
        asks = (share == 0.0) & (room > TOLERANCE * total)
        if any_lane(asks):
            floor = best_mean(policy, state, context, policy.reward == _KNOWN)
            between = is_between(policy, state, context, floor, value, level)
            share = where(asks & between, 1.0, share)
    return may_serve & (draw < share), action


@jit_inline
def _own_and_room(
    policy: LoweredPolicy, state: LaneState, t: int, context: Any, ahead: Any
) -> tuple[Any, Any]:
    """Return the weight of the context that has arrived, and the one served beyond those ahead."""
    total, arrival = totals(policy, state, t)
    ratio = budget_ratio(policy, state.progress[LEFT], policy.horizon - t + 1)
    return state.weights[context] + arrival, ratio * total - ahead


@jit_inline
def _is_close(draw: Any, own: Any, room: Any, tied: Any) -> Any:
    """Return whether the last bits of the weight ahead may decide, by any allocation rule."""
    close = _is_small(room) | _is_small(room - 0.5 * own) | _is_small(room - tied - 0.5 * own)
    return close | _is_small(draw * (own + tied) - room)


@jit_inline
def _is_small(x: Any) -> Any:
    return (x <= SLACK) & (x >= -SLACK)


@jit_inline
def _order_matters(policy: LoweredPolicy) -> bool:
    """Return whether the weight ahead may depend on the order in which it is summed.

    Sums of counts are exact, and those of two known weights the same in any order; known rewards
    have brackets of length 0.
    """
    return policy.costs.shape[0] > 3 and not counts_contexts(policy) and policy.reward != _KNOWN


@jit_inline
def take(
    policy: LoweredPolicy, state: LaneState, levels: Floats, t: int, context: Any, cost: Any
) -> None:
    """Record the decisions of round t: the costs and the arrivals."""
    state.progress[LEFT] -= cost
    if counts_contexts(policy):
        _, arrival = totals(policy, state, t)
        state.weights[context] += arrival
        if policy.context == _TRUNCATED:
            frozen = state.progress[FROZEN]
            due = (frozen <= 0.0) & _freeze_due(policy, state, levels, t)
            state.progress[FROZEN] = where(due, float(t), frozen)


@jit_inline
def _freeze_due(policy: LoweredPolicy, state: LaneState, levels: Floats, t: int) -> Any:
    """Return whether to freeze context shares after round t (`almoner.kernels.freezing`)."""
    never = state.progress[LEFT] < 0.0
    if policy.freeze != BY_RULE:
        return ~never if t >= policy.freeze else never
    contexts, log_horizon = policy.costs.shape[0], math.log(policy.horizon)
    ratio = policy.budget / policy.horizon
    widest = 0.5 * min(ratio, max(1.0 - ratio, 0.0))
    if t * widest * widest < 16.0 * contexts**2 * log_horizon**3:
        return never
    gap = 0.5 * _boundary_gap(policy, state, levels, t, ratio)
    significant = 2.0 * gap * gap * t >= 2.0 * log_horizon
    return significant & (t * gap * gap >= 16.0 * contexts**2 * log_horizon**3)


@jit_inline
def _boundary_gap(
    policy: LoweredPolicy, state: LaneState, levels: Floats, t: int, ratio: float
) -> Any:
    """Return the distance of the ratio from the nearest boundary of the empirical shares."""
    level = level_at(policy, levels, t + 1)
    for context in range(policy.costs.shape[0]):
        state.values[context] = value_of(policy, state, context, level)
    gap = floats(min(ratio, abs(1.0 - ratio)))
    for context in range(policy.costs.shape[0]):
        boundary = floats(0.0)
        for other in range(policy.costs.shape[0]):
            within = state.values[other] >= state.values[context] - TOLERANCE
            boundary += where(within, state.weights[other] / t, 0.0)
        distance = max(boundary - ratio, ratio - boundary)
        gap = min(gap, distance)
    return gap


@jit_inline
def learn(policy: LoweredPolicy, state: LaneState, context: Any, option: Any, reward: Any) -> None:
    """Record the rewards of the options taken."""
    count = state.taken[context, option] + 1.0
    state.taken[context, option] = count
    if policy.reward == _KNOWN:
        return
    total = state.sums[context, option] + reward
    state.sums[context, option] = total
    if policy.reward == _INSURED:
        state.largest[context, option] = math.nan
        state.at_most[context, option] = insured_at_most(policy, state.fit[EVIDENCE], count, total)
    if policy.pooled == 1:
        count += state.prior_counts[context, option]
        total += state.prior_sums[context, option]
        state.counts[context, option] = count
    state.means[context, option] = total / count
    if policy.reward not in _ROOTLESS:
        state.roots[context, option] = 1.0 / math.sqrt(count)
