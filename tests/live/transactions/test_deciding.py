"""Decisions: their fields, refused input, and the reasons of skips."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from support.agents import AgentFactory, observable_state, refused, replayed_state

import almoner as al

NAN = float("nan")


def test_a_decision_holds_money_and_says_so(factory: AgentFactory) -> None:
    agent = factory.create()
    decision = agent.decide("new")
    assert decision == al.Decision(
        id=1,
        context="new",
        action="mail",
        probability=1.0,
        reserved=1.0,
        price=0.0,
        budget_left=59.0,
        reason=None,
    )
    assert (decision.skipped, decision.why) == (False, "")
    assert agent.ledger == (60_000_000, 0, 1_000_000, 1_000_000)
    (event,) = agent.events()
    assert (event.kind, event.context, event.action, event.round) == ("decided", "new", "mail", 0)
    assert (event.cost, event.reserve, event.left) == (1_000_000, 1_000_000, 59_000_000)
    assert (event.probability, event.price, event.available) == (1.0, 0.0, None)


def test_every_record_is_there_before_the_answer(factory: AgentFactory) -> None:
    agent, other = factory.create(), factory.open()
    for context in ("new", "returning", "new"):
        decision = agent.decide(context)
        assert [event.seq for event in other.events()][-1] == decision.id
        assert other.ledger == agent.ledger


def test_two_agents_take_turns_on_one_campaign(factory: AgentFactory) -> None:
    agents = [factory.create(), factory.open()]
    decisions = [agents[n % 2].decide("new") for n in range(6)]
    assert [decision.id for decision in decisions] == [1, 2, 3, 4, 5, 6]
    assert [decision.budget_left for decision in decisions] == [59, 58, 57, 56, 55, 54]
    assert observable_state(agents[0]) == observable_state(agents[1]) == replayed_state(agents[0])


def test_what_two_agents_decide_is_what_one_would_have(memory: AgentFactory) -> None:
    contexts = ["new", "returning", "returning"] * 12
    terms: dict[str, Any] = {"budget": 21, "policy": "ucb-ealp", "horizon": 36}
    alone = memory.create(**terms)
    one, two = (memory.create(name="shared", **terms) for _ in range(2))
    for n, context in enumerate(contexts):
        agent = (one, two)[n % 5 == 0]
        single, shared = alone.decide(context), agent.decide(context)
        assert single == replace(shared, id=shared.id - agent.first_id)
        for decided, whom in ((single, alone), (shared, (two, one)[n % 3 == 0])):
            whom.reward(decided.id, (n % 4) / 4)
    assert one.look(lambda c: c.to_dict()) == alone.look(lambda c: c.to_dict())


def test_an_unknown_context_is_refused(factory: AgentFactory) -> None:
    agent = factory.create()
    with refused(agent, al.InvalidInput, r"one of new, returning, got .*; did you mean 'new'\?"):
        agent.decide("nwe")
    odd: list[Any] = ["", None, 0, True, ["new"], {}, b"new", NAN, "x" * 10_000, "\ud800", "new\0"]
    for context in odd:
        with refused(agent, al.InvalidInput, "context must be one of new, returning, got context="):
            agent.decide(context)
        with refused(agent, al.InvalidInput, "context must be one of"):
            agent.decide_many(["new", context])


def test_actions_that_do_not_exist_are_refused(factory: AgentFactory) -> None:
    agent = factory.create()
    odd: list[Any] = ["mail", b"mail", 3, True, NAN, ["mail", "male"], [0], [None], [["mail"]]]
    for available in odd:
        with refused(agent, al.InvalidInput, "available"):
            agent.decide("new", available=available)
        with refused(agent, al.InvalidInput, "available"):
            agent.decide_many(["new"], available=available)


def test_a_bad_key_is_refused(factory: AgentFactory) -> None:
    agent = factory.create()
    odd: list[Any] = ["", "x" * 201, "a\0b", "\ud800", 7, 1.5, True, b"k", ["k"], ()]
    for key in odd:
        with refused(agent, al.InvalidInput, "key must be a text of 1 to 200 characters, none of"):
            agent.decide("new", key=key)
        with refused(agent, al.InvalidInput, "key must be a text of 1 to 200"):
            agent.decide_many(["new", "new"], keys=["fine", key])


def test_what_a_caller_hands_in_may_raise_and_changes_nothing(memory: AgentFactory) -> None:
    def broken() -> Any:
        yield "mail"
        raise RuntimeError("the caller's own")

    agent = memory.create()
    before = observable_state(agent)
    for available in (broken(), broken()):
        with pytest.raises(RuntimeError, match="the caller's own"):
            agent.decide("new", available=available)
    assert observable_state(agent) == before


@pytest.mark.parametrize("available", [["coupon"], ("coupon",), {"coupon"}, iter(["coupon"])])
def test_available_restricts_this_request_alone(available: Any, memory: AgentFactory) -> None:
    agent = memory.create()
    assert agent.decide("new").action == "mail"
    assert agent.decide("new", available=available).action == "coupon"
    assert agent.decide("new").action == "mail"
    assert [event.available for event in agent.events()] == [None, '["coupon"]', None]


def test_nothing_available_is_a_skip_that_counts(factory: AgentFactory) -> None:
    agent = factory.create()
    decision = agent.decide("new", available=[])
    assert (decision.action, decision.reason, decision.probability) == (None, "unavailable", 1.0)
    assert (decision.reserved, decision.budget_left) == (0.0, 60.0)
    assert decision.skipped
    assert decision.why == "no action was available"
    assert agent.look(lambda campaign: campaign.arrivals) == 1


def test_an_exhausted_budget_is_a_skip_that_says_so(factory: AgentFactory) -> None:
    agent = factory.create(budget=2.5, horizon=10, policy="ucb-rounded")
    decisions = [agent.decide("new", available=["mail"]) for _ in range(10)]
    assert [decision.action for decision in decisions].count("mail") == 2
    assert (decisions[-1].reason, decisions[-1].budget_left) == ("budget", 0.5)
    assert decisions[-1].why == "too little of the budget is left to reserve for any action here"


def test_an_exhausted_horizon_is_a_skip_that_says_so(factory: AgentFactory) -> None:
    agent = factory.create(horizon=3)
    assert [agent.decide("new").reason for _ in range(5)] == [None] * 3 + ["horizon"] * 2
    last = agent.decide("new")
    assert (last.why, last.budget_left) == ("the campaign has come to its end", 57.0)


def test_a_skip_for_want_of_money_is_told_from_one_of_the_policy(factory: AgentFactory) -> None:
    """7 are left: a coupon here costs 8, whatever it costs elsewhere or a mail costs here."""
    prices = {"mail": 1.0, "coupon": {"new": 8.0, "returning": 5.0}}
    agent = factory.create(actions=prices, budget=7, horizon=2, policy="skip-always")
    assert agent.decide("new", available=["coupon"]).reason == "budget"
    assert agent.decide("new", available=["mail"]).reason == "policy"


def test_a_budget_of_nothing_buys_nothing(factory: AgentFactory) -> None:
    agent = factory.create(budget=0)
    assert [agent.decide("new").reason for _ in range(3)] == ["budget"] * 3
    assert agent.ledger == (0, 0, 0, 0)


def test_three_tenths_are_three_actions_of_a_tenth(factory: AgentFactory) -> None:
    agent = factory.create(actions={"mail": 0.1}, budget=0.3, horizon=3)
    assert [agent.decide("new").budget_left for _ in range(4)] == [0.2, 0.1, 0.0, 0.0]


def test_decisions_follow_from_the_seed(memory: AgentFactory) -> None:
    def actions(name: str, seed: int) -> list[Any]:
        agent = memory.create(name=name, seed=seed, budget=20, policy="ucb-ealp")
        return [agent.decide("new").action for _ in range(40)]

    assert actions("a", 1) == actions("b", 1) != actions("c", 2)
