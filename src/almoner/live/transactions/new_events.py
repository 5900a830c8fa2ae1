"""New events of a campaign other than decisions, each folded into its state as it is made."""

from __future__ import annotations

import json
from typing import Any

from almoner.live.assignment.assignment import skip_probability
from almoner.live.policy.detail import logged_group, written_detail
from almoner.live.rows.arrival_row import learned_parts
from almoner.live.state.campaign_state import Campaign
from almoner.live.state.fold import fold, ledger_after
from almoner.live.terms.terms import CHARGE, Terms
from almoner.store.events import AMENDED, REWARDED, SETTLED, Event, new_event

__all__ = ["change_terms", "follow_up", "has_lapsed", "lapse", "lapsed", "set_status"]


def follow_up(
    campaign: Campaign,
    kind: str,
    decided: Event,
    *,
    now: int,
    bill: int | None = None,
    reward: float | None = None,
    ended: str | None = None,
    paid: int | None = None,
) -> Event:
    """Settle, reward or cancel a decision; return the event to log.

    ``ended`` says how its reserve has ended, if it was settled after that, and ``paid`` is the part
    of it that was charged then.
    """
    ledger, charged = ledger_after(campaign.ledger, kind, decided, bill or 0, paid)
    repeats = kind == REWARDED and campaign.terms.spreads  # for the lift, which needs them
    parts = _repeated_row(campaign, kind, decided)
    group = logged_group(decided.detail) if repeats else None
    if group is not None:
        parts["group"] = group
    if ended == CHARGE and paid != decided.reserve:
        parts["paid"] = paid
    columns: tuple[Any, ...] = (
        campaign.seq + 1,
        kind,
        now,
        ledger.left,
        *decided[4:10],  # decision, round, context, action, cost, reserve
        skip_probability(decided) if repeats else None,
        None,  # of decisions: price
        decided.reason if repeats else ended,
        None,  # of decisions: key, and the actions available
        None,
        bill,
        charged,
        reward,
        written_detail(parts) if parts else None,
    )
    event = new_event(columns)
    fold(campaign, [event])
    return event


def _repeated_row(campaign: Campaign, kind: str, decided: Event) -> dict[str, Any]:
    """Return the row of a decision that a reward or a bill repeats, if a policy learns from it."""
    learns = campaign.row_policy is not None and campaign.row_policy.learns
    if not learns or kind not in (REWARDED, SETTLED) or decided.round is None:
        return {}
    return learned_parts(decided.detail)


def has_lapsed(campaign: Campaign, now: int) -> bool:
    """Return whether deadlines have passed that are not recorded."""
    window = campaign.window
    return bool(campaign.expiring.due(now) or (window is not None and window.waiting.due(now)))


def lapsed(campaign: Campaign, now: int) -> list[Event]:
    """Return the events of the deadlines that have passed, none of which is recorded yet."""
    events = campaign.expiring.events(campaign.ledger, seq=campaign.seq, now=now)
    if campaign.window is None:
        return events
    left = events[-1].left if events else campaign.ledger.left
    return events + campaign.window.silences(now, seq=campaign.seq + len(events), left=left)


def lapse(campaign: Campaign, now: int) -> list[Event]:
    """Record the deadlines that have passed; return the events to log."""
    events = lapsed(campaign, now)
    if events:
        fold(campaign, events)
    return events


def set_status(campaign: Campaign, kind: str, *, now: int) -> Event:
    """Pause, resume or close the campaign; return the event to log."""
    event = Event(seq=campaign.seq + 1, kind=kind, at=now, left=campaign.ledger.left)
    fold(campaign, [event])
    return event


def change_terms(
    campaign: Campaign, terms: Terms, *, by: str | None, note: str | None, now: int
) -> Event:
    """Go on with other terms, changed by somebody for a reason; return the event to log."""
    detail = {"terms": campaign.terms.changes_to(terms), "by": by, "note": note}
    event = Event(
        seq=campaign.seq + 1,
        kind=AMENDED,
        at=now,
        left=campaign.ledger._replace(budget=terms.budget).left,
        detail=json.dumps(detail),
    )
    fold(campaign, [event], compare=True)
    return event
