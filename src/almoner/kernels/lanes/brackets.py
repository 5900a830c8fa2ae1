"""Brackets of indices of eight replications, valid for an epoch as in `almoner.kernels.brackets`.

They save index evaluations and change no decision, so they need not be those of a single run.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from almoner.jit import jit_inline
from almoner.kernels.brackets import LEVEL_MARGIN
from almoner.kernels.lanes.indices import index_of, level_of
from almoner.kernels.lanes.state import LaneState, aligned, level_at, totals
from almoner.kernels.lanes.vector import any_lane, as_lanes, floats, where
from almoner.kernels.state import LEFT
from almoner.policy.lowering import LoweredPolicy
from almoner.policy.rewards import Wilson
from almoner.types import Floats

__all__ = [
    "Brackets",
    "bound_all_levels",
    "new_brackets",
    "refresh",
    "refresh_all",
    "refresh_lanes",
    "update_pair",
    "vectors_of_brackets",
]

_WILSON = Wilson.code


class Brackets(NamedTuple):
    """Bounds as in `almoner.kernels.state.Memo`; the last axis of each array are the lanes.

    ``least`` and ``most`` (contexts, 1 + actions; skipping has none) bound the indices of pairs,
    ``low`` and ``high`` the values of contexts, ``bottom`` and ``top`` their levels.
    """

    least: Any
    most: Any
    low: Any
    high: Any
    bottom: Any
    top: Any


def new_brackets(policy: LoweredPolicy) -> Brackets:
    """Return brackets of eight replications, to be computed in the first round."""
    contexts, options = policy.costs.shape[0], 1 + policy.costs.shape[1]
    pairs, values = (contexts, options), (contexts,)
    return Brackets(*(aligned(*shape) for shape in (pairs, pairs, values, values, values, values)))


@jit_inline
def vectors_of_brackets(arrays: Brackets) -> Brackets:
    """Return the same arrays with vectors as entries."""
    return Brackets(
        as_lanes(arrays.least, arrays.least),
        as_lanes(arrays.most, arrays.least),
        as_lanes(arrays.low, arrays.low),
        as_lanes(arrays.high, arrays.low),
        as_lanes(arrays.bottom, arrays.low),
        as_lanes(arrays.top, arrays.low),
    )


@jit_inline
def refresh_all(
    policy: LoweredPolicy, state: LaneState, brackets: Brackets, levels: Floats, t: int, last: int
) -> None:
    """Recompute all brackets, from round t to the last one of an epoch."""
    refresh_lanes(policy, state, brackets, levels, t, last, state.progress[LEFT] >= 0.0)


@jit_inline
def refresh_lanes(
    policy: LoweredPolicy,
    state: LaneState,
    brackets: Brackets,
    levels: Floats,
    t: int,
    last: int,
    changed: Any,
) -> None:
    """Recompute all brackets of some lanes."""
    for context in range(policy.costs.shape[0]):
        _bracket_context(policy, state, brackets, levels, context, t, last, changed)


@jit_inline
def bound_all_levels(
    policy: LoweredPolicy,
    state: LaneState,
    brackets: Brackets,
    levels: Floats,
    t: int,
    last: int,
    changed: Any,
) -> None:
    """Bound the levels of all contexts in some lanes, and leave their indices as they are."""
    for context in range(policy.costs.shape[0]):
        _bound_levels(policy, state, brackets, levels, context, t, last, changed)


@jit_inline
def refresh(
    policy: LoweredPolicy,
    state: LaneState,
    brackets: Brackets,
    levels: Floats,
    context: Any,
    level: Any,
    t: int,
    last: int,
) -> None:
    """Recompute the brackets of contexts that arrived more often than they allow for."""
    stale = level > brackets.top[context]
    if any_lane(stale):
        _bracket_context(policy, state, brackets, levels, context, t, last, stale)


@jit_inline
def _bracket_context(
    policy: LoweredPolicy,
    state: LaneState,
    brackets: Brackets,
    levels: Floats,
    context: Any,
    t: int,
    last: int,
    changed: Any,
) -> None:
    """Bound the levels, and by them the indices, of a context, in the lanes that changed."""
    _bound_levels(policy, state, brackets, levels, context, t, last, changed)
    for option in range(1, 1 + policy.costs.shape[1]):
        _bracket_pair(policy, state, brackets, context, option, changed)
    _bracket_value(policy, brackets, context)


@jit_inline
def _bound_levels(
    policy: LoweredPolicy,
    state: LaneState,
    brackets: Brackets,
    levels: Floats,
    context: Any,
    t: int,
    last: int,
    changed: Any,
) -> None:
    """Bound the levels of a context until the end of the epoch, in the lanes that changed."""
    left, weight = state.progress[LEFT], state.weights[context]
    least = left - (last - t) * float(policy.dearest)
    total, arrival = totals(policy, state, t)
    common = level_at(policy, levels, t)
    now = level_of(policy, common, weight / total, t, least)
    risen = level_of(policy, common, (weight + arrival) / total, t, left)
    total, _ = totals(policy, state, last)
    then = level_of(policy, level_at(policy, levels, last), weight / total, last, least)
    top = max(risen * LEVEL_MARGIN, then) if policy.reward >= _WILSON else max(now, then)
    brackets.bottom[context] = where(changed, min(now, then), brackets.bottom[context])
    brackets.top[context] = where(changed, top, brackets.top[context])


@jit_inline
def update_pair(
    policy: LoweredPolicy,
    state: LaneState,
    brackets: Brackets,
    context: Any,
    option: Any,
    served: Any,
) -> None:
    """Recompute the bracket of a pair after its reward.

    A lane that skips has no pair, and writes to the first option, which nobody reads.
    """
    bottom, top = brackets.bottom[context], brackets.top[context]
    least = index_of(policy, state, context, option, bottom, served)
    most = index_of(policy, state, context, option, top, served)
    brackets.least[context, option], brackets.most[context, option] = least, most
    _bracket_value(policy, brackets, context)


@jit_inline
def _bracket_pair(
    policy: LoweredPolicy,
    state: LaneState,
    brackets: Brackets,
    context: Any,
    option: Any,
    changed: Any,
) -> None:
    """Bound the index of one pair at the levels of its context."""
    least = index_of(policy, state, context, option, brackets.bottom[context], changed)
    most = index_of(policy, state, context, option, brackets.top[context], changed)
    brackets.least[context, option] = where(changed, least, brackets.least[context, option])
    brackets.most[context, option] = where(changed, most, brackets.most[context, option])


@jit_inline
def _bracket_value(policy: LoweredPolicy, brackets: Brackets, context: Any) -> None:
    """Bound the value of a context by the bounds of its indices."""
    low, high = floats(-math.inf), floats(-math.inf)
    for option in range(1, 1 + policy.costs.shape[1]):
        low = max(low, brackets.least[context, option])
        high = max(high, brackets.most[context, option])
    brackets.low[context], brackets.high[context] = low, high
