"""Upper concave hulls of (cost, gain) in each context: the steps that compete for the budget.

A hull of K actions takes O(K²), those of J contexts O(J·K²). Most hulls are the same as in the
round before, and are reused: all of them where the statistics are known, until other actions are
affordable; those of contexts without rewards where they are learned.
"""

from __future__ import annotations

import math

import numpy as np

from almoner.jit import jit_inline
from almoner.kernels.draws import THOMPSON_LANE, round_key
from almoner.kernels.indices import index
from almoner.kernels.pair_index import (
    index_of,
    level_at,
    level_of,
    own_index_of,
    weights_of,
)
from almoner.kernels.state import (
    KEPT_BELOW,
    KEPT_LEAST,
    LAST_CONTEXT,
    LEFT,
    MERGED,
    NEW_COUNT,
    OVERALL_MEAN,
    ROUND,
    THIS_CONTEXT,
    Hulls,
    Memo,
    State,
)
from almoner.lp import candidates
from almoner.policy.contexts import EmpiricalContexts, TruncatedContexts
from almoner.policy.lowering import LEARNED_DEFAULTS, LoweredPolicy
from almoner.policy.rewards import ExploreFirst, Thompson
from almoner.types import Mask

__all__ = ["compute_hulls", "compute_own_hull", "restrict"]

_MOST = np.iinfo(np.int64).max
_EXACT = 2.0**53
_THOMPSON, _EXPLORE = Thompson.code, ExploreFirst.code
_EMPIRICAL, _TRUNCATED = EmpiricalContexts.code, TruncatedContexts.code


@jit_inline
def compute_hulls(
    policy: LoweredPolicy, state: State, memo: Memo, hulls: Hulls, context: int, key: np.uint64
) -> None:
    """Compute the gains of all pairs and the hull of every context, of affordable actions.

    Actions dearer than the budget left are dropped before the LP is solved, in every context: that
    loses less than skipping the round when one of them is chosen.

    Where the statistics are known, hulls are valid for as long as the same actions are affordable,
    except those of this context and of the last one, which `restrict` may have changed.

    Contexts without rewards that have the same costs and priors have the same hull. It is computed
    for the first of them, and copied to the others only if it has changed. With a pooled prior that
    is so for those with the same weight, except the context that has arrived. Such a hull changes
    every round, so that it is not copied where adding the weights up does as well.
    """
    t, left = state.progress[ROUND] + 1, state.progress[LEFT]
    weights, total, arrival = weights_of(policy, state, t)
    common, source, unchanged = level_at(policy, memo, t), -1, False
    fitted = False
    if policy.pooled == 1:
        fitted = state.action_fit[NEW_COUNT, 0] > 0.0
    levelled = fitted or policy.windowed == 1
    merges = fitted and policy.windowed == 0 and _may_merge(policy, total)
    hulls.kept[LAST_CONTEXT], hulls.kept[THIS_CONTEXT] = hulls.kept[THIS_CONTEXT], context
    kept = hulls.kept[KEPT_LEAST] <= left < hulls.kept[KEPT_BELOW]
    merged = 0.0  # the weight to be added to that of the source
    for i in range(2 if kept else policy.costs.shape[0]):
        other = hulls.kept[LAST_CONTEXT + i] if kept else i
        if other < 0:
            continue
        fresh = _is_unrewarded(policy, state, other) and not (levelled and other == context)
        was_merged = merges and source >= 0 and hulls.sources[other] == MERGED - source
        if was_merged and fresh and weights[other] == weights[source]:
            merged += weights[other]
            continue
        hulls.weights[other] = weights[other] + (arrival if other == context else 0.0)
        if hulls.weights[other] <= 0.0:
            hulls.sizes[other], hulls.sources[other] = 0, -1
            continue
        if fresh and source not in (-1, other):
            if unchanged and hulls.sources[other] == source:
                continue
            same_level = not levelled or weights[other] == weights[source]
            was_same = hulls.sources[other] in (source, MERGED - source)
            if same_level and (was_same or _same_terms(policy, memo, source, other)):
                if merges:
                    merged += weights[other]
                    hulls.weights[other], hulls.sizes[other] = 0.0, 0
                    hulls.sources[other] = MERGED - source
                else:
                    _copy_hull(policy, hulls, source, other)
                continue
        share = hulls.weights[other] / total
        level = level_of(policy, common, share, t, float(left))
        free = level if policy.cheapest > 0 else level_of(policy, common, share, t, math.inf)
        same = _update_gains(
            policy, state, memo, hulls, other, level, free, key, fresh, other == context
        )
        if fresh:
            _add_weight(hulls, source, merged)
            source, merged = other, 0.0
            unchanged = same and hulls.sources[other] == other and not levelled
        hulls.sources[other] = other if fresh else -1
        _compute_hull(policy, hulls, other)
    _add_weight(hulls, source, merged)
    if len(hulls.ranked) > 0 and not kept:
        _keep(policy, hulls, left)


@jit_inline
def compute_own_hull(
    policy: LoweredPolicy,
    extended: LoweredPolicy,
    state: State,
    memo: Memo,
    hulls: Hulls,
    context: int,
    key: np.uint64,
) -> None:
    """Compute the hull of an arrival with costs of its own, after `compute_hulls`.

    ``extended`` is the policy with one more row of costs, the arrival's, which its hull is written
    to. Of the weight of its context, the arrival takes that of one of the arrivals to come.
    """
    row, t, left = policy.costs.shape[0], state.progress[ROUND] + 1, state.progress[LEFT]
    _, total, _ = weights_of(policy, state, t)
    weight = hulls.weights[context]
    hulls.sizes[row], hulls.weights[row] = 0, 0.0
    if weight <= 0.0:
        return
    hulls.weights[row] = min(weight, total / (policy.horizon - t + 1))
    hulls.weights[context] = weight - hulls.weights[row]
    common, share = level_at(policy, memo, t), weight / total
    level = level_of(policy, common, share, t, float(left))
    free = level_of(policy, common, share, t, math.inf)
    idle = _default_index(policy, state, context, level, key)
    for action in range(policy.costs.shape[1]):
        gain, cost = -math.inf, extended.costs[row, action]
        if cost <= left:
            plays = level if cost > 0 else free
            gain = own_index_of(policy, state, memo, context, action, plays, key) - idle
        hulls.gains[row, action] = gain
    _compute_hull(extended, hulls, row)


@jit_inline
def _update_gains(
    policy: LoweredPolicy,
    state: State,
    memo: Memo,
    hulls: Hulls,
    context: int,
    level: float,
    free_level: float,
    key: np.uint64,
    compare: bool,
    own: bool,
) -> bool:
    """Compute the gains of a context; return whether they are unchanged, if ``compare``.

    ``own`` says that the context has arrived itself. ``free_level`` is the level of actions that
    cost nothing: money does not limit their plays.

    Gains of contexts with rewards change nearly always, and comparing takes 5 % of a run.
    """
    idle, same = _default_index(policy, state, context, level, key), True
    for action in range(policy.costs.shape[1]):
        gain, cost = -math.inf, policy.costs[context, action]
        if cost <= state.progress[LEFT]:
            plays = level if cost > 0 else free_level
            if own:
                gain = own_index_of(policy, state, memo, context, action, plays, key) - idle
            else:
                gain = index_of(policy, state, memo, context, action, plays, key) - idle
        if compare:
            same &= hulls.gains[context, action] == gain
        hulls.gains[context, action] = gain
    return same


@jit_inline
def _default_index(
    policy: LoweredPolicy, state: State, context: int, level: float, key: np.uint64
) -> float:
    """Return the known reward of skipping (0 where gains over skipping are known), or its index.

    A learned default gets the same index as the actions. Its mean alone could lock in: the policy
    would pay for ever for actions that gain nothing over a default which it never tries.
    """
    if policy.default_mode != LEARNED_DEFAULTS:
        return policy.defaults[context]
    count = state.skip_counts[context]
    mean, root = 1.0, 0.0
    if count > 0.0:
        mean, root = state.skip_sums[context] / count, 1.0 / math.sqrt(count)
    if policy.windowed == 1:  # as in `almoner.kernels.refit.update_mean`
        total = state.skip_sums[context] + state.fit[OVERALL_MEAN]
        mean = min(1.0, total / (count + 1.0))
        count += 1.0 + state.skip_pending[context]
        root = 1.0 / math.sqrt(count)
    if policy.reward == _THOMPSON:
        key = round_key(key, THOMPSON_LANE + policy.costs.size + context)
    return index(policy.reward, policy.width, level, mean, root, count, key)


@jit_inline
def _is_unrewarded(policy: LoweredPolicy, state: State, context: int) -> bool:
    """Return whether a context has no reward yet; then its indices do not depend on its level.

    Once a pooled prior is fitted they do, as that acts like rewards.
    """
    rewards = state.skip_counts[context]
    for action in range(policy.costs.shape[1]):
        rewards += state.counts[context, action]
        if policy.windowed == 1:
            rewards += state.pending[context, action]
    if policy.windowed == 1:
        rewards += state.skip_pending[context]
    return policy.reward != _THOMPSON and rewards == 0.0


@jit_inline
def _same_terms(policy: LoweredPolicy, memo: Memo, one: int, other: int) -> bool:
    """Return whether two contexts without rewards have the same costs and priors."""
    for action in range(policy.costs.shape[1]):
        if policy.costs[one, action] != policy.costs[other, action]:
            return False
        if memo.means[one, action] != memo.means[other, action]:
            return False
    return policy.defaults[one] == policy.defaults[other]


@jit_inline
def _may_merge(policy: LoweredPolicy, total: float) -> bool:
    """Return whether equal hulls may be replaced by one, without changing the last bit of a sum.

    They may if weights are counts, and sums of costs small enough to be exact in any order. Tests
    of exploration read the hull of every context.
    """
    counted = policy.context in (_EMPIRICAL, _TRUNCATED)
    return counted and policy.reward != _EXPLORE and total * policy.dearest <= _EXACT


@jit_inline
def _add_weight(hulls: Hulls, source: int, merged: float) -> None:
    """Add the weight of the contexts that were merged into a source, if any."""
    if merged > 0.0:
        hulls.weights[source] += merged


@jit_inline
def _copy_hull(policy: LoweredPolicy, hulls: Hulls, source: int, target: int) -> None:
    """Copy gains and hull from one context to another."""
    for action in range(policy.costs.shape[1]):
        hulls.gains[target, action] = hulls.gains[source, action]
    hulls.sizes[target], hulls.sources[target] = hulls.sizes[source], source
    for i in range(hulls.sizes[source]):
        hulls.tops[target, i] = hulls.tops[source, i]
        hulls.slopes[target, i] = hulls.slopes[source, i]
        hulls.spans[target, i] = hulls.spans[source, i]


@jit_inline
def _compute_hull(policy: LoweredPolicy, hulls: Hulls, context: int) -> None:
    """Compute the hull of one context from its gains."""
    count = candidates(hulls.gains[context], policy.costs[context], hulls.tops[context])
    hulls.sizes[context] = count
    gain, cost = 0.0, 0
    for i in range(count):
        action = hulls.tops[context, i]
        run = policy.costs[context, action] - cost
        rise = hulls.gains[context, action] - gain
        hulls.slopes[context, i] = rise / run if run > 0 else math.inf
        hulls.spans[context, i] = run
        gain, cost = hulls.gains[context, action], policy.costs[context, action]


@jit_inline
def _keep(policy: LoweredPolicy, hulls: Hulls, left: int) -> None:
    """Record the range of budgets that afford the same actions as ``left`` units."""
    least, beyond = 0, _MOST
    for context in range(policy.costs.shape[0]):
        for action in range(policy.costs.shape[1]):
            cost = policy.costs[context, action]
            if cost <= left:
                least = max(least, cost)
            else:
                beyond = min(beyond, cost)
    hulls.kept[KEPT_LEAST], hulls.kept[KEPT_BELOW] = least, beyond


@jit_inline
def restrict(policy: LoweredPolicy, hulls: Hulls, context: int, available: Mask) -> bool:
    """Recompute the hull of a context if an action is not available; return whether one is not."""
    if hulls.weights[context] <= 0.0:  # its gains were not computed
        return False
    restricted = False
    for action in range(policy.costs.shape[1]):
        if not available[action]:
            hulls.gains[context, action] = -math.inf
            restricted = True
    if restricted:
        hulls.sources[context] = -1  # no longer a copy, nor a source of copies
        _compute_hull(policy, hulls, context)
    return restricted
