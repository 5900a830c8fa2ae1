"""Arrays of all pairs for a refit: an entry is the number of one pair, or a vector of eight.

A refit computes the same formulas for every pair. Simulations that play eight replications at once
(`almoner.kernels.lanes.refits`) refit one of them with vectors of its pairs.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from almoner.jit import jit_inline
from almoner.kernels.state import Memo, State
from almoner.policy.lowering import LoweredPolicy

__all__ = ["Pairs", "pairs_of"]


class Pairs(NamedTuple):
    """The arrays of `State` and `Memo` that have a number for each pair, with two indices.

    ``all_counts`` are those of the memo, which include the rewards of the prior; ``untried`` is the
    value of a pair before its first reward. ``working`` has a third index between the others.
    """

    counts: Any
    sums: Any
    prior_means: Any
    prior_counts: Any
    action_shares: Any
    means: Any
    all_counts: Any
    roots: Any
    untried: Any
    working: Any


@jit_inline
def pairs_of(policy: LoweredPolicy, state: State, memo: Memo) -> Pairs:
    """Return the arrays of one replication, pair by pair."""
    return Pairs(
        state.counts,
        state.sums,
        state.prior_means,
        state.prior_counts,
        state.action_shares,
        memo.means,
        memo.counts,
        memo.roots,
        policy.prior,
        memo.working,
    )
