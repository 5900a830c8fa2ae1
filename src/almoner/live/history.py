"""Counts and curve of a campaign so far: a second fold over its log, for reports."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from datetime import UTC, datetime

from almoner.live.ledger import Ledger, release, reserve, settle
from almoner.live.report import CurvePoint
from almoner.live.status import SkipReason
from almoner.live.terms import Terms
from almoner.store.events import CANCELLED, DECIDED, REWARDED, SETTLED, Event

__all__ = ["History"]

POINTS = 512
"""Points of a curve: at most these, and at least half as many once it had that many."""


class History:
    """Counters of the events of a campaign, and its curve.

    Attributes
    ----------
    tip
        The event that was folded last.
    arrivals, taken
        Arrivals by context, and actions taken by context and action.
    skips, skipped
        Skips by reason, and those of counted arrivals up to the horizon by context.
    idle
        Skips of counted arrivals since an action was last taken, by reason.
    rewarded, reward
        How many rewards have come, and their sum.
    rewards
        The same by context and action, that of a skip being None: as they came, whatever the
        policy made of them.
    uncharged
        The part of the bills that the budget could not bear, in whole units.
    """

    def __init__(self, terms: Terms) -> None:
        self.tip: Event | None = None
        self._amount = terms.unit.amount
        self._ledger = Ledger(budget=terms.budget)
        self.arrivals: Counter[str] = Counter()
        self.taken: Counter[tuple[str, str]] = Counter()
        self.skips: Counter[str] = Counter()
        self.skipped: Counter[str] = Counter()
        self.idle: Counter[str] = Counter()
        self.rewarded, self.reward, self.uncharged = 0, 0.0, 0
        self.rewards: dict[tuple[str, str | None], tuple[int, float]] = {}
        self._curve: list[CurvePoint] = []
        self._latest: tuple[Event, Ledger, float] | None = None
        self._stride = 1

    @property
    def seq(self) -> int:
        """How many events of the log are folded in."""
        return 0 if self.tip is None else self.tip.seq

    def apply(self, events: Iterable[Event]) -> None:
        """Fold in events of the log, in their order."""
        for event in events:
            kind, amount, cost = event.kind, event.reserve or 0, event.cost or 0
            if kind == DECIDED:
                if amount:
                    self._ledger = reserve(self._ledger, reserve=amount, cost=cost)
                self._count(event)
            elif kind == SETTLED:
                bill = event.bill or 0
                self._ledger, charged = settle(self._ledger, reserve=amount, cost=cost, bill=bill)
                self.uncharged += bill - charged
            elif kind == CANCELLED:
                self._ledger = release(self._ledger, reserve=amount, cost=cost)
                self.taken[event.context or "", event.action or ""] -= 1
            elif kind == REWARDED:
                self._add(event.context or "", event.action, event.reward or 0.0)
            self.tip = event

    def points(self) -> list[CurvePoint]:
        """Return the curve, evenly spaced in arrivals, and the latest arrival."""
        if self._latest is None:
            return []
        latest = self._point(*self._latest)
        return [*self._curve, latest] if self._curve[-1] != latest else [*self._curve]

    def _point(self, event: Event, ledger: Ledger, reward: float) -> CurvePoint:
        return CurvePoint(
            arrivals=(event.round or 0) + 1,
            at=datetime.fromtimestamp(event.at / 1e6, UTC).isoformat(),
            spent=self._amount(ledger.spent),
            reserved=self._amount(ledger.reserved),
            planned=self._amount(ledger.planned),
            reward=reward,
            price=event.price,
        )

    def _add(self, context: str, action: str | None, reward: float) -> None:
        self.rewarded += 1
        self.reward += reward
        count, total = self.rewards.get((context, action), (0, 0.0))
        self.rewards[context, action] = count + 1, total + reward

    def _count(self, event: Event) -> None:
        context, reason = event.context or "", event.reason or ""
        if event.action is None:
            self.skips[reason] += 1
        else:
            self.taken[context, event.action] += 1
            self.idle.clear()
        if event.round is None:
            return
        if event.action is None:
            self.idle[reason] += 1
            self.skipped[context] += reason != SkipReason.HORIZON
        self.arrivals[context] += 1
        self._latest = event, self._ledger, self.reward
        if event.round % self._stride == 0:
            self._curve.append(self._point(*self._latest))
            if len(self._curve) >= POINTS:
                self._stride *= 2
                self._curve = self._curve[::2]
