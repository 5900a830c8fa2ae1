"""Campaign: where a live campaign stands, as a fold over its log. No I/O, no clock, no locks.

It drives the simulator's own `decide`, `take` and `learn` one request at a time, and keeps the
ledger beside them: policies plan with what actions are expected to cost, and only what can be
reserved is admitted.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from almoner import checks
from almoner.closing import Attendance, ClosingTime
from almoner.compiled import direct
from almoner.core.draws import POLICY, stream_key
from almoner.core.live import BOOKED, LEARNED, SYNCED, WITHDRAWN, advance, redraw, replay
from almoner.core.state import LEFT, ROUND, State, new_hulls, new_memo, new_state
from almoner.core.steps import SKIP
from almoner.decision import BUDGET, HORIZON, UNAVAILABLE
from almoner.decision import POLICY as BY_POLICY
from almoner.errors import BrokenLedger, InvalidInput
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
from almoner.money import LARGEST
from almoner.policy.plan import Plan, make_plan
from almoner.policy.rewards import Thompson
from almoner.terms import LEARNED as LEARNED_DEFAULTS
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
    ledger, state, plan
        The money, what the policy has learned, and the policy as kernels take it.
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
        root = np.random.SeedSequence(terms.seed).generate_state(1, np.uint64)[0]
        self._stream = np.uint64(stream_key(root, 0, POLICY))
        self._price = np.zeros(1)
        self._everything = np.ones(len(self.actions), np.bool_)
        self._one = np.empty((1, 4), np.int64), np.empty(1)
        self._shares = np.empty(len(self.actions) + 1)
        self._advance, self._refold, self._redraw, self._warm = advance, replay, redraw, False
        self._build(terms.contexts)

    def warm_up(self) -> None:
        """Get the kernels ready: from the disk, or compiled, which takes seconds."""
        fixed = (self.plan, *self._working, self._stream)
        self._advance = direct(advance, *fixed, 0, self._everything, self._price)
        self._refold = direct(replay, *fixed, *self._one)
        if self.plan.reward == Thompson.code:
            self._redraw = direct(redraw, *fixed, 0, self._everything, self._shares)
        self._warm = True

    def decide(
        self, context: str, *, available: Sequence[str] | None, key: str | None, now: int
    ) -> Event:
        """Decide for a context that has arrived, `known` to be allowed; return what to log."""
        if context not in self.contexts:
            self._build((*self.contexts, context))
        place = self.contexts[context]
        action, probability, price, reason, counted = SKIP, 1.0, math.nan, self.status, None
        if self.status == RUNNING:
            counted = int(self.state.clock[ROUND])
            self._attend(now)
            mask = self._mask(place, available)
            plan = self._plan_at(now)
            if plan.reward == Thompson.code:
                self._redraw(plan, *self._working, self._stream, place, mask, self._shares)
            action, probability = self._advance(
                plan, *self._working, self._stream, place, mask, self._price
            )
            if plan.reward == Thompson.code:
                probability = float(self._shares[action + 1])
            price = self._price[0] * self._per_unit
            if action == SKIP:
                reason = self._reason(place, available, mask, plan)
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
                None if math.isnan(price) else float(price),
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
        return int(self.state.clock[ROUND])

    def arrivals_left(self, now: int) -> float:
        """Return how many arrivals are still to come, by the horizon or the forecast."""
        seen, horizon = int(self.state.clock[ROUND]), self.terms.horizon
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
            "state": {name: value.tolist() for name, value in self.state._asdict().items()},
        }

    def restore(self, table: dict[str, Any]) -> None:
        """Go to where `to_dict` was called."""
        self._build(tuple(table["contexts"]))
        for name, values in table["state"].items():
            getattr(self.state, name)[...] = values
        self._working = (self.state, new_memo(self.plan, self.state), new_hulls(self.plan))
        self.ledger = Ledger(*table["ledger"])
        self.attendance = Attendance(*table["attendance"])
        self.seq, self.status, self.overrun = table["seq"], table["status"], table["overrun"]

    def _build(self, contexts: tuple[str, ...]) -> None:
        """Lay out plan and state for these contexts; what is known of the first ones is kept."""
        terms, before = self.terms, getattr(self, "state", None)
        self.contexts = {name: place for place, name in enumerate(contexts)}
        self._costs = [terms.costs_in(name) for name in contexts]
        self._reserves = [terms.reserves_in(name) for name in contexts]
        self._hedged = self._costs != self._reserves
        self.plan = self._make_plan(contexts)
        self._step = self.plan.top
        self._per_unit = terms.unit.bottom / (terms.unit.top * self._step)
        self.state = new_state(self.plan)
        if before is not None:
            _copy(before, self.state)
        self._working = (self.state, new_memo(self.plan, self.state), new_hulls(self.plan))
        if self._warm:  # the types of what kernels are given may have changed
            self.warm_up()

    def _make_plan(self, contexts: tuple[str, ...]) -> Plan:
        terms, horizon = self.terms, self.terms.horizon
        if isinstance(horizon, ClosingTime):
            horizon = max(1, round(horizon.arrivals))
        defaults = None
        if isinstance(terms.default_rewards, dict):
            defaults = np.array([terms.default_rewards[name] for name in contexts])
        plan = make_plan(
            terms.policy,
            horizon=horizon,
            budget=float(terms.budget),
            costs=np.array(self._costs, np.float64),
            default_rewards=defaults,
            defaults_known=defaults is not None,
            learn_defaults=terms.default_rewards == LEARNED_DEFAULTS,
        )
        if plan.bottom != 1:
            raise InvalidInput("costs are whole numbers of units, so their grid is")
        # A simulation has no use for more than its actions can cost; bills may exceed costs.
        return plan._replace(budget=terms.budget // plan.top)

    def _plan_at(self, now: int) -> Plan:
        """Return the plan for a decision now: with a closing time, the horizon is a forecast."""
        if not isinstance(self.terms.horizon, ClosingTime):
            return self.plan
        seen, memo = int(self.state.clock[ROUND]), self._working[1]
        if now / 1e6 >= self.terms.horizon.at.timestamp():
            return self.plan._replace(horizon=seen)
        memo.expiry[0] = 0  # brackets were made for another horizon
        return self.plan._replace(horizon=seen + 1 + round(min(self.arrivals_left(now), LARGEST)))

    def _mask(self, place: int, available: Sequence[str] | None) -> npt.NDArray[np.bool_]:
        """Return which actions the request and the money left for reserves allow."""
        if available is None and not self._hedged:
            return self._everything
        mask = self._everything.copy()
        if available is not None:
            mask[:] = False
            mask[[self.actions[name] for name in available]] = True
        if self._hedged:
            mask &= np.array(self._reserves[place]) <= self.ledger.left
        return mask

    def _reason(
        self,
        place: int,
        available: Sequence[str] | None,
        mask: npt.NDArray[np.bool_],
        plan: Plan,
    ) -> str:
        """Return why a skip, if it is one."""
        if self.state.clock[ROUND] > plan.horizon:
            return HORIZON
        if available is not None and not available:
            return UNAVAILABLE
        if mask is self._everything and self.state.clock[LEFT] >= plan.dearest:
            return BY_POLICY
        affordable = plan.costs[place] <= self.state.clock[LEFT]
        return BY_POLICY if (mask & affordable).any() else BUDGET

    def _fold(self, events: Iterable[Event]) -> None:
        rows: list[tuple[int, int, int, int]] = []
        rewards: list[float] = []
        for event in events:
            if event.context is not None and event.context not in self.contexts:
                self._replay(rows, rewards)
                rows, rewards = [], []
                self._build((*self.contexts, event.context))
            row = self._row(event)
            if row is not None:
                rows.append(row)
                rewards.append(event.reward or 0.0)
            self.seq = event.seq
        self._replay(rows, rewards)

    def _compared(self, events: Iterable[Event]) -> Iterator[Event]:
        """Yield events to be folded, and make sure that each left what it says it did."""
        for event in events:
            yield event
            if event.left != self.ledger.left:
                raise BrokenLedger(f"{self.ledger.left} is left, and it says {event.left}")

    def _row(self, event: Event) -> tuple[int, int, int, int] | None:
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
        return (self.ledger.budget - self.ledger.committed) // self._step

    def _replay(self, rows: list[tuple[int, int, int, int]], rewards: list[float]) -> None:
        if not rows:
            return
        table, values = self._one
        if len(rows) == 1:  # new arrays would take longer than the kernel
            table[0], values[0] = rows[0], rewards[0]
        else:
            table, values = np.array(rows, np.int64), np.array(rewards, np.float64)
        self._refold(self.plan, *self._working, self._stream, table, values)


def _copy(before: State, after: State) -> None:
    """Copy what was known of fewer contexts."""
    for name, values in before._asdict().items():
        target = getattr(after, name)
        target[: len(values)] = values
