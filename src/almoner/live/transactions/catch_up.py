"""Catch up with a log that other processes write too, and run transactions on it.

A process keeps the campaign folded up to some event. Each transaction first folds the events that
others have appended since. If they are few, it folds them inside the transaction. If they are many,
it streams and folds them outside any transaction, so that other writers do not wait, and only the
events written meanwhile are left for the transaction.

The log must still contain the event that was folded last. A database restored from a backup may
lack events that it had confirmed; the campaign is then read anew.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from itertools import islice
from typing import Any, Generic, TypeVar

from almoner.errors import StoreError
from almoner.live.state.campaign_state import Campaign
from almoner.live.state.snapshot import Counts, read_snapshot, write_snapshot
from almoner.live.terms.terms import Terms
from almoner.live.transactions.decision_ids import DecisionIds
from almoner.live.transactions.recent_events import RecentEvents, rows_after
from almoner.live.transactions.transaction import Command, execute
from almoner.store.base import Reader, Store, Writer
from almoner.store.events import Event, EventRow

__all__ = ["CATCH_UP", "SNAPSHOT_EVERY", "Replica", "TransactionRunner", "closed"]

CATCH_UP = 1_000
"""Events to fold inside a transaction, while other writers wait; more are folded before it."""

SNAPSHOT_EVERY = 5_000
"""Events between two snapshots: opening a campaign folds no more than these.

If more decisions than these wait for deadlines, which a snapshot lists, it is as many events as
decisions: so that a snapshot takes no more time per event.
"""

OPENING = 1_000
"""The same for a process that opens a campaign: the next one to open it folds fewer."""

BATCH = 1_000
"""Events to count at once, which takes less time for each."""

log = logging.getLogger("almoner")

Counted = TypeVar("Counted", bound=Counts)


class Replica(Generic[Counted]):
    """The campaign as folded by this process, and the counts of its events that reports need.

    ``new_counts`` returns counts of no events yet; without it, none are kept. They are folded after
    the campaign, in batches, and an interrupt of either makes both be read anew.

    Attributes
    ----------
    campaign
        Folded from the log up to some event; None if it has to be read anew.
    tip
        The event that was folded last.
    saved
        The ``seq`` of the last known snapshot.
    latest
        The events of the last transaction: the one folded last before it, if any, all that it has
        read after that one, and all that it has appended.
    """

    def __init__(
        self,
        store: Store,
        name: str,
        terms: Terms,
        new_counts: Callable[[Terms], Counted] | None = None,
    ) -> None:
        self._store, self._name, self.terms = store, name, terms
        self._new_counts = new_counts
        self._counts: Counted | None = None
        self._uncounted: list[EventRow] = []
        self.campaign: Campaign | None = None
        self.tip: Event | None = None
        self.saved = 0
        self.latest: list[Event] = []

    def catch_up(self, reader: Reader, limit: int) -> Campaign | None:
        """Return the campaign after all events of the log; None if that takes too many of them.

        That is more than ``limit``, counting the one folded last, if any. ``self.campaign`` is None
        until the caller has committed, in case anything fails.
        """
        campaign, self.campaign = self._intact(), None
        if campaign is not None:
            seq = campaign.seq
            tail = reader.events(seq - 1 if seq else 0, limit + 1)
            # Compared by identity first: a tuple compares all its items, those of equal ones too.
            if seq and (not tail or (tail[0] is not self.tip and tail[0] != self.tip)):
                log.warning("campaign %r: the log was rewound; it is read anew", self._name)
                campaign = None
        if campaign is None:
            campaign = self._read(reader)
            tail = _tail(reader, campaign, limit)
        if len(tail) > limit:
            self.campaign, self.tip = campaign, tail[0]
            return None
        self.latest, self.tip = tail, tail[-1] if tail else None
        if len(tail) > 1 or (tail and not campaign.seq):
            following = tail[1:] if campaign.seq else tail
            campaign.apply(following)
            self._note(following)
        return campaign

    def advance(self, rows: Sequence[EventRow]) -> None:
        """Fold consecutive committed events, from the first that is not folded yet."""
        following = rows_after(self.tip, rows)
        campaign, self.campaign = self._intact(), None
        if campaign is not None and following:
            campaign.apply(following)
            self._note(following)
            self.tip = Event._make(following[-1])
        self.campaign = campaign

    def read(self, limit: int) -> Campaign:
        """Return the campaign after all events of the log, in transactions that only read.

        Up to ``limit`` events are folded inside one of them; it grows, as others go on writing.
        """
        while True:
            with self._store.reading(self._name) as reader:
                campaign = self.catch_up(reader, limit)
            if campaign is not None:
                self.campaign = campaign
                return campaign
            self.fold()
            limit *= 8  # others cannot write faster than this for ever

    def fold(self) -> None:
        """Fold the log up to its present end outside any transaction, a chunk at a time."""
        campaign, self.campaign = self.campaign, None
        if campaign is None:
            return
        events = self._store.events(self._name, max(0, campaign.seq - 1))
        try:
            if campaign.seq and next(events, None) != self.tip:
                return  # the log was rewound just now
            while chunk := [*islice(events, CATCH_UP)]:
                campaign.apply(chunk)
                self._note(chunk)
                self.tip = chunk[-1]
        finally:
            del events  # its connection is closed with it; the traceback of an error would keep it
        self.campaign = campaign

    def keep_snapshot(self, every: int) -> None:
        """Save a snapshot of the folded campaign, if at least ``every`` events have none."""
        campaign = self.campaign
        if campaign is None or not self._snapshot_is_due(campaign, every):
            return
        snapshot = write_snapshot(campaign, self.counts())
        try:
            with self._store.writing(self._name) as writer:
                if writer.events(campaign.seq - 1, 1) == [self.tip]:
                    writer.save_snapshot(snapshot)
                    self.saved = campaign.seq
        except StoreError as reason:  # as for a read-only store: a snapshot only saves time
            log.debug("campaign %r: no snapshot is kept: %s", self._name, reason)

    def append(self, writer: Writer, campaign: Campaign, events: list[Event]) -> None:
        """Append events to the log, and a snapshot if one is due."""
        self.tip = events[-1]
        self.latest += events
        if self._new_counts is not None:  # not so in memory, and a call takes longer
            self._note(events)
        writer.append(events)
        every = SNAPSHOT_EVERY
        if campaign.seq - self.saved >= every and self._snapshot_is_due(campaign, every):
            writer.save_snapshot(write_snapshot(campaign, self.counts()))
            self.saved = campaign.seq

    def _snapshot_is_due(self, campaign: Campaign, every: int) -> bool:
        """Return whether enough events have no snapshot yet."""
        events = campaign.seq - self.saved
        if events < every:
            return False
        waiting = 0 if self._counts is None else self._counts.waiting
        return events >= campaign.deadlines + waiting

    def counts(self) -> Counted | None:
        """Return the counts of all events folded into the campaign."""
        counts, uncounted = self._counts, self._uncounted
        if counts is not None and uncounted:
            self._counts = None  # in case of an interrupt, so that no event counts twice
            counts.apply(uncounted)
            self._uncounted, self._counts = [], counts
        return self._counts

    def _note(self, events: Sequence[EventRow]) -> None:
        """Count events that were folded into the campaign, or keep them to be counted soon."""
        if self._new_counts is not None:
            self._uncounted += events
            if len(self._uncounted) >= BATCH:
                self.counts()

    def _read(self, reader: Reader) -> Campaign:
        """Return the campaign of the last snapshot, or without any event."""
        campaign, counts = self._new()
        saved = read_snapshot(campaign, reader.snapshot(), counts)
        if counts is not None and counts.seq < campaign.seq:  # of a version without counts
            saved = False
        if saved and not _tail(reader, campaign, 0):
            log.warning(
                "campaign %r: events are missing, as the log ends before event %d, at which a "
                "snapshot was taken; almoner ledger verify says more",
                self._name,
                campaign.seq,
            )
            saved = False
        if not saved:
            campaign, counts = self._new()
        campaign.warm_up()
        self.saved = campaign.seq
        self._counts, self._uncounted = counts, []
        return campaign

    def _intact(self) -> Campaign | None:
        """Return the campaign, unless an interrupt has made the counts unusable."""
        return None if self._counts is None and self._new_counts is not None else self.campaign

    def _new(self) -> tuple[Campaign, Counted | None]:
        """Return a campaign and counts of no events."""
        counts = None if self._new_counts is None else self._new_counts(self.terms)
        return Campaign(self.terms), counts


class TransactionRunner:
    """Runs commands in transactions on the up-to-date campaign, until it is ``closed``.

    Committed events are added to ``recent``; ``ids`` are those of the campaign's decisions. For
    ``new_counts`` see `Replica`.
    """

    def __init__(
        self,
        store: Store,
        name: str,
        terms: Terms,
        *,
        clock: Callable[[], float],
        recent: RecentEvents,
        new_counts: Callable[[Terms], Counts] | None = None,
    ) -> None:
        self._store, self._name, self._clock, self._recent = store, name, clock, recent
        self._replica = Replica(store, name, terms, new_counts)
        self.ids = DecisionIds(store, name)
        self.closed = False
        self._weighs_own_costs = False

    def now(self) -> int:
        """Return the time in microseconds since 1970."""
        return int(self._clock() * 1e6)

    def read_log(self) -> None:
        """Fold the log before the first transaction; the right to read is enough."""
        self._replica.read(CATCH_UP)
        self._replica.keep_snapshot(min(OPENING, SNAPSHOT_EVERY))

    def run(self, callers: Sequence[Sequence[Command]]) -> list[Any]:
        """Run the commands of several callers in one transaction; one thread at a time calls it.

        Returns a list of answers or an error for each caller.
        """
        if self.closed:
            raise closed(self._name)
        replica, limit = self._replica, CATCH_UP
        if not self._weighs_own_costs:
            self._warm_up_own_costs(callers)
        while True:
            with self._store.writing(self._name) as writer:
                campaign = replica.catch_up(writer, limit)
                if campaign is not None:
                    answers, added = execute(callers, campaign, writer, self.now(), self.ids)
                    if added:
                        replica.append(writer, campaign, added)
                    break
            replica.fold()
            replica.keep_snapshot(SNAPSHOT_EVERY)
            limit *= 8  # others cannot write faster than this for ever
        replica.campaign = campaign
        if self._recent.buffer is not None:  # seldom, and a call takes longer
            self._recent.extend(replica.latest)
        return answers

    def _warm_up_own_costs(self, callers: Sequence[Sequence[Command]]) -> None:
        """Compile the kernel for costs of arrivals' own before the first of them.

        Outside any transaction, as it may take seconds; campaigns without such costs never need it.
        """
        for commands in callers:
            for command in commands:
                if command.costs is not None:
                    Campaign(self._replica.terms).policy.warm_up_own_costs()
                    self._weighs_own_costs = True
                    return


def closed(name: str) -> StoreError:
    """Return the error of calls to an agent that was closed."""
    return StoreError(f"the agent of campaign {name!r} is closed; open it again")


def _tail(reader: Reader, campaign: Campaign, limit: int) -> list[Event]:
    """Return up to ``limit`` + 1 events, the first of them the one folded last, if any."""
    return reader.events(campaign.seq - 1 if campaign.seq else 0, limit + 1)
