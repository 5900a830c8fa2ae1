"""Fold of events into a campaign: its money, its status, and rows for the kernels to learn from."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from almoner.errors import BrokenLedger
from almoner.kernels.live import CANCEL, LEARN, SET_LEFT, TAKE
from almoner.kernels.steps import SKIP
from almoner.live.costs.ledger import Ledger, overrun, refund, release, settle
from almoner.live.policy.detail import has_own_costs
from almoner.live.policy.live_policy import Row
from almoner.live.state.status import Status
from almoner.live.terms.terms import CHARGE, RELEASE
from almoner.live.times.closing_time import ClosingTime
from almoner.live.times.deadlines import OpenDecision
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
    from almoner.live.state.campaign_state import Campaign

__all__ = ["amendment_of", "fold", "ledger_after", "paid_at_expiry"]

_REWARD, _DETAIL = map(Event._fields.index, ("reward", "detail"))
_WIDTH = len(Event._fields)

_STATUS = {
    PAUSED: Status.PAUSED.value,
    RESUMED: Status.RUNNING.value,
    CLOSED: Status.CLOSED.value,
}


def fold(campaign: Campaign, events: Iterable[EventRow], *, compare: bool = False) -> None:
    """Fold events; if ``compare``, check that each records the money left after it.

    The reserves of consecutive decisions are added up, and reserved together, unless each decision
    depends on the money after the one before. Columns after those of an `Event` are ignored.
    """
    rows: list[Row] = []
    rewards: list[float] = []
    contexts, actions, left = campaign.contexts, campaign.action_index, campaign.ledger.left
    forecast = isinstance(campaign.terms.horizon, ClosingTime)
    reserves, costs, expires = 0, 0, campaign.terms.expires
    evidence, special = campaign.evidence, campaign.window is not None or campaign.terms.on_rows
    one_by_one = campaign.spending is not None or evidence.shared is not None
    for event in events:
        seq, kind, at, recorded, _, counted, context, name, cost, reserve = event[:10]
        if context not in contexts and context is not None:
            campaign.admit(context)  # it has no weight in the rows before its first one
        if kind == DECIDED and (one_by_one or has_own_costs(event[_DETAIL])):
            rows, rewards = _fold_decision(campaign, event, rows, rewards, (reserves, costs))
            reserves, costs, left = 0, 0, campaign.ledger.left
        elif kind == DECIDED:
            if reserve or cost:
                _check_offer(cost, reserve)
                reserves, costs = reserves + reserve, costs + cost
            if name in expires:
                campaign.open(event)
            if evidence.ageing is not None:
                rows, rewards = _age(campaign, at, rows, rewards)
                evidence.add(campaign, event)
            if counted is not None:
                if forecast:
                    campaign.correct_forecast(at)
                rows.append((TAKE, contexts[context], actions[name], counted))
                rewards.append(0.0)
        elif kind == REWARDED:
            if (name in actions and not special) or _is_for_kernels(campaign, event):
                t = -1 if counted is None else counted
                rows.append((LEARN, contexts[context], actions[name], t))
                rewards.append(event[_REWARD] or 0.0)
        elif kind == AMENDED:
            campaign.reserve(reserves, costs)
            campaign.policy.replay(rows, rewards)
            campaign.amend(campaign.terms.amended(amendment_of(event)["terms"]), at)
            contexts, actions, left = campaign.contexts, campaign.action_index, campaign.ledger.left
            rows, rewards, reserves, costs, expires = [], [], 0, 0, campaign.terms.expires
        else:
            campaign.reserve(reserves, costs)
            changes = _change(campaign, Event(*event[:_WIDTH]))
            rows += changes
            rewards += [0.0] * len(changes)
            reserves, costs, left = 0, 0, campaign.ledger.left
        campaign.seq = seq
        if compare and recorded != left - reserves:
            raise BrokenLedger(f"{left - reserves} is left, and it says {recorded}")
    campaign.reserve(reserves, costs)
    campaign.policy.replay(rows, rewards)


def _check_offer(cost: int, reserve: int) -> None:
    if not 0 <= cost <= reserve:
        raise BrokenLedger(f"{reserve} is reserved for an expected cost of {cost}")


def _age(
    campaign: Campaign, at: int, rows: list[Row], rewards: list[float]
) -> tuple[list[Row], list[float]]:
    """Let the evidence age, after the rows before it, if that is due; return the rows to come."""
    if not campaign.evidence.is_due(at):
        return rows, rewards
    campaign.policy.replay(rows, rewards)
    campaign.evidence.age(campaign, at)
    return [], []


def _fold_decision(
    campaign: Campaign,
    event: EventRow,
    rows: list[Row],
    rewards: list[float],
    before: tuple[int, int],
) -> tuple[list[Row], list[float]]:
    """Fold a decision that depends on the money before it, by rules on spending or a risk.

    Or one at costs of the arrival's own, of which the kernels do not know: they are told the money
    left after it. ``before`` are reserves and costs of the decisions before it.
    """
    campaign.reserve(*before)
    _, _, at, _, _, counted, context, name, cost, reserve = event[:10]
    rows, rewards = _age(campaign, at, rows, rewards)
    if counted is not None:
        campaign.correct_forecast(at)
        if campaign.spending is not None:
            rows.append((SET_LEFT, campaign.units_left(at), SKIP, -1))
        if campaign.row_policy is not None:
            campaign.policy.replay(rows, rewards + [0.0] * (len(rows) - len(rewards)))
            campaign.row_policy.fold_row(event)
            rows, rewards = [], []
        rows.append((TAKE, campaign.contexts[context], campaign.action_index[name], counted))
    if campaign.evidence.ageing is not None:
        campaign.evidence.add(campaign, event)
    if name is not None:
        _check_offer(cost, reserve)
        campaign.reserve(reserve, cost)
        campaign.open(event)
    if campaign.spending is not None:
        campaign.spending.decided(event)
    if counted is not None and has_own_costs(event[_DETAIL]):
        rows.append((SET_LEFT, campaign.units_left(at), SKIP, -1))
    return rows, rewards + [0.0] * (len(rows) - len(rewards))


def amendment_of(event: EventRow) -> dict[str, Any]:
    """Return the changed terms of an amendment, who changed them (``by``), and the ``note``."""
    table = json.loads(event[_DETAIL] or "")
    if not isinstance(table, dict) or not isinstance(table.get("terms"), dict):
        raise ValueError(f"an amendment without terms: {event[_DETAIL]!r}")
    return table


def paid_at_expiry(event: Event) -> int | None:
    """Return what the reserve of an action had paid when it expired before this settlement.

    None if it had not expired; all of the reserve, unless the budget could not bear that.
    """
    if event.kind != SETTLED or event.reason is None:
        return None
    paid = json.loads(event.detail or "{}").get("paid")
    if paid is not None:
        return int(paid)
    return (event.reserve or 0) if event.reason == CHARGE else 0


def ledger_after(
    ledger: Ledger, kind: str, event: Event | OpenDecision, bill: int, paid: int | None = None
) -> tuple[Ledger, int | None]:
    """Return the ledger after an event on an action, and the amount charged.

    ``paid`` is the result of `paid_at_expiry`, for an action that is settled after that.
    """
    reserve, cost = event.reserve or 0, event.cost or 0
    if kind == SETTLED and paid is not None:
        return settle(refund(ledger, amount=paid), reserve=0, cost=0, bill=bill)
    if kind in (SETTLED, EXPIRED):
        return settle(ledger, reserve=reserve, cost=cost, bill=bill)
    if kind == CANCELLED:
        return release(ledger, reserve=reserve, cost=cost), None
    return ledger, None


def _is_for_kernels(campaign: Campaign, event: EventRow) -> bool:
    """Fold a reward into a window, and that of a stopped action; return if kernels learn it too."""
    _, _, at, _, decision, _, context, action = event[:8]
    reward, window = event[_REWARD] or 0.0, campaign.window
    if campaign.row_policy is not None:
        campaign.row_policy.learn(event)
    if window is not None:
        window.reward(decision, at, reward)
        if reward == 0.0:  # silence is known from the age of its decision
            return False
    if action in campaign.action_index:
        return True
    counted = 0.0 if window is not None else 1.0
    campaign.policy.change_stopped(context, action, (counted, reward, -counted))
    return False


def _change(campaign: Campaign, event: Event) -> list[Row]:
    """Fold an event that frees a reserve or changes the status; return rows for the kernels."""
    kind = event.kind
    if kind in _STATUS:
        _switch(campaign, kind, event.at)
        return []
    bill, before = event.bill or 0, campaign.ledger
    campaign.ledger, _ = ledger_after(campaign.ledger, kind, event, bill, paid_at_expiry(event))
    if campaign.evidence.ageing is not None:
        campaign.evidence.end(campaign, event)
    campaign.expiring.discard(event.decision or 0)
    if campaign.spending is not None:
        campaign.spending.changed(event.decision or 0, before, campaign.ledger)
    if kind == EXPIRED:
        return [(SET_LEFT, campaign.units_left(event.at), SKIP, -1)]
    if kind == CANCELLED:
        return _cancel(campaign, event)
    if kind == SETTLED:
        if campaign.row_policy is not None:
            campaign.row_policy.learn(event)
        reserve = 0 if event.reason == RELEASE else event.reserve or 0
        campaign.overrun += overrun(reserve=reserve, bill=bill)
        return [(SET_LEFT, campaign.units_left(event.at), SKIP, -1)]
    raise ValueError(f"an event of kind {kind!r} is not known here")


def _cancel(campaign: Campaign, event: Event) -> list[Row]:
    context, action, left = event.context or "", event.action or "", campaign.units_left(event.at)
    if action in campaign.action_index:
        return [(CANCEL, campaign.contexts[context], campaign.action_index[action], left)]
    campaign.policy.change_stopped(context, action, (0.0, 0.0, -1.0))
    return [(SET_LEFT, left, SKIP, -1)]


def _switch(campaign: Campaign, kind: str, at: int) -> None:
    """Set the status; a period in which the campaign is paused does not count for the forecast."""
    campaign.status = _STATUS[kind]
    horizon = campaign.terms.horizon
    if isinstance(horizon, ClosingTime):
        if kind == PAUSED:
            campaign.corrections = campaign.corrections.pause(at / 1e6)
        elif kind == RESUMED:
            campaign.corrections = campaign.corrections.resume(horizon, at / 1e6)
