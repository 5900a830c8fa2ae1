"""Events: the rows of a campaign's log, and the only list of its columns.

A row repeats the columns of the decision it refers to, so that folding a log needs no look-up.
Money is in whole units of the campaign's denomination, time in microseconds since 1970.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from functools import partial
from typing import Any, NamedTuple

__all__ = [
    "AMENDED",
    "CANCELLED",
    "CLOSED",
    "DECIDED",
    "ENDS",
    "EXPIRED",
    "PAUSED",
    "RESUMED",
    "REWARDED",
    "SETTLED",
    "Event",
    "EventKind",
    "EventRow",
    "new_event",
]


class EventKind(StrEnum):
    """Kinds of events: about a decision, and, from ``PAUSED`` on, about the campaign."""

    DECIDED = "decided"
    SETTLED = "settled"
    REWARDED = "rewarded"
    CANCELLED = "cancelled"
    EXPIRED = "expired"
    PAUSED = "paused"
    RESUMED = "resumed"
    CLOSED = "closed"
    AMENDED = "amended"


# Events hold these plain strings: marshal refuses members of an enum, psycopg writes their names.
DECIDED, SETTLED, REWARDED, CANCELLED, EXPIRED, PAUSED, RESUMED, CLOSED, AMENDED = (
    kind.value for kind in EventKind
)


ENDS = (SETTLED, CANCELLED, EXPIRED)
"""Kinds of events that end the reserve of a decision."""


class Event(NamedTuple):
    """One row of the log; columns that its kind does not use are None.

    Attributes
    ----------
    seq
        Number of the event in the log, counted from 1 without a gap.
    kind
        The value of an `EventKind`.
    at
        Time at which it was written.
    left
        Money that a new action could reserve after it.
    decision
        The ``seq`` of the decision it refers to: its own, if it is one.
    round
        Number of the arrival, counted from 0; None where arrivals were not counted.
    context, action
        The context and the action taken in it; None is a skip.
    cost, reserve
        The expected cost of the action, and the money reserved for it.
    probability, price
        The probability of the action or skip, and the price of a unit of budget; of a reward in a
        campaign with a hold-out or exploration, the probability of a skip of its decision.
    reason, key, available
        The reason of a skip, repeated by rewards in such a campaign, or how the reserve of an
        action that is settled late has ended; the caller's key; the actions that the arrival
        allowed (JSON).
    bill, charged
        The cost of a settled or expired action, and the part of it that the budget bore.
    reward
        The reward of the action.
    detail
        The terms that an amendment changes, with who changed them and why; the probabilities of
        all options of a decision in such a campaign, with the group of its person if some are held
        out, which rewards repeat; the part of its reserve that an action settled late had paid, if
        not all of it (JSON).
    """

    seq: int
    kind: str
    at: int
    left: int
    decision: int | None = None
    round: int | None = None
    context: str | None = None
    action: str | None = None
    cost: int | None = None
    reserve: int | None = None
    probability: float | None = None
    price: float | None = None
    reason: str | None = None
    key: str | None = None
    available: str | None = None
    bill: int | None = None
    charged: int | None = None
    reward: float | None = None
    detail: str | None = None


new_event: Callable[[tuple[Any, ...]], Event] = partial(tuple.__new__, Event)
"""Return an event of all its columns in their order, in a third of the time of ``Event``."""

EventRow = tuple[Any, ...]
"""The values of an `Event` in their order, as any tuple: long logs are read without names."""
