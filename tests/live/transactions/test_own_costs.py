"""Costs of arrivals' own on every store: reserves, keys, refusals, replays, audits, exports."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.agents import (
    STORES,
    AgentFactory,
    agent_factory,
    observable_state,
    refused,
    replayed_state,
)
from support.shop import Clock

import almoner as al
from almoner.errors import BrokenLedger, InvalidInput
from almoner.live.audit import audit
from almoner.live.export.rows import decisions
from almoner.live.state.campaign_state import Campaign
from almoner.live.state.snapshot import read_snapshot, write_snapshot
from almoner.store import open_store

COSTS: dict[str, Any] = {"mail": 1.0, "call": al.Action(cost=2, reserve=6)}


def test_an_own_cost_is_reserved_unless_the_reserve_is_larger(factory: AgentFactory) -> None:
    """Without a reserve of its own the given cost; with one, the larger of the two."""
    agent = factory.create(actions=COSTS, horizon=20, budget=60)
    only_mail, only_call = ["mail"], ["call"]
    assert agent.decide("new", only_mail, costs={"mail": 2.5}).reserved == 2.5
    assert agent.decide("new", only_mail, costs={"mail": 0.2500001}).reserved == 0.250001
    assert agent.decide("new", only_call, costs={"call": 3}).reserved == 6
    assert agent.decide("new", only_call, costs={"call": 0}).reserved == 6
    assert agent.decide("new", only_call, costs={"call": 7.5}).reserved == 7.5
    assert agent.decide("new", only_mail, costs={"call": 7.5}).reserved == 1
    ledger = agent.ledger
    assert ledger.planned == 2_500_000 + 250_001 + 3_000_000 + 7_500_000 + 1_000_000
    assert ledger.reserved == ledger.planned + 3_000_000 + 6_000_000
    assert observable_state(agent) == replayed_state(agent)
    audit(agent.store, agent.name)


def test_a_cost_above_the_money_left_is_unaffordable_and_no_error(factory: AgentFactory) -> None:
    agent = factory.create(actions={"mail": 1.0}, budget=10, horizon=5)
    skipped = agent.decide("new", costs={"mail": 10.5})
    assert (skipped.action, skipped.reason) == (None, "budget")
    assert agent.decide("new", costs={"mail": 7}).reserved == 7
    assert agent.decide("new", costs={"mail": 3.000001}).reason == "budget"
    assert agent.decide("new", costs={"mail": 3}).probability > 0
    assert agent.decide("new", costs={"mail": 0}).reserved == 0
    assert agent.ledger.left >= 0
    audit(agent.store, agent.name)


def test_money_below_the_least_expected_cost_pays_for_a_cheaper_arrival(
    memory: AgentFactory,
) -> None:
    agent = memory.create(actions={"coupon": 5.0}, budget=9, horizon=10)
    assert agent.decide("new").reserved == 5
    assert agent.decide("new").reason == "budget"
    assert agent.decide("new", costs={"coupon": 3.99}).reserved == 3.99
    assert agent.ledger.left == 10_000


def test_the_same_key_returns_the_first_decision_whatever_the_costs(factory: AgentFactory) -> None:
    agent = factory.create()
    first = agent.decide("new", key="a", costs={"mail": 0.5})
    assert agent.decide("new", key="a") == first
    assert agent.decide("new", key="a", costs={"mail": 3}) == first
    assert agent.ledger.reserved == 500_000


@pytest.mark.parametrize(
    ("costs", "message"),
    [
        (5.0, "costs must be a table of costs by action"),
        ([("mail", 1)], "costs must be a table of costs by action"),
        ({"post": 1}, "an action with a cost must be one of mail, coupon"),
        ({1: 1}, "an action with a cost must be one of mail, coupon"),
        ({"skip": 1}, "an action with a cost must be one of mail, coupon"),
        ({"mail": -1}, "the cost of 'mail' must be at least 0"),
        ({"mail": float("nan")}, "the cost of 'mail' must be finite"),
        ({"mail": float("inf")}, "the cost of 'mail' must be finite"),
        ({"mail": None}, "the cost of 'mail' must be a number"),
        ({"mail": True}, "the cost of 'mail' must be a number"),
        ({"mail": 1e200}, "the cost of 'mail' must be below"),
        ({"mail": 1, "coupon": "a lot"}, "the cost of 'coupon' must be a number"),
    ],
)
def test_bad_costs_are_refused_in_a_sentence_and_change_nothing(
    memory: AgentFactory, costs: Any, message: str
) -> None:
    agent = memory.create()
    with refused(agent, InvalidInput, message):
        agent.decide("new", costs=costs)
    with refused(agent, InvalidInput, message):
        agent.decide_many(["new", "new"], costs=[None, costs])


def test_several_arrivals_have_costs_one_for_each(factory: AgentFactory) -> None:
    agent = factory.create(actions={"mail": 1.0}, budget=30, horizon=30)
    taken = agent.decide_many(["new"] * 4, costs=[{"mail": 0.5}, None, {"mail": 2}, {}])
    assert [decision.reserved for decision in taken] == [0.5, 1, 2, 1]
    with refused(agent, InvalidInput, "costs must hold 2 costs, one for each arrival"):
        agent.decide_many(["new"] * 2, costs=[None])
    with refused(agent, InvalidInput, "costs must hold 2 costs, one for each arrival"):
        agent.decide_many(["new"] * 2, costs={"mail": 1})  # type: ignore[dict-item]
    assert observable_state(agent) == replayed_state(agent)


def test_a_batch_decides_as_one_arrival_after_the_other_does(memory: AgentFactory) -> None:
    terms = {"actions": {"mail": 1.0, "coupon": 5.0}, "budget": 60, "horizon": 200, "seed": 4}
    one, other = memory.create(**terms), memory.create(name="other", **terms)
    costs = [None if i % 3 else {"mail": 0.1 * i, "coupon": 4} for i in range(150)]
    contexts = ["new", "returning"] * 75
    batch = one.decide_many(contexts, costs=costs)
    single = [other.decide(*pair[:1], costs=pair[1]) for pair in zip(contexts, costs, strict=True)]
    assert [d.action for d in batch] == [d.action for d in single]
    assert [d.probability for d in batch] == [d.probability for d in single]
    assert one.look(Campaign.to_dict) == other.look(Campaign.to_dict)


VARIANTS: dict[str, dict[str, Any]] = {
    "plain": {},
    "equal costs": {"actions": {"mail": 1.0, "coupon": 1.0}},
    "learned costs": {"learn_cost": True},
    "risk": {
        "risk": 0.05,
        "actions": {"mail": 1, "call": al.Action(cost=1, reserve=4, expires="1 day")},
    },
    "explored": {"explore": 0.2, "holdout": 0.1},
    "even": {"pace": "even", "explore": 0.3},
    "caps": {"pace": {"day": 20}},
    "default": {"default": "mail"},
    "paced default": {"default": "mail", "pace": {"day": 30}},
    "window": {"reward_window": "2 days", "new_contexts": True},
    "learned skips": {"default_rewards": "learned", "policy": "ucb_ealp"},
}
ACTIONS = {
    "mail": 1.0,
    "coupon": al.Action(cost=3, reserve=5),
    "call": al.Action(cost=2, reserve=6),
}


def play(agent: al.Agent, clock: Clock, arrivals: list[Any]) -> None:
    """Decide for arrivals with costs of their own; settle, cancel and reward some of them."""
    names = agent.terms.actions
    for number, (context, costs, outcome) in enumerate(arrivals):
        clock.now += 3_000
        own = {name: cost for name, cost in zip(names, costs, strict=False) if cost is not None}
        decision = agent.decide(context, costs=own or None, key=f"n{number}")
        if decision.action is not None and outcome is not None:
            if outcome < 0:
                agent.cancel(decision.id)
                continue
            agent.settle(decision.id, cost=outcome)
        agent.reward(decision.id, float((outcome or 0) > 1))
        assert agent.ledger.spent <= agent.ledger.budget


COST = st.none() | st.integers(0, 200).map(lambda n: n / 7) | st.sampled_from([0, 1e-9, 59.9, 1e6])
ARRIVALS = st.lists(
    st.tuples(
        st.sampled_from(["new", "returning"]),
        st.tuples(COST, COST, COST),
        st.none() | st.integers(-10, 80).map(lambda n: n / 9),
    ),
    max_size=25,
)


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("kind", STORES)
def test_hostile_costs_never_overspend_and_fold_to_the_same_state(kind: str, variant: str) -> None:
    """Costs from 0 to far above the budget, bills of any size: every log verifies and replays."""
    examples = 6 if kind == "memory" else 1

    @settings(
        max_examples=examples, deadline=None, derandomize=True, suppress_health_check=[*HealthCheck]
    )
    @given(arrivals=ARRIVALS)
    def run(arrivals: list[Any]) -> None:
        clock = Clock()
        with agent_factory(kind) as factory:
            terms = {"actions": ACTIONS, "horizon": 20, "clock": clock, **VARIANTS[variant]}
            agent = factory.create(**terms)
            play(agent, clock, arrivals)
            state = observable_state(agent)
            assert state == replayed_state(agent)
            restored = Campaign(agent.opening_terms)
            assert read_snapshot(restored, agent.look(write_snapshot))
            assert restored.to_dict() == agent.look(Campaign.to_dict)
            other = factory.open(clock=clock)
            assert observable_state(other) == state
            assert other.decide("new", costs={"mail": 0.7}).id
            assert observable_state(agent) == observable_state(other)
            audit(agent.store, agent.name)
            assert len([*decisions(agent)]) == len(arrivals) + 1

    run()


def test_two_processes_that_take_turns_agree(factory: AgentFactory) -> None:
    clock = Clock()
    one = factory.create(actions=ACTIONS, horizon=60, budget=80, explore=0.2, clock=clock)
    other = factory.open(clock=clock)
    for number in range(40):
        clock.now += 60
        agent = one if number % 3 else other
        decision = agent.decide("new", costs={"mail": number / 11, "coupon": 40 / (1 + number)})
        agent.reward(decision.id, 1.0)
    assert observable_state(one) == observable_state(other) == replayed_state(one)


def test_learned_costs_stay_the_expectation_of_others(factory: AgentFactory) -> None:
    """Ten bills of 3 train the expected cost, (30 + 50)/60, and ten costs of 2.5 do not."""
    clock = Clock()
    agent = factory.create(
        contexts=["new"],
        actions={"call": al.Action(cost=1, reserve=4)},
        horizon=900,
        budget=2_000,
        learn_cost=True,
        unit="0.01",
        clock=clock,
    )
    for _ in range(10):
        clock.now += 1
        decision = agent.decide("new", costs={"call": 2.5})
        agent.settle(decision.id, cost=3)
    clock.now += 1
    agent.decide("new")
    assert agent.look(lambda campaign: campaign.policy.lowered.costs.tolist()) == [[133]]
    assert agent.ledger.planned == 133


def test_an_open_decision_at_an_own_cost_counts_for_the_risk_at_that_cost(
    memory: AgentFactory,
) -> None:
    """Its cost is known: it is neither aged nor replaced by the expected one."""
    clock = Clock()
    call = al.Action(cost=1, reserve=4, expires="10 days")
    agent = memory.create(actions={"call": call}, risk=0.05, budget=200, clock=clock)
    for _ in range(3):
        agent.decide("new", costs={"call": 9})
    clock.now += 9 * 86_400
    agent.decide("new")
    assert agent.look(lambda campaign: campaign.committed) == 3 * 9_000_000 + 1_000_000
    assert observable_state(agent) == replayed_state(agent)


def test_the_default_serves_at_its_own_cost_and_improvements_are_bought_beyond_it(
    memory: AgentFactory,
) -> None:
    """0.2 and 0.5 are expected; strong is as cheap as cheap for one arrival, and taken there."""
    agent = memory.create(
        contexts=["new"],
        actions={"cheap": 0.2, "strong": 0.5},
        default="cheap",
        horizon=100,
        budget=20,
        policy=al.ealp(reward_means=[[0.5, 0.9]]),
    )
    assert agent.decide("new").action == "cheap"
    same = agent.decide("new", costs={"strong": 0.2})
    assert (same.action, same.reserved) == ("strong", 0.2)
    both = agent.decide("new", costs={"cheap": 0.3, "strong": 0.3})
    assert (both.action, both.reserved) == ("strong", 0.3)
    dear = agent.decide("new", costs={"cheap": 0.9, "strong": 5})
    assert (dear.action, dear.reserved) == ("cheap", 0.9)
    assert observable_state(agent) == replayed_state(agent)
    audit(agent.store, agent.name)


def test_an_export_has_the_costs_as_amounts(memory: AgentFactory) -> None:
    agent = memory.create(explore=0.1)
    agent.decide("new", costs={"coupon": 4.1})
    agent.decide("new")
    first, second = decisions(agent)
    assert json.loads(first["own_costs"]) == {"coupon": 4.1}
    assert set(json.loads(first["probabilities"])) <= {"skip", "mail", "coupon"}
    assert second["own_costs"] is None


def test_costs_of_a_paused_campaign_are_logged_and_nothing_is_taken(memory: AgentFactory) -> None:
    agent = memory.create(explore=0.1)
    agent.pause()
    decision = agent.decide("new", costs={"mail": 0.5})
    assert (decision.action, decision.reason) == (None, "paused")
    agent.reward(decision.id, 1.0)
    assert observable_state(agent) == replayed_state(agent)
    audit(agent.store, agent.name)


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"cost": 400_000}, "where the terms say 500000 for 500000"),
        ({"reserve": 600_000}, "where the terms say 500000 for 500000"),
        ({"detail": '{"costs":{"mail":400000}}'}, "where the terms say 400000 for 400000"),
        ({"detail": '{"costs":{"mail":0.5}}'}, "has the cost 0.5 for the action 'mail'"),
        ({"detail": '{"costs":{"mail":-1}}'}, "has the cost -1 for the action 'mail'"),
        ({"detail": '{"costs":{"post":1}}'}, "has the cost 1 for the action 'post'"),
        ({"detail": '{"costs":[1]}'}, "has costs that cannot be read"),
        ({"detail": '{"costs":{},"prices":{}}'}, "has a detail that cannot be read"),
        ({"detail": '{"prices":{}}'}, "where the terms say 1000000 for 1000000"),
        ({"detail": None}, "where the terms say 1000000 for 1000000"),
    ],
)
def test_an_audit_checks_cost_and_reserve_against_what_was_given(
    tmp_path: Path, change: dict[str, Any], fault: str
) -> None:
    path = tmp_path / "shop.db"
    terms: dict[str, Any] = {"contexts": ["new"], "actions": {"mail": 1.0}, "seed": 1}
    terms |= {"horizon": 9, "budget": 9}
    with al.Agent.open(f"sqlite:///{path}", name="a", **terms) as agent:
        agent.decide("new", available=["mail"], costs={"mail": 0.5})
        audit(agent.store, "a")
    with sqlite3.connect(path) as connection:
        for column, value in change.items():
            connection.execute(f"UPDATE almoner_events SET {column} = ?", (value,))  # noqa: S608
    connection.close()
    store = open_store(f"sqlite:///{path}")
    with pytest.raises(BrokenLedger, match=fault):
        audit(store, "a")
    store.close()


async def _decide_async() -> list[Any]:
    async with await al.AsyncAgent.open(
        "memory:", name="a", contexts=["new"], actions={"mail": 1.0}, horizon=9, budget=9, seed=1
    ) as agent:
        one = await agent.decide("new", costs={"mail": 0.25})
        more = await agent.decide_many(["new", "new"], costs=[{"mail": 0.5}, None])
        return [decision.reserved for decision in (one, *more)]


def test_an_async_agent_takes_costs_too() -> None:
    assert asyncio.run(_decide_async()) == [0.25, 0.5, 1.0]
