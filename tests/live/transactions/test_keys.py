"""The same key twice is the same decision, charged once; a batch is done whole or not at all."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from support.agents import AgentFactory, observable_state, refused, replayed_state

import almoner as al


def test_the_same_key_is_the_same_decision_charged_once(factory: AgentFactory) -> None:
    agent = factory.create()
    first = agent.decide("new", key="visit-1")
    agent.decide("returning", key="visit-2")
    before = observable_state(agent)
    for opened in (agent, factory.open(), factory.open()):
        assert opened.decide("new", key="visit-1") == first
        assert opened.decide("new", key="visit-1", available=["coupon"]) == first
        assert opened.decide_many(["new", "new"], keys=["visit-1", "visit-1"]) == [first, first]
    assert observable_state(agent) == before


def test_a_key_answers_the_same_whatever_has_happened_since(factory: AgentFactory) -> None:
    agent = factory.create()
    first, second = agent.decide("new", key="a"), agent.decide("new", key="b")
    agent.settle(first.id, cost=0.25)
    agent.reward(first.id, 1.0)
    agent.cancel(second.id)
    agent.pause()
    paused = agent.decide("new", key="c")
    agent.resume()
    agent.end()
    for opened in (agent, factory.open()):
        assert opened.decide("new", key="a") == first
        assert opened.decide("new", key="b") == second
        assert opened.decide("new", key="c") == paused


def test_a_skip_has_a_key_too(factory: AgentFactory) -> None:
    agent = factory.create()
    skip = agent.decide("new", available=[], key="visit-1")
    assert agent.decide("new", key="visit-1") == skip
    assert agent.ledger.reserved == 0


def test_a_key_used_for_another_context_is_a_conflict(factory: AgentFactory) -> None:
    agent = factory.create()
    agent.decide("new", key="visit-1")
    for opened in (agent, factory.open()):
        with refused(
            opened, al.Conflict, "key 'visit-1' was used for context 'new', got context 'r"
        ):
            opened.decide("returning", key="visit-1")
    with refused(agent, al.Conflict, "key 'visit-1' was used for context 'new'"):
        agent.decide_many(["new", "returning"], keys=[None, "visit-1"])
    with refused(agent, al.Conflict, "key 'twice' was used for context 'new'"):
        agent.decide_many(["new", "returning"], keys=["twice", "twice"])
    assert agent.decide("returning", key="twice").id == 2  # refused means never used


def test_keys_of_campaigns_do_not_meet(factory: AgentFactory) -> None:
    one, two = factory.create(), factory.create(name=factory.name + "-b")
    one.decide("new", key="visit-1")
    assert two.decide("returning", key="visit-1").context == "returning"


def test_an_odd_key_is_as_good_as_any(factory: AgentFactory) -> None:
    agent, other = factory.create(), factory.open()
    keys = ["k" * 200, " ", "Grüße 🌷", "'; --", "null", "é", "e\u0301", "%s ? $1", "\n", "\u200b"]
    decided = [agent.decide("new", key=key) for key in keys]
    assert [decision.id for decision in decided] == list(range(1, len(keys) + 1))
    assert [other.decide("new", key=key) for key in keys] == decided


def test_a_batch_is_decided_in_order_and_in_one_transaction(factory: AgentFactory) -> None:
    agent = factory.create(clock=iter(range(1000)).__next__)
    decisions = agent.decide_many(["new", "returning", "new"])
    assert [decision.id for decision in decisions] == [1, 2, 3]
    assert [decision.context for decision in decisions] == ["new", "returning", "new"]
    assert [decision.budget_left for decision in decisions] == [59, 58, 57]
    assert len({event.at for event in agent.events()}) == 1  # one look at the clock, one commit
    assert observable_state(agent) == replayed_state(agent)


def test_a_batch_decides_what_single_requests_would(memory: AgentFactory) -> None:
    contexts = ["new", "returning", "returning", "new"] * 5
    terms: dict[str, Any] = {"budget": 9, "horizon": 20, "policy": "ucb-ealp"}
    one, many = memory.create(**terms), memory.create(name="many", **terms)
    singly = [one.decide(context) for context in contexts]
    batch = [replace(each, id=each.id - many.first_id) for each in many.decide_many(contexts)]
    assert singly == batch


def test_a_key_within_a_batch_is_charged_once(factory: AgentFactory) -> None:
    agent = factory.create()
    first, second, third = agent.decide_many(["new", "returning", "new"], keys=["a", None, "a"])
    assert first == third
    assert second.id == 2
    assert agent.ledger.reserved == 2_000_000


def test_a_batch_with_one_bad_request_is_refused_whole(factory: AgentFactory) -> None:
    agent = factory.create()
    agent.decide("new", key="old")
    batches: list[dict[str, Any]] = [
        {"contexts": ["new", "nobody"]},
        {"contexts": ["new", "new"], "keys": ["a", ""]},
        {"contexts": ["new", "new"], "available": ["fax"]},
        {"contexts": ["new", "new"], "keys": ["a"]},
        {"contexts": ["new"], "keys": ["a", "b"]},
        {"contexts": "new"},
        {"contexts": None},
        {"contexts": 3},
        {"contexts": ["new"], "keys": "k"},
        {"contexts": ["new"], "keys": 3},
    ]
    for batch in batches:
        with refused(agent, al.InvalidInput):
            agent.decide_many(**batch)
    assert agent.decide("new", key="a").id == 2


def test_an_empty_batch_decides_nothing(factory: AgentFactory) -> None:
    agent = factory.create()
    before = observable_state(agent)
    assert agent.decide_many([]) == []
    assert observable_state(agent) == before


def test_a_batch_may_come_from_iterators(memory: AgentFactory) -> None:
    agent = memory.create()
    decided = agent.decide_many(
        iter(["new", "returning"]), available=iter(["coupon"]), keys=iter(["a", None])
    )
    assert [decision.action for decision in decided] == ["coupon", "coupon"]


def test_a_batch_larger_than_a_statement_can_name(factory: AgentFactory) -> None:
    """Databases limit the variables of a statement; a batch of 1,200 keys is looked up in parts."""
    agent = factory.create(horizon=2000, budget=2000, actions={"mail": 1})
    keys = [f"visit-{n}" for n in range(1200)]
    decided = agent.decide_many(["new"] * 1200, keys=keys)
    assert factory.open().decide_many(["new"] * 1200, keys=keys) == decided
    assert agent.ledger.reserved == 1200 * 10**6


def test_a_batch_runs_out_of_money_half_way(factory: AgentFactory) -> None:
    agent = factory.create(horizon=3, budget=2)
    decided = agent.decide_many(["new"] * 4, available=["mail"])
    assert sum(decision.reserved for decision in decided) <= 2
    assert decided[-1].reason in ("budget", "horizon")
