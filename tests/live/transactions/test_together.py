"""Callers that share a transaction get the answers of a serial execution."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.agents import observable_state, replayed_state

import almoner as al
from almoner.live.policy.live_policy import BATCH
from almoner.live.transactions.commands import Read, SetStatus, arrivals
from almoner.live.transactions.follow_ups import Cancel, Reward, Settle
from almoner.live.transactions.transaction import Command, Decide
from almoner.store import open_store

BEFORE = 6
"""Decisions made beforehand: what is rewarded or settled must be known when a batch begins."""

TERMS: dict[str, Any] = {
    "contexts": ["new", "returning"],
    "actions": {"mail": 1.0, "coupon": al.Action(cost=2.0, reserve=4.0)},
    "horizon": 40,
    "budget": 30.0,
    "seed": 3,
}

contexts = st.sampled_from(["new", "returning", "nobody"])
allowed = st.sampled_from([None, None, ["mail"], ["coupon", "mail"], [], ["fax"]])
keys = st.sampled_from([None, None, "a", "b", "c"])
ids = st.sampled_from([*range(1, BEFORE + 1), 99])
requests = st.one_of(
    st.builds(Decide, contexts, allowed, keys),
    st.builds(Decide, contexts),
    st.builds(arrivals, st.lists(contexts, max_size=5), allowed),
    st.lists(st.tuples(contexts, keys), max_size=5).map(
        lambda pairs: arrivals([context for context, _ in pairs], None, [key for _, key in pairs])
    ),
    st.builds(Reward, ids, st.sampled_from([0.0, 0.5, 1.0])),
    st.builds(Settle, ids, cost=st.sampled_from([0, 1, 3, 9])),
    st.builds(Cancel, ids),
    st.builds(SetStatus, st.sampled_from(["paused", "resumed", "resumed"])),
    st.builds(Read, st.just(lambda campaign: (campaign.seq, campaign.ledger, campaign.arrivals))),
)
callers = st.lists(st.lists(requests, min_size=1, max_size=4), max_size=12)


def opened(**terms: Any) -> al.Agent:
    return al.Agent.open("memory:", name="c", clock=lambda: 1.7e9, **{**TERMS, **terms})


def begun(**terms: Any) -> al.Agent:
    agent = opened(**terms)
    agent.decide_many(["new", "returning"] * (BEFORE // 2))
    return agent


def comparable(answers: list[Any]) -> list[Any]:
    return [str(answer) if isinstance(answer, Exception) else answer for answer in answers]


@given(callers=callers, new_contexts=st.booleans())
def test_a_shared_transaction_is_as_good_as_one_each(
    callers: list[list[Command]], new_contexts: bool
) -> None:
    terms = {"new_contexts": new_contexts, "policy": "ucb-ealp"}
    together, apart = begun(**terms), begun(**terms)
    expected = [apart.ask_all([deepcopy(commands)])[0] for commands in callers]
    assert comparable(together.ask_all(callers)) == comparable(expected)
    assert [*together.events()] == [*apart.events()]
    assert observable_state(together) == observable_state(apart) == replayed_state(together)


@pytest.mark.parametrize("count", [BATCH - 1, BATCH, BATCH + 1, 3 * BATCH])
@pytest.mark.parametrize("policy", ["thrifty", "ucb-ealp", "thompson-rounded"])
def test_a_long_batch_is_as_good_as_single_decisions(policy: str, count: int) -> None:
    terms = {"policy": policy, "horizon": 5 * BATCH, "budget": 2 * BATCH}
    together, apart = begun(**terms), begun(**terms)
    visitors = [("new", "returning")[n * n % 3 % 2] for n in range(count)]
    assert together.decide_many(visitors) == [apart.decide(one) for one in visitors]
    assert [*together.events()] == [*apart.events()]


def test_one_key_in_one_transaction_is_decided_once() -> None:
    agent = begun()
    same = [[Decide("new", None, "visit")], [Decide("new")], [Decide("new", None, "visit")] * 2]
    (first,), (_,), (second, third) = agent.ask_all(same)
    assert first == second == third
    assert len([*agent.events()]) == BEFORE + 2
    (answer,) = agent.ask_all([[Decide("returning", None, "visit")]])
    assert isinstance(answer, al.Conflict)


def test_what_the_policy_thinks_cannot_come_is_skipped_as_in_a_simulation() -> None:
    """Its gains were never computed, so its memo must not be used."""
    agent = opened(
        contexts=["a", "b"],
        actions={"cheap": 1.0, "dear": 5.0},
        policy=al.ucb_alp(context_probs=[1.0, 0.0]),
    )
    assert {(d.action, d.probability) for d in agent.decide_many(["b"] * 9)} == {(None, 1.0)}
    frozen = opened(
        contexts=["a", "b"], actions={"cheap": 1.0, "dear": 5.0}, policy=al.ucb_ealp2(until=3)
    )
    frozen.decide_many(["a"] * 5)
    assert {(d.action, d.probability) for d in frozen.decide_many(["b"] * 9)} == {(None, 1.0)}


def test_where_everything_fits_money_is_worth_nothing_for_those_who_remember_a_price_too() -> None:
    """A price from before the budget was plenty must not affect a restricted request."""
    terms: dict[str, Any] = {
        "contexts": ["a"],
        "actions": {"cheap": 1.0, "dear": 2.0, "poor": 2.0},
        "horizon": 60,
        "budget": 90.0,
        "policy": al.ealp(reward_means=[[0.5, 0.9, 0.1]]),
    }
    store = open_store("memory:")
    agent = al.Agent.open(store, name="c", seed=1, **terms)
    agent.decide_many(["a"] * 20)
    agent.decide_many(["a"] * 20, available=[])
    reopened = al.Agent.open(store, name="c")
    decision = agent.decide("a", available=["poor"])
    assert (decision.action, decision.probability, decision.price) == ("poor", 1.0, 0.0)
    assert reopened.decide("a", available=["poor"]).action == "poor"
