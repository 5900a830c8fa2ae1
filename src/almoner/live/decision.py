"""Decision and Settlement: what an agent answers."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral

from almoner.errors import UnknownDecision
from almoner.money import Denomination
from almoner.store.events import CLOSED, PAUSED, Event

__all__ = [
    "BUDGET",
    "HORIZON",
    "POLICY",
    "UNAVAILABLE",
    "Decision",
    "Settlement",
    "is_id",
    "unknown",
]

POLICY, BUDGET, HORIZON, UNAVAILABLE = "policy", "budget", "horizon", "unavailable"

WHY = {
    POLICY: "the policy saves the budget for better use",
    BUDGET: "too little of the budget is left to reserve for any action here",
    HORIZON: "the campaign has come to its end",
    UNAVAILABLE: "no action was available",
    PAUSED: "the campaign is paused",
    CLOSED: "the campaign is closed",
}
"""Why a skip, by its reason."""


@dataclass(slots=True, unsafe_hash=True)  # frozen, it would take five times as long to make
class Decision:
    """What was decided for one arrival.

    Attributes
    ----------
    id
        What to settle, reward or cancel it by.
    context
        What arrived.
    action
        The action to take; None is a skip.
    probability
        How likely this very choice was, skipping included: what off-policy evaluation needs.
    reserved
        What is held for the action until it is settled.
    price
        What a unit of budget was worth; None where the policy has no price.
    budget_left
        What further actions could reserve after this decision.
    reason
        Why a skip: ``"policy"``, ``"budget"``, ``"horizon"``, ``"unavailable"``, ``"paused"`` or
        ``"closed"``; None for an action.
    """

    id: int
    context: str
    action: str | None
    probability: float
    reserved: float
    price: float | None
    budget_left: float
    reason: str | None

    @property
    def skipped(self) -> bool:
        """Whether nothing is to be done."""
        return self.action is None

    @property
    def why(self) -> str:
        """Why a skip, in words; empty for an action."""
        return "" if self.reason is None else WHY[self.reason]

    @classmethod
    def of(cls, event: Event, money: Denomination) -> Decision:
        """Return the decision that an event records."""
        reserved, left = money.amounts(event.reserve or 0, event.left)
        return cls(  # positional arguments, as this is called for every decision
            event.seq,
            event.context or "",
            event.action,
            event.probability or 0.0,
            reserved,
            event.price,
            left,
            event.reason,
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class Settlement:
    """What became of the money held for an action.

    Attributes
    ----------
    id
        The decision.
    billed, charged
        What the action cost, and what of it the budget bore: less only when the budget ran out.
    refunded
        What was held beyond the bill, and can be spent again.
    overrun
        By how much the bill exceeded what was held.
    budget_left
        What further actions could reserve afterwards.
    """

    id: int
    billed: float
    charged: float
    refunded: float
    overrun: float
    budget_left: float

    @classmethod
    def of(cls, event: Event, money: Denomination) -> Settlement:
        """Return the settlement that an event records; a cancellation is a bill of 0."""
        bill, reserve = event.bill or 0, event.reserve or 0
        return cls(
            id=event.decision or 0,
            billed=money.amount(bill),
            charged=money.amount(event.charged or 0),
            refunded=money.amount(max(0, reserve - bill)),
            overrun=money.amount(max(0, bill - reserve)),
            budget_left=money.amount(event.left),
        )


def is_id(decision: object) -> bool:
    """Return whether this can be the id of a decision."""
    return _is_whole(decision) and decision > 0  # type: ignore[operator]


def unknown(decision: object) -> UnknownDecision:
    """Return the error that there is no such decision."""
    if isinstance(decision, Integral) and not isinstance(decision, bool):
        shown = str(decision) if _is_whole(decision) else "with an id of 2**53 or more"
    else:
        shown = f"of the type {type(decision).__name__}"
    return UnknownDecision(
        f"there is no decision {shown} in this campaign; use the id that decide returned, a whole "
        "number"
    )


def _is_whole(decision: object) -> bool:
    """Return whether this is a whole number that a store can look for."""
    if not isinstance(decision, Integral) or isinstance(decision, bool):
        return False
    return abs(decision) < 2**53  # type: ignore[operator]
