"""Refits of eight replications: one lane after the other, by the kernel of one replication.

Lanes are due in different rounds, so a lane is copied to a `State` of its own, refitted there
(`almoner.kernels.refit`), and copied back.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from almoner.jit import jit_inline
from almoner.kernels import state as scalar
from almoner.kernels.lanes.state import (
    BORROWS,
    EVIDENCE,
    REFIT_AT,
    REWARDS,
    STAKE,
    LaneState,
)
from almoner.kernels.lanes.vector import WIDTH, any_lane, as_floats, lane, where
from almoner.kernels.pair_index import insured_at_most
from almoner.kernels.refit import refit
from almoner.kernels.state import (
    FROZEN,
    LEFT,
    LEVEL,
    NEW_COUNT,
    ROUND,
    Memo,
    State,
    new_memo,
    new_state,
)
from almoner.policy.lowering import LoweredPolicy
from almoner.policy.rewards import InsuredWilson
from almoner.types import Floats

__all__ = ["Desk", "new_desk", "refit_lanes", "reset_desk"]

_INSURED = InsuredWilson.code


class Desk(NamedTuple):
    """State and memo of the lane that is refitted, and the fits that the next refits go on from.

    ``effects`` (lanes, contexts), ``action_fits`` (lanes, 5, actions) and ``fits`` (lanes, 10) are
    those of `State`.
    """

    state: State
    memo: Memo
    effects: Floats
    action_fits: Floats
    fits: Floats


def new_desk(policy: LoweredPolicy, levels: Floats) -> Desk | None:
    """Return the desk of eight replications; None, where nothing is refitted, compiles to none."""
    if not policy.pooled and policy.reward != _INSURED:
        return None
    state = new_state(policy)
    copies = (state.context_effects, state.action_fit, state.fit)
    fits = (np.repeat(array[None], WIDTH, axis=0) for array in copies)
    return Desk(state, new_memo(policy, state, levels), *fits)


@jit_inline
def reset_desk(desk: Desk) -> None:
    """Forget the fits of all lanes."""
    desk.effects[:] = 0.0
    desk.action_fits[:] = 0.0
    desk.fits[:] = 0.0


@jit_inline
def refit_lanes(
    policy: LoweredPolicy, arrays: LaneState, state: LaneState, desk: Desk, option: Any, t: int
) -> Any:
    """Count the rewards of round t, and refit the lanes in which that is due; return which."""
    served = option != 0
    state.fit[REWARDS] += where(served, 1.0, 0.0)
    due = served & (state.fit[REWARDS] >= state.fit[REFIT_AT])
    if any_lane(due):
        flags = as_floats(due)
        for i in range(WIDTH):
            if lane(flags, i) > 0.0:
                _refit_lane(policy, arrays, desk, i, t)
    return due


@jit_inline
def _refit_lane(policy: LoweredPolicy, arrays: LaneState, desk: Desk, i: int, t: int) -> None:
    """Refit one lane after round t."""
    state, memo = _state_of(desk, i), desk.memo
    for context in range(policy.costs.shape[0]):
        state.context_counts[context] = arrays.weights[context, i]
        state.skip_counts[context] = arrays.taken[context, 0, i]
        state.skip_sums[context] = arrays.sums[context, 0, i]
        for action in range(policy.costs.shape[1]):
            state.counts[context, action] = arrays.taken[context, action + 1, i]
            state.sums[context, action] = arrays.sums[context, action + 1, i]
    state.progress[ROUND], state.progress[LEFT] = t, int(arrays.progress[LEFT, i])
    state.progress[FROZEN] = int(arrays.progress[FROZEN, i])
    state.fit[scalar.REWARDS] = arrays.fit[REWARDS, i]
    refit(policy, state, memo)
    arrays.fit[REFIT_AT, i] = state.fit[scalar.REFIT_AT]
    arrays.fit[STAKE, i] = state.fit[scalar.STAKE]
    arrays.fit[EVIDENCE, i] = state.fit[scalar.EVIDENCE]
    if policy.pooled == 1:
        _copy_prior(policy, arrays, state, memo, i)
    if policy.reward == _INSURED:
        for context in range(policy.costs.shape[0]):
            for action in range(policy.costs.shape[1]):
                at_most = insured_at_most(policy, state, memo, context, action)
                arrays.at_most[context, action + 1, i] = at_most
                arrays.largest[context, action + 1, i] = math.nan


@jit_inline
def _state_of(desk: Desk, i: int) -> State:
    """Return the state with the fits of one lane."""
    state = desk.state
    return State(
        state.counts,
        state.sums,
        state.pending,
        state.context_counts,
        state.skip_counts,
        state.skip_sums,
        state.skip_pending,
        state.progress,
        state.prior_means,
        state.prior_counts,
        state.action_shares,
        desk.effects[i],
        desk.action_fits[i],
        desk.fits[i],
    )


@jit_inline
def _copy_prior(policy: LoweredPolicy, arrays: LaneState, state: State, memo: Memo, i: int) -> None:
    """Copy the pooled prior, and the means that follow from it, back to a lane."""
    arrays.fit[BORROWS, i] = state.action_fit[NEW_COUNT, 0]
    for action in range(policy.costs.shape[1]):
        arrays.action_levels[action + 1, i] = state.action_fit[LEVEL, action]
    for context in range(policy.costs.shape[0]):
        for action in range(policy.costs.shape[1]):
            prior = state.prior_counts[context, action]
            arrays.prior_counts[context, action + 1, i] = prior
            arrays.prior_sums[context, action + 1, i] = prior * state.prior_means[context, action]
            arrays.action_shares[context, action + 1, i] = state.action_shares[context, action]
            arrays.means[context, action + 1, i] = memo.means[context, action]
            arrays.counts[context, action + 1, i] = memo.counts[context, action]
            arrays.roots[context, action + 1, i] = memo.roots[context, action]
