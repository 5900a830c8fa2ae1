"""Independent audit: recompute the balances from the event log, raise on the first inconsistency.

Snapshot and checksums are checked against the log too.
"""

from __future__ import annotations

import gc
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from almoner.errors import BrokenLedger, UnknownCampaign
from almoner.live.audit.assignment import person_fault
from almoner.live.audit.auditor import Audit, Auditor
from almoner.live.audit.inheritance import inheritance_fault
from almoner.live.audit.keys import first_repetition
from almoner.live.reports.history import History
from almoner.live.state.campaign_state import Campaign
from almoner.live.state.snapshot import read_snapshot
from almoner.live.terms.terms import Terms
from almoner.store.base import Store
from almoner.store.events import Event, EventRow

__all__ = ["Audit", "audit"]

_WIDTH = len(Event._fields)


def audit(store: Store, name: str) -> Audit:
    """Check the log of a campaign; raise `BrokenLedger` at the first inconsistency.

    Contradictions between the events come first, then those to the snapshot, then to the checksums
    (see `almoner.store.hash_chain` for what these cannot show).

    Examples
    --------
    >>> from almoner import Agent
    >>> agent = Agent.open(
    ...     "memory:", name="spring", contexts=["new"], actions={"coupon": 5}, horizon=9, budget=10)
    >>> coupon = agent.decide("new")
    >>> summary = audit(agent.store, "spring")
    >>> summary.decisions, summary.spent, summary.reserved, summary.left
    (1, 0, 5000000, 5000000)
    """
    stored = store.terms(name)
    if stored is None:
        raise UnknownCampaign(f"there is no campaign {name!r} in this store")
    terms = Terms.from_json(stored)
    if (fault := inheritance_fault(terms)) is not None:
        raise BrokenLedger(f"campaign {name!r} {fault}")
    auditor = Auditor(name, terms)
    with _without_garbage_collection():
        with store.reading(name) as reader:  # before the log, which must have come at least as far
            snapshot = reader.snapshot()
        comparison = _Comparison(terms, snapshot)
        persons = store.persons(name)  # before the log, too
        log = store.checked_log(name)
        for rows in log.rows():
            auditor.check(rows)
            comparison.check(rows)
    digests = auditor.repeated_keys()
    repetition = first_repetition(store.events(name), digests) if digests else None
    kept = sorted({*persons} & {*store.persons(name)}) if persons else []  # others: cancelled since
    fault = comparison.fault or log.fault or person_fault(kept, terms, auditor.record.acted)
    if repetition is not None:
        fault = f"event {repetition.seq} ({repetition.kind}) uses the key {repetition.key!r} again"
    if fault is not None:
        raise BrokenLedger(f"campaign {name!r}: {fault}")
    return auditor.summary(sealed_from=log.sealed_from)


@contextmanager
def _without_garbage_collection() -> Iterator[None]:
    """Disable the garbage collector, which takes a tenth of the time: events form no cycles."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


class _Comparison:
    """Folds the log up to its snapshot, and compares the two: the campaign, and its history."""

    def __init__(self, terms: Terms, snapshot: str | None) -> None:
        self._reached = _reached(snapshot)
        self._saved, self._folded = Campaign(terms), Campaign(terms)
        self._saved_history, self._history = History(terms), History(terms)
        self._readable = read_snapshot(self._saved, snapshot, self._saved_history)
        self._has_history = self._saved_history.seq > 0
        self._last = 0
        self._differs = self._readable and self._reached < 1 and self._is_different()

    def check(self, rows: Sequence[EventRow]) -> None:
        """Fold events; compare at the event after which the snapshot was taken."""
        self._last = rows[-1][0]
        due = rows[: max(0, self._reached - self._folded.seq)]
        if self._readable and due:
            self._folded.apply(due)
            if self._has_history:
                self._history.apply([row[:_WIDTH] for row in due])
            if self._folded.seq == self._reached:
                self._differs = self._is_different()

    def _is_different(self) -> bool:
        if self._has_history and self._saved_history.to_dict() != self._history.to_dict():
            return True
        return self._folded.to_dict() != self._saved.to_dict()

    @property
    def fault(self) -> str | None:
        """The inconsistency of snapshot and log, if there is one."""
        if self._differs:
            return (
                f"the snapshot after event {self._reached} is not what the log says; delete the "
                "snapshot"
            )
        if self._last < self._reached:
            return (
                f"events are missing: a snapshot was taken after event {self._reached}, but the "
                f"log ends after event {self._last}"
            )
        return None


def _reached(snapshot: str | None) -> int:
    """Return the last event that a snapshot covers; 0 if it cannot be read.

    Every version of the format has that number; the rest may mean something else in another one.
    """
    try:
        return int(json.loads(json.loads(snapshot or "")["body"])["seq"])
    except (KeyError, TypeError, ValueError):
        return 0
