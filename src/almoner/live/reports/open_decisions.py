"""Open decisions: actions whose reserve is neither settled nor cancelled nor expired.

Actions that reserve nothing are not among them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from almoner import checks
from almoner.live.reports.curve import moment
from almoner.live.reports.history import History
from almoner.live.reports.oldest_open import ANY_TIME
from almoner.live.state.campaign_state import Campaign
from almoner.live.times.durations import duration
from almoner.store.base import Store
from almoner.store.events import Event

__all__ = ["LIMIT", "OpenReserve", "oldest_open_decisions", "open_decisions"]

LIMIT = 1_000
"""Open decisions returned, at most, unless the caller says otherwise."""


@dataclass(frozen=True, kw_only=True)
class OpenReserve:
    """A decision that waits for its bill: its reserve, and when that expires, if it does."""

    id: int
    time: str
    context: str
    action: str
    reserved: float
    expires: str | None
    key: str | None


def open_decisions(
    store: Store,
    name: str,
    campaign: Campaign,
    *,
    first_id: int,
    now: int,
    older_than: Any = None,
    limit: Any = LIMIT,
) -> list[OpenReserve]:
    """Return the open decisions of a campaign, oldest first."""
    until = ANY_TIME if older_than is None else now - duration("older_than", older_than)
    limit = checks.whole("limit", limit, low=1)
    due = len(campaign.expiring.due(now))  # not in the log yet
    rows = store.unsettled(name, until=until, after=0, limit=limit + due)
    return _described(rows, campaign, first_id, now)[:limit]


def oldest_open_decisions(
    store: Store,
    name: str,
    campaign: Campaign,
    history: History,
    *,
    first_id: int,
    now: int,
    limit: int,
) -> list[OpenReserve]:
    """Return the oldest open decisions by a history, without a search through the log."""
    due = len(campaign.expiring.due(now))
    numbers = history.oldest_open.first(store, name, limit + due)
    with store.reading(name) as reader:
        rows = [event for seq in numbers for event in reader.events(seq - 1, 1)]
    return _described(rows, campaign, first_id, now)[:limit]


def _described(
    rows: Iterable[Event], campaign: Campaign, first_id: int, now: int
) -> list[OpenReserve]:
    """Return the decisions of events, but for those whose reserve has expired."""
    amount, expires = campaign.terms.unit.amount, campaign.expiring.deadlines()
    return [
        OpenReserve(
            id=event.seq + first_id,
            time=moment(event.at),
            context=event.context or "",
            action=event.action or "",
            reserved=amount(event.reserve or 0),
            expires=moment(expires[event.seq]) if event.seq in expires else None,
            key=event.key,
        )
        for event in rows
        if expires.get(event.seq, now + 1) > now
    ]
