"""One transaction on a campaign: commands of several callers, checked and carried out in order.

A command is first checked against the campaign and the log, which changes nothing but may decide
the arrivals before it, and then carried out, which cannot fail. So a caller's batch is done whole
or not at all, and one caller's mistake does not affect the others of a shared transaction.
Consecutive arrivals are decided together, which takes half the time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from almoner import checks
from almoner.concurrency.signals import raise_from_handler
from almoner.live.assignment.decide import decide
from almoner.live.assignment.persons import Visitor, Visitors, person_name
from almoner.live.decision import Decision, decisions_of
from almoner.live.rows.arrival_row import ArrivalRow, known_row, row_context
from almoner.live.state.campaign_state import Campaign
from almoner.live.terms.names import NAME_RULE, is_name
from almoner.live.terms.terms import Terms
from almoner.live.transactions.arrival_names import known_actions, known_context, known_costs
from almoner.live.transactions.decision_ids import DecisionIds
from almoner.live.transactions.new_events import change_terms, follow_up, lapse, set_status
from almoner.live.transactions.references import References
from almoner.store.base import Writer
from almoner.store.events import CANCELLED, Event

__all__ = ["Command", "Decide", "DecideMany", "Transaction", "execute"]


class Command:
    """One call on a campaign, which keeps its own outcome.

    ``costs`` are those that arrivals have of their own, None if none of them has any.
    """

    __slots__ = ()

    costs: Any = None

    def look_up(self, transaction: Transaction) -> None:
        """Tell the transaction which keys and decisions the command refers to."""

    def person_names(self) -> list[str]:
        """Return the persons that the command refers to."""
        return []

    def check(self, transaction: Transaction) -> None:
        """Raise an error if the command cannot be carried out; at most decide earlier arrivals."""
        raise NotImplementedError

    def carry_out(self, transaction: Transaction) -> None:
        """Apply the command, or enqueue it to be decided together with others."""
        raise NotImplementedError

    def answer(self, transaction: Transaction) -> Any:
        """Return the answer for the caller, after all commands were carried out."""
        raise NotImplementedError


@dataclass
class Decide(Command):
    """Decide for one arrival; ``repeated`` says that its key was decided before.

    Without slots, so that fields which are no arguments take no time to set.
    """

    context: Any
    available: Any = None
    key: Any = None
    person: Any = field(default=None, repr=False)
    costs: Any = None
    scores: Any = None
    features: Any = None
    row: ArrivalRow | None = field(init=False, default=None, repr=False, compare=False)
    own_costs: dict[str, int] | None = field(init=False, default=None, repr=False, compare=False)
    visitor: Visitor | None = field(init=False, default=None, repr=False, compare=False)
    repeated: bool = field(init=False, default=False, compare=False)
    decision: Decision | None = field(init=False, default=None, repr=False, compare=False)
    place: int = field(init=False, default=0, repr=False, compare=False)

    def look_up(self, transaction: Transaction) -> None:
        """Add the key."""
        if self.key is not None:
            self.key = checks.plain(self.key)
            if is_name(self.key):
                transaction.references.wanted_keys.add(self.key)

    def person_names(self) -> list[str]:
        """Return the person, if it is a name."""
        self.person = checks.plain(self.person)
        return [self.person] if is_name(self.person) else []

    def check(self, transaction: Transaction) -> None:
        """Refuse unknown names, and a key that was used for another context."""
        campaign = transaction.campaign
        on_rows = campaign.terms.on_rows
        if on_rows:
            self.context = row_context(self.context)
        context = self.context
        if type(context) is not str or context not in campaign.contexts:
            self.context = transaction.known_context(context)
        if self.available is not None:
            self.available = known_actions(campaign, self.available)
        if self.costs is not None:
            self.own_costs = known_costs(campaign, self.costs)
        if on_rows or self.scores is not None or self.features is not None:
            self.row = known_row(campaign.terms, self.scores, self.features, self.available)
            self.own_costs = self.own_costs or {}
        if self.person is not None:
            self.visitor = transaction.visitor(person_name(self.person))
        if self.key is None:
            return
        if not is_name(self.key):
            raise checks.refuse("key", f"be a text of {NAME_RULE}", self.key)
        transaction.claim_key(self.key, self.context)

    def carry_out(self, transaction: Transaction) -> None:
        """Enqueue the arrival, unless its key was decided before."""
        if self.key is not None:
            event = transaction.decided_with(self.key)
            if event is not None:
                terms, first = transaction.campaign.terms, transaction.ids.first
                self.repeated, (self.decision,) = True, decisions_of([event], terms, first)
                return
        self.place = transaction.enqueue(self)

    def answer(self, transaction: Transaction) -> Decision:
        """Return the decision."""
        return self.decision or transaction.decided[self.place]


@dataclass
class DecideMany(Command):
    """Decide for several arrivals in their order.

    ``distinct`` are those that differ. Where that is not all of them, equal ones are the same
    object, which is checked once, and has a context and nothing else that makes it an arrival of
    its own.
    """

    arrivals: list[Decide]
    distinct: list[Decide]
    costs: Any = None
    place: int = field(init=False, default=0, repr=False, compare=False)

    def look_up(self, transaction: Transaction) -> None:
        """Add the keys."""
        for arrival in self.distinct:
            arrival.look_up(transaction)

    def person_names(self) -> list[str]:
        """Return the persons that are names."""
        return [name for arrival in self.distinct for name in arrival.person_names()]

    def check(self, transaction: Transaction) -> None:
        """Check each arrival."""
        for arrival in self.distinct:
            arrival.check(transaction)

    def carry_out(self, transaction: Transaction) -> None:
        """Enqueue the arrivals."""
        if self.distinct is not self.arrivals:
            self.place = transaction.enqueue_all(self.arrivals)
            return
        for arrival in self.arrivals:
            arrival.carry_out(transaction)

    def answer(self, transaction: Transaction) -> list[Decision]:
        """Return the decisions."""
        if self.distinct is not self.arrivals:
            return transaction.decided[self.place : self.place + len(self.arrivals)]
        return [arrival.answer(transaction) for arrival in self.arrivals]


class Transaction:
    """The state of one transaction: the campaign, the log's writer, and the events added so far.

    ``decided`` are its decisions, in the order in which their arrivals were enqueued.
    """

    def __init__(self, campaign: Campaign, writer: Writer, now: int, ids: DecisionIds) -> None:
        self.campaign, self.writer, self.now, self.ids = campaign, writer, now, ids
        self.added: list[Event] = []
        self.decided: list[Decision] = []
        self._queue: list[Decide] = []

    _references: References | None = None
    _visitors: Visitors | None = None
    _new_contexts: frozenset[str] = frozenset()
    """New contexts of the caller whose commands are being checked."""

    @property
    def references(self) -> References:
        """The keys and decisions that the commands name; most arrivals name none."""
        if self._references is None:
            self._references = References(self.ids)
        return self._references

    def look_up(self, callers: Sequence[Sequence[Command]]) -> None:
        """Fetch from the log all keys and decisions that the commands refer to, at once."""
        for commands in callers:
            for command in commands:
                command.look_up(self)
        if self._references is not None:
            self._references.fetch(self.writer)
        if self.campaign.terms.knows_persons:
            self._visitors = Visitors(self.writer.persons, self.campaign.terms, self.now)
            everything = (command for commands in callers for command in commands)
            names = {name for command in everything for name in command.person_names()}
            if names:
                self._visitors.look_up(names)

    def run(self, callers: Sequence[Sequence[Command]]) -> list[list[Any] | Exception]:
        """Carry out all or none of each caller's commands; return its answers or its error.

        The actions of persons that were decided are written too.
        """
        if self.campaign.expiring.open or self.campaign.evidence.window is not None:
            self._lapse()
        errors: list[Exception | None] = []
        for commands in callers:  # a comprehension of one element takes twice as long
            errors.append(self._run(commands))  # noqa: PERF401
        self.decide()
        if self._visitors is not None:
            self._visitors.save()
        answers: list[list[Any] | Exception] = []
        for commands, error in zip(callers, errors):  # noqa: B905  # faster than with strict=True
            if error is None and len(commands) == 1:  # as mostly, in half the time
                answers.append([commands[0].answer(self)])
            elif error is None:
                answers.append([command.answer(self) for command in commands])
            else:
                answers.append(error)
        return answers

    def _lapse(self) -> None:
        """Record the deadlines that have passed since the last transaction."""
        for event in lapse(self.campaign, self.now):
            self.added.append(event)
            if self._references is not None:
                self._references.note_event(event)

    def _run(self, commands: Sequence[Command]) -> Exception | None:
        if self._references is not None:
            self._references.begin_caller()
        if self._new_contexts:
            self._new_contexts = frozenset()
        try:
            for command in commands:
                command.check(self)
        except Exception as error:  # of any type: callers hand in objects of their own
            raise_from_handler(error)  # which has interrupted the leader, whosever command this is
            return error
        for command in commands:
            command.carry_out(self)
        return None

    def known_context(self, context: Any) -> str:
        """Return a context that may arrive, those that this caller adds before it included."""
        name = known_context(self.campaign, context, self._new_contexts)
        if name not in self.campaign.contexts:
            self._new_contexts |= {name}
        return name

    def visitor(self, person: str) -> Visitor | None:
        """Return a person as known in this transaction; None where persons do not matter."""
        return None if self._visitors is None else self._visitors.named(person)

    def forget(self, person: str) -> int:
        """Remove what is kept of a person; return the number of actions that were kept."""
        self.decide()
        return 0 if self._visitors is None else self._visitors.forget(person)

    def claim_key(self, key: str, context: str) -> None:
        """Refuse a key that was used for another context, by this caller or in the log."""
        self.decided_with(key)  # decides its arrival, if that is enqueued
        self.references.claim_key(key, context)

    def enqueue(self, arrival: Decide) -> int:
        """Add an arrival to those that are decided together; return its place in ``decided``."""
        if self._new_contexts and arrival.context not in self.campaign.contexts:
            self.decide()  # the arrivals before it must not know the context yet
            self.campaign.admit(arrival.context)
        self._queue.append(arrival)
        if arrival.key is not None:
            self.references.note_enqueued(arrival.key)
        return len(self.decided) + len(self._queue) - 1

    def enqueue_all(self, arrivals: list[Decide]) -> int:
        """Add arrivals without keys; return the place of the first of them in ``decided``."""
        place = len(self.decided) + len(self._queue)
        if self._new_contexts:
            for arrival in arrivals:
                self.enqueue(arrival)
        else:
            self._queue += arrivals
        return place

    def decide(self) -> None:
        """Decide for all enqueued arrivals."""
        if not self._queue:
            return
        events = decide(self.campaign, self._queue, now=self.now)
        self.added += events
        self.decided += decisions_of(events, self.campaign.terms, self.ids.first)
        for arrival, event in zip(self._queue, events):  # noqa: B905  # strict=True takes longer
            if arrival.key is not None:
                self.references.note_decided(event)
            if arrival.visitor is not None and event.action is not None:
                self._visitors.acted(arrival.visitor, event.seq)  # type: ignore[union-attr]
        self._queue = []  # only on success, so that every caller of the batch sees the failure

    def follow_up(self, kind: str, decided: Event, **values: Any) -> Event:
        """Settle, reward or cancel a decision; return the event."""
        self.decide()
        event = follow_up(self.campaign, kind, decided, now=self.now, **values)
        self.added.append(event)
        self.references.note_event(event)
        if kind == CANCELLED and self._visitors is not None:
            self._visitors.cancelled(decided.seq)
        return event

    def set_status(self, kind: str) -> None:
        """Pause, resume or close the campaign."""
        self.decide()
        self.added.append(set_status(self.campaign, kind, now=self.now))

    def change_terms(self, terms: Terms, *, by: str | None, note: str | None) -> None:
        """Go on with other terms."""
        self.decide()
        self.added.append(change_terms(self.campaign, terms, by=by, note=note, now=self.now))

    def decided_with(self, key: str) -> Event | None:
        """Return the decision made with a key, if there is one."""
        if self.references.is_enqueued(key):
            self.decide()
        return self.references.decided_with(key)

    def id_of_key(self, key: Any) -> int:
        """Return the id of the decision made with a key; refuse a key without one."""
        event = self.decided_with(key) if is_name(key) else None
        return self.references.id_of(event, key)


def execute(
    callers: Sequence[Sequence[Command]],
    campaign: Campaign,
    writer: Writer,
    now: int,
    ids: DecisionIds,
) -> tuple[list[list[Any] | Exception], list[Event]]:
    """Run the commands of callers on a campaign; return their answers and the events to append."""
    transaction = Transaction(campaign, writer, now, ids)
    transaction.look_up(callers)
    return transaction.run(callers), transaction.added
