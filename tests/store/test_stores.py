"""Guarantees of every store: transactions are atomic and durable."""

from __future__ import annotations

from threading import Thread

import pytest
from support.agents import AgentFactory, agent_factory

import almoner as al
from almoner.store import Store, open_store
from almoner.store.events import CANCELLED, Event
from almoner.testing import check_store
from almoner.testing.store_checks import CHECKS
from almoner.testing.store_opener import DECISION, REWARD, SKIP


def opened(factory: AgentFactory) -> tuple[Store, str]:
    """Return an open store and the name of a new campaign in it."""
    store = factory.store()
    store.create(factory.name, "the terms")
    return store, factory.name


def log(store: Store, name: str) -> list[Event]:
    return list(store.events(name))


def test_every_store_passes_the_shipped_check(factory: AgentFactory) -> None:
    assert check_store(factory.store) == [*CHECKS]


def test_what_is_appended_is_read_exactly(factory: AgentFactory) -> None:
    store, name = opened(factory)
    with store.writing(name) as writer:
        assert (writer.events(0), writer.snapshot()) == ([], None)
        writer.append([DECISION, SKIP])
        writer.append([REWARD])
        writer.save_snapshot("Grüße")
    for other in (store, factory.store()):
        assert log(other, name) == [DECISION, SKIP, REWARD]
        assert list(other.events(name, 2)) == [REWARD]
        with other.writing(name) as writer:
            assert (len(writer.events(0)), writer.snapshot()) == (3, "Grüße")
            assert writer.events(1) == [SKIP, REWARD]
            assert writer.keyed(["k ? %s", "other"]) == {"k ? %s": DECISION}
            assert writer.histories([1, 2, 9]) == {1: [DECISION, REWARD], 2: [SKIP]}
            assert (writer.keyed([]), writer.histories([])) == ({}, {})


def test_a_transaction_that_fails_is_undone_whole(factory: AgentFactory) -> None:
    store, name = opened(factory)
    with store.writing(name) as writer:
        writer.append([DECISION])
        writer.save_snapshot("before")

    def halfway() -> None:
        with store.writing(name) as writer:
            writer.append([SKIP._replace(key="fresh"), REWARD])
            writer.save_snapshot("after")
            raise RuntimeError("halfway")

    with pytest.raises(RuntimeError, match="halfway"):
        halfway()
    with store.writing(name) as writer:
        assert (len(writer.events(0)), writer.snapshot()) == (1, "before")
        assert writer.histories([1, 2]) == {1: [DECISION]}
        assert writer.keyed(["k ? %s", "fresh"]) == {"k ? %s": DECISION}
        writer.append([SKIP])  # its seq and its key are free again
        writer.save_snapshot(None)
    with store.writing(name) as writer:
        assert (len(writer.events(0)), writer.snapshot()) == (2, None)


def test_a_campaign_is_created_once(factory: AgentFactory) -> None:
    store, name = opened(factory)
    assert store.create(name, "other terms") == store.terms(name) != "other terms"
    assert store.campaigns().count(name) == 1
    assert (
        store.create(name + "-b", '{"a": "Grüße"}') == store.terms(name + "-b") == '{"a": "Grüße"}'
    )
    assert store.campaigns().index(name) < store.campaigns().index(name + "-b")
    assert store.terms("nobody's") is None


def test_an_unknown_campaign_is_an_error(factory: AgentFactory) -> None:
    store, _ = opened(factory)
    with pytest.raises(al.UnknownCampaign, match="there is no campaign 'nobody'"):
        log(store, "nobody")
    with (
        pytest.raises(al.UnknownCampaign, match="there is no campaign 'nobody'"),
        store.writing("nobody"),
    ):
        raise AssertionError("there is nothing to write")


def test_the_log_can_be_read_while_it_is_written(factory: AgentFactory) -> None:
    store, name = opened(factory)
    with store.writing(name) as writer:
        writer.append([DECISION, SKIP])
    reading = store.events(name)
    first = next(reading)
    with store.writing(name) as writer:
        writer.append([REWARD])
    assert [first, *reading][:2] == [DECISION, SKIP]


def test_one_writer_at_a_time(factory: AgentFactory) -> None:
    """Twenty threads add one to the log each, by what they read in the same transaction."""
    store, name = opened(factory)

    def add() -> None:
        with store.writing(name) as writer:
            seq = len(writer.events(0)) + 1
            writer.append([SKIP._replace(seq=seq, decision=seq)])

    threads = [Thread(target=add) for _ in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [event.seq for event in log(store, name)] == list(range(1, 21))


@pytest.mark.parametrize(
    "event",
    [
        REWARD._replace(seq=9, kind=CANCELLED, left=-1),
        SKIP._replace(seq=2, decision=9),
        REWARD._replace(seq=9),
        DECISION._replace(seq=9, decision=9),
        SKIP._replace(seq=9, decision=9, probability=1.5),
        REWARD._replace(seq=9, decision=2, reward=2.0),
        REWARD._replace(seq=9, kind="settled", bill=1, charged=2, reward=None),
    ],
    ids=["negative left", "same seq", "second reward", "same key", "probability", "reward", "bill"],
)
@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_databases_refuse_what_no_campaign_may_write(kind: str, event: Event) -> None:
    """The last line of defence; the store in memory has none."""
    with agent_factory(kind) as factory:
        store, name = opened(factory)
        with store.writing(name) as writer:
            writer.append([DECISION, SKIP, REWARD])
        with pytest.raises(al.StoreError), store.writing(name) as writer:
            writer.append([event])
        assert log(store, name) == [DECISION, SKIP, REWARD]


def test_every_memory_is_its_own() -> None:
    one, two = open_store("memory:"), open_store("memory:")
    one.create("spring", "{}")
    assert (one.campaigns(), two.campaigns()) == (["spring"], [])
