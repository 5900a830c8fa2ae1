"""Campaign: the state of a live campaign, folded from its log. No I/O, no clock, no locks.

A `LivePolicy` decides, and the ledger is kept beside it: policies plan with expected costs, and an
action is admitted only if its reserve fits the money left.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Sequence
from itertools import repeat
from math import ceil, isnan, nan
from typing import Any

import numpy as np

from almoner import checks
from almoner.concurrency.signals import raise_from_handler
from almoner.errors import BrokenLedger
from almoner.kernels.live import (
    ACTED,
    NOT_ALLOWED,
    PAST_HORIZON,
    POLICY_SKIP,
    SET_LEFT,
    UNAFFORDABLE,
)
from almoner.kernels.state import ROUND, State
from almoner.kernels.steps import SKIP
from almoner.live.assignment.assignment import (
    EXPLORED,
    HAS_ENOUGH,
    HELD_OUT,
    assign,
    skip_probability,
)
from almoner.live.costs.ledger import Ledger, SharedLedger, new_ledger, reserve
from almoner.live.policy.live_policy import BATCH, Choice, LivePolicy, PendingArrival
from almoner.live.rewards.reward_window import SILENCE, RewardWindow
from almoner.live.spending.outlook import HELD_BY_PACE
from almoner.live.spending.spending import spending_rules
from almoner.live.state.evidence import Evidence
from almoner.live.state.fold import fold, ledger_after
from almoner.live.state.status import SkipReason, Status
from almoner.live.terms.names import NAME_RULE, is_name
from almoner.live.terms.terms import PAIRS_LIMIT, Terms
from almoner.live.times.closing_time import ClosingTime, ForecastCorrections
from almoner.live.times.deadlines import Deadlines, OpenDecision
from almoner.money import LARGEST
from almoner.store.events import (
    AMENDED,
    DECIDED,
    EXPIRED,
    REWARDED,
    Event,
    EventRow,
)

__all__ = ["Campaign", "unreadable"]

_RUNNING = Status.RUNNING.value

_REASONS = {
    ACTED: None,
    POLICY_SKIP: SkipReason.POLICY.value,
    UNAFFORDABLE: SkipReason.BUDGET.value,
    PAST_HORIZON: SkipReason.HORIZON.value,
    NOT_ALLOWED: SkipReason.UNAVAILABLE.value,
    HAS_ENOUGH: SkipReason.PERSON.value,
    HELD_OUT: SkipReason.HOLDOUT.value,
    EXPLORED: SkipReason.EXPLORE.value,
    HELD_BY_PACE: SkipReason.PACE.value,
}

_SKIPPED: Choice = (SKIP, ACTED), (1.0, nan)
"""The choice for arrivals while the campaign is paused or closed."""


class Campaign:
    """The terms of a campaign, and its state after the events folded so far.

    Attributes
    ----------
    terms, seq
        The terms, and the number of events folded.
    ledger, policy
        The money, and the policy with the statistics it has learned.
    contexts
        Contexts by name, with their indices in the state.
    action_index
        The indices of active actions by name, and of a skip by None.
    status
        ``"running"``, ``"paused"`` or ``"closed"``.
    overrun
        By how much bills have exceeded their reserves, in units.
    corrections
        Arrivals and periods excluded when scaling the forecast of a closing time.
    expiring
        The open decisions whose reserves end by themselves.
    spending
        The pace and the default of the campaign; None if it has neither.
    evidence
        Evidence that comes with time: rewards within a window, bills of reserves that expire.
    """

    def __init__(self, terms: Terms) -> None:
        self.terms = self._opened_with = terms
        self.seq = 0
        self.ledger = new_ledger(terms.budget, risk=terms.risk)
        self.status: str = _RUNNING
        self.overrun = 0
        self.corrections = ForecastCorrections()
        self.expiring = Deadlines()
        self.spending = spending_rules(terms)
        self.evidence = Evidence(terms)
        self._use(LivePolicy(terms))

    def _use(self, policy: LivePolicy) -> None:
        self.policy, self.contexts = policy, policy.contexts
        self.action_index = dict[str | None, int]([(None, SKIP), *policy.actions.items()])

    def warm_up(self) -> None:
        """Load the compiled kernels from the disk, or compile them, which takes seconds."""
        self.policy.warm_up()

    def amend(self, terms: Terms, at: int) -> None:
        """Go on with other terms, and with everything that was learned."""
        if terms.budget < self.ledger.budget - self.ledger.left:
            raise BrokenLedger(f"a budget of {terms.budget} is less than is spent and reserved")
        before, horizon = self.policy, self.terms.horizon
        self.terms = terms
        self._use(LivePolicy(terms, tuple(self.contexts)))
        self.policy.take_over(before)
        if before.is_warm:
            self.policy.warm_up()
        self.ledger = self.ledger._replace(budget=terms.budget)
        self.evidence.amend(self)
        if isinstance(horizon, ClosingTime) and isinstance(terms.horizon, ClosingTime):
            scale = horizon.arrivals / terms.horizon.arrivals
            self.corrections = self.corrections._replace(missed=self.corrections.missed * scale)
        if self.spending is not None:
            self.spending.amend(terms)
        self.policy.replay([(SET_LEFT, self.units_left(at), SKIP, -1)], [0.0])

    def units_left(self, at: int) -> int:
        """Return the money left after expected costs, in the kernels' units.

        With a default it is the money for improvements.
        """
        if self.spending is not None:
            return self.spending.units_left(self, at)
        return self.policy.units(max(0, self.ledger.budget - self.committed))

    @property
    def committed(self) -> int:
        """The money that the policy treats as spent: actual and expected costs."""
        if self.evidence.shared is not None:
            return self.ledger.spent + ceil(self.evidence.shared.expected)
        return self.ledger.committed

    @property
    def deadlines(self) -> int:
        """The number of decisions that wait for deadlines, counted once for each of them."""
        return len(self.expiring) + (len(self.window.waiting) if self.window is not None else 0)

    @property
    def window(self) -> RewardWindow | None:
        """The decisions that wait for rewards, if these come within a window."""
        return self.evidence.window

    @property
    def state(self) -> State:
        """The statistics that the policy has learned."""
        return self.policy.state

    def decide(self, arrivals: Sequence[PendingArrival], *, now: int) -> list[Event]:
        """Decide for arrivals whose contexts were `admit`ted; return the events to log."""
        if self._assigned:
            return [self._assign(arrival, now) for arrival in arrivals]
        size = 1 if self._one_by_one else BATCH
        if len(arrivals) <= size:
            return self._decide(arrivals, now)
        return [
            event
            for start in range(0, len(arrivals), size)
            for event in self._decide(arrivals[start : start + size], now)
        ]

    @property
    def _one_by_one(self) -> bool:
        """Whether each arrival changes something for the next one that the kernels do not know.

        With a closing time that is the forecast, with shared reserves what they may cost, with a
        pace or a default the money of the plan.
        """
        timed = isinstance(self.terms.horizon, ClosingTime)
        return timed or self.spending is not None or self.evidence.shared is not None

    def follow_up(
        self,
        kind: str,
        decided: Event,
        *,
        now: int,
        bill: int | None = None,
        reward: float | None = None,
        ended: str | None = None,
    ) -> Event:
        """Settle, reward or cancel a decision; return the event to log.

        ``ended`` says how its reserve has ended, if it was settled after that.
        """
        ledger, charged = ledger_after(self.ledger, kind, decided, bill or 0, ended)
        repeats = kind == REWARDED and self.terms.spreads  # for the lift, which needs both
        event = Event(
            seq=self.seq + 1,
            kind=kind,
            at=now,
            left=ledger.left,
            decision=decided.seq,
            round=decided.round,
            context=decided.context,
            action=decided.action,
            cost=decided.cost,
            reserve=decided.reserve,
            reason=decided.reason if repeats else ended,
            probability=skip_probability(decided) if repeats else None,
            bill=bill,
            charged=charged,
            reward=reward,
        )
        fold(self, [event])
        return event

    def lapse(self, now: int) -> list[Event]:
        """Record the deadlines that have passed; return the events to log."""
        events = self._expiries(now)
        if events:
            fold(self, events)
        silences = self._silences(now)
        if silences:
            fold(self, silences)
        return events + silences

    def ledger_at(self, now: int) -> Ledger:
        """Return the money as if the deadlines that have passed were recorded."""
        ledger = self.ledger
        for decision in self.expiring.due(now):
            ledger, _ = ledger_after(ledger, EXPIRED, decision, self._bill_at_expiry(decision))
        return ledger

    def _expiries(self, now: int) -> list[Event]:
        """Return the events of reserves that end by now, without folding them."""
        ledger, events = self.ledger, list[Event]()
        for decision in self.expiring.due(now):
            bill = self._bill_at_expiry(decision)
            ledger, charged = ledger_after(ledger, EXPIRED, decision, bill)
            events.append(
                Event(
                    seq=self.seq + 1 + len(events),
                    kind=EXPIRED,
                    at=now,
                    left=ledger.left,
                    decision=decision.seq,
                    round=decision.round,
                    context=decision.context,
                    action=decision.action,
                    cost=decision.cost,
                    reserve=decision.reserve,
                    bill=bill,
                    charged=charged,
                )
            )
        return events

    def _silences(self, now: int) -> list[Event]:
        """Return the rewards of 0 for decisions whose windows end by now, without folding them."""
        if self.window is None:
            return []
        return [
            Event(
                seq=seq,
                kind=REWARDED,
                at=now,
                left=self.ledger.left,
                decision=decision.seq,
                round=decision.round,
                context=decision.context,
                action=decision.action,
                cost=decision.cost,
                reserve=decision.reserve,
                reason=SILENCE,
                reward=0.0,
            )
            for seq, decision in enumerate(self.window.waiting.due(now), self.seq + 1)
        ]

    def _bill_at_expiry(self, decision: OpenDecision) -> int:
        return (decision.reserve or 0) if decision.action in self.terms.charged else 0

    def open(self, decided: EventRow) -> None:
        """Set the deadline of a decision, if its reserve ends by itself."""
        seq, _, at, _, _, counted, context, action, cost, reserve = decided[:10]
        expires = self.terms.expires.get(action)
        if expires is not None:
            decision = OpenDecision(seq, at, counted, context, action, cost, reserve)
            self.expiring.add(at + expires, decision)

    def set_status(self, kind: str, *, now: int) -> Event:
        """Pause, resume or close the campaign; return the event to log."""
        event = Event(seq=self.seq + 1, kind=kind, at=now, left=self.ledger.left)
        fold(self, [event])
        return event

    def change_terms(self, terms: Terms, *, by: str | None, note: str | None, now: int) -> Event:
        """Go on with other terms, changed by somebody for a reason; return the event to log."""
        detail = {"terms": self.terms.changes_to(terms), "by": by, "note": note}
        event = Event(
            seq=self.seq + 1,
            kind=AMENDED,
            at=now,
            left=self.ledger._replace(budget=terms.budget).left,
            detail=json.dumps(detail),
        )
        fold(self, [event], compare=True)
        return event

    def apply(self, events: Iterable[EventRow]) -> None:
        """Fold events of the log in their order; refuse events that no campaign could write."""
        try:
            fold(self, events, compare=True)
        except (KeyError, TypeError, ValueError, BrokenLedger) as reason:
            raise_from_handler(reason)
            raise unreadable(self.seq, reason) from reason

    def known_context(self, context: object, coming: Collection[str] = ()) -> str:
        """Return a context that may arrive here; refuse one that may not.

        ``coming`` are new contexts that will be admitted before it.
        """
        context = checks.plain(context)
        if isinstance(context, str) and (context in self.contexts or context in coming):
            return context
        if not self.terms.new_contexts:
            return checks.choice("context", context, self.contexts)
        if not is_name(context):
            raise checks.refuse("context", f"be a name of {NAME_RULE}", context)
        count = len(self.contexts) + len(coming)
        if (count + 1) * len(self.terms.actions) > PAIRS_LIMIT:
            rule = f"be one of the {count:,} so far, as there is room for no more"
            raise checks.refuse("context", rule, context)
        return context  # type: ignore[return-value]  # is_name: it is a string

    def admit(self, context: str) -> None:
        """Add a context that arrives for the first time."""
        if context not in self.contexts:
            if not self.terms.new_contexts:
                raise BrokenLedger(f"context {context!r} was never declared")
            self.policy.admit(context)

    def known_actions(self, available: Any) -> list[str] | None:
        """Return the actions that an arrival allows, checked; None for all."""
        if available is None:
            return None
        if isinstance(available, str) or not isinstance(available, Iterable):
            raise checks.refuse("available", "be a list of actions", available)
        return [
            checks.choice("an available action", name, self.terms.actions) for name in available
        ]

    @property
    def arrivals(self) -> int:
        """The number of arrivals counted so far."""
        return self.state.progress.item(ROUND)

    def arrivals_left(self, now: int) -> float:
        """Return the number of arrivals still to come, by the horizon or the forecast."""
        seen, horizon = self.arrivals, self.terms.horizon
        if not isinstance(horizon, ClosingTime):
            return max(0, horizon - seen)
        seconds = now / 1e6
        if seconds >= horizon.at.timestamp():
            return 0.0
        return horizon.arrivals_left(seconds, seen=seen, corrections=self.corrections)

    def to_dict(self) -> dict[str, Any]:
        """Return the state as plain values, for a snapshot."""
        return {
            "seq": self.seq,
            "status": self.status,
            "overrun": self.overrun,
            "attendance": list(self.corrections),
            "ledger": list(self.ledger),
            "expiring": self.expiring.to_list(),
            "spending": None if self.spending is None else self.spending.to_dict(),
            **self.evidence.to_dict(self),
            "contexts": list(self.contexts),
            "state": self.policy.to_dict(),
            "terms": None if self.terms is self._opened_with else self.terms.to_dict(),
            "stopped": {
                name: rows.tolist() for name, rows in self.policy.stopped_statistics().items()
            },
        }

    def copy(self) -> Campaign:
        """Return a campaign in the same state, which shares nothing with this one."""
        other = Campaign(self._opened_with)
        other.restore(json.loads(json.dumps(self.to_dict())))
        return other

    def restore(self, table: dict[str, Any]) -> None:
        """Restore the state that `to_dict` returned."""
        if table["terms"] is not None:
            self.terms = Terms.from_dict(table["terms"])
            self.spending = spending_rules(self.terms)
        self._use(LivePolicy(self.terms, tuple(table["contexts"])))
        self.policy.restore(table["state"])
        self.policy.stopped = {name: np.array(rows) for name, rows in table["stopped"].items()}
        self.ledger = type(self.ledger)(*table["ledger"])
        self.expiring.restore(table["expiring"])
        self.evidence = Evidence(self.terms)
        self.evidence.restore(self, table)
        if self.spending is not None:
            self.spending.restore(table["spending"])
        self.corrections = ForecastCorrections(*table["attendance"])
        self.seq, self.status, self.overrun = table["seq"], table["status"], table["overrun"]

    def horizon_at(self, now: int, seen: int) -> int:
        """Return the total number of arrivals, at least ``seen``: with a closing time, a forecast.

        The forecast counts an arrival of now.
        """
        horizon = self.terms.horizon
        if not isinstance(horizon, ClosingTime):
            return max(seen, horizon)
        seconds = now / 1e6
        if seconds >= horizon.at.timestamp():
            return seen
        coming = horizon.arrivals_left(seconds, seen=seen, corrections=self.corrections)
        return seen + 1 + round(min(coming, LARGEST))

    @property
    def _assigned(self) -> bool:
        """Whether something other than the policy may decide an arrival: see `assign`."""
        return self.terms.spreads or self.terms.per_person is not None

    def _assign(self, arrival: PendingArrival, now: int) -> Event:
        """Decide for one arrival of a campaign with a hold-out, exploration or limited persons."""
        if self.status != _RUNNING:
            return self._decide((arrival,), now)[0]
        if self.evidence.ageing is not None and self.evidence.is_due(now):
            self.evidence.age(self, now)
        self.correct_forecast(now)
        choice, detail = assign(self, arrival, now)
        (event,) = self._decide((arrival,), now, (choice,), self.arrivals - 1)
        if event.action is not None and arrival.visitor is not None:
            arrival.visitor.actions[event.seq] = now
        return event._replace(detail=detail)

    def _decide(
        self,
        arrivals: Sequence[PendingArrival],
        now: int,
        choices: Iterable[Choice] | None = None,
        counted: int | None = None,
    ) -> list[Event]:
        """Decide for a batch of arrivals, and reserve the money; return the events to log.

        With ``choices``, which are recorded as taken, ``counted`` is the number of the first one.
        """
        seq, counted = self.seq, self.arrivals if counted is None else counted
        budget, spent, reserved, planned = self.ledger
        shared = isinstance(self.ledger, SharedLedger)  # then there is one arrival
        left = budget - spent - (planned if shared else reserved)
        running = self.status == _RUNNING
        per_unit, offers = self.policy.per_unit, self.policy.offers
        if choices is None:
            if self.evidence.ageing is not None and self.evidence.is_due(now):
                self.evidence.age(self, now)
            choices = self._choose(arrivals, now, left) if running else repeat(_SKIPPED)
        reserves = costs = 0
        events = []
        for arrival, ((action, reason), (probability, price)) in zip(arrivals, choices):  # noqa: B905
            seq += 1
            name = cost = reserve = None
            if action != SKIP:
                name, cost, reserve = offers[arrival.context][action]
                reserves, costs = reserves + reserve, costs + cost
            available = arrival.available
            events.append(
                Event(
                    seq,
                    DECIDED,
                    now,
                    max(0, left - costs) if shared else left - reserves,
                    seq,
                    counted if running else None,
                    arrival.context,
                    name,
                    cost,
                    reserve,
                    probability,
                    None if isnan(price) else price * per_unit,
                    _REASONS[reason] if running else self.status,
                    arrival.key,
                    None if available is None else json.dumps(available),
                )
            )
            counted += 1
            if self.terms.expires and name is not None:
                self.open(events[-1])
            if self.evidence.ageing is not None:
                self.evidence.add(self, events[-1])
            if self.spending is not None:
                self.spending.decided(events[-1])
        self.reserve(reserves, costs)
        self.seq = seq
        return events

    def _choose(self, arrivals: Sequence[PendingArrival], now: int, left: int) -> Iterable[Choice]:
        self.correct_forecast(now)
        if self.spending is not None:
            return [self.spending.choose(self, arrivals[0], now, left)]
        horizon: Any = self.terms.horizon
        if isinstance(horizon, ClosingTime):
            horizon = self.horizon_at(now, self.arrivals)
        blocked = self.blocked(arrivals[0])
        return self.policy.choose(arrivals, horizon=horizon, left=left, blocked=blocked)

    def blocked(self, arrival: PendingArrival) -> list[bool] | None:
        """Return which actions shared reserves cannot bear; None if reserves are not shared."""
        shared = self.evidence.shared
        if shared is None:
            return None
        return [
            not shared.admits(self.ledger, cost=cost, reserve=reserve)
            for _, cost, reserve in self.policy.offers[arrival.context]
        ]

    def reserve(self, amount: int, cost: int) -> None:
        """Reserve money for decisions, given their reserves and expected costs in all."""
        if amount or cost:
            self.ledger = reserve(self.ledger, reserve=amount, cost=cost)

    def correct_forecast(self, now: int) -> None:
        """Count an arrival for the forecast, if there is one."""
        if isinstance(self.terms.horizon, ClosingTime):
            self.corrections = self.corrections.arrival(self.terms.horizon, now / 1e6)


def unreadable(seq: int, reason: Exception) -> BrokenLedger:
    """Return the error for a log whose events after ``seq`` cannot be folded."""
    return BrokenLedger(
        f"the log cannot be read beyond event {seq}: {reason}; "
        "almoner ledger verify says what is wrong with it"
    )
