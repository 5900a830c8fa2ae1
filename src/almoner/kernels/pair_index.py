"""Index of a context-action pair from the state: its level, its mean, and what is insured.

A pair has two indices. `index_of` is its value to other contexts, which compete with it for the
budget; `own_index_of` is its value when its own context has arrived. They differ for an insured
index only (`almoner.policy.rewards.InsuredWilson`). Both rise with the level of the context.
"""

from __future__ import annotations

import math

import numpy as np

from almoner.jit import jit_inline
from almoner.kernels.draws import THOMPSON_LANE, round_key
from almoner.kernels.elementary import log
from almoner.kernels.indices import (
    LAST_AFFINE,
    clock_level,
    exploration_level,
    index,
    kl_at_most,
    kl_bound,
    score_bound,
    widened_bound,
)
from almoner.kernels.state import (
    AT_MOST,
    EVIDENCE,
    FROZEN,
    LARGEST,
    LEVEL,
    NEW_COUNT,
    SEEN_SHARE,
    STAKE,
    Memo,
    State,
)
from almoner.policy.contexts import (
    EmpiricalContexts,
    KnownContexts,
    NoContexts,
    TruncatedContexts,
)
from almoner.policy.lowering import LoweredPolicy
from almoner.policy.rewards import HorizonUCB, InsuredWilson, Thompson, Wilson
from almoner.types import Floats

__all__ = [
    "evidence_after",
    "expire_insured",
    "have_same_prior",
    "index_of",
    "insured_at_most",
    "level_at",
    "level_of",
    "own_bracket_of",
    "own_index_of",
    "weights_of",
]

_THOMPSON, _WILSON, _HORIZON_UCB = Thompson.code, Wilson.code, HorizonUCB.code
_INSURED = InsuredWilson.code
_EMPIRICAL, _TRUNCATED = EmpiricalContexts.code, TruncatedContexts.code
_KNOWN_CONTEXTS, _NO_CONTEXTS = KnownContexts.code, NoContexts.code


@jit_inline
def weights_of(policy: LoweredPolicy, state: State, t: int) -> tuple[Floats, float, float]:
    """Return the weights of the contexts, their total, and the weight that an arrival adds.

    The total is NaN for an unknown code.
    """
    if policy.context not in (_EMPIRICAL, _TRUNCATED):
        known = policy.context in (_KNOWN_CONTEXTS, _NO_CONTEXTS)
        return policy.context_weights, 1.0 if known else math.nan, 0.0
    frozen = state.progress[FROZEN]
    if frozen > 0:
        return state.context_counts, float(frozen), 0.0
    return state.context_counts, float(t), 1.0


@jit_inline
def level_at(policy: LoweredPolicy, memo: Memo, t: int) -> float:
    """Return the index level that all contexts have in round t."""
    if t < len(memo.levels):
        return memo.levels[t]
    return clock_level(policy.reward, policy.width, t)


@jit_inline
def level_of(policy: LoweredPolicy, common: float, share: float, t: int, left: float) -> float:
    """Return the index level of a context with this share in round t, with ``left`` units left.

    It is ``common`` unless the index depends on the plays left in its context.
    """
    if policy.reward in (_WILSON, _INSURED):
        return max(1.0, min(share * (policy.horizon - t + 1), left / policy.cheapest_paid))
    if policy.reward == _HORIZON_UCB:
        return share * (policy.horizon - t + 1)
    return common


@jit_inline
def index_of(
    policy: LoweredPolicy,
    state: State,
    memo: Memo,
    context: int,
    action: int,
    level: float,
    key: np.uint64,
) -> float:
    """Return the index of one pair at a level, while another context is decided."""
    mean, root = memo.means[context, action], memo.roots[context, action]
    if policy.reward <= LAST_AFFINE:
        return mean + level * root
    if policy.reward == _INSURED:
        share = policy.insurance.others
        return _shared_bound(policy, state, memo, context, action, level, share)
    if policy.reward == _THOMPSON:
        key = round_key(key, THOMPSON_LANE + context * policy.costs.shape[1] + action)
    count = memo.counts[context, action]
    return index(policy.reward, policy.width, level, mean, root, count, key)


@jit_inline
def own_index_of(
    policy: LoweredPolicy,
    state: State,
    memo: Memo,
    context: int,
    action: int,
    level: float,
    key: np.uint64,
) -> float:
    """Return the index of one pair at a level, while its own context is decided."""
    if policy.reward != _INSURED:
        return index_of(policy, state, memo, context, action, level, key)
    share = _own_share(policy, state)
    bound = _shared_bound(policy, state, memo, context, action, level, share)
    margin = state.fit[STAKE] / level
    if state.fit[EVIDENCE] <= 0.0 or margin >= 1.0:
        return bound
    return _insured_bound(policy, state, memo, context, action, bound, margin)


@jit_inline
def own_bracket_of(
    policy: LoweredPolicy, state: State, memo: Memo, context: int, action: int, level: float
) -> tuple[float, float]:
    """Return bounds of `own_index_of` at a level within the bracket of the context."""
    low, high = memo.least[context, action], memo.most[context, action]
    if policy.reward != _INSURED:
        return low, high
    factor = _own_share(policy, state) / policy.insurance.others
    high = widened_bound(memo.means[context, action], high, factor)
    margin = state.fit[STAKE] / level
    if state.fit[EVIDENCE] > 0.0 and margin < 1.0:
        high = max(high, insured_at_most(policy, state, memo, context, action) - margin)
        insured = memo.insured[context, action, LARGEST]
        low = low if math.isnan(insured) else max(low, insured - margin)
    return low, high


@jit_inline
def _own_share(policy: LoweredPolicy, state: State) -> float:
    """Return the share of its level at which a context has its bounds while it is decided."""
    return 1.0 if _borrows(policy, state) else policy.insurance.own


@jit_inline
def _borrows(policy: LoweredPolicy, state: State) -> bool:
    """Return whether a pooled prior is in use: it may have to prove itself first."""
    if policy.pooled == 0:
        return False
    return state.action_fit[NEW_COUNT, 0] > 0.0


@jit_inline
def evidence_after(policy: LoweredPolicy, plays: float) -> float:
    """Return the evidence that is asked for after some plays of a pair, whatever it costs.

    It rises with the plays. Large gaps are settled by a few, and need no more; a pair that takes
    many to settle has as many chances to be ruled out by mistake.
    """
    terms = policy.insurance
    return terms.caution * (terms.start + terms.growth * log(1.0 + plays))


@jit_inline
def _shared_bound(
    policy: LoweredPolicy,
    state: State,
    memo: Memo,
    context: int,
    action: int,
    level: float,
    share: float,
) -> float:
    """Return the Wilson bound of a pair at a share of its exploration level.

    Uncertainty that is due to the action is worth exploring for the plays of all contexts
    (``action_fit``); the rest, for the plays left in this one.
    """
    mean, count = memo.means[context, action], memo.counts[context, action]
    if count == 0.0:
        return 1.0
    if mean >= 1.0:
        return 1.0 + 1e-9 * count  # as in `almoner.kernels.indices.wilson_bound`
    plays = max(1.0, state.fit[SEEN_SHARE] * level)
    g = exploration_level(plays / count)
    if policy.pooled == 1:
        common = state.action_shares[context, action]
        g = (1.0 - common) * g + common * state.action_fit[LEVEL, action]
    return score_bound(mean, share * g / count)


@jit_inline
def _insured_bound(
    policy: LoweredPolicy,
    state: State,
    memo: Memo,
    context: int,
    action: int,
    bound: float,
    margin: float,
) -> float:
    """Return the larger of a bound and the largest mean not yet ruled out, less a margin."""
    at_most = insured_at_most(policy, state, memo, context, action)
    if at_most - margin <= bound:
        return bound
    if math.isnan(memo.insured[context, action, LARGEST]):
        count, total = state.counts[context, action], state.sums[context, action]
        if total < count:
            at_most = kl_bound(total / count, _asked(policy, state, context, action))
        memo.insured[context, action, LARGEST] = at_most
    return max(bound, memo.insured[context, action, LARGEST] - margin)


@jit_inline
def insured_at_most(
    policy: LoweredPolicy, state: State, memo: Memo, context: int, action: int
) -> float:
    """Return a bound of the largest mean not yet ruled out.

    Only a pair's own rewards rule a mean out: the prior cannot lock an error in. Without a failure
    they rule out none, and ties are broken as in `almoner.kernels.indices.wilson_bound`.
    """
    if math.isnan(memo.insured[context, action, AT_MOST]):
        count, total = state.counts[context, action], state.sums[context, action]
        at_most = 1.0 + 1e-9 * count
        if total < count:
            at_most = kl_at_most(total / count, _asked(policy, state, context, action))
        memo.insured[context, action, AT_MOST] = at_most
    return memo.insured[context, action, AT_MOST]


@jit_inline
def _asked(policy: LoweredPolicy, state: State, context: int, action: int) -> float:
    """Return the evidence asked for, per reward of a pair.

    Evidence that is on its way is not bought again: pending rewards lower the evidence asked for.
    """
    count = state.counts[context, action]
    asked = min(state.fit[EVIDENCE], evidence_after(policy, count))
    return asked / (count + max(0.0, state.pending[context, action]))


@jit_inline
def have_same_prior(policy: LoweredPolicy, state: State, memo: Memo, one: int, other: int) -> bool:
    """Return whether two contexts without rewards have the same pooled prior.

    If so, their indices are the same at the same level, while another context is decided.
    """
    if policy.pooled == 0 or policy.reward == _THOMPSON:
        return False
    for action in range(policy.costs.shape[1]):
        if state.counts[one, action] + state.counts[other, action] > 0.0:
            return False
        awaited = state.pending[one, action] + state.pending[other, action]
        if policy.windowed == 1 and awaited > 0.0:
            return False
        if memo.means[one, action] != memo.means[other, action]:
            return False
    return True


@jit_inline
def expire_insured(policy: LoweredPolicy, memo: Memo, context: int, action: int) -> None:
    """Mark the insured mean of a pair as outdated, after a play, a reward or a cancellation."""
    if policy.reward == _INSURED:
        memo.insured[context, action, LARGEST] = math.nan
        memo.insured[context, action, AT_MOST] = math.nan
