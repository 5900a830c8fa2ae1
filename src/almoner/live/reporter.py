"""Incremental reader of a campaign's log for reports and pages, which takes no write lock."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from almoner.concurrency.mutex import Mutex, release
from almoner.concurrency.process import Process
from almoner.live.campaign_state import Campaign
from almoner.live.catch_up import Replica
from almoner.live.history import History
from almoner.live.make_report import make_report
from almoner.live.report import CurvePoint, Report
from almoner.live.terms import Terms
from almoner.store.base import ALL, Reader, Store
from almoner.store.events import Event

__all__ = ["Reporter"]

PAGE = 5_000
"""Events of a long log that are read at a time."""

Result = TypeVar("Result")


class Reporter:
    """Reads a campaign for reports and pages, and goes on from the event that it read last.

    It follows the log with a campaign and a history of its own, in transactions that only read, so
    that no report makes a decision wait.

    Parameters
    ----------
    store, name, terms
        The campaign.
    now
        Returns the time in microseconds since 1970.
    """

    def __init__(self, store: Store, name: str, terms: Terms, now: Callable[[], int]) -> None:
        self._store, self._name, self._terms, self._now = store, name, terms, now
        self._process = Process()
        self._mutex = Mutex()
        self._replica = Replica(store, name, terms)
        self._history = History(terms)

    def report(self) -> Report:
        """Return the report of the campaign after all events of its log."""
        return self._locked(self._report)

    def curve(self) -> list[CurvePoint]:
        """Return the curve of the campaign up to the latest arrival."""
        return self._locked(self._points)

    def view(self, read: Callable[[Campaign], Result]) -> Result:
        """Return the result of ``read`` on the campaign as its log has it now."""
        return self._locked(lambda: read(self._catch_up()[0]))

    def _locked(self, use: Callable[[], Result]) -> Result:
        self._process.check()
        claim = self._mutex.acquire()
        try:
            return use()
        finally:
            release(claim)

    def _report(self) -> Report:
        campaign, history = self._up_to_date()
        return make_report(self._name, campaign, history, self._now())

    def _points(self) -> list[CurvePoint]:
        return self._up_to_date()[1].points()

    def _up_to_date(self) -> tuple[Campaign, History]:
        """Return campaign and history after the same event."""
        while True:
            campaign, tail = self._catch_up()
            if self._follow(tail[-1] if tail else None, tail):
                return campaign, self._history
            self._history = History(self._terms)  # the log was rewound

    def _catch_up(self) -> tuple[Campaign, list[Event]]:
        """Return the campaign after all events of its log, and the last of them as they were read.

        There is at least one unless the log is empty.
        """
        replica, limit = self._replica, PAGE
        while True:
            with self._store.reading(self._name) as reader:
                keeper = _Keeper(reader)
                campaign = replica.catch_up(keeper, limit)
            if campaign is not None:
                replica.campaign = campaign
                return campaign, keeper.events_read
            replica.fold()
            limit *= 8  # others cannot write faster than this for ever

    def _follow(self, tip: Event | None, tail: list[Event]) -> bool:
        """Fold the log up to an event into the history; return whether they are of one log."""
        last = 0 if tip is None else tip.seq
        while (seq := self._history.seq) < last:
            overlap = min(seq, 1)  # the event folded last must still be there
            page = tail[seq - overlap - last :]
            if len(page) < last - seq + overlap:
                with self._store.reading(self._name) as reader:
                    page = reader.events(seq - overlap, min(PAGE, last - seq) + overlap)
            if len(page) <= overlap or (overlap and page[0] != self._history.tip):
                return False
            # Out of place until the page is folded: an interrupt must not count events twice.
            history, self._history = self._history, History(self._terms)
            history.apply(page[overlap:])
            self._history = history
        return self._history.tip == tip


class _Keeper:
    """A reader that keeps the events read last, so that they need not be read a second time."""

    def __init__(self, reader: Reader) -> None:
        self._reader, self.snapshot = reader, reader.snapshot
        self.events_read: list[Event] = []

    def events(self, after: int, limit: int = ALL) -> list[Event]:
        self.events_read = self._reader.events(after, limit)
        return self.events_read
