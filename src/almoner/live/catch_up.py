"""Catch up with a log that other processes write too.

What a campaign is behind by is folded inside the transaction that needs it, if it is little. If it
is much, it is streamed and folded beside any transaction, so that nobody has to wait, and only
what was written meanwhile is left for the transaction. That still has to hold the event that was
folded last: a server that was restored may have forgotten what it had confirmed, and then nothing
that was folded from it is true.
"""

from __future__ import annotations

import logging
from itertools import islice

from almoner.errors import StoreError
from almoner.live.campaign import Campaign
from almoner.live.snapshot import read_snapshot, write_snapshot
from almoner.live.terms import Terms
from almoner.store.base import Reader, Store
from almoner.store.events import Event

__all__ = ["CATCH_UP", "Follower"]

CATCH_UP = 1_000
"""Events to fold while a transaction keeps others waiting; more are folded before it."""

log = logging.getLogger("almoner")


class Follower:
    """A campaign as this process knows it.

    Attributes
    ----------
    campaign
        Folded from the log up to some event; None if it has to be read anew.
    tip
        The event that was folded last.
    saved
        After which event the last known snapshot was taken.
    """

    def __init__(self, store: Store, name: str, terms: Terms) -> None:
        self._store, self._name, self._terms = store, name, terms
        self.campaign: Campaign | None = None
        self.tip: Event | None = None
        self.saved = 0

    def catch_up(self, reader: Reader, limit: int) -> Campaign | None:
        """Return the campaign as the log has it now; None if it is too far behind, see `fold`.

        It is forgotten here until the caller has committed, should anything go wrong.
        """
        campaign, self.campaign = self.campaign, None
        if campaign is not None:
            tail = _tail(reader, campaign, limit)
            if campaign.seq and (not tail or tail[0] != self.tip):
                log.warning("campaign %r: the log was rewound; it is read anew", self._name)
                campaign = None
        if campaign is None:
            campaign = self._read(reader)
            tail = _tail(reader, campaign, limit)
        if len(tail) > limit:
            self.campaign, self.tip = campaign, tail[0]
            return None
        if tail:
            self.tip = tail[-1]
        if len(tail) > 1 or (tail and not campaign.seq):
            campaign.apply(tail[1:] if campaign.seq else tail)
        return campaign

    def fold(self) -> None:
        """Fold the log as far as it is now, beside any transaction, a chunk at a time."""
        campaign, self.campaign = self.campaign, None
        if campaign is None:
            return
        events = self._store.events(self._name, max(0, campaign.seq - 1))
        if campaign.seq and next(events, None) != self.tip:
            return  # rewound just now
        while part := [*islice(events, CATCH_UP)]:
            campaign.apply(part)
            self.tip = part[-1]
        self.campaign = campaign

    def keep_snapshot(self, *, every: int) -> None:
        """Keep a snapshot of what was folded, if ``every`` events or more have none."""
        campaign = self.campaign
        if campaign is None or campaign.seq - self.saved < every:
            return
        snapshot = write_snapshot(campaign)
        try:
            with self._store.writing(self._name) as writer:
                if writer.events(campaign.seq - 1, 1) == [self.tip]:
                    writer.save_snapshot(snapshot)
                    self.saved = campaign.seq
        except StoreError as reason:  # as where a store may only be read: it saves time, no more
            log.debug("campaign %r: no snapshot is kept: %s", self._name, reason)

    def _read(self, reader: Reader) -> Campaign:
        """Return the campaign as it was at its snapshot, or before its first event."""
        campaign = Campaign(self._terms)
        saved = read_snapshot(campaign, reader.snapshot())
        if saved and not _tail(reader, campaign, 0):
            log.warning(
                "campaign %r: events are missing, as the log ends before event %d, at which a "
                "snapshot was taken; almoner ledger verify says more",
                self._name,
                campaign.seq,
            )
            saved = False
        if not saved:
            campaign = Campaign(self._terms)
        campaign.warm_up()
        self.saved = campaign.seq
        return campaign


def _tail(reader: Reader, campaign: Campaign, limit: int) -> list[Event]:
    """Return the event of the log that was folded last, if any, and those after it.

    If there are more than ``limit``, one more is returned.
    """
    return reader.events(campaign.seq - 1 if campaign.seq else 0, limit + 1)
