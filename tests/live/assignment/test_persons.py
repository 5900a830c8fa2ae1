"""Limits for persons, and forgetting them, in every kind of store."""

from __future__ import annotations

import logging
from typing import Any

import pytest
from support.agents import AgentFactory, FailingTransactions, assert_sentence

import almoner as al
from almoner.errors import BrokenLedger, StoreError
from almoner.live.audit import audit
from almoner.live.export import decisions
from almoner.live.transactions.transaction import Decide

DAY = 86_400.0
ONCE = al.PerPerson(actions=1, every="30 days")
RICH: dict[str, Any] = {"budget": 1_000, "horizon": 1_000, "per_person": ONCE}


class Clock:
    """A clock that tests turn."""

    def __init__(self) -> None:
        self.time = 1_700_000_000.0

    def __call__(self) -> float:
        return self.time


def test_a_person_gets_so_many_actions_in_a_time_and_then_again(factory: AgentFactory) -> None:
    clock = Clock()
    agent = factory.create(**RICH, clock=clock)
    assert agent.decide("new", person="c-81").action is not None
    again = agent.decide("returning", person="c-81")  # the context may change
    assert (again.action, again.reason, again.reserved) == (None, "person", 0)
    assert again.probability == 1.0
    assert "the person has had as many" in again.why
    assert agent.decide("new", person="c-82").action is not None
    assert agent.decide("new").action is not None
    assert agent.report().arrivals == 4
    clock.time += 29 * DAY
    assert agent.decide("new", person="c-81").reason == "person"
    clock.time += 1.01 * DAY
    assert agent.decide("new", person="c-81").action is not None
    assert agent.decide("new", person="c-81").reason == "person"
    assert audit(agent.store, factory.name).decisions == 7


def test_a_person_within_one_batch_and_between_processes(factory: AgentFactory) -> None:
    first, second = factory.create(**RICH), factory.open()
    batch = first.decide_many(["new"] * 4, persons=["a", "a", None, "b"])
    assert [decision.reason for decision in batch] == [None, "person", None, None]
    assert second.decide("new", person="a").reason == "person"
    assert first.look(lambda c: c.to_dict()) == second.look(lambda c: c.to_dict())
    assert factory.open().look(lambda c: c.to_dict()) == first.look(lambda c: c.to_dict())


def test_a_cancelled_action_does_not_count(factory: AgentFactory) -> None:
    agent = factory.create(**RICH)
    agent.cancel(agent.decide("new", person="a").id)
    assert agent.decide("new", person="a").action is not None
    assert len(agent.store.persons(factory.name)) == 1
    audit(agent.store, factory.name)


def test_a_key_gives_the_same_decision_to_a_person_again(factory: AgentFactory) -> None:
    agent = factory.create(**RICH)
    first = agent.decide("new", person="a", key="visit-1")
    assert agent.decide("new", person="a", key="visit-1") == first


def test_a_failed_transaction_leaves_the_person_as_before(factory: AgentFactory) -> None:
    agent = factory.create(**RICH)
    failing = FailingTransactions(agent.store)
    for change in (
        lambda: agent.decide("new", person="a"),
        lambda: agent.decide_many(["new"] * 3, persons=["a", "b", "c"]),
    ):
        failing.left = 1
        with pytest.raises(StoreError):
            change()
        assert agent.store.persons(factory.name) == []
    assert agent.decide("new", person="a").action is not None
    failing.left = 1
    with pytest.raises(StoreError):
        agent.forget("a")
    assert agent.decide("new", person="a").reason == "person"


def test_nothing_is_left_of_a_person_who_is_forgotten(factory: AgentFactory) -> None:
    agent = factory.create(**RICH)
    agent.decide("new", person="a")
    agent.decide("new", person="b")
    before = audit(agent.store, factory.name)
    assert (agent.forget("a"), agent.forget("a"), agent.forget("nobody")) == (1, 0, 0)
    assert len(agent.store.persons(factory.name)) == 1
    assert audit(agent.store, factory.name) == before
    assert agent.decide("new", person="a").action is not None
    assert agent.decide("new", person="b").reason == "person"


def test_the_name_of_a_person_is_nowhere(
    factory: AgentFactory, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    name = "Erika Mustermann"
    agent = factory.create(**RICH, holdout=0.5)
    for _ in range(5):
        agent.decide("new", person=name)
    texts = [*map(str, agent.events()), *map(str, decisions(agent))]
    texts += [str(agent.store.persons(factory.name)), repr(Decide("new", person=name)), caplog.text]
    texts.append(str(agent.look(lambda campaign: campaign.to_dict())))
    assert not any(name in text for text in texts)


@pytest.mark.parametrize("person", [81, b"c", "", "c" * 201, ["c"], 1.5, "\0"])
def test_a_bad_person_is_refused_without_being_repeated(person: Any) -> None:
    agent = al.Agent.open("memory:", name="spring", contexts=["new"], actions={"a": 1}, **RICH)
    for call in (
        lambda: agent.decide("new", person=person),
        lambda: agent.decide_many(["new", "new"], persons=["fine", person]),
        lambda: agent.forget(person),
    ):
        with pytest.raises(al.InvalidInput, match="person must be a text of 1 to 200") as raised:
            call()
        assert_sentence(raised.value)
        assert "cccc" not in str(raised.value)
        assert "81" not in str(raised.value)
    assert not list(agent.events())


def test_persons_must_be_one_for_each_context() -> None:
    agent = al.Agent.open("memory:", name="spring", contexts=["new"], actions={"a": 1}, **RICH)
    with pytest.raises(al.InvalidInput, match=r"persons must hold 2 persons.*got 1") as raised:
        agent.decide_many(["new", "new"], persons=["Erika"])
    assert "Erika" not in str(raised.value)


@pytest.mark.parametrize(
    "limit",
    [
        1,
        {"actions": 1, "every": "30 days"},
        al.PerPerson(actions=0, every="30 days"),
        al.PerPerson(actions=1.5, every="30 days"),  # type: ignore[arg-type]
        al.PerPerson(actions=1, every="soon"),
        al.PerPerson(actions=1, every=30),
        al.PerPerson(actions=True, every="1 day"),
    ],
)
def test_a_bad_limit_is_refused(limit: Any) -> None:
    with pytest.raises(al.InvalidTerms, match="per_person") as raised:
        al.Agent.open(
            "memory:", name="a", contexts=["b"], actions={"c": 1}, **{**RICH, "per_person": limit}
        )
    assert_sentence(raised.value)


def test_a_campaign_is_resumed_with_its_limit(factory: AgentFactory) -> None:
    factory.create(**RICH)
    factory.open(per_person=al.PerPerson(actions=1, every="720 hours"))
    with pytest.raises(al.DifferentTerms, match="per_person"):
        factory.open(per_person=al.PerPerson(actions=2, every="30 days"))


def test_without_terms_about_persons_nothing_is_kept_of_them(factory: AgentFactory) -> None:
    agent = factory.create()
    for _ in range(3):
        assert agent.decide("new", person="a").action is not None
    assert agent.store.persons(factory.name) == []


@pytest.mark.parametrize(
    ("rows", "what"),
    [
        ([("x", 2, 5)], "decision 2, which was no action"),
        ([("x", 9, 5)], "decision 9, which was no action"),
        ([("x", 1, 5), ("x", 3, 6)], "more than 1 actions within"),
    ],
)
def test_an_audit_finds_rows_of_persons_that_cannot_be(rows: Any, what: str) -> None:
    agent = al.Agent.open("memory:", name="a", contexts=["b"], actions={"c": 1}, **RICH)
    agent.decide_many(["b"] * 3, persons=["a", "a", "b"])
    agent.forget("a"), agent.forget("b")
    with agent.store.writing("a") as writer:
        writer.persons.add(rows)
    with pytest.raises(BrokenLedger, match=what):
        audit(agent.store, "a")
