"""An agent far behind its log folds it outside transactions, in chunks."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from support.agents import AgentFactory, observable_state, replayed_state, rewind

import almoner as al
from almoner.live.state.campaign_state import Campaign
from almoner.live.transactions import catch_up
from almoner.store import Store, Writer, open_store
from almoner.store.events import Event

MANY: dict[str, Any] = {"actions": {"mail": 1.0}, "budget": 9_999, "horizon": 9_999}
LIMIT = 10


@pytest.fixture(autouse=True)
def _transactions_fold_little(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("almoner.live.transactions.catch_up.CATCH_UP", LIMIT)
    monkeypatch.setattr("almoner.live.transactions.catch_up.SNAPSHOT_EVERY", 40)


@pytest.fixture
def folds(monkeypatch: pytest.MonkeyPatch) -> list[tuple[bool, int]]:
    """For each fold of events: whether it was inside a transaction, and of how many."""
    done: list[tuple[bool, int]] = []
    apply = Campaign.apply

    def noted(self: Campaign, events: Iterable[Event]) -> None:
        part = [*events]
        done.append((Inside.transaction, len(part)))
        apply(self, part)

    monkeypatch.setattr(Campaign, "apply", noted)
    return done


class Inside:
    transaction = False


def watched(store: Store) -> Store:
    """Record whether a transaction of a store is running."""
    begin = store.writing

    @contextmanager
    def writing(name: str) -> Iterator[Writer]:
        with begin(name) as writer:
            Inside.transaction = True
            try:
                yield writer
            finally:
                Inside.transaction = False

    store.writing = writing  # type: ignore[method-assign]
    return store


def snapshot(factory: AgentFactory) -> str | None:
    with factory.store().writing(factory.name) as writer:
        return writer.snapshot()


def forget_snapshot(factory: AgentFactory) -> None:
    with factory.store().writing(factory.name) as writer:
        writer.save_snapshot(None)


def test_a_long_log_is_folded_beside_transactions(
    factory: AgentFactory, folds: list[tuple[bool, int]]
) -> None:
    factory.create(**MANY).decide_many(["new"] * 95)
    forget_snapshot(factory)
    agent = al.Agent.open(watched(factory.store()), name=factory.name)
    assert folds == [(False, LIMIT)] * 9 + [(False, 5)]
    assert observable_state(agent) == replayed_state(agent)


def test_the_next_one_finds_a_snapshot(
    factory: AgentFactory, folds: list[tuple[bool, int]]
) -> None:
    factory.create(**MANY).decide_many(["new"] * 95)
    forget_snapshot(factory)
    factory.open()
    assert snapshot(factory) is not None
    folds.clear()
    factory.open()
    assert folds == []


def test_one_who_has_fallen_behind_does_not_begin_again(
    factory: AgentFactory, folds: list[tuple[bool, int]]
) -> None:
    agent = al.Agent.open(
        watched(factory.store()), name=factory.name, **{**MANY, "contexts": ["new"]}
    )
    agent.decide_many(["new"] * 5)
    factory.open().decide_many(["new"] * 25)
    folds.clear()
    assert agent.decide("new").id == 31
    assert folds == [(False, LIMIT), (False, LIMIT), (False, 5)]
    assert observable_state(agent) == replayed_state(agent)


def test_what_is_written_meanwhile_is_folded_inside(
    factory: AgentFactory, folds: list[tuple[bool, int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    first = factory.create(**MANY)
    first.decide_many(["new"] * 30)
    forget_snapshot(factory)
    agent = al.Agent(watched(factory.store()), factory.name, first.terms)
    fold = catch_up.Replica.fold

    def late(self: catch_up.Replica[Any]) -> None:
        fold(self)
        monkeypatch.setattr(catch_up.Replica, "fold", fold)
        first.decide_many(["new"] * 3)

    monkeypatch.setattr(catch_up.Replica, "fold", late)
    assert agent.decide("new").id == 34
    assert folds == [(False, LIMIT)] * 3 + [(True, 3)]


def test_others_who_never_stop_writing_do_not_keep_it_out(
    factory: AgentFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After every fold there are again too many new events to fold inside a transaction."""
    first = factory.create(**MANY)
    first.decide_many(["new"] * 30)
    agent = al.Agent(factory.store(), factory.name, first.terms)
    fold, folds = catch_up.Replica.fold, []

    def overtaken(self: catch_up.Replica[Any]) -> None:
        fold(self)
        folds.append(first.decide_many(["new"] * 50))

    monkeypatch.setattr(catch_up.Replica, "fold", overtaken)
    agent.decide("new")
    assert len(folds) == 1


@pytest.mark.parametrize("last", [0, 3, 20, 25])
def test_a_log_that_is_rewound_during_the_fold_is_read_anew(
    factory: AgentFactory,
    last: int,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Events folded outside a transaction must be a prefix of the log it sees."""
    first = factory.create(**MANY)
    first.decide_many(["new"] * 30)
    agent = al.Agent(factory.store(), factory.name, first.terms)
    fold = catch_up.Replica.fold

    def rewound(self: catch_up.Replica[Any]) -> None:
        fold(self)
        monkeypatch.setattr(catch_up.Replica, "fold", fold)
        rewind(factory, last)
        factory.open().decide_many(["returning"] * 15)

    monkeypatch.setattr(catch_up.Replica, "fold", rewound)
    with caplog.at_level(logging.WARNING, "almoner"):
        agent.decide("new")
    assert "was rewound" in caplog.text
    assert observable_state(agent) == replayed_state(agent)


def test_no_snapshot_is_kept_of_what_the_log_no_longer_holds(
    factory: AgentFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = factory.create(**MANY)
    first.decide_many(["new"] * 60)
    forget_snapshot(factory)
    agent = al.Agent(factory.store(), factory.name, first.terms)
    fold = catch_up.Replica.fold

    def rewound(self: catch_up.Replica[Any]) -> None:
        fold(self)
        monkeypatch.setattr(catch_up.Replica, "fold", fold)
        rewind(factory, 5)

    monkeypatch.setattr(catch_up.Replica, "fold", rewound)
    assert agent.decide("new").id == 6
    assert snapshot(factory) is None


def test_a_store_that_may_only_be_read_is_folded_without_a_snapshot(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'shop.db'}"
    with al.Agent.open(url, name="spring", **{**MANY, "contexts": ["new"]}) as agent:
        agent.decide_many(["new"] * 95)
        with agent.store.writing("spring") as writer:
            writer.save_snapshot(None)
    store = open_store(url, read_only=True)
    assert al.Agent.open(store, name="spring").ledger.left == 9_904_000_000
    store.close()
