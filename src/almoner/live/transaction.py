"""A turn: one transaction on a campaign, and what callers ask for in it.

A request is first checked against the campaign and the log, which changes nothing, and then carried
out, which cannot fail. So a batch is done whole or not at all, and one caller's mistake costs the
others of a shared transaction nothing. Arrivals that come one after another are decided together,
which takes half the time.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from almoner.errors import Conflict
from almoner.live.campaign import Campaign
from almoner.live.decision import is_id, unknown
from almoner.live.policy import Visitor
from almoner.store.base import Writer
from almoner.store.events import CANCELLED, Event

__all__ = ["Request", "Turn"]


class Request:
    """Something asked of a campaign, once: it keeps what became of it."""

    __slots__ = ()

    def mention(self, keys: set[str], ids: set[int]) -> None:
        """Add the keys and the decisions that it speaks of."""

    def check(self, turn: Turn) -> None:
        """Refuse what cannot be carried out; do nothing of it."""
        raise NotImplementedError

    def carry_out(self, turn: Turn) -> None:
        """Do it, or have it wait to be done together with others."""
        raise NotImplementedError

    def answer(self, turn: Turn) -> Any:
        """Return what to tell the caller, once all is done."""
        raise NotImplementedError


class Arrival(Visitor, Protocol):
    """A visitor who waits for a decision, and gets it as the event that records it."""

    event: Event | None


class Turn:
    """A transaction on a campaign: its log before, and what was added to it since."""

    def __init__(self, campaign: Campaign, writer: Writer, now: int) -> None:
        self.campaign, self.writer, self.now = campaign, writer, now
        self.added: list[Event] = []
        self._waiting: list[Arrival] = []
        self._keyed: dict[str, Event | None] = {}  # None: it waits to be decided
        self._claimed: dict[str, str] = {}
        self._coming: set[str] = set()
        self._named: dict[int, list[str]] = {}
        self._histories: dict[int, list[Event]] = {}

    def look_up(self, callers: Sequence[Sequence[Request]]) -> None:
        """Fetch what the log says of all keys and decisions that callers name, at once."""
        keys: set[str] = set()
        ids: set[int] = set()
        for requests in callers:
            for request in requests:
                request.mention(keys, ids)
        if keys:
            self._keyed.update(self.writer.keyed(sorted(keys)))
        if ids:
            self._histories.update(self.writer.histories(sorted(ids)))

    def answer(self, callers: Sequence[Sequence[Request]]) -> list[list[Any] | Exception]:
        """Carry out all of a caller's requests or none; return the answers, or the error."""
        answers: list[Any] = [self._carry_out(requests) for requests in callers]
        self.decide()
        for place, requests in enumerate(callers):
            if answers[place] is None:
                answers[place] = [request.answer(self) for request in requests]
        return answers

    def _carry_out(self, requests: Sequence[Request]) -> Exception | None:
        self._claimed.clear()
        self._coming.clear()
        self._named.clear()
        try:
            for request in requests:
                request.check(self)
        except Exception as error:  # whatever a caller has handed in, others must not hear of it
            return error
        for request in requests:
            request.carry_out(self)
        return None

    def known(self, context: Any) -> str:
        """Return a context that may arrive after those that the caller has mentioned so far."""
        name = self.campaign.known(context, self._coming)
        if name not in self.campaign.contexts:
            self._coming.add(name)
        return name

    def claim(self, key: str, context: str) -> None:
        """Refuse a key that stands for another context, here or in the log."""
        earlier = self.keyed(key)
        used = self._claimed.setdefault(key, context) if earlier is None else earlier.context
        if used != context:
            raise Conflict(
                f"key {key!r} was used for context {used!r}, got context {context!r}; "
                "use a new key for a new arrival"
            )

    def name(self, decision: int, verb: str) -> None:
        """Refuse a batch that says one thing twice, or both cancels a decision and does not."""
        named = self._named.setdefault(decision, [])
        if verb in named:
            raise Conflict(f"decision {decision} is {verb} twice in one batch; send it once")
        if named and CANCELLED in (verb, *named):
            raise Conflict(f"one batch cannot have decision {decision} {named[0]} and {verb}")
        named.append(verb)

    def arrive(self, arrival: Arrival) -> None:
        """Have an arrival wait until it is decided."""
        if arrival.context not in self.campaign.contexts:
            self.decide()  # those before it know nothing of it yet
            self.campaign.admit(arrival.context)
        self._waiting.append(arrival)
        if arrival.key is not None:
            self._keyed[arrival.key] = None

    def decide(self) -> None:
        """Decide for all who wait."""
        if not self._waiting:
            return
        events = self.campaign.decide(self._waiting, now=self.now)
        self.added += events
        for arrival, event in zip(self._waiting, events, strict=True):
            arrival.event = event
            if event.key is not None:
                self._keyed[event.key] = event
        self._waiting = []  # not before: what fails must go on failing, for all

    def follow_up(self, kind: str, decided: Event, **values: Any) -> Event:
        """Have a decision settled, rewarded or cancelled."""
        self.decide()
        event = self.campaign.follow_up(kind, decided, now=self.now, **values)
        self.added.append(event)
        self._histories[decided.seq] = [*self._histories[decided.seq], event]
        return event

    def switch(self, kind: str) -> None:
        """Have the campaign paused, resumed or closed."""
        self.decide()
        self.added.append(self.campaign.switch(kind, now=self.now))

    def keyed(self, key: str) -> Event | None:
        """Return the decision made with a key, if there is one."""
        if key in self._keyed and self._keyed[key] is None:
            self.decide()
        return self._keyed.get(key)

    def history(self, decision: Any) -> dict[str, Event]:
        """Return what has happened of a decision, by kind."""
        if not is_id(decision) or decision not in self._histories:
            raise unknown(decision)
        return {event.kind: event for event in self._histories[decision]}
