"""What can be asked of a campaign, and how each request is answered within a transaction.

A request is first checked against the campaign and the log, which changes nothing, and then carried
out, which cannot fail. So a batch is done whole or not at all, and one caller's mistake costs the
others of a shared transaction nothing. Arrivals that come one after another are decided together,
which takes half the time.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from numbers import Integral
from typing import Any

from almoner import checks
from almoner.campaign import RUNNING, Campaign
from almoner.decision import Decision, Settlement
from almoner.errors import Conflict, InvalidInput, UnknownDecision
from almoner.events import CANCELLED, CLOSED, PAUSED, RESUMED, REWARDED, SETTLED, Event
from almoner.store.base import Writer
from almoner.terms import NAME_LIMIT, is_name

__all__ = ["Cancel", "Decide", "Look", "Request", "Reward", "Settle", "Switch", "Turn"]

log = logging.getLogger("almoner")


class Turn:
    """A transaction on a campaign: its log before, and what was added to it since."""

    def __init__(self, campaign: Campaign, writer: Writer, now: int) -> None:
        self.campaign, self.writer, self.now = campaign, writer, now
        self.added: list[Event] = []
        self._waiting: list[Decide] = []
        self._awaited: set[str] = set()
        self._keyed: dict[str, Event] = {}
        self._claimed: dict[str, str] = {}
        self._named: dict[int, list[str]] = {}
        self._histories: dict[int, list[Event]] = {}

    def look_up(self, callers: Sequence[Sequence[Request]]) -> None:
        """Fetch what the log says of all keys and decisions that callers name, at once."""
        keys: set[str] = set()
        ids: set[int] = set()
        for requests in callers:
            for ask in requests:
                if isinstance(ask, Decide):
                    if ask.key is not None and is_key(ask.key):
                        keys.add(ask.key)
                elif isinstance(ask, _OfDecision) and is_id(ask.id):
                    ids.add(int(ask.id))
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
        self._named.clear()
        try:
            for request in requests:
                request.check(self)
        except Exception as error:  # whatever a caller has handed in, others must not hear of it
            return error
        for request in requests:
            request.carry_out(self)
        return None

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
        if verb in named or (named and CANCELLED in (verb, *named)):
            raise Conflict(f"one batch cannot have decision {decision} {named[0]} and {verb}")
        named.append(verb)

    def arrive(self, arrival: Decide) -> None:
        """Have an arrival wait until it is decided."""
        if arrival.context not in self.campaign.contexts:
            self.decide()  # those before it know nothing of it yet
            self.campaign.admit(arrival.context)
        self._waiting.append(arrival)
        if arrival.key is not None:
            self._awaited.add(arrival.key)

    def decide(self) -> None:
        """Decide for all who wait."""
        if not self._waiting:
            return
        waiting, self._waiting = self._waiting, []
        events = self.campaign.decide(waiting, now=self.now)
        self.added += events
        for arrival, event in zip(waiting, events, strict=True):
            arrival.event = event
            if event.key is not None:
                self._keyed[event.key] = event
        self._awaited.clear()

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
        if key in self._awaited:
            self.decide()
        return self._keyed.get(key)

    def history(self, decision: Any) -> dict[str, Event]:
        """Return what has happened of a decision, by kind."""
        if not is_id(decision) or decision not in self._histories:
            shown = decision if is_id(decision) else f"of the type {type(decision).__name__}"
            raise UnknownDecision(
                f"there is no decision {shown} in this campaign; use the id that decide returned, "
                "a whole number"
            )
        return {event.kind: event for event in self._histories[decision]}


def is_key(key: object) -> bool:
    """Return whether this can be the key of a decision."""
    return is_name(key)


def is_id(decision: object) -> bool:
    """Return whether this can be the id of a decision."""
    whole = isinstance(decision, Integral) and not isinstance(decision, bool)
    return whole and 0 < decision < 2**53  # type: ignore[operator]


class Request:
    """Something asked of a campaign."""

    __slots__ = ()

    def check(self, turn: Turn) -> None:
        """Refuse what cannot be carried out; change nothing."""
        raise NotImplementedError

    def carry_out(self, turn: Turn) -> None:
        """Do it, or have it wait to be done together with others."""
        raise NotImplementedError

    def answer(self, turn: Turn) -> Any:
        """Return what to tell the caller, once all is done."""
        raise NotImplementedError


@dataclass(slots=True)
class Decide(Request):
    """Decide for one arrival; ``new`` says whether that had not been done with the same key."""

    context: Any
    available: Any = None
    key: Any = None
    new: bool = field(init=False)
    event: Event = field(init=False)

    def check(self, turn: Turn) -> None:
        """Refuse unknown names, and a key that was used for something else."""
        self.context = turn.campaign.known(self.context)
        self.available = turn.campaign.known_actions(self.available)
        if self.key is None:
            return
        if not is_key(self.key):
            raise checks.refuse("key", f"be a text of 1 to {NAME_LIMIT} characters", self.key)
        turn.claim(self.key, self.context)

    def carry_out(self, turn: Turn) -> None:
        """Have it decided, unless it was with the same key."""
        event = None if self.key is None else turn.keyed(self.key)
        self.new = event is None
        if event is None:
            turn.arrive(self)
        else:
            self.event = event

    def answer(self, turn: Turn) -> Decision:
        """Return what was decided."""
        return Decision.of(self.event, turn.campaign.terms.unit)


@dataclass(slots=True)
class _OfDecision(Request):
    id: Any
    event: Event | None = field(init=False, default=None)

    def _decided(self, turn: Turn, verb: str) -> tuple[Event, dict[str, Event]]:
        history = turn.history(self.id)
        decided = next(iter(history.values()))
        if verb != REWARDED and decided.action is None:
            raise Conflict(f"decision {self.id} is a skip: it holds no money to be {verb}")
        if verb != CANCELLED and CANCELLED in history:
            raise Conflict(f"decision {self.id} was cancelled, so it cannot be {verb}")
        return decided, history

    def answer(self, turn: Turn) -> Settlement | None:
        """Return what became of the money."""
        return self.event and Settlement.of(self.event, turn.campaign.terms.unit)


@dataclass(slots=True)
class Settle(_OfDecision):
    """Replace what is held for an action by what it cost."""

    cost: Any

    def check(self, turn: Turn) -> None:
        """Refuse a bill that contradicts the log, or is none."""
        bill = turn.campaign.terms.unit.units_up("cost", self.cost)
        _, history = self._decided(turn, SETTLED)
        turn.name(self.id, SETTLED)
        if SETTLED in history and history[SETTLED].bill != bill:
            before = turn.campaign.terms.unit.amount(history[SETTLED].bill or 0)
            raise Conflict(
                f"decision {self.id} was settled at cost={before!r}, got cost={self.cost!r}; "
                "a settlement is final"
            )

    def carry_out(self, turn: Turn) -> None:
        """Settle, unless it was settled before."""
        money = turn.campaign.terms.unit
        decided, history = self._decided(turn, SETTLED)
        self.event = history.get(SETTLED)
        if self.event is None:
            bill = money.units_up("cost", self.cost)
            self.event = turn.follow_up(SETTLED, decided, bill=bill)
            if bill > (decided.reserve or 0):
                log.warning(
                    "decision %d cost %r, more than the %r held for it; %r was charged",
                    self.id,
                    money.amount(bill),
                    money.amount(decided.reserve or 0),
                    money.amount(self.event.charged or 0),
                )


@dataclass(slots=True)
class Reward(_OfDecision):
    """Say what an action, or a skip, has brought."""

    value: Any

    def check(self, turn: Turn) -> None:
        """Refuse a value out of range, or another than before."""
        self.value = checks.number("reward", self.value, low=0, high=1)
        _, history = self._decided(turn, REWARDED)
        turn.name(self.id, REWARDED)
        if REWARDED in history and history[REWARDED].reward != self.value:
            raise Conflict(
                f"decision {self.id} was rewarded with {history[REWARDED].reward!r}, got "
                f"reward={self.value!r}; a reward is final"
            )

    def carry_out(self, turn: Turn) -> None:
        """Learn from it, once."""
        decided, history = self._decided(turn, REWARDED)
        if REWARDED not in history:
            turn.follow_up(REWARDED, decided, reward=self.value)


@dataclass(slots=True)
class Cancel(_OfDecision):
    """Take back an action that never happened."""

    def check(self, turn: Turn) -> None:
        """Refuse if the log says that it did happen."""
        _, history = self._decided(turn, CANCELLED)
        turn.name(self.id, CANCELLED)
        for done in (SETTLED, REWARDED):
            if done in history:
                raise Conflict(f"decision {self.id} was {done}, so it did happen; keep it")

    def carry_out(self, turn: Turn) -> None:
        """Refund it, once."""
        decided, history = self._decided(turn, CANCELLED)
        self.event = history.get(CANCELLED) or turn.follow_up(CANCELLED, decided)


@dataclass(slots=True)
class Switch(Request):
    """Pause, resume or close a campaign."""

    kind: str

    def check(self, turn: Turn) -> None:
        """Refuse to wake what was closed."""
        if self.kind not in (PAUSED, RESUMED, CLOSED):
            raise InvalidInput(f"a campaign cannot be {self.kind!r}")
        if turn.campaign.status == CLOSED and self.kind != CLOSED:
            raise Conflict("the campaign is closed for good; open another one")

    def carry_out(self, turn: Turn) -> None:
        """Switch, unless it is so already."""
        if turn.campaign.status != self._target:
            turn.switch(self.kind)

    def answer(self, turn: Turn) -> str:
        """Return what the campaign is now."""
        return self._target

    @property
    def _target(self) -> str:
        return RUNNING if self.kind == RESUMED else self.kind


@dataclass(slots=True)
class Look(Request):
    """Read something off a campaign while nobody changes it."""

    read: Callable[[Campaign], Any]
    found: Any = None

    def check(self, turn: Turn) -> None:
        """Read it, which changes nothing, but may fail."""
        turn.decide()
        self.found = self.read(turn.campaign)

    def carry_out(self, turn: Turn) -> None:
        """Do nothing more."""

    def answer(self, turn: Turn) -> Any:
        """Return what was read."""
        return self.found
