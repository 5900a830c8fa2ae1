"""The steps of a run: `decide`, `take` and `learn`, called by the simulator and the live agent.

`decide` changes nothing but caches; `take` records the round, the arrival and the cost; `learn`
records a reward, which may come much later or never. For equal costs a decision compares J contexts
and computes few indices, none where brackets decide (`almoner.kernels.ranking`); otherwise it
solves the LP with a price (`almoner.kernels.priced`).
"""

from __future__ import annotations

import math

import numpy as np

from almoner.jit import jit_callable, jit_inline, jit_separate
from almoner.kernels.brackets import refresh, update_after_arrival, update_after_reward
from almoner.kernels.draws import BINARISE_LANE, SERVE_LANE, uniform
from almoner.kernels.explore_first import exploration_over, least_tried
from almoner.kernels.freezing import freeze_due
from almoner.kernels.indices import LAST_AFFINE
from almoner.kernels.pair_index import expire_insured, level_at, level_of, weights_of
from almoner.kernels.posterior import draws_above
from almoner.kernels.priced import SKIP, allocate
from almoner.kernels.ranking import (
    bound_own_value,
    choose,
    is_between,
    own_value_of,
    rank,
    weight_ahead,
)
from almoner.kernels.refit import refit, refit_due, update_mean
from almoner.kernels.state import EXPLORED, FROZEN, LEFT, ROUND, VALID_UNTIL, Hulls, Memo, State
from almoner.lp import TOLERANCE
from almoner.policy.allocation import (
    AdaptiveLP,
    EagerRounding,
    FixedLP,
    Procrastinate,
    RoundedLP,
    SkipAlways,
)
from almoner.policy.contexts import EmpiricalContexts, TruncatedContexts
from almoner.policy.lowering import LEARNED_DEFAULTS, LoweredPolicy
from almoner.policy.rewards import ExploreFirst, KnownRewards, Thompson
from almoner.types import Floats, Mask

__all__ = ["SKIP", "count_in_window", "decide", "learn", "ratio_of", "serve_share", "take"]

REWARDS_PER_PENDING = 4.0
"""Rewards of a pair that must have come for each pending one, before it is served eagerly."""

SUMMATION = 1e-9
"""Share of the weight of all contexts by which sums of weights may differ by rounding, at most."""

_ADAPTIVE, _FIXED, _PROCRASTINATE = AdaptiveLP.code, FixedLP.code, Procrastinate.code
_ROUNDED, _EAGER, _SKIP = RoundedLP.code, EagerRounding.code, SkipAlways.code
_EMPIRICAL, _TRUNCATED = EmpiricalContexts.code, TruncatedContexts.code
_KNOWN, _THOMPSON, _EXPLORE = KnownRewards.code, Thompson.code, ExploreFirst.code


@jit_callable
def decide(
    policy: LoweredPolicy,
    state: State,
    memo: Memo,
    hulls: Hulls | None,
    context: int,
    key: np.uint64,
    available: Mask | None = None,
    spread: Floats | None = None,
) -> tuple[int, float]:
    """Return the action for the context that has arrived, or SKIP, and its probability.

    ``available`` restricts the actions of this arrival; other arrivals are taken to have all.
    ``spread``, if given, receives the probability of every action that may be drawn, given the
    indices; the rest is that of skipping.
    """
    t, left = state.progress[ROUND] + 1, state.progress[LEFT]
    remaining = policy.horizon - t + 1
    if remaining < 1 or left < policy.cheapest:
        return SKIP, 1.0
    if hulls is not None:
        if policy.reward == _EXPLORE and state.progress[EXPLORED] == 0:
            return least_tried(policy, state, context, key, available, spread)
        return allocate(policy, state, memo, hulls, context, key, available, spread)
    return serve_or_skip(policy, state, memo, context, key, available, spread)


@jit_inline
def serve_or_skip(
    policy: LoweredPolicy,
    state: State,
    memo: Memo,
    context: int,
    key: np.uint64,
    available: Mask | None,
    spread: Floats | None,
) -> tuple[int, float]:
    """Decide at equal costs: take the best action of the context, or skip."""
    t, left = state.progress[ROUND] + 1, state.progress[LEFT]
    weights, total, arrival = weights_of(policy, state, t)
    own = weights[context] + arrival
    common = level_at(policy, memo, t)
    level = level_of(policy, common, own / total, t, float(left))
    weight = (own, total, arrival)
    refresh(policy, state, memo, context, level)
    floor = -math.inf
    if spread is None and _has_brackets(policy) and _allows_all(available):
        floor, ceiling, action, candidates = bound_own_value(policy, state, memo, context, level)
        share = _clear_share(policy, state, memo, context, weight, floor, ceiling, action)
        if share == 0.0:
            return SKIP, 1.0
        if share == 1.0 and candidates == 1 and floor > 0.0:
            return action, 1.0
    value, action, ties = choose(policy, state, memo, context, level, floor, key, available)
    if value <= 0.0:  # an action without a gain is not worth its cost
        return SKIP, 1.0
    if spread is not None:
        for tied in range(policy.costs.shape[1]):
            if memo.row[tied] >= value - TOLERANCE:
                share = _share(policy, state, memo, context, key, available, weight, value, tied)
                spread[tied] = share / ties
    share = _share(policy, state, memo, context, key, available, weight, value, action)
    if uniform(key, SERVE_LANE) < share:
        return action, share / ties
    return SKIP, 1.0 - share


@jit_inline
def _allows_all(available: Mask | None) -> bool:
    """Return whether an arrival may get every action."""
    if available is None:
        return True
    all_allowed = True
    for action in range(len(available)):
        all_allowed &= available[action]
    return all_allowed


@jit_inline
def _has_brackets(policy: LoweredPolicy) -> bool:
    """Return whether brackets bound indices: others are computed as fast, or drawn."""
    return policy.reward > LAST_AFFINE and policy.reward != _THOMPSON


@jit_inline
def _share(
    policy: LoweredPolicy,
    state: State,
    memo: Memo,
    context: int,
    key: np.uint64,
    available: Mask | None,
    weight: tuple[float, float, float],
    value: float,
    action: int,
) -> float:
    """Return the probability of serving the context that has arrived, if ``action`` is its best.

    ``weight`` is that of the context, of all contexts, and of an arrival; ``value`` the index of
    the action.
    """
    t, left = state.progress[ROUND] + 1, state.progress[LEFT]
    remaining = policy.horizon - t + 1
    own, total, arrival = weight
    common = level_at(policy, memo, t)
    level = level_of(policy, common, own / total, t, float(left))
    if _has_brackets(policy) and _allows_all(available):
        share = _clear_share(policy, state, memo, context, weight, value, value, action)
        if not math.isnan(share):
            return share
    budgeted, tied = ratio_of(policy, left, remaining) * total, 0.0
    if policy.reward == _THOMPSON:
        limit = math.nan
        if policy.rule == _ROUNDED and available is None:  # it asks only for enough room
            limit = math.inf if policy.held * left >= remaining else budgeted - 0.5 * own
        ahead = draws_above(policy, state, memo, context, value, limit, key)
    else:
        ahead, tied = rank(policy, state, memo, context, value, common, key)
    restricted = not _allows_all(available)
    if restricted and _ranks_lower(policy, state, memo, context, level, key, value):
        counted = policy.reward != _THOMPSON and memo.low[context] > value + TOLERANCE
        ahead += arrival if counted else own
        own = 0.0
    room = budgeted - ahead
    share = _pair_share(policy, state, context, action, room, own, ahead, tied)
    if policy.rule == _EAGER and share == 0.0 and room > TOLERANCE * total:
        floor = _best_mean(policy, state, memo, context, available)
        share = 1.0 if is_between(policy, state, memo, context, floor, value, common, key) else 0.0
    return share


@jit_inline
def _clear_share(
    policy: LoweredPolicy,
    state: State,
    memo: Memo,
    context: int,
    weight: tuple[float, float, float],
    low: float,
    high: float,
    action: int,
) -> float:
    """Return the probability of serving a context where brackets alone say that it is 0 or 1.

    Otherwise it is NaN. ``low`` and ``high`` bound the index of ``action``, its best. The
    probability falls with the weight ranked ahead: it is clear if it is the same with the least
    weight that may be ahead as with the most.
    """
    t, left = state.progress[ROUND] + 1, state.progress[LEFT]
    own, total, _ = weight
    least, most = weight_ahead(policy, state, memo, context, low, high)
    room = ratio_of(policy, left, policy.horizon - t + 1) * total
    more, less = room - least + SUMMATION * total, room - most - SUMMATION * total
    share = _pair_share(policy, state, context, action, more, own, least, 0.0)
    if policy.rule == _EAGER and share == 0.0 and more > 0.0:
        return math.nan  # contexts that rank lower count, too
    lowest = _pair_share(policy, state, context, action, less, own, most, 0.0)
    return share if share == lowest and share in (0.0, 1.0) else math.nan


@jit_inline
def _pair_share(
    policy: LoweredPolicy,
    state: State,
    context: int,
    action: int,
    room: float,
    own: float,
    ahead: float,
    tied: float,
) -> float:
    """Return `serve_share` for a pair, whose rewards may be pending."""
    if policy.rule == _EAGER and _awaits_rewards(state, context, action):
        return _adaptive_share(room, own, tied)
    t, left = state.progress[ROUND] + 1, state.progress[LEFT]
    plentiful = policy.held * left >= policy.horizon - t + 1
    return serve_share(policy, plentiful, room, own, ahead, tied)


@jit_inline
def ratio_of(policy: LoweredPolicy, left: int, remaining: int) -> float:
    """Return the budget per round of the LP: b/τ, or B/T for a fixed LP; less if held back."""
    if policy.rule == _FIXED:
        return policy.held * (policy.budget / policy.horizon)
    return policy.held * (left / remaining)


@jit_inline
def serve_share(
    policy: LoweredPolicy, plentiful: bool, room: float, own: float, ahead: float, tied: float
) -> float:
    """Return the probability of serving a context, with a branch for each allocation rule.

    ``own`` is its weight, ``ahead`` and ``tied`` are the weights of others that rank above it and
    level with it; ``room`` is the weight that the budget serves beyond those ahead; ``plentiful``
    says that the budget suffices for every round left. Tied contexts are served at a common rate,
    so that their order does not matter; a random order would favour the rarer ones. NaN for an
    unknown code.
    """
    if policy.rule == _SKIP:
        return 0.0
    if plentiful and (policy.rule != _FIXED or policy.override == 1):
        return 1.0
    if policy.rule in (_ADAPTIVE, _FIXED):
        return _adaptive_share(room, own, tied)
    if policy.rule == _PROCRASTINATE:
        return 0.0 if ahead > 0.0 else own / (own + tied)
    if policy.rule == _ROUNDED:
        if room <= 0.0 or room < 0.5 * own:  # exact: a tolerance would move the tie at ½
            return 0.0
        return 1.0 if room - tied >= 0.5 * own else room / (own + tied)
    if policy.rule == _EAGER:
        return 1.0 if ahead <= 0.0 or (room > 0.0 and room >= 0.5 * own) else 0.0
    return math.nan


@jit_callable
def _adaptive_share(room: float, own: float, tied: float) -> float:
    """Return the share of a context, and of those tied with it, that the budget lasts for."""
    if room <= 0.0:
        return 0.0
    return 1.0 if room >= own + tied else room / (own + tied)


@jit_inline
def _awaits_rewards(state: State, context: int, action: int) -> bool:
    """Return whether too many rewards of a pair are pending for it to be served eagerly.

    Eager rounding pays off by learning soon; without rewards it only spends.
    """
    return REWARDS_PER_PENDING * state.pending[context, action] > state.counts[context, action]


@jit_inline
def _ranks_lower(
    policy: LoweredPolicy,
    state: State,
    memo: Memo,
    context: int,
    level: float,
    key: np.uint64,
    value: float,
) -> bool:
    """Return whether an arrival with restricted actions ranks below others of its context."""
    return own_value_of(policy, state, memo, context, level, key) > value + TOLERANCE


@jit_inline
def _best_mean(
    policy: LoweredPolicy, state: State, memo: Memo, context: int, available: Mask | None
) -> float:
    """Return the best mean among the tried actions of a context, 0 if none was tried."""
    best = 0.0
    for action in range(policy.costs.shape[1]):
        if available is not None and not available[action]:
            continue
        if policy.reward == _KNOWN or state.counts[context, action] > 0.0:
            best = max(best, memo.means[context, action])
    return best


@jit_callable
def take(
    policy: LoweredPolicy, state: State, memo: Memo, hulls: Hulls | None, context: int, action: int
) -> None:
    """Record a decision: the round, the arrival and the cost.

    In a run the budget changes only here; `almoner.kernels.live.replay` sets it after live bills.
    """
    state.progress[ROUND] += 1
    if action != SKIP:
        state.progress[LEFT] -= policy.costs[context, action]
        state.pending[context, action] += 1.0
        expire_insured(policy, memo, context, action)
        if policy.windowed == 1:
            count_in_window(policy, state, memo, context, action)
    elif policy.windowed == 1 and policy.default_mode == LEARNED_DEFAULTS:
        state.skip_pending[context] += 1.0
    if hulls is not None:
        exploring = policy.reward == _EXPLORE and state.progress[EXPLORED] == 0
        if exploring and exploration_over(policy, state, memo, hulls):
            state.progress[EXPLORED] = state.progress[ROUND]
    if policy.context not in (_EMPIRICAL, _TRUNCATED) or state.progress[FROZEN] > 0:
        return
    state.context_counts[context] += 1.0
    if hulls is None:
        update_after_arrival(policy, state, memo, context)
    if policy.context == _TRUNCATED and freeze_due(policy, state, memo):
        state.progress[FROZEN] = state.progress[ROUND]
        memo.validity[VALID_UNTIL] = 0


@jit_separate
def count_in_window(
    policy: LoweredPolicy, state: State, memo: Memo, context: int, action: int
) -> None:
    """Recompute mean and count of a pair whose decisions count before their rewards come."""
    if policy.reward != _KNOWN:
        update_mean(policy, state, memo, context, action)
        update_after_reward(policy, state, memo, context, action)


@jit_callable
def learn(
    policy: LoweredPolicy,
    state: State,
    memo: Memo,
    context: int,
    action: int,
    t: int,
    reward: float,
    key: np.uint64,
) -> None:
    """Record the reward of an action taken in round t, counted from 0, and decided with ``key``.

    Where rewards come within a window, a reward adds to the sum only: the decision counts by its
    age (`almoner.kernels.window`).
    """
    counted = 1.0 - policy.windowed
    if action != SKIP:
        state.pending[context, action] -= counted
        expire_insured(policy, memo, context, action)
    if policy.reward == _KNOWN or _is_closed(policy, state, t):
        return
    if action == SKIP:
        if policy.default_mode == LEARNED_DEFAULTS:
            state.skip_counts[context] += counted
            state.skip_sums[context] += reward
        return
    if policy.reward == _THOMPSON:  # a Beta posterior counts successes: binarise the reward
        reward = 1.0 if uniform(key, BINARISE_LANE) < reward else 0.0
    state.counts[context, action] += counted
    state.sums[context, action] += reward
    update_mean(policy, state, memo, context, action)
    update_after_reward(policy, state, memo, context, action)
    if policy.windowed == 0 and refit_due(policy, state):
        refit(policy, state, memo)


@jit_inline
def _is_closed(policy: LoweredPolicy, state: State, t: int) -> bool:
    """Return whether rewards of round t are not learned: exploration had ended, without update."""
    return policy.exploration.update == 0 and 0 < state.progress[EXPLORED] <= t
