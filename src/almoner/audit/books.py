"""The second bookkeeper: books every event of a log again, and refuses what should not be there.

All of it is plain code of its own, from the terms and the events alone: a mistake in the campaign
or in its ledger would show here.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import NoReturn

from almoner.closing import ClosingTime
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
from almoner.terms import Terms

__all__ = ["Audit", "Books"]

REPEATED = ("round", "context", "action", "cost", "reserve")
"""What a row repeats of the decision it speaks of."""

_USED = {
    DECIDED: ("decision", *REPEATED, "probability", "price", "reason", "key", "available"),
    SETTLED: ("decision", *REPEATED, "bill", "charged"),
    REWARDED: ("decision", *REPEATED, "reward"),
    CANCELLED: ("decision", *REPEATED),
    PAUSED: (),
    RESUMED: (),
    CLOSED: (),
}
UNUSED = {
    kind: [name for name in Event._fields if name not in ("seq", "kind", "at", "left", *used)]
    for kind, used in _USED.items()
}
"""What a row of each kind leaves empty."""


@dataclass(frozen=True, kw_only=True)
class Audit:
    """What an audit has found; money in whole units of the campaign.

    ``spent + reserved + left == budget``, after the last event as after every other.
    """

    name: str
    events: int
    decisions: int
    budget: int
    spent: int
    reserved: int
    left: int
    overrun: int


class Books:
    """What the events booked so far amount to."""

    def __init__(self, name: str, terms: Terms) -> None:
        self.name, self.terms = name, terms
        self.last = self.rounds = self.spent = self.reserved = self.overrun = 0
        self.switched = RESUMED  # as a new campaign is: running
        self.decided: dict[int, Event] = {}
        self.done: dict[int, list[str]] = {}  # what became of each decision, in order
        self.keys: set[str] = set()
        self._prices: dict[str, dict[str, tuple[int, int]]] = {}

    def enter(self, event: Event) -> None:
        """Book one event; refuse whatever should not be there."""
        if event.seq != self.last + 1:
            self._broken(event, f"follows event {self.last}")
        if event.kind not in UNUSED:
            self._broken(event, f"is of the unknown kind {event.kind!r}")
        self.last = event.seq
        try:
            self._book(event)
        except (TypeError, ValueError, LookupError) as reason:  # what no comparison has foreseen
            self._broken(event, f"cannot be booked on these terms: {reason}")
        left = self.left
        if left < 0:
            self._broken(event, f"overspends the budget by {-left}")
        if event.left != left:
            self._broken(event, f"says that {event.left} is left, where {left} is")
        for field in UNUSED[event.kind]:
            if getattr(event, field) is not None:
                self._broken(event, f"must have no {field}, has {getattr(event, field)!r}")

    @property
    def left(self) -> int:
        """What a new action could reserve."""
        return self.terms.budget - self.spent - self.reserved

    def close(self) -> Audit:
        """Return the balance."""
        return Audit(
            name=self.name,
            events=self.last,
            decisions=len(self.decided),
            budget=self.terms.budget,
            spent=self.spent,
            reserved=self.reserved,
            left=self.left,
            overrun=self.overrun,
        )

    def _book(self, event: Event) -> None:
        if event.kind == DECIDED:
            self._decide(event)
        elif event.kind in (SETTLED, REWARDED, CANCELLED):
            self._follow_up(event)
        elif self.switched == CLOSED:
            self._broken(event, "comes after the campaign was closed for good")
        else:
            self.switched = event.kind

    def _decide(self, event: Event) -> None:
        if event.decision != event.seq:
            self._broken(event, f"calls itself decision {event.decision}")
        declared = event.context in self.terms.contexts or self.terms.new_contexts
        if event.context is None or not declared:
            self._broken(event, f"is for the undeclared context {event.context!r}")
        allowed = self.terms.costs if event.available is None else _listed(event.available)
        if event.action is not None:
            if event.action not in self.terms.costs:
                self._broken(event, f"takes the unknown action {event.action!r}")
            if event.action not in allowed:
                self._broken(event, f"takes {event.action!r}, which was not available")
            self._act(event, event.context, event.action)
        elif (event.reserve, event.cost) != (None, None):
            self._broken(event, "holds money for a skip")
        self._count(event)
        if event.key is not None and event.key in self.keys:
            self._broken(event, f"uses the key {event.key!r} again")
        if event.key is not None:
            self.keys.add(event.key)
        if not 0.0 < (event.probability or 0.0) <= 1.0:
            self._broken(event, f"has the probability {event.probability}")
        self.reserved += event.reserve or 0
        self.decided[event.seq] = event

    def _count(self, event: Event) -> None:
        """Arrivals are counted, one after the other, while the campaign runs."""
        if self.switched != RESUMED:
            if event.round is not None:
                self._broken(event, f"counts an arrival while the campaign is {self.switched}")
            return
        if event.round != self.rounds:
            self._broken(event, f"is arrival {event.round}, where {self.rounds} was due")
        self.rounds += 1

    def _act(self, event: Event, context: str, action: str) -> None:
        """Book an action that was taken, as far as it was allowed, at the price agreed."""
        if self.switched != RESUMED:
            self._broken(event, f"takes an action while the campaign is {self.switched}")
        horizon = self.terms.horizon
        if isinstance(horizon, ClosingTime):
            if event.at / 1e6 >= horizon.at.timestamp():
                self._broken(event, f"takes an action after {horizon.at.isoformat()}, the end")
        elif event.round is not None and event.round >= horizon:
            self._broken(event, f"takes an action in arrival {event.round}, beyond the {horizon}")
        cost, reserve = self._priced(context)[action]
        if (event.cost, event.reserve) != (cost, reserve):
            self._broken(
                event,
                f"holds {event.reserve} for an expected cost of {event.cost}, where the terms say "
                f"{reserve} for {cost}",
            )

    def _priced(self, context: str) -> dict[str, tuple[int, int]]:
        """Return what each action costs in a context, and what is held for it."""
        if context not in self._prices:
            terms = self.terms
            pairs = zip(terms.costs_in(context), terms.reserves_in(context), strict=True)
            self._prices[context] = dict(zip(terms.actions, pairs, strict=True))
        return self._prices[context]

    def _follow_up(self, event: Event) -> None:
        decided = self.decided.get(event.decision or 0)
        if decided is None:
            self._broken(event, f"speaks of decision {event.decision}, which does not exist")
        before = self.done.setdefault(decided.seq, [])
        if event.kind in before:
            self._broken(event, f"is the second of its kind for decision {decided.seq}")
        if before and CANCELLED in (event.kind, *before):
            self._broken(event, f"comes after decision {decided.seq} was {before[0]}")
        for field in REPEATED:
            says, was = getattr(event, field), getattr(decided, field)
            if says != was:
                self._broken(event, f"has {field} {says!r}, where its decision has {was!r}")
        before.append(event.kind)
        if event.kind == REWARDED:
            if event.reward is None or not 0.0 <= event.reward <= 1.0:
                self._broken(event, f"has the reward {event.reward}")
        elif decided.reserve is None:
            self._broken(event, f"speaks of decision {decided.seq}, a skip, which holds no money")
        else:
            self.reserved -= decided.reserve
            if event.kind == SETTLED:
                self._settle(event, decided.reserve)

    def _settle(self, event: Event, reserve: int) -> None:
        if event.bill is None or event.bill < 0:
            self._broken(event, f"has the bill {event.bill}")
        due = min(event.bill, self.left)
        if event.charged != due:
            self._broken(event, f"charges {event.charged} for a bill of {event.bill}, not {due}")
        self.spent += due
        self.overrun += max(0, event.bill - reserve)

    def _broken(self, event: Event, what: str) -> NoReturn:
        raise BrokenLedger(f"campaign {self.name!r}: event {event.seq} ({event.kind}) {what}")


def _listed(available: str) -> list[str]:
    names = json.loads(available)
    if not isinstance(names, list):
        raise TypeError(f"{available} is no list of actions")
    return names
