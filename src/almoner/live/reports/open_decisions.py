"""Open decisions: actions whose reserve is neither settled nor cancelled nor expired."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from almoner import checks
from almoner.live.reports.curve import moment
from almoner.live.state.campaign_state import Campaign
from almoner.live.times.durations import duration
from almoner.store.base import Store

__all__ = ["LIMIT", "OpenReserve", "open_decisions"]

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
    age = 0 if older_than is None else duration("older_than", older_than)
    limit = checks.whole("limit", limit, low=1)
    amount, expires = campaign.terms.unit.amount, campaign.expiring.deadlines()
    rows = store.unsettled(name, until=now - age, after=0, limit=limit)
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
