"""Audit: proves from a log alone that a campaign never overspent and never contradicted itself.

It does its own arithmetic, so that a mistake in the ledger would show here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NoReturn

from almoner.campaign import Campaign
from almoner.errors import BrokenLedger, UnknownCampaign
from almoner.events import CANCELLED, DECIDED, KINDS, REWARDED, SETTLED, Event
from almoner.snapshot import read_snapshot
from almoner.store.base import Store
from almoner.terms import Terms

__all__ = ["Audit", "audit"]

OF_DECISIONS = (SETTLED, REWARDED, CANCELLED)


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


def audit(store: Store, name: str) -> Audit:
    """Go through the log of a campaign; raise `BrokenLedger` at the first thing that is wrong.

    Examples
    --------
    >>> from almoner import Agent
    >>> agent = Agent.open(
    ...     "memory:", name="spring", contexts=["new"], actions={"coupon": 5}, horizon=9, budget=10)
    >>> coupon = agent.decide("new")
    >>> found = audit(agent.store, "spring")
    >>> found.decisions, found.spent, found.reserved, found.left
    (1, 0, 5000000, 5000000)
    """
    stored = store.terms(name)
    if stored is None:
        raise UnknownCampaign(f"there is no campaign {name!r} in this store")
    terms = Terms.from_json(stored)
    books = _Books(name, terms)
    with store.writing(name) as writer:
        snapshot = writer.snapshot()
    saved = Campaign(terms)
    reached = saved.seq if read_snapshot(saved, snapshot) else None
    again = Campaign(terms)
    for event in store.events(name):
        books.enter(event)
        if reached is not None and event.seq <= reached:
            again.apply([event])
            if event.seq == reached and again.to_dict() != saved.to_dict():
                raise BrokenLedger(
                    f"campaign {name!r}: the snapshot after event {reached} is not what the log "
                    "says; delete the snapshot"
                )
    return books.close()


class _Books:
    """The second bookkeeper."""

    def __init__(self, name: str, terms: Terms) -> None:
        self.name, self.budget = name, terms.budget
        self.actions, self.last, self.rounds = set(terms.actions), 0, 0
        self.spent = self.reserved = self.overrun = 0
        self.decided: dict[int, Event] = {}
        self.done: set[tuple[int, str]] = set()
        self.keys: set[str] = set()

    def enter(self, event: Event) -> None:
        """Book one event; refuse whatever should not be there."""
        if event.seq != self.last + 1:
            self._broken(event, f"follows event {self.last}")
        if event.kind not in KINDS:
            self._broken(event, f"is of the unknown kind {event.kind!r}")
        self.last = event.seq
        if event.kind == DECIDED:
            self._decide(event)
        elif event.kind in OF_DECISIONS:
            self._follow_up(event)
        left = self.budget - self.spent - self.reserved
        if left < 0:
            self._broken(event, f"overspends the budget by {-left}")
        if event.left != left:
            self._broken(event, f"says that {event.left} is left, where {left} is")

    def _decide(self, event: Event) -> None:
        if event.decision != event.seq:
            self._broken(event, f"calls itself decision {event.decision}")
        if event.round is not None:
            if event.round != self.rounds:
                self._broken(event, f"is arrival {event.round}, where {self.rounds} was due")
            self.rounds += 1
        if event.key is not None and event.key in self.keys:
            self._broken(event, f"uses the key {event.key!r} again")
        if event.key is not None:
            self.keys.add(event.key)
        if not 0.0 < (event.probability or 0.0) <= 1.0:
            self._broken(event, f"has the probability {event.probability}")
        if event.action is None:
            if event.reserve or event.cost:
                self._broken(event, "holds money for a skip")
        elif event.action not in self.actions:
            self._broken(event, f"takes the unknown action {event.action!r}")
        elif event.reserve is None or event.cost is None or not 0 < event.cost <= event.reserve:
            self._broken(event, f"holds {event.reserve} for an expected cost of {event.cost}")
        self.reserved += event.reserve or 0
        self.decided[event.seq] = event

    def _follow_up(self, event: Event) -> None:
        decided = self.decided.get(event.decision or 0)
        if decided is None:
            self._broken(event, f"speaks of decision {event.decision}, which does not exist")
        if (decided.seq, event.kind) in self.done:
            self._broken(event, f"is the second of its kind for decision {decided.seq}")
        closed = {(decided.seq, SETTLED), (decided.seq, CANCELLED)} & self.done
        if closed and (event.kind != REWARDED or (decided.seq, CANCELLED) in closed):
            self._broken(event, f"comes after decision {decided.seq} was settled or cancelled")
        self.done.add((decided.seq, event.kind))
        reserve = decided.reserve or 0
        if event.kind == REWARDED:
            if event.reward is None or not 0.0 <= event.reward <= 1.0:
                self._broken(event, f"has the reward {event.reward}")
            return
        if (event.reserve, event.cost) != (decided.reserve, decided.cost):
            self._broken(event, f"gives back {event.reserve}, where {reserve} was held")
        self.reserved -= reserve
        if event.kind == SETTLED:
            bill = event.bill or 0
            due = min(bill, self.budget - self.spent - self.reserved)
            if event.charged != due:
                self._broken(event, f"charges {event.charged} for a bill of {bill}, not {due}")
            self.spent += due
            self.overrun += max(0, bill - reserve)

    def close(self) -> Audit:
        """Return the balance."""
        return Audit(
            name=self.name,
            events=self.last,
            decisions=len(self.decided),
            budget=self.budget,
            spent=self.spent,
            reserved=self.reserved,
            left=self.budget - self.spent - self.reserved,
            overrun=self.overrun,
        )

    def _broken(self, event: Event, what: str) -> NoReturn:
        raise BrokenLedger(f"campaign {self.name!r}: event {event.seq} ({event.kind}) {what}")
