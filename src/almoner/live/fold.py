"""Fold of events into a campaign: its money, its status, and rows for the kernels to learn from."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

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
    AMENDED,
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

__all__ = ["amendment_of", "fold", "ledger_after"]

_REWARD, _DETAIL = map(Event._fields.index, ("reward", "detail"))

_STATUS = {
    PAUSED: Status.PAUSED.value,
    RESUMED: Status.RUNNING.value,
    CLOSED: Status.CLOSED.value,
}


def fold(campaign: Campaign, events: Iterable[EventRow], *, compare: bool = False) -> None:
    """Fold events; if ``compare``, check that each records the money left after it.

    The reserves of consecutive decisions are added up, and reserved together.
    """
    rows: list[Row] = []
    rewards: list[float] = []
    contexts, actions, left = campaign.contexts, campaign.action_index, campaign.ledger.left
    forecast = isinstance(campaign.terms.horizon, ClosingTime)
    reserves, costs, evidence = 0, 0, campaign.evidence
    for event in events:
        seq, kind, at, recorded, _, counted, context, name, cost, reserve = event[:10]
        if context is not None and context not in contexts:
            campaign.admit(context)  # it has no weight in the rows before its first one
        if kind == DECIDED:
            if reserve or cost:
                if not 0 <= cost <= reserve:
                    raise BrokenLedger(f"{reserve} is reserved for an expected cost of {cost}")
                reserves, costs = reserves + reserve, costs + cost
                campaign.open(event)
                if evidence.shared is not None:
                    campaign.reserve(reserves, costs)
                    reserves, costs, left = 0, 0, campaign.ledger.left
            if evidence.ageing is not None:
                if evidence.ageing.is_due(at):
                    campaign.policy.replay(rows, rewards)
                    rows, rewards = [], []
                    evidence.age(campaign, at)
                evidence.add(campaign, event)
            if counted is not None:
                if forecast:
                    campaign.correct_forecast(at)
                rows.append((TAKE, contexts[context], actions[name], counted))
                rewards.append(0.0)
        elif kind == REWARDED:
            learned, reward = _reward(campaign, Event._make(event))
            rows += learned
            rewards += [reward] * len(learned)
        elif kind == AMENDED:
            campaign.reserve(reserves, costs)
            campaign.policy.replay(rows, rewards)
            campaign.amend(campaign.terms.amended(amendment_of(event)["terms"]))
            rows, rewards, reserves, costs = [], [], 0, 0
            contexts, actions, left = campaign.contexts, campaign.action_index, campaign.ledger.left
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


def amendment_of(event: EventRow) -> dict[str, Any]:
    """Return the changed terms of an amendment, who changed them (``by``), and the ``note``."""
    table = json.loads(event[_DETAIL] or "")
    if not isinstance(table, dict) or not isinstance(table.get("terms"), dict):
        raise ValueError(f"an amendment without terms: {event[_DETAIL]!r}")
    return table


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


def _reward(campaign: Campaign, event: Event) -> tuple[list[Row], float]:
    """Fold a reward; return rows for the kernels, and its value."""
    context, action, reward = event.context or "", event.action, event.reward or 0.0
    window = campaign.window
    if window is not None:
        window.reward(event.decision or 0, event.at, reward)
        if reward == 0.0:  # silence is known from the age of its decision
            return [], reward
    if action not in campaign.action_index:
        counted = 0.0 if window is not None else 1.0
        campaign.policy.change_stopped(context, action or "", (counted, reward, -counted))
        return [], reward
    t = -1 if event.round is None else event.round
    row = LEARN, campaign.contexts[context], campaign.action_index[action], t
    return [row], reward


def _change(campaign: Campaign, event: Event) -> list[Row]:
    """Fold an event that frees a reserve or changes the status; return rows for the kernels."""
    kind = event.kind
    if kind in _STATUS:
        _switch(campaign, kind, event.at)
        return []
    bill = event.bill or 0
    campaign.ledger, _ = ledger_after(campaign.ledger, kind, event, bill, event.reason)
    if campaign.evidence.ageing is not None:
        campaign.evidence.end(campaign, event)
    campaign.expiring.discard(event.decision or 0)
    if kind == EXPIRED:
        return [(SET_LEFT, campaign.units_left, SKIP, -1)]
    if kind == CANCELLED:
        return _cancel(campaign, event.context or "", event.action or "")
    if kind == SETTLED:
        reserve = 0 if event.reason == RELEASE else event.reserve or 0
        campaign.overrun += overrun(reserve=reserve, bill=bill)
        return [(SET_LEFT, campaign.units_left, SKIP, -1)]
    raise ValueError(f"an event of kind {kind!r} is not known here")


def _cancel(campaign: Campaign, context: str, action: str) -> list[Row]:
    if action in campaign.action_index:
        row, column = campaign.contexts[context], campaign.action_index[action]
        return [(CANCEL, row, column, campaign.units_left)]
    campaign.policy.change_stopped(context, action, (0.0, 0.0, -1.0))
    return [(SET_LEFT, campaign.units_left, SKIP, -1)]


def _switch(campaign: Campaign, kind: str, at: int) -> None:
    """Set the status; a period in which the campaign is paused does not count for the forecast."""
    campaign.status = _STATUS[kind]
    horizon = campaign.terms.horizon
    if isinstance(horizon, ClosingTime):
        if kind == PAUSED:
            campaign.corrections = campaign.corrections.pause(at / 1e6)
        elif kind == RESUMED:
            campaign.corrections = campaign.corrections.resume(horizon, at / 1e6)
