"""Journals: what a worker was answered, noted after the answer, and held against the log later."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from almoner.live.audit import audit
from almoner.live.campaign import Campaign
from almoner.live.decision import Decision
from almoner.live.terms import Terms
from almoner.store import Store
from almoner.store.events import CANCELLED, DECIDED, REWARDED, SETTLED, Event


class Note(NamedTuple):
    """One answer: of a decision, or of what became of it, with the amount that was said."""

    kind: str
    id: int
    context: str | None = None
    action: str | None = None
    key: str | None = None
    amount: float | None = None

    @classmethod
    def of(cls, decision: Decision, key: str | None) -> Note:
        return cls(DECIDED, decision.id, decision.context, decision.action, key)


class Journal:
    """A file that only grows; what was written to it outlives the process, however that ends."""

    def __init__(self, path: Path) -> None:
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)

    def write(self, notes: Iterable[Note]) -> None:
        os.write(self._file, "".join(json.dumps(note) + "\n" for note in notes).encode())


def read_notes(path: Path) -> Iterator[Note]:
    """Yield the notes of a journal; a kill may have cut off the last line."""
    if path.exists():
        for line in path.read_bytes().split(b"\n")[:-1]:
            yield Note(*json.loads(line))


def prove(store: Store, name: str, notes: Iterable[Note]) -> list[Event]:
    """Return the log, once it is certain that it adds up and holds everything that was noted."""
    audit(store, name)
    terms = Terms.from_json(store.terms(name) or "")
    log = list(store.events(name))
    _prove_money(log, terms)
    _prove_notes(log, terms, notes)
    return log


def _prove_money(log: list[Event], terms: Terms) -> None:
    """Fold the log from its beginning, beside the plainest bookkeeping there is."""
    campaign, spent, held = Campaign(terms), 0, 0
    for place, event in enumerate(log):
        campaign.apply([event])
        spent += event.charged or 0
        if event.kind == DECIDED:
            held += event.reserve or 0
        if event.kind in {SETTLED, CANCELLED}:
            held -= event.reserve or 0
        assert event.seq == campaign.seq == place + 1
        assert event.left == terms.budget - spent - held >= 0
        assert campaign.ledger[:3] == (terms.budget, spent, held)


def _prove_notes(log: list[Event], terms: Terms, notes: Iterable[Note]) -> None:
    logged = {(event.kind, event.decision): event for event in log}
    keyed: dict[str, int] = {}
    for note in notes:
        event = logged[note.kind, note.id]
        if note.kind == DECIDED:
            assert (note.context, note.action, note.key) == (event.context, event.action, event.key)
            assert note.key is None or keyed.setdefault(note.key, note.id) == note.id
        if note.kind == SETTLED:
            assert event.bill == terms.unit.units_up("cost", note.amount)
        if note.kind == REWARDED:
            assert event.reward == note.amount
