"""Data of a refit in lanes: one of eight replications, with vectors of its pairs."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from almoner.jit import jit_inline
from almoner.kernels.lanes.state import aligned
from almoner.kernels.lanes.vector import WIDTH, as_lanes
from almoner.kernels.pairs import Pairs
from almoner.kernels.state import WORKING, Memo, State, new_memo, new_state
from almoner.policy.lowering import LoweredPolicy
from almoner.policy.rewards import InsuredWilson
from almoner.types import Floats

__all__ = [
    "RefitBuffers",
    "new_refit_buffers",
    "reset_refit_buffers",
    "state_of",
    "vectors_of_pairs",
]

_INSURED = InsuredWilson.code


class RefitBuffers(NamedTuple):
    """State and memo of the lane that is refitted, and the fits that the next refits go on from.

    ``pairs`` are arrays of this state and memo once more, eight pairs to a vector, with zeros after
    the last pair, and ``at_most`` is one beside them: a bound of the largest mean that is insured.
    ``bounds`` has the numbers in it pair by pair. ``effects`` (lanes, contexts), ``action_fits``
    (lanes, 5, actions) and ``fits`` (lanes, 10) are those of `State`.
    """

    state: State
    memo: Memo
    pairs: Pairs
    at_most: Any
    bounds: Floats
    effects: Floats
    action_fits: Floats
    fits: Floats


def new_refit_buffers(policy: LoweredPolicy, levels: Floats) -> RefitBuffers | None:
    """Return the buffers of eight replications; None, which compiles to nothing, without refits."""
    if not policy.pooled and policy.reward != _INSURED:
        return None
    rows = (*((),) * (len(Pairs._fields) - 1), (WORKING,))
    arrays = Pairs(*(_aligned_pairs(policy, *row) for row in rows))
    numbers, at_most = Pairs(*(_by_pair(policy, array) for array in arrays)), _aligned_pairs(policy)
    numbers.untried[:] = policy.prior
    state = new_state(policy)
    memo = new_memo(policy, state, levels)._replace(
        means=numbers.means, counts=numbers.all_counts, roots=numbers.roots, working=numbers.working
    )
    state = state._replace(**{name: getattr(numbers, name) for name in Pairs._fields[:5]})
    copies = (state.context_effects, state.action_fit, state.fit)
    fits = (np.repeat(array[None], WIDTH, axis=0) for array in copies)
    return RefitBuffers(state, memo, arrays, at_most, _by_pair(policy, at_most), *fits)


def _aligned_pairs(policy: LoweredPolicy, *rows: int) -> np.ndarray[Any, Any]:
    """Return zeros for all pairs of a replication, eight of them to a vector."""
    return aligned(1, *rows, -(-policy.costs.size // WIDTH))


def _by_pair(policy: LoweredPolicy, array: np.ndarray[Any, Any]) -> Floats:
    """Return a view of the numbers in such an array by context, row if there are any, action."""
    rows = array.shape[1:-2]
    numbers = array.reshape(*rows, -1)[..., : policy.costs.size]
    return np.moveaxis(numbers.reshape(*rows, *policy.costs.shape), -2, 0)


@jit_inline
def vectors_of_pairs(arrays: Pairs) -> Pairs:
    """Return the same arrays with vectors as entries."""
    return Pairs(
        as_lanes(arrays.counts, arrays.counts),
        as_lanes(arrays.sums, arrays.counts),
        as_lanes(arrays.prior_means, arrays.counts),
        as_lanes(arrays.prior_counts, arrays.counts),
        as_lanes(arrays.action_shares, arrays.counts),
        as_lanes(arrays.means, arrays.counts),
        as_lanes(arrays.all_counts, arrays.counts),
        as_lanes(arrays.roots, arrays.counts),
        as_lanes(arrays.untried, arrays.counts),
        as_lanes(arrays.working, arrays.working),
    )


@jit_inline
def reset_refit_buffers(buffers: RefitBuffers) -> None:
    """Forget the fits of all lanes."""
    buffers.effects[:] = 0.0
    buffers.action_fits[:] = 0.0
    buffers.fits[:] = 0.0


@jit_inline
def state_of(buffers: RefitBuffers, i: int) -> State:
    """Return the state with the fits of one lane."""
    state = buffers.state
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
        buffers.effects[i],
        buffers.action_fits[i],
        buffers.fits[i],
    )
