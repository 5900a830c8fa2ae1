"""Incremental reader of a campaign's log for reports and pages, which takes no write lock."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from typing import TypeVar, cast

from almoner.concurrency.mutex import Mutex
from almoner.concurrency.process import Process
from almoner.live.reports.amendment_text import changes_in_words
from almoner.live.reports.final_report import FinalReport
from almoner.live.reports.history import History
from almoner.live.reports.make_final_report import make_final_report
from almoner.live.reports.make_report import make_report
from almoner.live.reports.open_decisions import OpenReserve, oldest_open_decisions
from almoner.live.reports.report import CurvePoint, Report
from almoner.live.state.campaign_state import Campaign
from almoner.live.terms.terms import Terms
from almoner.live.transactions.amendment import Changes, amended_terms
from almoner.live.transactions.catch_up import Replica
from almoner.live.transactions.new_events import has_lapsed, lapse, lapsed
from almoner.live.transactions.recent_events import RecentEvents
from almoner.store.base import Store
from almoner.store.events import Event

__all__ = ["Reporter"]

PAGE = 5_000
"""Events of a long log that are read at a time."""

Result = TypeVar("Result")


class Reporter:
    """Reads a campaign for reports and pages, and goes on from the event that it read last.

    It follows the log with a campaign and a history of its own, from the last snapshot on, in
    transactions that only read, so that no report makes a decision wait. Events of this process
    come from memory if possible.

    Parameters
    ----------
    store, name, terms
        The campaign.
    now
        Returns the time in microseconds since 1970.
    recent
        The events that this process commits to the log, if it does.
    """

    def __init__(
        self,
        store: Store,
        name: str,
        terms: Terms,
        now: Callable[[], int],
        recent: RecentEvents | None = None,
    ) -> None:
        self._store, self._name, self._terms, self._now = store, name, terms, now
        self._recent = recent or RecentEvents()
        self._process = Process()
        self._mutex = Mutex()
        self._replica = Replica(store, name, terms, History)

    def report(self) -> Report:
        """Return the report of the campaign after all events of its log."""
        return self._locked(self._report)

    def final_report(self) -> FinalReport:
        """Return the final report of the campaign after all events of its log."""
        return self._locked(self._final_report)

    def oldest_open(self, first_id: int, limit: int) -> list[OpenReserve]:
        """Return the oldest open decisions; ``first_id`` is that of the campaign."""

        def read() -> list[OpenReserve]:
            campaign, history = self._up_to_date()
            return oldest_open_decisions(
                self._store,
                self._name,
                campaign,
                history,
                first_id=first_id,
                now=self._now(),
                limit=limit,
            )

        return self._locked(read)

    def curve(self) -> list[CurvePoint]:
        """Return the curve of the campaign up to the latest arrival."""
        return self._locked(self._points)

    def preview(self, changes: Changes) -> tuple[list[str], Report, Report]:
        """Return a change of the terms in words, and the reports before and after it."""
        return self._locked(lambda: self._preview(changes))

    def _preview(self, changes: Changes) -> tuple[list[str], Report, Report]:
        now = self._now()
        campaign, history = self._as_of(now)
        terms = amended_terms(campaign, changes, now)

        def amended(terms: Terms) -> Report:
            """Return the report with terms; an amendment computes the pooled prior anew."""
            state = campaign.copy()
            state.amend(terms, now)
            return make_report(self._name, state, history, now)

        return changes_in_words(campaign.terms, terms), amended(campaign.terms), amended(terms)

    def lapses(self) -> dict[int, dict[str, Event]]:
        """Return by decision and kind the events of deadlines that have passed unrecorded."""
        now = self._now()
        events = self.view(lambda campaign: lapsed(campaign, now))
        lapses: dict[int, dict[str, Event]] = {}
        for event in events:
            lapses.setdefault(event.decision or 0, {})[event.kind] = event
        return lapses

    def view(self, read: Callable[[Campaign], Result]) -> Result:
        """Return the result of ``read`` on the campaign as its log has it now."""
        return self._locked(lambda: read(self._catch_up()))

    def _locked(self, use: Callable[[], Result]) -> Result:
        self._process.check()
        claim = self._mutex.acquire()
        try:
            return use()
        finally:
            self._replica.latest = []  # which may be many
            claim.release()

    def _report(self) -> Report:
        now = self._now()
        return make_report(self._name, *self._as_of(now), now)

    def _final_report(self) -> FinalReport:
        now = self._now()
        return make_final_report(self._name, *self._as_of(now), now)

    def _points(self) -> list[CurvePoint]:
        return self._up_to_date()[1].curve.points()

    def _as_of(self, now: int) -> tuple[Campaign, History]:
        """Return campaign and history as if the deadlines that have passed were recorded."""
        campaign, history = self._up_to_date()
        if not has_lapsed(campaign, now):
            return campaign, history
        campaign, history = campaign.copy(), deepcopy(history)
        history.apply(lapse(campaign, now))
        return campaign, history

    def _up_to_date(self) -> tuple[Campaign, History]:
        """Return campaign and history after the same event."""
        campaign = self._catch_up()
        return campaign, cast("History", self._replica.counts())

    def _catch_up(self) -> Campaign:
        """Return the campaign after all events of its log.

        Events that this process has committed are in memory; the others are read from the store. If
        the log was rewound meanwhile, it lacks the last of them, and `Replica` reads it anew.
        """
        self._replica.advance(self._recent.take())  # before a transaction, so that it sees them
        return self._replica.read(PAGE)
