"""What a log is made of: one row for each thing that happened, whole in itself.

A row repeats what it needs of the decision it speaks of, so that folding a log looks nothing up.
Money is in whole units of the campaign's denomination, time in microseconds since 1970.
"""

from __future__ import annotations

from typing import Any, NamedTuple

__all__ = [
    "CANCELLED",
    "CLOSED",
    "DECIDED",
    "KINDS",
    "PAUSED",
    "RESUMED",
    "REWARDED",
    "SETTLED",
    "Event",
    "EventRow",
]

DECIDED, SETTLED, REWARDED, CANCELLED = "decided", "settled", "rewarded", "cancelled"
PAUSED, RESUMED, CLOSED = "paused", "resumed", "closed"
KINDS = (DECIDED, SETTLED, REWARDED, CANCELLED, PAUSED, RESUMED, CLOSED)
"""The first four are about a decision, the others about the campaign."""


class Event(NamedTuple):
    """One row of the log; what its kind has no use for is None.

    Attributes
    ----------
    seq
        Its place in the log, counted from 1 without a gap.
    kind
        One of `KINDS`.
    at
        When it was written.
    left
        What a new action could reserve after it.
    decision
        The ``seq`` of the decision it speaks of: its own, if it is one.
    round
        Which arrival was decided, counted from 0; None where arrivals were not counted.
    context, action
        What came and what was done; an action of None is a skip.
    cost, reserve
        What the action was expected to cost, and what was held for it.
    probability, price
        How likely the choice was, and what a unit of budget was worth.
    reason, key, available
        Why a skip, the caller's key, the actions that the request allowed (JSON).
    bill, charged
        What a settled action cost, and what of it the budget bore.
    reward
        What the action brought.
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


EventRow = tuple[Any, ...]
"""The values of an `Event` in their order, as any tuple: long logs are read without names."""
