"""Campaign: where a live campaign stands, as a fold over its log. No I/O, no clock, no locks.

It has a `LivePolicy` decide, and keeps the ledger beside it: policies plan with what actions are
expected to cost, and only what can be reserved is admitted.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Sequence
from itertools import repeat
from math import isnan, nan
from typing import Any

from almoner import checks
from almoner.closing import Attendance, ClosingTime
from almoner.core.live import (
    ACTED,
    BOOKED,
    LEARNED,
    NOT_ALLOWED,
    POOR,
    SAVED,
    SYNCED,
    TOO_LATE,
    WITHDRAWN,
)
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
    EventRow,
)
from almoner.ledger import Ledger, hold, release, settle
from almoner.live_policy import PLACES, Choice, LivePolicy, Row, Visitor
from almoner.money import LARGEST
from almoner.terms import NAME_RULE, PAIRS_LIMIT, Terms, is_name

__all__ = ["RUNNING", "Campaign"]

RUNNING = "running"
"""What a campaign is when it is neither paused nor closed."""

_STATUS = {PAUSED: PAUSED, RESUMED: RUNNING, CLOSED: CLOSED}

_REASONS = {ACTED: None, SAVED: POLICY, POOR: BUDGET, TOO_LATE: HORIZON, NOT_ALLOWED: UNAVAILABLE}

_TURNED_AWAY: Choice = (SKIP, ACTED), (1.0, nan)
"""What becomes of those who come while the campaign is paused or closed."""


class Campaign:
    """Terms, and everything that has followed from them so far.

    Attributes
    ----------
    terms, seq
        What was agreed, and how many events of the log are folded in.
    ledger, policy
        The money, and the policy with what it has learned.
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
        self.policy = LivePolicy(terms)
        self.actions = self.policy.actions
        self._places = dict[str | None, int]([(None, SKIP), *self.actions.items()])

    def warm_up(self) -> None:
        """Get the kernels ready: from the disk, or compiled, which takes seconds."""
        self.policy.warm_up()

    @property
    def contexts(self) -> dict[str, int]:
        """The contexts by name, with their rows in the state."""
        return self.policy.contexts

    @property
    def state(self) -> State:
        """What the policy has learned."""
        return self.policy.state

    def decide(self, visitors: Sequence[Visitor], *, now: int) -> list[Event]:
        """Decide for contexts that have arrived and were `admit`ted; return what to log."""
        forecasting = isinstance(self.terms.horizon, ClosingTime)
        together = 1 if forecasting else PLACES  # each of them changes the forecast
        if len(visitors) <= together:
            return self._decide(visitors, now)
        return [
            event
            for start in range(0, len(visitors), together)
            for event in self._decide(visitors[start : start + together], now)
        ]

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

    def apply(self, events: Iterable[EventRow]) -> None:
        """Fold in events of the log, in their order; refuse what no campaign could have written."""
        try:
            self._fold(events, compare=True)
        except (KeyError, TypeError, ValueError, BrokenLedger) as reason:
            raise BrokenLedger(
                f"the log cannot be read beyond event {self.seq}: {reason}; "
                "almoner ledger verify says what is wrong with it"
            ) from reason

    def known(self, context: object, coming: Collection[str] = ()) -> str:
        """Return a context that may arrive here; refuse one that may not.

        ``coming`` are contexts that will be new by then.
        """
        context = checks.plain(context)
        if isinstance(context, str) and (context in self.contexts or context in coming):
            return context
        if not self.terms.new_contexts:
            return checks.choice("context", context, self.contexts)
        if not is_name(context):
            raise checks.refuse("context", f"be a name of {NAME_RULE}", context)
        count = len(self.contexts) + len(coming)
        if (count + 1) * len(self.actions) > PAIRS_LIMIT:
            rule = f"be one of the {count:,} so far, as there is room for no more"
            raise checks.refuse("context", rule, context)
        return context  # type: ignore[return-value]  # is_name says that it is a text

    def admit(self, context: str) -> None:
        """Make room for a context that arrives for the first time."""
        if context not in self.contexts:
            if not self.terms.new_contexts:
                raise BrokenLedger(f"context {context!r} was never declared")
            self.policy.admit(context)

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
        self.policy.lay_out(contexts)
        self.policy.restore(table["state"])
        self.ledger = Ledger(*table["ledger"])
        self.attendance = Attendance(*table["attendance"])
        self.seq, self.status, self.overrun = table["seq"], table["status"], table["overrun"]

    def _horizon_at(self, now: int) -> int:
        """Return how many arrivals there will have been in all: with a closing time, a forecast."""
        horizon = self.terms.horizon
        if not isinstance(horizon, ClosingTime):
            return horizon
        if now / 1e6 >= horizon.at.timestamp():
            return self.arrivals
        return self.arrivals + 1 + round(min(self.arrivals_left(now), LARGEST))

    def _decide(self, visitors: Sequence[Visitor], now: int) -> list[Event]:
        """Decide for visitors together, and hold the money for all; return what to log."""
        seq, left, counted = self.seq, self.ledger.left, self.arrivals
        running, per_unit, offers = self.status == RUNNING, self.policy.per_unit, self.policy.offers
        choices = self._choose(visitors, now, left) if running else repeat(_TURNED_AWAY)
        reserves = costs = 0
        events = []
        for visitor, ((action, why), (probability, price)) in zip(visitors, choices):  # noqa: B905
            seq += 1
            name = cost = reserve = None
            if action != SKIP:
                name, cost, reserve = offers[visitor.context][action]
                reserves, costs = reserves + reserve, costs + cost
            available = visitor.available
            events.append(
                Event(
                    seq,
                    DECIDED,
                    now,
                    left - reserves,
                    seq,
                    counted if running else None,
                    visitor.context,
                    name,
                    cost,
                    reserve,
                    probability,
                    None if isnan(price) else price * per_unit,
                    _REASONS[why] if running else self.status,
                    visitor.key,
                    None if available is None else json.dumps(available),
                )
            )
            counted += 1
        if reserves:
            self.ledger = hold(self.ledger, reserve=reserves, cost=costs)
        self.seq = seq
        return events

    def _choose(self, visitors: Sequence[Visitor], now: int, left: int) -> Iterable[Choice]:
        self._attend(now)
        return self.policy.choose(visitors, horizon=self._horizon_at(now), left=left)

    def _fold(self, events: Iterable[EventRow], *, compare: bool = False) -> None:
        """Fold in events; if ``compare``, make sure that each left what it says it did.

        Reserves of decisions are held together, up to the next event that frees some.
        """
        rows: list[Row] = []
        rewards: list[float] = []
        contexts, places, left = self.policy.contexts, self._places, self.ledger.left
        reserves = costs = 0
        for event in events:
            (
                seq,
                kind,
                at,
                says,
                _,
                counted,
                context,
                name,
                cost,
                reserve,
                _,
                _,
                _,
                _,
                _,
                _,
                _,
                reward,
            ) = event
            if context is not None and context not in contexts:
                self.admit(context)  # it weighs nothing in the rows before its first one
            if kind == DECIDED:
                if reserve or cost:
                    if not 0 <= cost <= reserve:
                        raise BrokenLedger(f"{reserve} is held for an expected cost of {cost}")
                    reserves, costs = reserves + reserve, costs + cost
                if counted is not None:
                    self._attend(at)
                    rows.append((BOOKED, contexts[context], places[name], counted))
                    rewards.append(0.0)
            elif kind == REWARDED:
                counted = -1 if counted is None else counted
                rows.append((LEARNED, contexts[context], places[name], counted))
                rewards.append(reward or 0.0)
            else:
                self._hold(reserves, costs)
                changes = self._change(event)
                rows += changes
                rewards += [0.0] * len(changes)
                reserves, costs, left = 0, 0, self.ledger.left
            self.seq = seq
            if compare and says != left - reserves:
                raise BrokenLedger(f"{left - reserves} is left, and it says {says}")
        self._hold(reserves, costs)
        self.policy.replay(rows, rewards)

    def _hold(self, reserve: int, cost: int) -> None:
        if reserve or cost:
            self.ledger = hold(self.ledger, reserve=reserve, cost=cost)

    def _change(self, event: EventRow) -> list[Row]:
        """Fold in an event that frees a reserve or changes the status; return the kernels' rows."""
        _, kind, at, _, _, _, context, name, cost, reserve, _, _, _, _, _, bill, _, _ = event
        if kind in _STATUS:
            self._switch(kind, at)
            return []
        place, action = self.policy.contexts[context], self._places[name]
        reserve, cost = reserve or 0, cost or 0
        if kind == CANCELLED:
            self.ledger = release(self.ledger, reserve=reserve, cost=cost)
            return [(WITHDRAWN, place, action, self._units_left())]
        if kind == SETTLED:
            bill = bill or 0
            self.ledger, self._charged = settle(self.ledger, reserve=reserve, cost=cost, bill=bill)
            self.overrun += max(0, bill - reserve)
            return [(SYNCED, self._units_left(), SKIP, -1)]
        raise ValueError(f"an event of kind {kind!r} is not known here")

    def _switch(self, kind: str, at: int) -> None:
        self.status = _STATUS[kind]
        if isinstance(self.terms.horizon, ClosingTime):
            if kind == PAUSED:
                self.attendance = self.attendance.pause(at / 1e6)
            elif kind == RESUMED:
                self.attendance = self.attendance.resume(self.terms.horizon, at / 1e6)

    def _attend(self, now: int) -> None:
        """Note an arrival for the forecast, where there is one."""
        if isinstance(self.terms.horizon, ClosingTime):
            self.attendance = self.attendance.arrival(self.terms.horizon, now / 1e6)

    def _units_left(self) -> int:
        """Return what a plan may count on, in the kernels' units."""
        return self.policy.units(self.ledger.budget - self.ledger.committed)
