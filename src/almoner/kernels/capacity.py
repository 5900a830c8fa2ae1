"""Growable arrays for campaigns that add contexts: capacity doubles, kernels get views.

Adding a context takes amortised O(K) for K actions, instead of a copy of all statistics. Kernels
get views of the rows in use; a view has the memory layout of its array, so the same compiled code
takes both.
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypeVar

import numpy as np

from almoner.kernels.state import (
    NEW_COUNT,
    NEW_MEAN,
    NEW_SHARE,
    OVERALL_MEAN,
    Hulls,
    Memo,
    State,
    new_hulls,
    new_memo,
    new_state,
)
from almoner.policy.lowering import LoweredPolicy
from almoner.policy.rewards import KnownRewards

Record = TypeVar("Record", LoweredPolicy, State, Memo, Hulls)

__all__ = ["HAS_ROWS", "Buffers", "doubled", "first_contexts", "new_buffers", "set_new_priors"]

_BY_CONTEXT: dict[Any, set[str]] = {
    LoweredPolicy: {"context_weights", "prior", "costs", "defaults"},
    State: {*State._fields} - {"progress", "action_fit", "fit"},
    Memo: {*Memo._fields} - {"levels", "row", "validity", "columns"},
    Hulls: {*Hulls._fields} - {"price", "ranked", "filled", "kept"},
}
HAS_ROWS: dict[Any, list[bool]] = {
    record: [name in names for name in record._fields] for record, names in _BY_CONTEXT.items()
}
"""Whether each field of a record is an array with a row for each context."""


class Buffers(NamedTuple):
    """Arguments of the kernels: the lowered policy, the state, and the caches derived from them."""

    policy: LoweredPolicy
    state: State
    memo: Memo
    hulls: Hulls | None


def new_buffers(policy: LoweredPolicy) -> Buffers:
    """Return the buffers before the first round."""
    state = new_state(policy)
    return Buffers(policy, state, new_memo(policy, state), new_hulls(policy))


def doubled(buffers: Buffers) -> Buffers:
    """Return copies for twice as many contexts; new ones have the costs of the last one.

    Brackets are not copied: the next decision computes them.
    """
    rows = np.arange(2 * len(buffers.policy.costs)).clip(max=len(buffers.policy.costs) - 1)
    policy = _rows_of(buffers.policy, rows)
    state = new_state(policy)
    for before, after in zip(buffers.state, state, strict=True):
        after[: len(before)] = before
    memo, hulls = new_memo(policy, state, levels=buffers.memo.levels), new_hulls(policy)
    if hulls is not None and buffers.hulls is not None:
        hulls = hulls._replace(price=buffers.hulls.price)
    return Buffers(policy, state, memo, hulls)


def set_new_priors(buffers: Buffers, start: int) -> None:
    """Give contexts from ``start`` on the pooled prior of one without rewards, if one is fitted.

    A refit gives them the same, so that it does not matter which of the two comes first.
    """
    policy, state, memo, _ = buffers
    if policy.pooled == 0 or state.action_fit[NEW_COUNT, 0] == 0.0:
        if policy.windowed == 1 and policy.reward != KnownRewards.code:  # as in `update_mean`
            memo.means[start:] = state.fit[OVERALL_MEAN]
            memo.counts[start:] = memo.roots[start:] = 1.0
        return
    mean, count = state.action_fit[NEW_MEAN], state.action_fit[NEW_COUNT]
    state.prior_means[start:], state.prior_counts[start:] = mean, count
    state.action_shares[start:] = state.action_fit[NEW_SHARE]
    memo.counts[start:] = count
    memo.means[start:] = count * mean / count  # not the mean: rounded as in a refit
    memo.roots[start:] = 1.0 / np.sqrt(count)


def first_contexts(buffers: Buffers, contexts: int) -> Buffers:
    """Return views of the first contexts."""
    policy, state, memo, hulls = buffers
    rows = slice(contexts)
    return Buffers(
        _rows_of(policy, rows),
        _rows_of(state, rows),
        _rows_of(memo, rows),
        None if hulls is None else _rows_of(hulls, rows),
    )


def _rows_of(record: Record, rows: Any) -> Record:
    """Return a record with some of its rows."""
    fields: Any = zip(record, HAS_ROWS[type(record)], strict=True)
    return type(record)._make([value[rows] if has_rows else value for value, has_rows in fields])
