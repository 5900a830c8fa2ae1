"""Decide for arrivals: choose actions, reserve their money, and make the events to log."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from itertools import repeat
from math import isnan, nan

from almoner.kernels.live import ACTED, NOT_ALLOWED, PAST_HORIZON, POLICY_SKIP, UNAFFORDABLE
from almoner.kernels.state import ROUND
from almoner.kernels.steps import SKIP
from almoner.live.assignment.assignment import EXPLORED, HAS_ENOUGH, HELD_OUT, assign
from almoner.live.costs.ledger import SharedLedger, reserve
from almoner.live.policy.choice import Choice, PendingArrival
from almoner.live.policy.detail import detail_of
from almoner.live.policy.live_policy import BATCH
from almoner.live.spending.outlook import HELD_BY_PACE
from almoner.live.state.campaign_state import Campaign
from almoner.live.state.status import SkipReason, Status
from almoner.live.times.closing_time import ClosingTime
from almoner.store.events import DECIDED, Event, new_event

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

_SKIPPED: Iterable[Choice] = repeat((SKIP, ACTED, 1.0, nan))
"""The choices for arrivals while the campaign is paused or closed."""


def decide(campaign: Campaign, arrivals: Sequence[PendingArrival], *, now: int) -> list[Event]:
    """Decide for arrivals whose contexts were admitted; return the events to log."""
    if campaign.terms.spreads or campaign.terms.per_person is not None:
        return [_assign(campaign, arrival, now) for arrival in arrivals]
    if len(arrivals) == 1:
        return _decide(campaign, arrivals, now)
    size = 1 if _one_by_one(campaign) else BATCH
    return [event for batch in _batches(arrivals, size) for event in _decide(campaign, batch, now)]


def _batches(arrivals: Sequence[PendingArrival], size: int) -> Iterator[list[PendingArrival]]:
    """Divide arrivals into batches of at most this size; one with own costs is a batch alone."""
    if not any([arrival.own_costs is not None for arrival in arrivals]):  # noqa: C419  # faster
        for start in range(0, len(arrivals), size):
            yield [*arrivals[start : start + size]]
        return
    batch: list[PendingArrival] = []
    for arrival in arrivals:
        if batch and (arrival.own_costs is not None or len(batch) == size):
            yield batch
            batch = []
        batch.append(arrival)
        if arrival.own_costs is not None:
            yield batch
            batch = []
    if batch:
        yield batch


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
    choice, shares = assign(campaign, arrival, now)
    counted, left = campaign.arrivals - 1, _left(campaign)
    event = _record(campaign, (arrival,), (choice,), now, counted, left, shares)[0]
    if event.action is not None and arrival.visitor is not None:
        arrival.visitor.actions[event.seq] = now
    return event


def _decide(campaign: Campaign, arrivals: Sequence[PendingArrival], now: int) -> list[Event]:
    """Decide for a batch of arrivals, and reserve the money; return the events to log."""
    counted = campaign.policy.state.progress.item(ROUND)
    if campaign.evidence.ageing is not None:
        _age(campaign, now)
    left, choices = _left(campaign), _SKIPPED
    if campaign.status == _RUNNING:
        choices = _choose(campaign, arrivals, now, left)
    return _record(campaign, arrivals, choices, now, counted, left)


def _age(campaign: Campaign, now: int) -> None:
    """Let the evidence age before a decision, if that is due."""
    if campaign.evidence.is_due(now):
        campaign.evidence.age(campaign, now)


def _choose(
    campaign: Campaign, arrivals: Sequence[PendingArrival], now: int, left: int
) -> Iterable[Choice]:
    """Return the choices of the policy, or of the rules on spending; they count as taken."""
    horizon, blocked = campaign.terms.horizon, None
    first, funds = arrivals[0], None
    if isinstance(horizon, ClosingTime):
        campaign.correct_forecast(now)
    if campaign.spending is not None:
        return [campaign.spending.choose(campaign, first, now, left)]
    if isinstance(horizon, ClosingTime):
        horizon = campaign.horizon_at(now, campaign.arrivals)
    if campaign.evidence.shared is not None:
        offers = campaign.policy.offers_to(first)
        blocked = campaign.evidence.shared.blocked(campaign.ledger, offers)
    if first.own_costs is not None and first.row is None:
        funds = campaign.funds(now)
    return campaign.policy.choose(
        arrivals, horizon=horizon, left=left, blocked=blocked, funds=funds
    )


def _left(campaign: Campaign) -> int:
    """Return the money left, below 0 where more than the budget is expected to be spent."""
    ledger = campaign.ledger
    shared = isinstance(ledger, SharedLedger)
    return ledger.budget - ledger.spent - (ledger.planned if shared else ledger.reserved)


def _record(
    campaign: Campaign,
    arrivals: Sequence[PendingArrival],
    choices: Iterable[Choice],
    now: int,
    counted: int,
    left: int,
    shares: dict[str, float] | None = None,
) -> list[Event]:
    """Reserve money for choices, the first of them of arrival ``counted``; return the events.

    ``left`` is the money left before them.
    ``shares`` are the probabilities of the options of a single choice, if they are logged.
    """
    policy, ledger, seq = campaign.policy, campaign.ledger, campaign.seq
    running, offers, per_unit = campaign.status == _RUNNING, policy.offers, policy.per_unit
    shared = isinstance(ledger, SharedLedger)
    reserves = costs = 0
    events, own = [], False
    for arrival, (action, reason, probability, price) in zip(arrivals, choices):  # noqa: B905
        seq, own, context = seq + 1, arrival.own_costs is not None, arrival.context
        name = cost = reserved = detail = None
        if action != SKIP:
            offered = policy.offers_to(arrival) if own else offers[context]
            name, cost, reserved = offered[action]
            reserves += reserved
            costs += cost
        if own or shares is not None:
            group = None
            if campaign.terms.holdout > 0 and arrival.visitor is not None and shares is not None:
                group = arrival.visitor.group
            detail = detail_of(arrival.own_costs, shares, arrival.row, group)
        available = arrival.available
        columns = (
            seq,
            DECIDED,
            now,
            max(0, left - costs) if shared else left - reserves,
            seq,
            counted if running else None,
            context,
            name,
            cost,
            reserved,
            probability,
            None if isnan(price) else price * per_unit,
            _REASONS[reason] if running else campaign.status,
            arrival.key,
            None if available is None else json.dumps(available),
            None,  # of follow-ups: bill, charged, reward
            None,
            None,
            detail,
        )
        events.append(new_event(columns))
        counted += 1
    expires, ageing, spending = campaign.terms.expires, campaign.evidence.ageing, campaign.spending
    if expires or ageing is not None or spending is not None:
        _watch(campaign, events)
    if reserves or costs:
        campaign.ledger = reserve(ledger, reserve=reserves, cost=costs)
    # Which comes alone; the kernels have subtracted an expected cost, but of no skip.
    if own and running and (events[-1].action is not None or campaign.spending is not None):
        policy.set_left(campaign.units_left(now))
    campaign.seq = seq
    return events


def _watch(campaign: Campaign, events: Sequence[Event]) -> None:
    """Hand decisions to the parts of a campaign that wait for deadlines or limit the spending."""
    for event in events:
        if campaign.terms.expires and event.action is not None:
            campaign.open(event)
        if campaign.evidence.ageing is not None:
            campaign.evidence.add(campaign, event)
        if campaign.spending is not None:
            campaign.spending.decided(event)
