"""Campaign: where a live campaign stands, as a fold over its log. No I/O, no clock, no locks.

It has a `LivePolicy` decide, and keeps the ledger beside it: policies plan with what actions are
expected to cost, and only what can be reserved is admitted.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from almoner import checks
from almoner.closing import Attendance, ClosingTime
from almoner.core.live import BOOKED, LEARNED, SYNCED, WITHDRAWN
from almoner.core.state import State
from almoner.core.steps import SKIP
from almoner.decision import BUDGET, HORIZON, POLICY, UNAVAILABLE
from almoner.errors import BrokenLedger
from almoner.events import (
    CANCELLED,
    CLOSED,
    DECIDED,
    PAUSED,
    RESUMED,
    REWARDED,
    SETTLED,
    Event,
)
from almoner.ledger import Ledger, hold, release, settle
from almoner.live_policy import LivePolicy, Mask, Row
from almoner.money import LARGEST
from almoner.terms import NAME_LIMIT, PAIRS_LIMIT, Terms, is_name

__all__ = ["RUNNING", "Campaign"]

RUNNING = "running"
"""What a campaign is when it is neither paused nor closed."""

_STATUS = {PAUSED: PAUSED, RESUMED: RUNNING, CLOSED: CLOSED}


class Campaign:
    """Terms, and everything that has followed from them so far.

    Attributes
    ----------
    terms, seq
        What was agreed, and how many events of the log are folded in.
    ledger, policy
        The money, and the policy with what it has learned.
    contexts
        The contexts by name, with their rows in the state.
    status
        ``"running"``, ``"paused"`` or ``"closed"``.
    overrun
        By how much bills have exceeded their reserves, in units.
    attendance
        What of the arrivals says nothing of a closing time's forecast.
    """

    def __init__(self, terms: Terms) -> None:
        self.terms = terms
        self.seq = 0
        self.ledger = Ledger(budget=terms.budget)
        self.status = RUNNING
        self.overrun = 0
        self.attendance = Attendance()
        self.actions = {name: place for place, name in enumerate(terms.actions)}
        self._names = terms.actions
        self.policy = LivePolicy(terms)
        self._admit(terms.contexts)

    def warm_up(self) -> None:
        """Get the kernels ready: from the disk, or compiled, which takes seconds."""
        self.policy.warm_up()

    @property
    def state(self) -> State:
        """What the policy has learned."""
        return self.policy.state

    def decide(
        self, context: str, *, available: Sequence[str] | None, key: str | None, now: int
    ) -> Event:
        """Decide for a context that has arrived, `known` to be allowed; return what to log."""
        if context not in self.contexts:
            self._add(context)
        place = self.contexts[context]
        action, probability, price, reason, counted = SKIP, 1.0, math.nan, self.status, None
        if self.status == RUNNING:
            counted = self.arrivals
            self._attend(now)
            mask, horizon = self._mask(place, available), self._horizon_at(now)
            action, probability, price = self.policy.choose(place, mask, horizon=horizon)
            if action == SKIP:
                reason = self._reason(place, available, mask, horizon)
        cost = reserve = None
        if action != SKIP:
            cost, reserve = self._costs[place][action], self._reserves[place][action]
            self.ledger = hold(self.ledger, reserve=reserve, cost=cost)
        self.seq += 1
        names = None if available is None else json.dumps(list(available))
        skipped = action == SKIP
        return Event._make(  # with the names of the fields it would take three times as long
            (
                self.seq,
                DECIDED,
                now,
                self.ledger.left,
                self.seq,
                counted,
                context,
                None if skipped else self._names[action],
                cost,
                reserve,
                probability,
                None if math.isnan(price) else price,
                reason if skipped else None,
                key,
                names,
                None,
                None,
                None,
            )
        )

    def follow_up(self, kind: str, decided: Event, *, now: int, **values: Any) -> Event:
        """Fold in what became of a decision (settled, rewarded, cancelled); return what to log."""
        event = Event(
            seq=self.seq + 1,
            kind=kind,
            at=now,
            left=self.ledger.left,
            decision=decided.seq,
            round=decided.round,
            context=decided.context,
            action=decided.action,
            cost=decided.cost,
            reserve=decided.reserve,
            **values,
        )
        self._fold([event])
        if kind == REWARDED:
            return event
        charged = self._charged if kind == SETTLED else None
        return event._replace(left=self.ledger.left, charged=charged)

    def switch(self, kind: str, *, now: int) -> Event:
        """Fold in that the campaign was paused, resumed or closed; return what to log."""
        event = Event(seq=self.seq + 1, kind=kind, at=now, left=self.ledger.left)
        self._fold([event])
        return event

    def apply(self, events: Iterable[Event]) -> None:
        """Fold in events of the log, in their order; refuse what no campaign could have written."""
        try:
            self._fold(self._compared(events))
        except (KeyError, TypeError, ValueError, BrokenLedger) as reason:
            raise BrokenLedger(
                f"the log cannot be read beyond event {self.seq}: {reason}; "
                "almoner ledger verify says what is wrong with it"
            ) from reason

    def known(self, context: object) -> str:
        """Return a context that may arrive here; refuse one that may not."""
        if isinstance(context, str) and context in self.contexts:
            return context
        if not self.terms.new_contexts:
            return checks.choice("context", context, self.contexts)
        if not is_name(context):
            raise checks.refuse("context", f"be a name of 1 to {NAME_LIMIT} characters", context)
        if len(self.contexts) * len(self.actions) >= PAIRS_LIMIT:
            rule = f"be one of the {len(self.contexts):,} so far, as there is room for no more"
            raise checks.refuse("context", rule, context)
        return str(context)

    def known_actions(self, available: Any) -> list[str] | None:
        """Return the actions that a request allows, checked; None for all."""
        if available is None:
            return None
        if isinstance(available, str) or not isinstance(available, Iterable):
            raise checks.refuse("available", "be a list of actions", available)
        return [checks.choice("an available action", name, self.actions) for name in available]

    @property
    def arrivals(self) -> int:
        """How many arrivals were counted so far."""
        return self.policy.arrivals

    def arrivals_left(self, now: int) -> float:
        """Return how many arrivals are still to come, by the horizon or the forecast."""
        seen, horizon = self.arrivals, self.terms.horizon
        if not isinstance(horizon, ClosingTime):
            return max(0, horizon - seen)
        seconds = now / 1e6
        if seconds >= horizon.at.timestamp():
            return 0.0
        return horizon.arrivals_left(seconds, seen=seen, attendance=self.attendance)

    def to_dict(self) -> dict[str, Any]:
        """Return all that a snapshot needs, as plain values."""
        return {
            "seq": self.seq,
            "status": self.status,
            "overrun": self.overrun,
            "attendance": list(self.attendance),
            "ledger": list(self.ledger),
            "contexts": list(self.contexts),
            "state": self.policy.to_dict(),
        }

    def restore(self, table: dict[str, Any]) -> None:
        """Go to where `to_dict` was called."""
        contexts = tuple(table["contexts"])
        self._admit(contexts)
        self.policy.lay_out(contexts)
        self.policy.restore(table["state"])
        self.ledger = Ledger(*table["ledger"])
        self.attendance = Attendance(*table["attendance"])
        self.seq, self.status, self.overrun = table["seq"], table["status"], table["overrun"]

    def _admit(self, contexts: tuple[str, ...]) -> None:
        """Look up what actions cost in these contexts."""
        self.contexts = {name: place for place, name in enumerate(contexts)}
        self._costs = [self.terms.costs_in(name) for name in contexts]
        self._reserves = [self.terms.reserves_in(name) for name in contexts]
        self._hedged = self._costs != self._reserves

    def _add(self, context: str) -> None:
        contexts = (*self.contexts, context)
        self._admit(contexts)
        self.policy.lay_out(contexts)

    def _horizon_at(self, now: int) -> int:
        """Return how many arrivals there will have been in all: with a closing time, a forecast."""
        horizon = self.terms.horizon
        if not isinstance(horizon, ClosingTime):
            return horizon
        if now / 1e6 >= horizon.at.timestamp():
            return self.arrivals
        return self.arrivals + 1 + round(min(self.arrivals_left(now), LARGEST))

    def _mask(self, place: int, available: Sequence[str] | None) -> Mask:
        """Return which actions the request and the money left for reserves allow."""
        if available is None and not self._hedged:
            return self.policy.everything
        mask = self.policy.everything.copy()
        if available is not None:
            mask[:] = False
            mask[[self.actions[name] for name in available]] = True
        if self._hedged:
            mask &= np.array(self._reserves[place]) <= self.ledger.left
        return mask

    def _reason(self, place: int, available: Sequence[str] | None, mask: Mask, horizon: int) -> str:
        """Return why a skip, if it is one."""
        if self.arrivals > horizon:
            return HORIZON
        if available is not None and not available:
            return UNAVAILABLE
        return POLICY if self.policy.affords(place, mask) else BUDGET

    def _fold(self, events: Iterable[Event]) -> None:
        rows: list[Row] = []
        rewards: list[float] = []
        for event in events:
            if event.context is not None and event.context not in self.contexts:
                self.policy.replay(rows, rewards)
                rows, rewards = [], []
                self._add(event.context)
            row = self._row(event)
            if row is not None:
                rows.append(row)
                rewards.append(event.reward or 0.0)
            self.seq = event.seq
        self.policy.replay(rows, rewards)

    def _compared(self, events: Iterable[Event]) -> Iterator[Event]:
        """Yield events to be folded, and make sure that each left what it says it did."""
        for event in events:
            yield event
            if event.left != self.ledger.left:
                raise BrokenLedger(f"{self.ledger.left} is left, and it says {event.left}")

    def _row(self, event: Event) -> Row | None:
        """Fold an event into the ledger; return what the kernels need to know of it."""
        if event.kind in _STATUS:
            self._switch(event)
            return None
        place = self.contexts[event.context or ""]
        action = SKIP if event.action is None else self.actions[event.action]
        counted = -1 if event.round is None else event.round
        held = {"reserve": event.reserve or 0, "cost": event.cost or 0}
        if event.kind == REWARDED:
            return LEARNED, place, action, counted
        if event.kind == DECIDED:
            self.ledger = hold(self.ledger, **held)
            if event.round is None:
                return None
            self._attend(event.at)
            return BOOKED, place, action, counted
        if event.kind == CANCELLED:
            self.ledger = release(self.ledger, **held)
            return WITHDRAWN, place, action, self._units_left()
        if event.kind == SETTLED:
            bill = event.bill or 0
            self.ledger, self._charged = settle(self.ledger, **held, bill=bill)
            self.overrun += max(0, bill - held["reserve"])
            return SYNCED, self._units_left(), SKIP, -1
        raise ValueError(f"an event of kind {event.kind!r} is not known here")

    def _switch(self, event: Event) -> None:
        self.status = _STATUS[event.kind]
        if isinstance(self.terms.horizon, ClosingTime):
            if event.kind == PAUSED:
                self.attendance = self.attendance.pause(event.at / 1e6)
            elif event.kind == RESUMED:
                self.attendance = self.attendance.resume(self.terms.horizon, event.at / 1e6)

    def _attend(self, now: int) -> None:
        """Note an arrival for the forecast, where there is one."""
        if isinstance(self.terms.horizon, ClosingTime):
            self.attendance = self.attendance.arrival(self.terms.horizon, now / 1e6)

    def _units_left(self) -> int:
        """Return what a plan may count on, in the kernels' units."""
        return self.policy.units(self.ledger.budget - self.ledger.committed)
