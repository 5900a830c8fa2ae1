"""Room for more contexts: arrays twice as long as before once they are full, seen through views.

A campaign that adds contexts as they come would copy all that it knows at each of them. Its arrays
have spare rows instead, and kernels get views that end at the last context. A view is laid out as
the array is, so that the same compiled code takes it.
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypeVar

import numpy as np

from almoner.kernels.state import Hulls, Memo, State, new_hulls, new_memo, new_state
from almoner.policy.lowering import Plan

Record = TypeVar("Record", Plan, State, Memo, Hulls)

__all__ = ["HAS_ROWS", "Room", "doubled", "first_contexts", "new_room"]

_BY_CONTEXT: dict[Any, set[str]] = {
    Plan: {"context_weights", "prior", "costs", "defaults"},
    State: {*State._fields} - {"clock"},
    Memo: {*Memo._fields} - {"levels", "row", "holds"},
    Hulls: {*Hulls._fields} - {"price", "ranked", "filled", "kept"},
}
HAS_ROWS: dict[Any, list[bool]] = {
    record: [name in names for name in record._fields] for record, names in _BY_CONTEXT.items()
}
"""Which fields of a record are arrays with a row for each context."""


class Room(NamedTuple):
    """What kernels take: the plan, the state, and what is derived from them."""

    plan: Plan
    state: State
    memo: Memo
    hulls: Hulls | None


def new_room(plan: Plan) -> Room:
    """Return what kernels take before the first round."""
    state = new_state(plan)
    return Room(plan, state, new_memo(plan, state), new_hulls(plan))


def doubled(room: Room) -> Room:
    """Return the same with twice as many contexts; the new ones are as the last one of the plan.

    Brackets are left out: the next decision works them out anew.
    """
    rows = np.arange(2 * len(room.plan.costs)).clip(max=len(room.plan.costs) - 1)
    plan = _rows_of(room.plan, rows)
    state = new_state(plan)
    for before, after in zip(room.state, state, strict=True):
        after[: len(before)] = before
    memo, hulls = new_memo(plan, state, levels=room.memo.levels), new_hulls(plan)
    if hulls is not None and room.hulls is not None:
        hulls = hulls._replace(price=room.hulls.price)
    return Room(plan, state, memo, hulls)


def first_contexts(room: Room, contexts: int) -> Room:
    """Return views of the first contexts."""
    plan, state, memo, hulls = room
    rows = slice(contexts)
    return Room(
        _rows_of(plan, rows),
        _rows_of(state, rows),
        _rows_of(memo, rows),
        None if hulls is None else _rows_of(hulls, rows),
    )


def _rows_of(record: Record, rows: Any) -> Record:
    """Return a record of some of its contexts."""
    fields: Any = zip(record, HAS_ROWS[type(record)], strict=True)
    return type(record)._make([value[rows] if has_rows else value for value, has_rows in fields])
