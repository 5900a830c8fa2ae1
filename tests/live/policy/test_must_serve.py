"""A default action in place of skipping, and actions that cost nothing."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.agents import AgentFactory, assert_sentence, refused, replay, state_values

import almoner as al
from almoner.live.audit import audit
from almoner.live.policy.must_serve import MustServe, improvement_costs
from almoner.live.state.campaign_state import Campaign
from almoner.live.terms.parse_terms import make_terms
from almoner.live.terms.terms import Terms

ROUTES: dict[str, Any] = {
    "contexts": ["short", "long"],
    "actions": {"small": 1, "large": 5},
    "horizon": 400,
    "budget": 800,
    "seed": 3,
}
CHANCES = {"free": 0.2, "small": 0.4, "large": 0.6}


def serve(agent: al.Agent, arrivals: int, seed: int = 1) -> list[al.Decision]:
    """Decide, settle at the declared cost and reward a number of arrivals."""
    draw, decisions = random.Random(seed), []  # noqa: S311
    costs = agent.terms.costs
    for _ in range(arrivals):
        decision = agent.decide(draw.choice(agent.terms.contexts))
        decisions.append(decision)
        if decision.action is not None:
            units = costs[decision.action]
            units = units[decision.context] if isinstance(units, dict) else units
            agent.settle(decision.id, cost=Decimal(units) / 1_000_000)
            agent.reward(decision.id, float(draw.random() < CHANCES[decision.action]))
    return decisions


def test_costs_of_the_plan_are_what_an_action_costs_more_than_the_default() -> None:
    terms = make_terms(
        contexts=["a", "b"],
        actions={"small": {"a": 2, "b": 4}, "large": 9, "tiny": 1},
        horizon=10, budget=50, unit=1, default="small",
    )  # fmt: skip
    assert improvement_costs(terms, "a") == [0, 7, 0]
    assert improvement_costs(terms, "b") == [0, 5, 0]
    serve = MustServe(terms)
    assert serve.expected(10) == 40  # nothing is seen: the dearest context
    serve.arrived("a")
    assert serve.expected(10) == 30  # (2 + 4)/2 for each
    assert (serve.set_aside(3), serve.set_aside(0)) == (12, 0)


def test_the_last_default_needs_its_whole_reserve() -> None:
    terms = make_terms(
        contexts=["a"], actions={"small": al.Action(cost=2, reserve=5)},
        horizon=10, budget=50, unit=1, default="small",
    )  # fmt: skip
    assert MustServe(terms).set_aside(3) == 2 * 2 + 5


@pytest.mark.slow
def test_everybody_is_served_and_the_rest_is_spent_on_improvements(factory: AgentFactory) -> None:
    agent = factory.open(**ROUTES, default="small")
    decisions = serve(agent, 400)
    taken = Counter(decision.action for decision in decisions)
    assert taken == {"small": 300, "large": 100}
    assert decisions[-1].budget_left == 0
    # a taper, not a cliff: improvements are spread over the whole campaign
    for start in range(0, 400, 100):
        assert sum(one.action == "large" for one in decisions[start : start + 100]) >= 10
    assert agent.decide("short").reason == "horizon"
    assert agent.look(Campaign.to_dict) == replay(agent)
    assert audit(agent.store, agent.name).spent == 800_000_000


def test_without_money_for_improvements_only_the_default_is_taken(memory: AgentFactory) -> None:
    agent = memory.open(**{**ROUTES, "budget": 400}, default="small")
    assert {decision.action for decision in serve(agent, 400)} == {"small"}


def test_a_skip_comes_when_not_even_the_default_can_be_paid(memory: AgentFactory) -> None:
    agent = memory.open(**{**ROUTES, "budget": 100}, default="small")
    decisions = serve(agent, 120)
    assert [one.action for one in decisions] == ["small"] * 100 + [None] * 20
    assert {one.reason for one in decisions[100:]} == {"budget"}


def test_an_arrival_that_excludes_the_default_may_be_skipped(memory: AgentFactory) -> None:
    agent = memory.open(**{**ROUTES, "budget": 402}, default="small")
    decision = agent.decide("short", available=["large"])
    assert (decision.action, decision.reason) == (None, "policy")
    assert agent.decide("short", available=[]).reason == "unavailable"
    assert agent.look(Campaign.to_dict) == replay(agent)


def test_a_default_that_only_the_pace_forbids_is_skipped_for_that_reason(
    memory: AgentFactory,
) -> None:
    """The policy may not want what costs nothing; it is the pace that leaves no default."""
    agent = memory.open(
        contexts=["a"], actions={"free": 0, "small": al.Action(cost=1, reserve=4)},
        horizon=40, budget=100, default="small", pace={"day": 5}, policy="greedy",
    )  # fmt: skip
    for decision in agent.decide_many(["a"] * 2, available=["free", "small"]):
        agent.reward(decision.id, 0.0)
    reasons = {agent.decide("a").reason for _ in range(20)}
    assert "pace" in reasons
    assert reasons <= {"pace", None}
    audit(agent.store, agent.name)


def test_the_default_is_settled_rewarded_and_learned(memory: AgentFactory) -> None:
    agent = memory.open(**{**ROUTES, "budget": 400}, default="small")
    decision = agent.decide("long")
    assert (decision.action, decision.probability, decision.reserved) == ("small", 1.0, 1.0)
    assert agent.settle(decision.id, cost=0.5).refunded == 0.5
    agent.reward(decision.id, 1.0)
    state = agent.look(lambda campaign: state_values(campaign.state))
    assert state["counts"] == [[0, 0], [1, 0]]
    assert agent.report().contexts[1].actions[0].mean == 1.0


@pytest.mark.parametrize(
    "policy", sorted({*al.RECIPES} - {"epsilon_first_alp", "epsilon_first_printed"})
)
def test_every_policy_serves_everybody(memory: AgentFactory, policy: str) -> None:
    """Policies that know rewards are told them; those that need equal costs refuse."""
    chosen = al.recipe(policy)
    if isinstance(chosen.rewards, al.KnownRewards):
        chosen = replace(chosen, rewards=al.KnownRewards(means=((0.4, 0.6), (0.0, 0.0))))
    if isinstance(chosen.contexts, al.KnownContexts):
        chosen = replace(chosen, contexts=al.KnownContexts(probs=(0.5, 0.5)))
    try:
        terms = {**ROUTES, "horizon": 60, "budget": 90}
        agent = memory.open(**terms, policy=chosen, default="small")
    except al.InvalidPolicy as refusal:
        assert_sentence(refusal)
        assert policy in ("pb", "ucb_pb")
        return
    assert None not in {decision.action for decision in serve(agent, 60)}
    assert agent.look(Campaign.to_dict) == replay(agent)
    audit(agent.store, agent.name)


@pytest.mark.parametrize(
    ("terms", "names"),
    [
        ({"default": "medium"}, "default must be one of"),
        ({"default": 3}, "default"),
        ({"default": "small", "default_rewards": "learned"}, "exclude each other"),
        ({"default": "small", "policy": "epsilon_first_alp"}, "explores first"),
        ({"default": "small", "risk": 0.01}, "neither learn_cost nor risk"),
        ({"default": "small", "learn_cost": True}, "neither learn_cost nor risk"),
        ({"actions": {"small": -1}}, "cost of 'small'"),
        ({"actions": {"small": None}}, "0 if it is free"),
    ],
)
def test_bad_terms_are_refused_in_a_sentence(
    terms: dict[str, Any], names: str, memory: AgentFactory
) -> None:
    with pytest.raises(al.AlmonerError, match=names) as raised:
        memory.open(**{**ROUTES, **terms})
    assert_sentence(raised.value)


def test_a_default_is_part_of_the_terms(memory: AgentFactory) -> None:
    memory.open(**ROUTES, default="small")
    assert memory.open(default="small").terms.default == "small"
    with pytest.raises(al.DifferentTerms, match="default='small', got default='large'"):
        memory.open(default="large")
    with pytest.raises(al.InvalidTerms, match="default"):
        memory.open(default="medium")


@settings(max_examples=60, deadline=None)
@given(
    horizon=st.integers(1, 40),
    small=st.integers(0, 4)
    | st.fixed_dictionaries({"a": st.integers(0, 3), "b": st.integers(1, 5)}),
    large=st.integers(1, 9),
    tiny=st.integers(0, 3),
    extra=st.integers(0, 80),
    policy=st.sampled_from(["thrifty", "ucb_ealp", "greedy", "thompson_rounded", "skip_always"]),
    arrivals=st.lists(
        st.tuples(st.sampled_from("ab"), st.integers(0, 4), st.sampled_from([0.0, 0.3, 1.0])),
        max_size=45,
    ),
)  # fmt: skip
@pytest.mark.slow
def test_nobody_is_skipped_while_declared_costs_hold(
    horizon: int, small: Any, large: int, tiny: int, extra: int, policy: str, arrivals: Any
) -> None:
    """With money for the default of every arrival of the horizon, settled whenever."""
    dearest = max(small.values()) if isinstance(small, dict) else small
    agent = al.Agent.open(
        "memory:", name="routes", contexts=["a", "b"],
        actions={"large": large, "small": small, "tiny": tiny},
        horizon=horizon, budget=dearest * horizon + extra, unit=1, policy=policy,
        default="small", seed=1,
    )  # fmt: skip
    open_ids = []
    for context, what, reward in arrivals[:horizon]:
        decision = agent.decide(context)
        assert decision.action is not None
        assert 0 < decision.probability <= 1
        open_ids.append(decision)
        if what < len(open_ids):
            done = open_ids.pop(what)
            agent.settle(done.id, cost=done.reserved)
            agent.reward(done.id, reward)
    assert agent.look(Campaign.to_dict) == replay(agent)
    audit(agent.store, "routes")


@settings(max_examples=60, deadline=None)
@given(
    horizon=st.integers(1, 40),
    small=st.tuples(st.integers(0, 2), st.integers(0, 4)),
    medium=st.tuples(st.integers(0, 4), st.integers(0, 1)),
    extra=st.integers(0, 3),
    policy=st.sampled_from(["thrifty", "ucb_ealp", "greedy"]),
    arrivals=st.lists(st.tuples(st.sampled_from("ab"), st.booleans()), min_size=40, max_size=40),
)
@pytest.mark.slow
def test_reserves_above_costs_leave_nobody_out(
    horizon: int, small: Any, medium: Any, extra: int, policy: str, arrivals: Any
) -> None:
    """With the reserve of the last default, and bills at declared costs that come at once.

    ``small`` and ``medium`` are costs, each with what its reserve exceeds it by; the second is the
    better action.
    """
    actions = {
        name: al.Action(cost=cost, reserve=cost + more)
        for name, (cost, more) in {"small": small, "medium": medium, "large": (9, 0)}.items()
    }
    agent = al.Agent.open(
        "memory:", name="routes", contexts=["a", "b"], actions=actions, horizon=horizon,
        budget=small[0] * horizon + small[1] + extra, unit=1, policy=policy,
        default="small", seed=1,
    )  # fmt: skip
    for context, reward in arrivals[:horizon]:
        decision = agent.decide(context)
        assert decision.action is not None
        agent.settle(decision.id, cost=actions[decision.action].cost)
        agent.reward(decision.id, float(reward or decision.action == "medium"))
    audit(agent.store, "routes")


def test_an_action_within_the_reserve_of_the_default_may_still_be_dearer(
    memory: AgentFactory,
) -> None:
    """It costs 2 where the default costs 1: with money for 10 defaults only the last is better."""
    agent = memory.open(
        contexts=["a"], actions={"small": al.Action(cost=1, reserve=3), "medium": 2},
        horizon=10, budget=12, default="small", unit=1,
    )  # fmt: skip
    for arrival in range(10):
        decision = agent.decide("a")
        assert decision.action == ("small" if arrival < 9 else "medium")
        agent.settle(decision.id, cost=1)
        agent.reward(decision.id, 0.0)
    audit(agent.store, agent.name)


@settings(max_examples=40, deadline=None)
@given(
    budget=st.integers(0, 60),
    bills=st.lists(st.integers(0, 6), min_size=1, max_size=40),
    available=st.sampled_from([None, ["small"], ["large"], ["small", "large"], ["free"]]),
)
@pytest.mark.slow
def test_a_skip_means_that_the_default_could_not_be_paid(
    budget: int, bills: list[int], available: Any
) -> None:
    """Whatever is billed; only where the arrival allows the default."""
    agent = al.Agent.open(
        "memory:", name="routes", contexts=["a"],
        actions={"small": al.Action(cost=1, reserve=2), "large": 4, "free": 0},
        horizon=50, budget=budget, unit=1, default="small", seed=1,
    )  # fmt: skip
    for bill in bills:
        left = agent.report().left
        decision = agent.decide("a", available=available)
        offered = available is None or "small" in available
        if decision.action is None and offered:
            assert left < 2
            assert decision.reason == "budget"
        if decision.action is not None:
            agent.settle(decision.id, cost=bill)
            agent.reward(decision.id, bill / 6)
    assert agent.look(Campaign.to_dict) == replay(agent)
    audit(agent.store, "routes")


def test_what_costs_nothing_is_taken_without_money(factory: AgentFactory) -> None:
    agent = factory.open(
        contexts=["a"], actions={"free": 0, "small": 1}, horizon=50, budget=0, seed=1
    )
    decisions = agent.decide_many(["a"] * 3)
    assert [decision.action for decision in decisions] == ["free"] * 3
    assert agent.settle(decisions[0].id, cost=0).charged == 0
    agent.reward(decisions[0].id, 1.0)
    assert agent.cancel(decisions[1].id).refunded == 0
    assert agent.decide("a", available=["small"]).reason == "budget"
    report = agent.report()
    assert report.contexts[0].actions[0].planned == 1.0
    assert (report.blocked, report.price > 0) == (None, False)
    assert agent.look(Campaign.to_dict) == replay(agent)
    audit(agent.store, agent.name)


def test_the_best_of_several_free_actions_is_learned(memory: AgentFactory) -> None:
    agent = memory.open(
        contexts=["a"], actions={"x": 0, "y": 0, "paid": 2}, horizon=600, budget=0, seed=1
    )
    taken: Counter[str | None] = Counter()
    for arrival in range(600):
        decision = agent.decide("a")
        taken[decision.action] += arrival >= 300
        agent.reward(decision.id, float(arrival % 10 < (3 if decision.action == "x" else 7)))
    assert taken["y"] > 250
    assert taken["paid"] == 0


def test_where_everything_is_free_nothing_is_spent(memory: AgentFactory) -> None:
    agent = memory.open(contexts=["a", "b"], actions={"x": 0, "y": 0}, horizon=30, budget=5, seed=1)
    for arrival in range(30):
        agent.reward(agent.decide("ab"[arrival % 2]).id, 0.5)
    assert agent.report().left == 5.0
    assert agent.report().contexts[0].served == 1.0


def test_amendments_keep_the_pace_and_the_default(factory: AgentFactory) -> None:
    """The default may cost more, not stop; caps hold before and after."""
    agent = factory.open(**ROUTES, default="small", pace={"week": 700})
    serve(agent, 100)
    with refused(agent, al.InvalidTerms, "default"):
        agent.amend(stop=["small"])
    agent.amend(budget=900, costs={"small": 2}, add={"medium": 3}, horizon=350)
    decisions = [agent.decide("short") for _ in range(60)]
    assert {decision.reserved for decision in decisions if decision.action == "small"} == {2.0}
    assert None not in {decision.action for decision in decisions}
    folded = Campaign(Terms.from_json(agent.store.terms(agent.name) or ""))
    folded.apply(agent.events())
    assert agent.look(Campaign.to_dict) == folded.to_dict()
    assert factory.open().look(Campaign.to_dict) == folded.to_dict()
    audit(agent.store, agent.name)


def test_a_default_and_a_pace_go_with_a_reward_window(memory: AgentFactory) -> None:
    """Rewards come late, silence is a 0, and a fold of the log gives the same state."""
    now = [1_794_787_200.0]
    agent = memory.open(
        **ROUTES, default="small", pace={"day": 300}, reward_window="2 days", clock=lambda: now[0]
    )
    waiting = []
    for arrival in range(300):
        now[0] += 1200
        decision = agent.decide(["short", "long"][arrival % 2])
        assert decision.action is not None
        waiting.append(decision)
        if arrival % 3 == 0:
            agent.reward(waiting.pop().id, 1.0)
    assert agent.look(Campaign.to_dict) == replay(agent)
    audit(agent.store, agent.name)
