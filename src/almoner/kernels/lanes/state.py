"""Data of eight replications: `LaneState` is to them what `State` and `Memo` are to one.

Every array of lanes is made here, as vectors index them without a check.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from almoner.jit import jit_inline
from almoner.kernels.indices import clock_level
from almoner.kernels.lanes.vector import WIDTH, as_lanes, floats, where
from almoner.kernels.state import EXPLORED, FROZEN, LEFT
from almoner.policy.contexts import EmpiricalContexts, TruncatedContexts
from almoner.policy.lowering import LoweredPolicy
from almoner.policy.rewards import InsuredWilson
from almoner.types import Floats

__all__ = [
    "BORROWS",
    "DRAWN",
    "EVIDENCE",
    "EXPECTED",
    "LOSS",
    "REFIT_AT",
    "REWARDS",
    "STAKE",
    "WRONG",
    "LaneState",
    "aligned",
    "counts_contexts",
    "new_lanes",
    "reset",
    "vectors_of",
]

FIGURES = 4
EXPECTED, DRAWN, LOSS, WRONG = range(FIGURES)
"""Indices in ``LaneState.figures``: mean reward of the actions taken, reward drawn, loss, and its
part by wrong actions."""

FITTED = 5
REWARDS, REFIT_AT, STAKE, EVIDENCE, BORROWS = range(FITTED)
"""Indices in ``LaneState.fit``: as in ``State.fit``, and whether a pooled prior is in use."""

_EMPIRICAL, _TRUNCATED = EmpiricalContexts.code, TruncatedContexts.code
_INSURED = InsuredWilson.code


class LaneState(NamedTuple):
    """Statistics of eight replications; the last axis of each array are the lanes.

    ``taken`` and ``sums`` (contexts, 1 + actions, skip first) are how often each option was taken,
    and the sum of its rewards; ``means``, ``counts`` and ``roots`` are ū, C and 1/√C, rewards of a
    pooled prior included. A lane that skips writes to the first option, which spares a mask.
    ``weights`` are the known weights of the contexts, or
    their counts, and ``progress`` is that of `almoner.kernels.state.State`. ``streams`` are the
    keys of the random streams, and ``figures`` sums over the rounds so far. ``row`` is scratch
    space for a number per action, ``values`` for one per context.

    The others are written by `almoner.kernels.lanes.refits`, and are empty if nothing is refitted:
    count and sum of the prior of each pair, the share of its variance that is due to its action,
    the level of each action, the largest mean that is insured and a bound of it (as ``insured`` in
    `almoner.kernels.state.Memo`), and numbers of the fit.
    """

    taken: Any
    sums: Any
    means: Any
    roots: Any
    weights: Any
    progress: Any
    streams: Any
    figures: Any
    row: Any
    values: Any
    counts: Any
    prior_counts: Any
    prior_sums: Any
    action_shares: Any
    action_levels: Any
    largest: Any
    at_most: Any
    fit: Any


def new_lanes(policy: LoweredPolicy) -> LaneState:
    """Return arrays for eight replications, to be filled by `reset`."""
    contexts, options = policy.costs.shape[0], 1 + policy.costs.shape[1]
    pooled, insured = contexts * policy.pooled, contexts * (policy.reward == _INSURED)
    taken = aligned(contexts, options)
    return LaneState(
        taken=taken,
        sums=aligned(contexts, options),
        means=aligned(contexts, options),
        roots=aligned(contexts, options),
        weights=aligned(contexts),
        progress=aligned(EXPLORED + 1),
        streams=aligned(3).view(np.uint64),
        figures=aligned(FIGURES),
        row=aligned(options),
        values=aligned(contexts),
        counts=aligned(contexts, options) if policy.pooled else taken,
        prior_counts=aligned(pooled, options),
        prior_sums=aligned(pooled, options),
        action_shares=aligned(pooled, options),
        action_levels=aligned(options),
        largest=aligned(insured, options),
        at_most=aligned(insured, options),
        fit=aligned(FITTED),
    )


def aligned(*shape: int) -> np.ndarray[Any, Any]:
    """Return an array of zeros with a last axis of lanes, aligned as registers are."""
    register = 8 * WIDTH
    size = register * int(np.prod(shape))
    memory = np.zeros(size + register, np.uint8)
    start = -memory.ctypes.data % register
    return memory[start : start + size].view(np.float64).reshape(*shape, WIDTH)


@jit_inline
def vectors_of(arrays: LaneState) -> LaneState:
    """Return the same arrays with vectors as entries."""
    return LaneState(
        as_lanes(arrays.taken, arrays.taken),
        as_lanes(arrays.sums, arrays.taken),
        as_lanes(arrays.means, arrays.taken),
        as_lanes(arrays.roots, arrays.taken),
        as_lanes(arrays.weights, arrays.weights),
        as_lanes(arrays.progress, arrays.progress),
        as_lanes(arrays.streams, arrays.streams),
        as_lanes(arrays.figures, arrays.figures),
        as_lanes(arrays.row, arrays.row),
        as_lanes(arrays.values, arrays.values),
        as_lanes(arrays.counts, arrays.taken),
        as_lanes(arrays.prior_counts, arrays.taken),
        as_lanes(arrays.prior_sums, arrays.taken),
        as_lanes(arrays.action_shares, arrays.taken),
        as_lanes(arrays.action_levels, arrays.row),
        as_lanes(arrays.largest, arrays.taken),
        as_lanes(arrays.at_most, arrays.taken),
        as_lanes(arrays.fit, arrays.fit),
    )


@jit_inline
def counts_contexts(policy: LoweredPolicy) -> bool:
    """Return whether the weights of contexts are counts, instead of known."""
    return policy.context in (_EMPIRICAL, _TRUNCATED)


@jit_inline
def reset(policy: LoweredPolicy, state: LaneState) -> None:
    """Reset all lanes to before the first round."""
    for context in range(policy.costs.shape[0]):
        known = 0.0 if counts_contexts(policy) else policy.context_weights[context]
        state.weights[context] = floats(known)
        for option in range(1 + policy.costs.shape[1]):
            state.taken[context, option] = floats(0.0)
            state.sums[context, option] = floats(0.0)
            prior = policy.prior[context, option - 1] if option > 0 else 1.0
            state.means[context, option] = floats(prior)
            state.roots[context, option] = floats(0.0)
            if policy.pooled == 1:
                state.counts[context, option] = floats(0.0)
                state.prior_counts[context, option] = floats(0.0)
                state.prior_sums[context, option] = floats(0.0)
                state.action_shares[context, option] = floats(0.0)
            if policy.reward == _INSURED:
                state.largest[context, option] = floats(math.nan)
                state.at_most[context, option] = floats(1.0)
    for number in range(FITTED):
        state.fit[number] = floats(0.0)
    for figure in range(FIGURES):
        state.figures[figure] = floats(0.0)
    state.progress[LEFT] = floats(policy.budget)
    state.progress[FROZEN], state.progress[EXPLORED] = floats(0.0), floats(0.0)


@jit_inline
def totals(policy: LoweredPolicy, state: LaneState, t: int) -> tuple[Any, Any]:
    """Return the total weight of the contexts, and the weight that an arrival adds."""
    frozen = state.progress[FROZEN]
    if not counts_contexts(policy):
        return floats(1.0), floats(0.0)
    return where(frozen > 0.0, frozen, float(t)), where(frozen > 0.0, 0.0, 1.0)


@jit_inline
def level_at(policy: LoweredPolicy, levels: Floats, t: int) -> float:
    """Return the index level that all contexts have in round t."""
    if t < len(levels):
        return levels[t]
    return clock_level(policy.reward, policy.width, t)
