"""Fold of events into a campaign: its money, its status, and rows for the kernels to learn from."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from almoner.errors import BrokenLedger
from almoner.kernels.live import CANCEL, LEARN, SET_LEFT, TAKE
from almoner.kernels.steps import SKIP
from almoner.live.closing_time import ClosingTime
from almoner.live.deadlines import OpenDecision
from almoner.live.ledger import Ledger, overrun, refund, release, settle
from almoner.live.policy import Row
from almoner.live.status import Status
from almoner.live.terms import CHARGE, RELEASE
from almoner.store.events import (
    CANCELLED,
    CLOSED,
    DECIDED,
    EXPIRED,
    PAUSED,
    RESUMED,
    REWARDED,
    SETTLED,
    Event,
    EventRow,
)

if TYPE_CHECKING:
    from almoner.live.campaign_state import Campaign

__all__ = ["fold", "ledger_after"]

_REWARD = Event._fields.index("reward")

_STATUS = {
    PAUSED: Status.PAUSED.value,
    RESUMED: Status.RUNNING.value,
    CLOSED: Status.CLOSED.value,
}


def fold(campaign: Campaign, events: Iterable[EventRow], *, compare: bool = False) -> None:
    """Fold events; if ``compare``, check that each records the money left after it.

    The reserves of consecutive decisions are added up, and reserved together, unless the rules on
    spending need the money after each.
    """
    spending = campaign.spending
    rows: list[Row] = []
    rewards: list[float] = []
    contexts, actions, left = campaign.contexts, campaign.action_index, campaign.ledger.left
    reserves = costs = 0
    for event in events:
        seq, kind, at, recorded, _, counted, context, name, cost, reserve = event[:10]
        if context is not None and context not in contexts:
            campaign.admit(context)  # it has no weight in the rows before its first one
        if kind == DECIDED:
            if spending is not None:
                campaign.reserve(reserves, costs)
                reserves, costs, left = 0, 0, campaign.ledger.left
            if reserve or cost:
                if not 0 <= cost <= reserve:
                    raise BrokenLedger(f"{reserve} is reserved for an expected cost of {cost}")
                reserves, costs = reserves + reserve, costs + cost
            if name is not None:
                campaign.open(event)
            if counted is not None:
                campaign.correct_forecast(at)
                if spending is not None:
                    rows.append((SET_LEFT, spending.plan_units(campaign, at), SKIP, -1))
                    rewards.append(0.0)
                rows.append((TAKE, contexts[context], actions[name], counted))
                rewards.append(0.0)
            if spending is not None:
                spending.decided(event)
        elif kind == REWARDED:
            counted = -1 if counted is None else counted
            rows.append((LEARN, contexts[context], actions[name], counted))
            rewards.append(event[_REWARD] or 0.0)
        else:
            campaign.reserve(reserves, costs)
            changes = _change(campaign, Event._make(event))
            rows += changes
            rewards += [0.0] * len(changes)
            reserves, costs, left = 0, 0, campaign.ledger.left
        campaign.seq = seq
        if compare and recorded != left - reserves:
            raise BrokenLedger(f"{left - reserves} is left, and it says {recorded}")
    campaign.reserve(reserves, costs)
    campaign.policy.replay(rows, rewards)


def ledger_after(
    ledger: Ledger, kind: str, event: Event | OpenDecision, bill: int, ended: str | None = None
) -> tuple[Ledger, int | None]:
    """Return the ledger after an event on an action, and the amount charged.

    ``ended`` says how the reserve has ended if the action is settled after that.
    """
    reserve, cost = event.reserve or 0, event.cost or 0
    if kind == SETTLED and ended is not None:
        freed = refund(ledger, amount=reserve) if ended == CHARGE else ledger
        return settle(freed, reserve=0, cost=0, bill=bill)
    if kind in (SETTLED, EXPIRED):
        return settle(ledger, reserve=reserve, cost=cost, bill=bill)
    if kind == CANCELLED:
        return release(ledger, reserve=reserve, cost=cost), None
    return ledger, None


def _change(campaign: Campaign, event: Event) -> list[Row]:
    """Fold an event that frees a reserve or changes the status; return rows for the kernels."""
    kind = event.kind
    if kind in _STATUS:
        _switch(campaign, kind, event.at)
        return []
    context, action = campaign.contexts[event.context or ""], campaign.action_index[event.action]
    bill, before = event.bill or 0, campaign.ledger
    campaign.ledger, _ = ledger_after(campaign.ledger, kind, event, bill, event.reason)
    campaign.expiring.discard(event.decision or 0)
    if campaign.spending is not None:
        campaign.spending.changed(event.decision or 0, before, campaign.ledger)
    if kind == EXPIRED:
        return [(SET_LEFT, _units_left(campaign, event.at), SKIP, -1)]
    if kind == CANCELLED:
        return [(CANCEL, context, action, _units_left(campaign, event.at))]
    if kind == SETTLED:
        reserve = 0 if event.reason == RELEASE else event.reserve or 0
        campaign.overrun += overrun(reserve=reserve, bill=bill)
        return [(SET_LEFT, _units_left(campaign, event.at), SKIP, -1)]
    raise ValueError(f"an event of kind {kind!r} is not known here")


def _switch(campaign: Campaign, kind: str, at: int) -> None:
    """Set the status; a period in which the campaign is paused does not count for the forecast."""
    campaign.status = _STATUS[kind]
    horizon = campaign.terms.horizon
    if isinstance(horizon, ClosingTime):
        if kind == PAUSED:
            campaign.corrections = campaign.corrections.pause(at / 1e6)
        elif kind == RESUMED:
            campaign.corrections = campaign.corrections.resume(horizon, at / 1e6)


def _units_left(campaign: Campaign, at: int) -> int:
    """Return the money left after expected costs, in the kernels' units: that of the plan."""
    if campaign.spending is not None:
        return campaign.spending.plan_units(campaign, at)
    return campaign.policy.units(campaign.ledger.budget - campaign.ledger.committed)
