"""Decision and Settlement: the answers of an agent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any

from almoner.errors import UnknownDecision
from almoner.live.costs.ledger import overrun
from almoner.live.state.fold import paid_at_expiry
from almoner.live.state.status import EXPLANATIONS
from almoner.live.terms.reward_scale import UNSCALED
from almoner.live.terms.terms import RELEASE, Terms
from almoner.money import Denomination
from almoner.store.events import Event

__all__ = ["Decision", "Settlement", "decisions_of", "is_id", "plain_id", "unknown"]


@dataclass(slots=True, unsafe_hash=True)  # creating a frozen one takes five times as long
class Decision:
    """The decision for one arrival.

    Attributes
    ----------
    id
        The number by which to settle, reward or cancel it.
    context
        The context that arrived.
    action
        The action to take; None is a skip.
    probability
        The probability of this very choice, skipping included, for off-policy evaluation.
    reserved
        The money reserved for the action until it is settled.
    price
        The price of a unit of budget, in the unit of rewards; None where the policy has no price.
    budget_left
        The money that further actions could reserve after this decision.
    reason
        The reason of a skip, one of `SkipReason`: ``"policy"``, ``"budget"``, ``"pace"``,
        ``"horizon"``, ``"unavailable"``, ``"paused"``, ``"closed"``, ``"person"``, ``"holdout"``
        or ``"explore"``; None for an action.
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
        """Whether the decision is a skip."""
        return self.action is None

    @property
    def why(self) -> str:
        """The reason of a skip in words; empty for an action."""
        return "" if self.reason is None else EXPLANATIONS[self.reason]


def decisions_of(events: Sequence[Event], terms: Terms, first: int) -> list[Decision]:
    """Return the decisions that events record; ids add ``first`` to the number of the event."""
    money, rewards = terms.unit, terms.scale
    top, bottom, scaled = money.top, money.bottom, rewards is not UNSCALED
    decisions: list[Decision] = []
    for event in events:
        # Unpacked, with positional arguments, as every decision comes through here.
        seq, _, _, left, _, _, context, action, _, reserve, probability, price, reason = event[:13]
        decision = Decision(
            seq + first,
            context or "",
            action,
            probability or 0.0,
            (reserve or 0) * top / bottom,
            rewards.gain(price) if scaled and price is not None else price,
            left * top / bottom,
            reason,
        )
        decisions.append(decision)
    return decisions


@dataclass(frozen=True, kw_only=True, slots=True)
class Settlement:
    """The settlement or cancellation of an action.

    Attributes
    ----------
    id
        The decision.
    billed, charged
        The bill, and the part of it charged to the budget: less only when the budget ran out.
    refunded
        The part of the reserve above the bill, which can be spent again.
    overrun
        The part of the bill above the reserve.
    budget_left
        The money that further actions could reserve afterwards.
    """

    id: int
    billed: float
    charged: float
    refunded: float
    overrun: float
    budget_left: float

    @classmethod
    def of(cls, event: Event, money: Denomination, first: int = 0) -> Settlement:
        """Return the settlement that an event records; a cancellation is a bill of 0.

        If the reserve was released before the bill came, nothing is left of it; if it was charged,
        what it had paid is.
        """
        bill = event.bill or 0
        reserve = 0 if event.reason == RELEASE else event.reserve or 0
        paid = paid_at_expiry(event)
        return cls(
            id=(event.decision or 0) + first,
            billed=money.amount(bill),
            charged=money.amount(event.charged or 0),
            refunded=money.amount(max(0, (reserve if paid is None else paid) - bill)),
            overrun=money.amount(overrun(reserve=reserve, bill=bill)),
            budget_left=money.amount(event.left),
        )


def is_id(decision: object) -> bool:
    """Return whether a value can be the id of a decision."""
    return _is_whole(decision) and decision > 0  # type: ignore[operator]


def plain_id(decision: Any) -> Any:
    """Return a whole number of another type as an exact int; anything else unchanged."""
    if isinstance(decision, Integral) and not isinstance(decision, bool):
        return int(decision)
    return decision


def unknown(decision: object) -> UnknownDecision:
    """Return the error for an unknown decision."""
    if isinstance(decision, Integral) and not isinstance(decision, bool):
        shown = str(decision) if _is_whole(decision) else "with an id of 2**53 or more"
    else:
        shown = f"of the type {type(decision).__name__}"
    return UnknownDecision(
        f"there is no decision {shown} in this campaign; use the id that decide returned, a whole "
        "number"
    )


def _is_whole(decision: object) -> bool:
    """Return whether a value is a whole number that a store can search for."""
    if type(decision) is int:  # as mostly; to ask Integral takes ten times as long
        return abs(decision) < 2**53
    if not isinstance(decision, Integral) or isinstance(decision, bool):
        return False
    return abs(decision) < 2**53  # type: ignore[operator]
