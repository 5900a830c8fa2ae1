"""Any sequence of requests, over every store, against a model in plain Python."""

from __future__ import annotations

import logging

import pytest
from hypothesis import settings
from hypothesis.stateful import RuleBasedStateMachine, run_state_machine_as_test
from support.agents import STORES
from support.changing_machine import Changes
from support.request_machine import Requests
from support.ruled_machine import Ruled

from almoner.store.memory_persons import MemoryPersons
from almoner.store.persons import SqlPersons

EXAMPLES = {"memory": 60, "sqlite": 12, "postgres": 4}


@pytest.mark.parametrize("machine", [Requests, Changes, Ruled])
@pytest.mark.parametrize("kind", STORES)
def test_money_is_exact_whatever_is_asked(
    kind: str,
    machine: type[RuleBasedStateMachine],
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.CRITICAL, "almoner")  # overruns and damaged snapshots are wanted here
    monkeypatch.setattr(
        "almoner.live.transactions.catch_up.SNAPSHOT_EVERY", 7
    )  # so that there are any
    # So that snapshots of a store in memory have the counts of reports, too.
    monkeypatch.setattr("almoner.live.agent.MemoryStore", SqlPersons)
    for persons in (MemoryPersons, SqlPersons):  # so that the same ones are held out in each run
        monkeypatch.setattr(persons, "key", lambda self: "5a" * 32)
    steps = settings(max_examples=EXAMPLES[kind], stateful_step_count=40)
    run_state_machine_as_test(type(machine.__name__, (machine,), {"kind": kind}), settings=steps)
