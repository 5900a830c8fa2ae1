"""Room for more contexts: arrays twice as long as before once they are full, seen through views.

A campaign that adds contexts as they come would copy all that it knows at each of them. Its arrays
have spare rows instead, and kernels get views that end at the last context. A view is laid out as
the array is, so that the same compiled code takes it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from almoner.core.state import Hulls, Memo, State, new_hulls, new_memo, new_state
from almoner.policy.plan import Plan

__all__ = ["BY_CONTEXT", "Room", "doubled", "first_contexts", "new_room"]

BY_CONTEXT: dict[type[Any], tuple[str, ...]] = {
    Plan: ("context_weights", "prior", "costs", "defaults"),
    State: tuple(name for name in State._fields if name != "clock"),
    Memo: tuple(name for name in Memo._fields if name not in ("levels", "row", "holds")),
    Hulls: tuple(name for name in Hulls._fields if name != "price"),
}
"""The arrays that have a row for each context."""


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
    arrays = {name: getattr(room.plan, name)[rows] for name in BY_CONTEXT[Plan]}
    plan = room.plan._replace(**arrays)
    state = new_state(plan)
    for before, after in zip(room.state, state, strict=True):
        after[: len(before)] = before
    memo, hulls = new_memo(plan, state, levels=room.memo.levels), new_hulls(plan)
    if hulls is not None and room.hulls is not None:
        hulls = hulls._replace(price=room.hulls.price)
    return Room(plan, state, memo, hulls)


def first_contexts(room: Room, contexts: int) -> Room:
    """Return views of the first contexts."""


    def view(record: Any) -> Any:
        arrays = {name: getattr(record, name)[:contexts] for name in BY_CONTEXT[type(record)]}
        return record._replace(**arrays)

    return Room._make(None if record is None else view(record) for record in room)
