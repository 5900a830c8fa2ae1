"""Decide for arrivals: choose actions, reserve their money, and make the events to log."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from itertools import repeat
from math import isnan, nan

from almoner.kernels.live import ACTED, NOT_ALLOWED, PAST_HORIZON, POLICY_SKIP, UNAFFORDABLE
from almoner.kernels.state import ROUND
from almoner.kernels.steps import SKIP
from almoner.live.assignment.assignment import EXPLORED, HAS_ENOUGH, HELD_OUT, assign
from almoner.live.costs.ledger import SharedLedger, reserve
from almoner.live.policy.choice import Choice, PendingArrival
from almoner.live.policy.live_policy import BATCH
from almoner.live.spending.outlook import HELD_BY_PACE
from almoner.live.state.campaign_state import Campaign
from almoner.live.state.status import SkipReason, Status
from almoner.live.times.closing_time import ClosingTime
from almoner.store.events import DECIDED, Event

__all__ = ["decide"]

_RUNNING = Status.RUNNING.value

_REASONS = {
    ACTED: None,
    POLICY_SKIP: SkipReason.POLICY.value,
    UNAFFORDABLE: SkipReason.BUDGET.value,
    PAST_HORIZON: SkipReason.HORIZON.value,
    NOT_ALLOWED: SkipReason.UNAVAILABLE.value,
    HAS_ENOUGH: SkipReason.PERSON.value,
    HELD_OUT: SkipReason.HOLDOUT.value,
    EXPLORED: SkipReason.EXPLORE.value,
    HELD_BY_PACE: SkipReason.PACE.value,
}

_SKIPPED: Choice = (SKIP, ACTED), (1.0, nan)
"""The choice for arrivals while the campaign is paused or closed."""


def decide(campaign: Campaign, arrivals: Sequence[PendingArrival], *, now: int) -> list[Event]:
    """Decide for arrivals whose contexts were admitted; return the events to log."""
    if campaign.terms.spreads or campaign.terms.per_person is not None:
        return [_assign(campaign, arrival, now) for arrival in arrivals]
    size = 1 if _one_by_one(campaign) else BATCH
    if len(arrivals) <= size:
        return _decide(campaign, arrivals, now)
    return [
        event
        for start in range(0, len(arrivals), size)
        for event in _decide(campaign, arrivals[start : start + size], now)
    ]


def _one_by_one(campaign: Campaign) -> bool:
    """Return whether each arrival changes something for the next that the kernels do not know.

    With a closing time that is the forecast, with shared reserves what they may cost, with a pace
    or a default the money of the plan.
    """
    timed = isinstance(campaign.terms.horizon, ClosingTime)
    return timed or campaign.spending is not None or campaign.evidence.shared is not None


def _assign(campaign: Campaign, arrival: PendingArrival, now: int) -> Event:
    """Decide for one arrival of a campaign with a hold-out, exploration or limited persons."""
    if campaign.status != _RUNNING:
        return _decide(campaign, (arrival,), now)[0]
    _age(campaign, now)
    campaign.correct_forecast(now)
    choice, detail = assign(campaign, arrival, now)
    event = _record(campaign, (arrival,), (choice,), now, counted=campaign.arrivals - 1)[0]
    if event.action is not None and arrival.visitor is not None:
        arrival.visitor.actions[event.seq] = now
    return event._replace(detail=detail)


def _decide(campaign: Campaign, arrivals: Sequence[PendingArrival], now: int) -> list[Event]:
    """Decide for a batch of arrivals, and reserve the money; return the events to log."""
    counted = campaign.policy.state.progress.item(ROUND)
    _age(campaign, now)
    choices = _choose(campaign, arrivals, now) if campaign.status == _RUNNING else repeat(_SKIPPED)
    return _record(campaign, arrivals, choices, now, counted=counted)


def _age(campaign: Campaign, now: int) -> None:
    """Let the evidence age before a decision, if that is due."""
    if campaign.evidence.ageing is not None and campaign.evidence.is_due(now):
        campaign.evidence.age(campaign, now)


def _choose(campaign: Campaign, arrivals: Sequence[PendingArrival], now: int) -> Iterable[Choice]:
    """Return the choices of the policy, or of the rules on spending; they count as taken."""
    left, horizon, blocked = _left(campaign), campaign.terms.horizon, None
    if isinstance(horizon, ClosingTime):
        campaign.correct_forecast(now)
    if campaign.spending is not None:
        return [campaign.spending.choose(campaign, arrivals[0], now, left)]
    if isinstance(horizon, ClosingTime):
        horizon = campaign.horizon_at(now, campaign.arrivals)
    if campaign.evidence.shared is not None:
        offers = campaign.policy.offers[arrivals[0].context]
        blocked = campaign.evidence.shared.blocked(campaign.ledger, offers)
    return campaign.policy.choose(arrivals, horizon=horizon, left=left, blocked=blocked)


def _left(campaign: Campaign) -> int:
    """Return the money left, below 0 where more than the budget is expected to be spent."""
    budget, spent, reserved, planned = campaign.ledger
    return budget - spent - (planned if isinstance(campaign.ledger, SharedLedger) else reserved)


def _record(
    campaign: Campaign,
    arrivals: Sequence[PendingArrival],
    choices: Iterable[Choice],
    now: int,
    *,
    counted: int,
) -> list[Event]:
    """Reserve the money of choices, the first of them for arrival ``counted``; return events."""
    seq, running, offers = campaign.seq, campaign.status == _RUNNING, campaign.policy.offers
    shared, per_unit = isinstance(campaign.ledger, SharedLedger), campaign.policy.per_unit
    left = _left(campaign)
    reserves = costs = 0
    events = []
    for arrival, ((action, reason), (probability, price)) in zip(arrivals, choices):  # noqa: B905
        seq += 1
        name = cost = reserved = None
        if action != SKIP:
            name, cost, reserved = offers[arrival.context][action]
            reserves, costs = reserves + reserved, costs + cost
        available = arrival.available
        event = Event(
            seq,
            DECIDED,
            now,
            max(0, left - costs) if shared else left - reserves,
            seq,
            counted if running else None,
            arrival.context,
            name,
            cost,
            reserved,
            probability,
            None if isnan(price) else price * per_unit,
            _REASONS[reason] if running else campaign.status,
            arrival.key,
            None if available is None else json.dumps(available),
        )
        events.append(event)
        counted += 1
        if campaign.terms.expires and name is not None:
            campaign.open(event)
        if campaign.evidence.ageing is not None:
            campaign.evidence.add(campaign, event)
        if campaign.spending is not None:
            campaign.spending.decided(event)
    if reserves or costs:
        campaign.ledger = reserve(campaign.ledger, reserve=reserves, cost=costs)
    campaign.seq = seq
    return events
