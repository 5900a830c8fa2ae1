"""Store in memory, for tests and trials: it ends with the process."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from itertools import islice

from almoner.concurrency.mutex import Mutex
from almoner.concurrency.process import Process
from almoner.errors import StoreError, UnknownCampaign
from almoner.store.base import ALL, IDS, ApiKey, PersonRow
from almoner.store.checked_log import CheckedLog
from almoner.store.events import DECIDED, ENDS, Event
from almoner.store.memory_persons import MemoryPersons

__all__ = ["MemoryStore"]

CHUNK = 1_000
"""Events of a block that an audit reads."""


class _Log:
    """Log of one campaign, with dictionaries in place of a database's indices.

    A decision is found in ``rows`` by its number, and in ``follow_ups`` the events that follow it.
    ``rows`` is appended to first and truncated last, and ``committed`` sets in one assignment how
    many of them are committed, with which snapshot and which version of the persons. So the rest
    can be undone after an interrupt at any bytecode.
    """

    def __init__(self, terms: str) -> None:
        self.terms = terms
        self.rows: list[Event] = []
        self.follow_ups: dict[int, list[Event]] = {}
        self.by_key: dict[str, Event] = {}
        self.saved: str | None = None
        self.persons = MemoryPersons()
        self.committed: tuple[int, str | None, int] = (0, None, 0)
        self.mutex = Mutex()

    def events(self, after: int, limit: int = ALL) -> list[Event]:
        return self.rows[after : after + limit]

    def histories(self, decisions: Sequence[int]) -> dict[int, list[Event]]:
        return {seq: self.history(seq) for seq in decisions if self.is_decision(seq)}

    def history(self, seq: int) -> list[Event]:
        return [self.rows[seq - 1], *self.follow_ups.get(seq, ())]

    def is_decision(self, seq: int) -> bool:
        return 0 < seq <= len(self.rows) and self.rows[seq - 1].kind == DECIDED

    def keyed(self, keys: Sequence[str]) -> dict[str, Event]:
        return {key: self.by_key[key] for key in keys if key in self.by_key}

    def append(self, events: Sequence[Event]) -> None:
        self.rows += events
        for event in events:
            if event.kind != DECIDED:
                if event.decision is not None:
                    self.follow_ups.setdefault(event.decision, []).append(event)
            elif event.key is not None:
                self.by_key[event.key] = event

    def snapshot(self) -> str | None:
        return self.saved

    def save_snapshot(self, text: str | None) -> None:
        self.saved = text

    def undo(self, last: int, saved: str | None, version: int) -> None:
        """Undo a transaction, of which any part may have been done or undone already."""
        self.persons.undo(version)
        for event in reversed(self.rows[last:]):
            following = self.follow_ups.get(event.decision or 0, [])
            if following and following[-1] is event:
                following.pop()
            if not following:
                self.follow_ups.pop(event.decision or 0, None)
            if event.key is not None and self.by_key.get(event.key) is event:
                del self.by_key[event.key]
        del self.rows[last:]
        self.saved = saved


class _LogTransaction:
    """Transaction on one log; as a generator it would take twice the time."""

    __slots__ = ("claim", "log")

    def __init__(self, log: _Log) -> None:
        self.log = log

    def __enter__(self) -> _Log:
        log = self.log
        self.claim = log.mutex.acquire()
        last, saved, version = log.committed
        # They differ after a transaction that was interrupted.
        if last != len(log.rows) or saved != log.saved or version != log.persons.version:
            log.undo(last, saved, version)
        if log.persons.changed:
            log.persons.begin()
        return log

    def __exit__(self, kind: object, error: object, where: object) -> None:
        if self.claim.next:  # another thread has taken over
            if kind is None:
                raise StoreError("a transaction was ended by another one; ask again")
            return
        if kind is None:
            log = self.log
            log.committed = len(log.rows), log.saved, log.persons.version
        else:
            self.log.undo(*self.log.committed)
        self.claim.release()


class _MemoryReader:
    """The committed part of a log, which only grows: no lock is needed to read it."""

    def __init__(self, log: _Log) -> None:
        self._rows, (self._last, self._saved, _) = log.rows, log.committed

    def events(self, after: int, limit: int = ALL) -> list[Event]:
        return self._rows[after : min(after + limit, self._last)]

    def snapshot(self) -> str | None:
        return self._saved


class MemoryStore:
    """Campaigns in dictionaries and lists.

    A forked child is refused: the parent would not see what it writes to its copy.
    """

    def __init__(self) -> None:
        self._process = Process()
        self._logs: dict[str, _Log] = {}
        self._keys: dict[str, ApiKey] = {}

    def campaigns(self) -> list[str]:
        """Return the names of all campaigns, oldest first."""
        self._process.check()
        return list(self._logs)

    def terms(self, name: str) -> str | None:
        """Return the terms of a campaign; None if there is no such campaign."""
        self._process.check()
        return self._logs[name].terms if name in self._logs else None

    def create(self, name: str, terms: str) -> str:
        """Create a campaign unless it exists; return its terms."""
        self._process.check()
        return self._logs.setdefault(name, _Log(terms)).terms

    def first_id(self, name: str) -> int:
        """Return the number to which a campaign adds ``seq`` for the id of a decision."""
        self._process.check()
        return [*self._logs].index(name) * IDS if name in self._logs else 0

    def campaign_with(self, first_id: int) -> str | None:
        """Return the campaign whose ids begin after ``first_id``; None unless there is just one."""
        self._process.check()
        number, rest = divmod(first_id, IDS)
        return [*self._logs][number] if 0 <= number < len(self._logs) and rest == 0 else None

    def writing(self, name: str) -> _LogTransaction:
        """Begin a transaction on a campaign's log."""
        log = self._logs.get(name)  # whose mutex refuses a forked child
        return _LogTransaction(self._log(name) if log is None else log)

    def reading(self, name: str) -> AbstractContextManager[_MemoryReader]:
        """Begin a transaction on a campaign's log that only reads."""
        return nullcontext(_MemoryReader(self._log(name)))

    def events(self, name: str, after: int = 0) -> Iterator[Event]:
        """Yield the events of a campaign after one of them."""
        log = self._log(name)
        return iter(log.rows[after : log.committed[0]])

    def last(self, name: str) -> int:
        """Return the ``seq`` of the last event of a campaign; 0 if there is none."""
        return self._log(name).committed[0]

    def outcomes(self, name: str, *, after: int, through: int, last: int) -> list[Event]:
        """Return all events about the decisions after one and up to another, by decision."""
        log = self._log(name)  # whose events up to ``last`` never change
        return [
            event
            for decision in log.rows[after : min(through, last)]
            if decision.kind == DECIDED
            for event in log.history(decision.seq)
            if event.seq <= last
        ]

    def switches(self, name: str, *, last: int) -> list[Event]:
        """Return the events up to ``last`` that are about the campaign, not about a decision."""
        return [event for event in self._log(name).rows[:last] if event.decision is None]

    def unsettled(self, name: str, *, until: int, after: int, limit: int) -> list[Event]:
        """Return decisions with money reserved that were made until a time, oldest first."""
        log = self._log(name)
        rows = (
            event
            for event in islice(log.rows, after, log.committed[0])
            if event.kind == DECIDED and event.reserve and event.at <= until
            if not any(later.kind in ENDS for later in log.history(event.seq))
        )
        return [*islice(rows, limit)]

    def checked_log(self, name: str) -> CheckedLog:
        """Return all events of a campaign for an audit; in memory they have no checksums."""
        events = self.events(name)
        return CheckedLog(iter(lambda: [(*event, None) for event in islice(events, CHUNK)], []))

    def persons(self, name: str) -> list[PersonRow]:
        """Return the rows of all persons of a campaign, by person and decision."""
        return self._log(name).persons.rows()

    def api_keys(self) -> list[ApiKey]:
        """Return all keys of the service, oldest first, revoked ones included."""
        self._process.check()
        return list(self._keys.values())

    def add_key(self, key: ApiKey) -> bool:
        """Add a key; return whether its name was free."""
        self._process.check()
        return self._keys.setdefault(key.name, key) is key

    def revoke_key(self, name: str, at: int) -> bool:
        """Mark a key as revoked, unless it is already; return whether there is one."""
        self._process.check()
        key = self._keys.get(name)
        if key is not None and key.revoked is None:
            self._keys[name] = key._replace(revoked=at)
        return key is not None

    def close(self) -> None:
        """Do nothing: there are no files and no connections."""

    def _log(self, name: str) -> _Log:
        self._process.check()
        log = self._logs.get(name)
        if log is None:
            raise UnknownCampaign(f"there is no campaign {name!r} in this store")
        return log
