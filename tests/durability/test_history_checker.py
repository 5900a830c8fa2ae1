"""The checker of concurrent histories detects broken stores and falsified histories."""

from __future__ import annotations

import copy
import functools
import logging
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest
from support.histories import REFUSALS, Operation, check
from support.history_workers import BUDGET, HORIZON, TERMS, Client, in_threads, read_balances

from almoner import Agent
from almoner.store import Store, Writer, open_store
from almoner.store.events import DECIDED, REWARDED, Event
from almoner.store.memory import MemoryStore

Recorded = tuple[list[Operation], list[Event]]


@pytest.fixture(autouse=True)
def _quiet(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.CRITICAL, "almoner")


def record(store: Store, seed: str, read: Callable[[Agent], Any] | None = None) -> Recorded:
    agents = [Agent.open(store, name="spring", **TERMS) for _ in range(3)]
    clients = [Client(agent, f"{seed} {number}", read) for number, agent in enumerate(agents)]
    history = in_threads(clients, 200)
    return history, list(store.events("spring"))


@functools.cache
def sound() -> Recorded:
    return record(open_store("memory:"), "sound")


def assert_found(recorded: Recorded, match: str | None = None) -> None:
    with pytest.raises(AssertionError, match=match):
        check(*recorded, budget=BUDGET, horizon=HORIZON)


def test_histories_have_every_operation_and_refusal() -> None:
    history, log = sound()
    check(history, log, budget=BUDGET, horizon=HORIZON)
    answers = Counter((operation.verb, operation.error) for operation in history)
    for verb in ("settle", "reward", "cancel"):
        assert min(answers[verb, error] for error in (None, "Conflict", "UnknownDecision")) > 0
    assert min(answers[verb, None] for verb in ("decide_many", "read", "pause", "resume")) > 0
    assert answers["decide", "Conflict"] + answers["decide_many", "Conflict"] > 0
    assert {"budget", "paused", None} <= {event.reason for event in log if event.kind == DECIDED}
    ids = Counter(decision.id for operation in history for decision in operation.decisions())
    assert max(ids.values()) > 1  # a key was asked for again
    overlaps = [one.called < other.called < one.returned for one in history for other in history]
    assert sum(overlaps) > 50


def lose_the_last_event(history: list[Operation], log: list[Event]) -> None:
    del log[-1]


def invent_an_event(history: list[Operation], log: list[Event]) -> None:
    log.append(Event(len(log) + 1, "paused", log[-1].at, log[-1].left))


def misstate_the_budget(history: list[Operation], log: list[Event]) -> None:
    operation = next(one for one in history if one.verb == "decide" and one.error is None)
    operation.answer = replace(operation.answer, budget_left=operation.answer.budget_left - 0.01)


def answer_two_arrivals_with_one_decision(history: list[Operation], log: list[Event]) -> None:
    one, other = [
        one
        for one in history
        if one.verb == "decide"
        and one.arguments["key"] is None
        and one.arguments["context"] == "new"
    ][:2]
    other.answer = one.answer


def answer_a_key_with_another_decision(history: list[Operation], log: list[Event]) -> None:
    keyed = [
        one for one in history if one.verb == "decide" and one.arguments["key"] and not one.error
    ]
    keyed[0].answer, keyed[1].answer = keyed[1].answer, keyed[0].answer


def read_what_was_true_before(history: list[Operation], log: list[Event]) -> None:
    reads = sorted((one for one in history if one.verb == "read"), key=lambda one: one.called)
    reads[-1].answer = reads[0].answer


def read_half_of_a_change(history: list[Operation], log: list[Event]) -> None:
    read = next(one for one in history if one.verb == "read" and one.answer.reserved > 0)
    read.answer = read.answer._replace(reserved=read.answer.reserved - 1)


def refuse_for_no_reason(history: list[Operation], log: list[Event]) -> None:
    first = min((one for one in history if one.verb == "decide"), key=lambda one: one.called)
    history.append(replace(first, error="Conflict", answer=None))


def append_in_another_order(history: list[Operation], log: list[Event]) -> None:
    """Exchange two rewards of which one was acknowledged before the other was asked for."""
    indices = [i for i, event in enumerate(log) if event.kind == REWARDED]
    first, last = indices[0], indices[-1]
    log[first], log[last] = (
        log[last]._replace(seq=log[first].seq, left=log[first].left),
        log[first]._replace(seq=log[last].seq, left=log[last].left),
    )


FALSIFICATIONS = [
    lose_the_last_event,
    invent_an_event,
    misstate_the_budget,
    answer_two_arrivals_with_one_decision,
    answer_a_key_with_another_decision,
    read_what_was_true_before,
    read_half_of_a_change,
    refuse_for_no_reason,
    append_in_another_order,
]


@pytest.mark.parametrize("falsify", FALSIFICATIONS, ids=lambda falsify: falsify.__name__)
def test_a_falsified_history_is_found(falsify: Callable[..., None]) -> None:
    recorded = copy.deepcopy(sound())
    falsify(*recorded)
    assert_found(recorded)


class Dropping(MemoryStore):
    """Drops an append now and then, and says nothing."""

    appends = 0

    @contextmanager
    def writing(self, name: str) -> Iterator[Writer]:  # type: ignore[override]
        with super().writing(name) as log:
            yield log
            grown = len(log.rows) > getattr(self, "length", 0)
            self.appends += grown
            if grown and self.appends % 40 == 0:
                log.undo(len(log.rows) - 1, log.saved, log.persons.version)
            self.length = len(log.rows)


class Late(MemoryStore):
    """Commits what a transaction appends only once the next one has read the log."""

    @contextmanager
    def writing(self, name: str) -> Iterator[Writer]:  # type: ignore[override]
        with super().writing(name) as log:
            kept: list[Event] = getattr(self, "kept", [])
            length = len(log.rows)
            yield log
            new = log.rows[length:]
            log.undo(length, log.saved, log.persons.version)
            log.append(kept)
            self.kept = new


@pytest.mark.parametrize("store", [Dropping, Late])
def test_a_broken_store_is_found(store: type[MemoryStore]) -> None:
    history, log = record(store(), store.__name__)
    noticed = [one for one in history if one.error in {None, *REFUSALS}]  # not by the agents
    assert_found((noticed, log))


def test_a_stale_budget_is_found() -> None:
    """Reads are answered with what was read before, every other time."""
    kept: list[Any] = []

    def read(agent: Agent) -> Any:
        kept.append(read_balances(agent))
        return kept[-2] if len(kept) % 2 == 0 else kept[-1]

    assert_found(record(open_store("memory:"), "stale", read))
