"""An auditor names the first inconsistent row, in blocks of any size."""

from __future__ import annotations

from typing import Any

import pytest

import almoner as al
from almoner.errors import BrokenLedger
from almoner.live.audit.auditor import Auditor
from almoner.live.terms.terms import Terms
from almoner.store.events import Event, EventKind

COMMON = ("seq", "kind", "at", "left")
REFERRING = ("decision", "round", "context", "action", "cost", "reserve")
USED = {
    "decided": (*REFERRING, "probability", "price", "reason", "key", "available"),
    "settled": (*REFERRING, "reason", "bill", "charged"),
    "expired": (*REFERRING, "bill", "charged"),
    "rewarded": (*REFERRING, "reason", "reward"),
    "cancelled": REFERRING,
    "amended": ("detail",),
}


def events(**terms: Any) -> tuple[Terms, list[Event]]:
    """Return the terms and the log of a campaign with events of all kinds."""
    now = 1_770_000_000.0
    agent = al.Agent.open(
        "memory:",
        name="spring",
        contexts=["new", "old"],
        actions={"mail": 1, "call": al.Action(cost=1, reserve=2, expires="1 minute")},
        horizon=20,
        budget=60,
        seed=1,
        clock=lambda: now,
        **terms,
    )
    first = agent.decide("new", available=["mail"], key="a")
    agent.settle(first.id, cost=3)
    agent.reward(first.id, 0.5)
    for decision in agent.decide_many(["new", "old"] * 2, available=["mail"]):
        agent.reward(decision.id, 1.0)
    agent.cancel(agent.decide("old", available=["mail"]).id)
    late = agent.decide("new", available=["call"])
    agent.pause()
    agent.decide("old")
    agent.resume()
    agent.amend(budget=61)
    now += 61
    agent.settle(late.id, cost=2)  # after the expiry
    agent.end()
    log = [*agent.events()]
    assert {event.kind for event in log} == set(EventKind)
    return Terms.from_json(agent.store.terms("spring") or ""), log


def replace(event: Event, **values: Any) -> Event:
    """Return an event with other values, of any type."""
    return event._replace(**values)


def check(terms: Terms, log: list[Event], size: int = 1_000) -> Auditor:
    auditor = Auditor("spring", terms)
    for start in range(0, len(log), size):
        auditor.check([(*event, "a checksum") for event in log[start : start + size]])
    return auditor


@pytest.mark.parametrize("size", [1, 2, 5, 1_000])
def test_blocks_of_any_size_have_the_same_balances(size: int) -> None:
    terms, log = events()
    assert check(terms, log, size).summary() == check(terms, log).summary()
    assert check(terms, log, size).summary().events == len(log)


@pytest.mark.parametrize("kind", EventKind)
def test_every_column_that_a_kind_does_not_use_must_be_empty(kind: str) -> None:
    terms, log = events()
    index = next(index for index, event in enumerate(log) if event.kind == kind)
    for column in Event._fields:
        if column not in (*COMMON, *USED.get(kind, ())):
            changed = [*log]
            changed[index] = replace(log[index], **{column: 0})
            sentence = rf"event {index + 1} \({kind}\) must have no {column}, has 0"
            with pytest.raises(BrokenLedger, match=sentence):
                check(terms, changed)


@pytest.mark.parametrize("size", [1, 3, 1_000])
def test_the_first_of_several_inconsistent_rows_is_named(size: int) -> None:
    terms, log = events()
    faults = [
        (replace(log[1], charged=1), r"event 2 \(settled\) charges 1 for a bill of"),
        (replace(log[4], round=9), r"event 5 \(decided\) is arrival 9, where 2 was due"),
        (replace(log[6], context=5), r"event 7 \(decided\) is for the undeclared context 5"),
        (replace(log[8], at="noon"), r"event 9 \(rewarded\) has no valid time: 'noon'"),
        (replace(log[9], reward="x"), r"event 10 \(rewarded\) cannot be booked on these terms"),
        (replace(log[11], kind="gone"), r"event 12 \(gone\) is of the unknown kind 'gone'"),
        (replace(log[12], seq=99), r"event 99 \(cancelled\) follows event 12"),
    ]
    for first, (_, sentence) in enumerate(faults):
        changed = dict(enumerate(log, 1))
        for event, _ in faults[first:]:
            changed[13 if event.seq == 99 else event.seq] = event
        with pytest.raises(BrokenLedger, match=sentence):
            check(terms, [*changed.values()], size)


def test_a_wrong_number_is_found_after_an_inconsistency_before_it() -> None:
    terms, log = events()
    with pytest.raises(BrokenLedger, match=r"event 4 \(decided\) follows event 2"):
        check(terms, [*log[:2], *log[3:]])
    wrong = log[0]._replace(left=1)
    with pytest.raises(BrokenLedger, match=r"event 1 \(decided\) says that 1 is left, where"):
        check(terms, [wrong, log[1], *log[3:]])
