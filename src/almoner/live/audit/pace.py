"""Caps of a campaign's pace, checked from its log; no code is shared with the campaign."""

from __future__ import annotations

from array import array
from collections import Counter
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from math import inf
from zoneinfo import ZoneInfo

from almoner.live.audit.own_costs import own_costs, present_offers
from almoner.live.terms.terms import Terms
from almoner.live.times.closing_time import ClosingTime
from almoner.store.events import CANCELLED, DECIDED, EXPIRED, SETTLED, Event

__all__ = ["SLACK", "AuditedPace"]

SLACK = 1e-9
"""Share of the budget by which a limit in floating-point numbers may be off: a rounding error."""


class AuditedPace:
    """Money used by the decisions of each calendar period, and the spend against its line."""

    def __init__(self, terms: Terms) -> None:
        self.terms = terms
        pace = terms.pace
        self._even = pace == "even"
        self._caps = pace["caps"] if isinstance(pace, dict) else {}
        self.is_needed = self._even or bool(self._caps)
        name = pace["zone"] if isinstance(pace, dict) else "UTC"
        self._zone = UTC if name == "UTC" else ZoneInfo(name)
        self._used: Counter[tuple[str, str]] = Counter()
        self._at = array("q", [0])  # by event: the time of a decision
        self._taken = self._expected = 0

    def room(self, event: Event) -> tuple[float, float]:
        """Return the largest reserve that fits the caps at a decision, and the cost below the line.

        Both are as before the decision; the default is exempt from the line, and what needs no
        reserve from caps that bills have exceeded.
        """
        keys = ((period, self._label(period, event.at)) for period in self._caps)
        room = min((max(0, self._caps[key[0]] - self._used[key]) for key in keys), default=inf)
        return room, self._most(event) - self._expected if self._even else inf

    def check(self, event: Event, taken: int) -> str | None:
        """Return what is wrong with an event, after which ``taken`` is spent or reserved."""
        change, self._taken = taken - self._taken, taken
        self._at.append(event.at)
        if self._even:
            return self._check_line(event, change)
        if event.kind == DECIDED:
            return self._check_caps(event)
        if event.decision is not None:
            for period in self._caps:
                self._used[period, self._label(period, self._at[event.decision])] += change
        return None

    def _check_caps(self, event: Event) -> str | None:
        for period, cap in self._caps.items():
            key = period, self._label(period, event.at)
            self._used[key] += event.reserve or 0
            if event.reserve and self._used[key] > cap:
                return (
                    f"exceeds the cap of {cap} for the {period} {key[1]} by {self._used[key] - cap}"
                )
        return None

    def _check_line(self, event: Event, change: int) -> str | None:
        """Check that an action dearer than the default keeps the expected spend below the line."""
        cost, terms = event.cost or 0, self.terms
        if event.kind == DECIDED:
            self._expected += cost
        elif event.kind in (SETTLED, CANCELLED, EXPIRED):
            late = event.kind == SETTLED and event.reason is not None
            self._expected += change if late else change + (event.reserve or 0) - cost
        if event.kind != DECIDED or not cost or self._is_served(event):
            return None
        most = self._most(event)
        if self._expected > most + SLACK * terms.budget:
            return f"brings the expected spend to {self._expected}, above {most:.0f}, its line"
        return None

    def _most(self, event: Event) -> float:
        """Return the expected spend that the line allows after a decision."""
        return max(1.2 * self._share(event), 0.01) * self.terms.budget

    def _is_served(self, event: Event) -> bool:
        terms = self.terms
        if terms.default is None or event.reserve is None:
            return False
        own = own_costs(event.detail, terms)
        cost, reserve = present_offers(terms, event.context or "", own)[terms.default]
        return event.reserve <= reserve and (event.cost or 0) <= cost

    def _share(self, event: Event) -> float:
        """Return the share of the campaign that has passed, by arrivals or by the forecast."""
        horizon = self.terms.horizon
        if not isinstance(horizon, ClosingTime):
            return ((event.round or 0) + 1) / horizon
        points = [(horizon.opens or horizon.at, 0.0), *horizon.profile, (horizon.at, 1.0)]
        now, share = event.at / 1e6, 0.0
        for (start, low), (end, high) in pairwise(points):
            first, last = start.timestamp(), end.timestamp()
            if now > first:
                share = low + (high - low) * min(1.0, (now - first) / (last - first))
        return share

    def _label(self, period: str, at: int) -> str:
        """Return the name of a period on the calendar."""
        local = (datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=at)).astimezone(
            self._zone
        )
        if period == "hour":
            return local.strftime("%Y-%m-%d %H %z")
        return local.strftime("%Y-%m-%d" if period == "day" else "%G-W%V")
