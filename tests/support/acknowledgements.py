"""Acknowledgements: answers that workers received, kept in files and compared with the log."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from almoner.live.audit import audit
from almoner.live.decision import Decision
from almoner.live.state.campaign_state import Campaign
from almoner.live.terms.terms import Terms
from almoner.store import Store
from almoner.store.events import (
    AMENDED,
    CANCELLED,
    DECIDED,
    EXPIRED,
    REWARDED,
    SETTLED,
    Event,
)


class Acknowledgement(NamedTuple):
    """One answer: to a decision or to a follow-up of one, with the amount that was sent."""

    kind: str
    id: int
    context: str | None = None
    action: str | None = None
    key: str | None = None
    amount: float | None = None

    @classmethod
    def of(cls, decision: Decision, key: str | None) -> Acknowledgement:
        """Return the acknowledgement of a decision."""
        return cls(DECIDED, decision.id, decision.context, decision.action, key)


class AcknowledgementFile:
    """Append-only file of acknowledgements; written lines survive a kill of the process."""

    def __init__(self, path: Path) -> None:
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)

    def write(self, acknowledged: Iterable[Acknowledgement]) -> None:
        """Append acknowledgements in one write."""
        os.write(self._file, "".join(json.dumps(each) + "\n" for each in acknowledged).encode())


def read_acknowledgements(path: Path) -> Iterator[Acknowledgement]:
    """Yield the acknowledgements in a file; a kill may have cut off the last line."""
    if path.exists():
        for line in path.read_bytes().split(b"\n")[:-1]:
            yield Acknowledgement(*json.loads(line))


def check_log(store: Store, name: str, acknowledged: Iterable[Acknowledgement]) -> list[Event]:
    """Return the log after checking that it balances and has everything acknowledged."""
    audit(store, name)
    terms = Terms.from_json(store.terms(name) or "")
    log = list(store.events(name))
    _check_balances(log, terms)
    _check_acknowledged(log, terms, acknowledged)
    return log


def _check_balances(log: list[Event], terms: Terms) -> None:
    """Fold the log event by event, and compare with sums of charges and reserves."""
    campaign, budget, spent, reserved = Campaign(terms), terms.budget, 0, 0
    paid_at_expiry: dict[int, int] = {}
    for seq, event in enumerate(log, 1):
        campaign.apply([event])
        spent += event.charged or 0
        if event.kind == DECIDED:
            reserved += event.reserve or 0
        if event.kind == SETTLED and event.decision in paid_at_expiry:  # in place of that
            spent -= paid_at_expiry.pop(event.decision)
        elif event.kind in {SETTLED, CANCELLED, EXPIRED}:
            reserved -= event.reserve or 0
        if event.kind == EXPIRED:
            paid_at_expiry[event.decision or 0] = event.charged or 0
        if event.kind == AMENDED:
            budget = json.loads(event.detail or "")["terms"].get("budget", budget)
        assert event.seq == campaign.seq == seq
        assert event.left == budget - spent - reserved >= 0
        assert campaign.ledger[:3] == (budget, spent, reserved)


def _check_acknowledged(
    log: list[Event], terms: Terms, acknowledged: Iterable[Acknowledgement]
) -> None:
    """Compare each acknowledgement with its event, and each key with one decision."""
    logged = {(event.kind, event.decision): event for event in log}
    decision_of_key: dict[str, int] = {}
    notes = {json.loads(event.detail or "")["note"] for event in log if event.kind == AMENDED}
    for answer in acknowledged:
        if answer.kind == AMENDED:
            assert answer.key in notes
            continue
        event = logged[answer.kind, answer.id]
        if answer.kind == DECIDED:
            expected = (event.context, event.action, event.key)
            assert (answer.context, answer.action, answer.key) == expected
            assert (
                answer.key is None or decision_of_key.setdefault(answer.key, answer.id) == answer.id
            )
        if answer.kind == SETTLED:
            assert event.bill == terms.unit.units_up("cost", answer.amount)
        if answer.kind == REWARDED:
            assert event.reward == answer.amount
