"""Freezing of context shares (EALP2): after a given round, or by the paper's rule, in O(J·K + J²).

The rule is in `almoner.policy.contexts.TruncatedContexts`.
"""

from __future__ import annotations

import math

import numpy as np

from almoner.jit import jit_inline, jit_separate
from almoner.kernels.pair_index import index_of, level_at, level_of
from almoner.kernels.state import LEFT, ROUND, Memo, State
from almoner.lp import TOLERANCE
from almoner.policy.lowering import BY_RULE, LoweredPolicy

__all__ = ["freeze_due"]


@jit_separate
def freeze_due(policy: LoweredPolicy, state: State, memo: Memo) -> bool:
    """Return whether to freeze context shares after this round (see `TruncatedContexts`)."""
    t = state.progress[ROUND]
    if policy.freeze != BY_RULE:
        return t >= policy.freeze
    contexts, log_horizon = policy.costs.shape[0], math.log(policy.horizon)
    ratio = policy.budget / policy.horizon
    widest = 0.5 * min(ratio, max(1.0 - ratio, 0.0))
    if t * widest * widest < 16.0 * contexts**2 * log_horizon**3:
        return False  # too early even for the widest gap possible at this ratio
    gap = 0.5 * _boundary_gap(policy, state, memo, ratio)
    return (
        2.0 * gap * gap * t >= 2.0 * log_horizon
        and t * gap * gap >= 16.0 * contexts**2 * log_horizon**3
    )


@jit_inline
def _boundary_gap(policy: LoweredPolicy, state: State, memo: Memo, ratio: float) -> float:
    """Return the distance of the ratio from the nearest boundary of the empirical shares."""
    t, left = state.progress[ROUND] + 1, float(state.progress[LEFT])
    none = np.uint64(0)
    (contexts, actions), common = policy.costs.shape, level_at(policy, memo, t)
    for context in range(contexts):
        level, value = (
            level_of(policy, common, state.context_counts[context] / t, t, left),
            -math.inf,
        )
        for action in range(actions):
            value = max(value, index_of(policy, state, memo, context, action, level, none))
        memo.values[context] = value
    gap = min(ratio, abs(1.0 - ratio))
    for context in range(contexts):
        boundary = 0.0
        for other in range(contexts):
            if memo.values[other] >= memo.values[context] - TOLERANCE:
                boundary += state.context_counts[other] / (t - 1)
        gap = min(gap, abs(boundary - ratio))
    return gap
