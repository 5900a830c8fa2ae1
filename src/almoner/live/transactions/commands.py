"""Commands on campaigns: set the status, change the terms, read, forget a person.

The commands of arrivals, `Decide` and `DecideMany`, are in
`almoner.live.transactions.transaction`, which decides in batches; commands on decisions are in
`almoner.live.transactions.follow_ups`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from almoner import checks
from almoner.errors import Conflict, InvalidInput
from almoner.live.assignment.persons import person_name
from almoner.live.state.campaign_state import Campaign
from almoner.live.state.status import Status
from almoner.live.terms.names import NAME_LIMIT, is_name, is_text, text_rule
from almoner.live.terms.terms import Terms
from almoner.live.transactions.amendment import Changes, amended_terms
from almoner.live.transactions.transaction import Command, Decide, DecideMany, Transaction
from almoner.store.events import CLOSED, PAUSED, RESUMED

__all__ = ["Amend", "Forget", "Read", "SetStatus", "arrivals"]

NOTE_LIMIT = 1_000
"""Characters of a note, at most."""


@dataclass(slots=True)
class SetStatus(Command):
    """Pause, resume or close a campaign."""

    kind: str

    def check(self, transaction: Transaction) -> None:
        """Refuse any change of a closed campaign."""
        if self.kind not in (PAUSED, RESUMED, CLOSED):
            raise InvalidInput(f"a campaign cannot be {self.kind!r}")
        if transaction.campaign.status == Status.CLOSED and self.kind != CLOSED:
            raise Conflict("the campaign is closed for good; open another one")

    def carry_out(self, transaction: Transaction) -> None:
        """Set the status, unless the campaign has it already."""
        if transaction.campaign.status != self._status:
            transaction.set_status(self.kind)

    def answer(self, transaction: Transaction) -> str:
        """Return the new status."""
        return self._status

    @property
    def _status(self) -> str:
        return Status.RUNNING.value if self.kind == RESUMED else self.kind


@dataclass(slots=True)
class Amend(Command):
    """Change the terms of a campaign."""

    changes: Changes
    by: Any = None
    note: Any = None

    def check(self, transaction: Transaction) -> None:
        """Refuse changes that cannot be made now, and texts that no store can hold."""
        self.check_texts()
        transaction.decide()
        amended_terms(transaction.campaign, self.changes, transaction.now)

    def check_texts(self) -> None:
        """Refuse texts that no store can hold."""
        for name, limit in (("by", NAME_LIMIT), ("note", NOTE_LIMIT)):
            text = checks.plain(getattr(self, name))
            if text is not None and not is_text(text, limit):
                raise checks.refuse(name, f"be a text of {text_rule(limit)}", text)
            setattr(self, name, text)

    def carry_out(self, transaction: Transaction) -> None:
        """Change the terms, unless the campaign has them already."""
        transaction.decide()
        terms = amended_terms(transaction.campaign, self.changes, transaction.now)
        if terms != transaction.campaign.terms:
            transaction.change_terms(terms, by=self.by, note=self.note)

    def answer(self, transaction: Transaction) -> Terms:
        """Return the terms."""
        return transaction.campaign.terms


@dataclass(slots=True)
class Read(Command):
    """Read a value from a campaign within the transaction."""

    read: Callable[[Campaign], Any]
    value: Any = None

    def check(self, transaction: Transaction) -> None:
        """Read the value, which changes nothing, but may fail."""
        transaction.decide()
        self.value = self.read(transaction.campaign)

    def carry_out(self, transaction: Transaction) -> None:
        """Do nothing more."""

    def answer(self, transaction: Transaction) -> Any:
        """Return the value."""
        return self.value


@dataclass(slots=True)
class Forget(Command):
    """Remove everything that can be traced to a person."""

    person: Any = field(repr=False)
    count: int = field(init=False, default=0, compare=False)

    def person_names(self) -> list[str]:
        """Return the person, if it is a name."""
        self.person = checks.plain(self.person)
        return [self.person] if is_name(self.person) else []

    def check(self, transaction: Transaction) -> None:
        """Refuse a value that cannot be a person."""
        self.person = person_name(self.person)

    def carry_out(self, transaction: Transaction) -> None:
        """Remove the rows of the person."""
        self.count = transaction.forget(self.person)

    def answer(self, transaction: Transaction) -> int:
        """Return the number of actions that were kept of the person."""
        return self.count


def arrivals(
    contexts: Any,
    available: Any = None,
    keys: Any = None,
    persons: Any = None,
    costs: Any = None,
    scores: Any = None,
    features: Any = None,
) -> DecideMany:
    """Return the command to decide for arrivals in their order, with keys and the rest if any.

    In a campaign on rows the arrivals are those of scores or features, and contexts are left out.
    """
    rows = scores if scores is not None else features
    if contexts is None and rows is not None:
        contexts = [None] * len(checks.listed("scores" if features is None else "features", rows))
    names = checks.listed("contexts", contexts)
    allowed = list(available) if isinstance(available, Iterator) else available
    if all(values is None for values in (keys, persons, costs, scores, features)):
        if {*map(type, names)} <= {str}:
            alike = {context: Decide(context, allowed) for context in dict.fromkeys(names)}
            return DecideMany([alike[context] for context in names], [*alike.values()])
        each = [Decide(context, allowed) for context in names]
        return DecideMany(each, each)
    keys = _one_each("keys", keys, len(names))
    own_costs = _one_each("costs", costs, len(names))
    scores = _one_each("scores", scores, len(names))
    features = _one_each("features", features, len(names))
    persons = [None] * len(names) if persons is None else checks.listed("persons", persons)
    if len(persons) != len(names):  # whose names must not be in the message
        raise InvalidInput(
            f"persons must hold {len(names)} persons, one for each context, got {len(persons)}"
        )
    each = [
        Decide(context, allowed, *values)
        for context, *values in zip(names, keys, persons, own_costs, scores, features, strict=True)
    ]
    return DecideMany(each, each, [cost for cost in own_costs if cost is not None] or None)


def _one_each(name: str, values: Any, count: int) -> list[Any]:
    """Return values of arrivals, one for each context; None for each if left out."""
    if values is None:
        return [None] * count
    if isinstance(values, Mapping):  # which is iterable, too
        raise checks.refuse(name, f"hold {count} {name}, one for each arrival", values)
    entries = checks.listed(name, values)
    if len(entries) != count:
        raise checks.refuse(name, f"hold {count} {name}, one for each arrival", entries)
    return entries
