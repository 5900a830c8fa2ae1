"""History: counts and a curve of a campaign so far, as another fold over its log."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from almoner.live.decision import HORIZON
from almoner.live.ledger import Ledger, hold, release, settle
from almoner.store.events import CANCELLED, DECIDED, REWARDED, SETTLED, Event

__all__ = ["History", "Point"]

POINTS = 512
"""A curve has no more points than these, and at least half as many once it had that many."""


class Point(NamedTuple):
    """The campaign after an arrival; money in whole units, time in microseconds since 1970.

    ``planned`` is what the actions that hold ``reserved`` are expected to cost.
    """

    arrivals: int
    at: int
    spent: int
    reserved: int
    planned: int
    reward: float
    price: float | None


class History:
    """What has happened in a campaign, counted.

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
    uncharged
        What of the bills the budget could not bear, in whole units.
    rewards
        The same by context and action, that of a skip being None: as they came, whatever the
        policy made of them.
    curve
        Points along the way, evenly spaced in arrivals.
    """

    def __init__(self, budget: int) -> None:
        self.tip: Event | None = None
        self.ledger = Ledger(budget=budget)
        self.arrivals: Counter[str] = Counter()
        self.taken: Counter[tuple[str, str]] = Counter()
        self.skips: Counter[str] = Counter()
        self.skipped: Counter[str] = Counter()
        self.idle: Counter[str] = Counter()
        self.rewarded, self.reward, self.uncharged = 0, 0.0, 0
        self.rewards: dict[tuple[str, str | None], tuple[int, float]] = {}
        self.curve: list[Point] = []
        self.latest: Point | None = None
        self._stride = 1

    @property
    def seq(self) -> int:
        """How many events of the log are folded in."""
        return 0 if self.tip is None else self.tip.seq

    def apply(self, events: Iterable[Event]) -> None:
        """Fold in events of the log, in their order."""
        for event in events:
            self.tip = event
            held = {"reserve": event.reserve or 0, "cost": event.cost or 0}
            if event.kind == DECIDED:
                self.ledger = hold(self.ledger, **held)
                self._count(event)
            elif event.kind == SETTLED:
                bill = event.bill or 0
                self.ledger, charged = settle(self.ledger, **held, bill=bill)
                self.uncharged += bill - charged
            elif event.kind == CANCELLED:
                self.ledger = release(self.ledger, **held)
                self.taken[event.context or "", event.action or ""] -= 1
            elif event.kind == REWARDED:
                self._add(event.context or "", event.action, event.reward or 0.0)

    def points(self) -> list[Point]:
        """Return the curve up to the latest arrival."""
        if self.latest is None or (self.curve and self.curve[-1] == self.latest):
            return list(self.curve)
        return [*self.curve, self.latest]

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
            self.skipped[context] += reason != HORIZON
        self.arrivals[context] += 1
        _, spent, reserved, planned = self.ledger
        self.latest = Point(
            event.round + 1, event.at, spent, reserved, planned, self.reward, event.price
        )
        if event.round % self._stride == 0:
            self.curve.append(self.latest)
        if len(self.curve) >= POINTS:
            self._stride *= 2
            self.curve = self.curve[::2]
