"""Amendments of campaigns on rows: actions added, stopped and restarted, other costs."""

from __future__ import annotations

import contextlib
import random
from typing import Any

import numpy as np
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
from almoner.errors import InvalidInput, InvalidTerms
from almoner.kernels.rows.state import FRESH, ROWS, START, UNAVAILABLE
from almoner.live.audit import audit
from almoner.live.export.rows import decisions
from almoner.live.rows.row_policy import RowPolicy
from almoner.live.state.campaign_state import Campaign
from almoner.live.state.snapshot import read_snapshot, write_snapshot

FEATURES = ["chars", "digits"]

KINDS: dict[str, dict[str, Any]] = {
    "scores": {"scores": True},
    "trusted": {"scores": True, "policy": al.priced(trust=10)},
    "features": {"features": FEATURES},
    "declared": {"features": FEATURES, "policy": al.linear(learn_costs=False)},
    "explored": {"scores": True, "explore": 0.3, "holdout": 0.1},
    "even": {"features": FEATURES, "pace": "even"},
    "default": {"scores": True, "default": "small"},
    "window": {"features": FEATURES, "reward_window": "1 day"},
    "learned": {"scores": True, "learn_cost": True},
}


def create(factory: AgentFactory, **terms: Any) -> al.Agent:
    actions = {"small": 1.0, "large": al.Action(cost=4, reserve=6)}
    return factory.open(**{"actions": actions, "horizon": 300, "budget": 400, "seed": 5, **terms})


def arrive(agent: al.Agent, draw: random.Random, **more: Any) -> al.Decision:
    """Decide for one arrival with a row drawn at random, and settle and reward most of them."""
    row: dict[str, Any] = {"features": {name: draw.gauss(0, 3) for name in FEATURES}}
    if agent.opening_terms.scores:
        row = {"scores": {name: draw.random() for name in agent.terms.active}}
    decision = agent.decide(**row, **more)
    if decision.action is not None and draw.random() < 0.7:
        agent.settle(decision.id, cost=round(decision.reserved * draw.uniform(0.3, 1), 2))
    if draw.random() < 0.8:
        agent.reward(decision.id, draw.random())
    return decision


def check(agent: al.Agent, factory: AgentFactory, clock: Clock) -> None:
    """Compare the state with the log folded, with a snapshot and with another process."""
    state = observable_state(agent)
    assert state == replayed_state(agent)
    restored = Campaign(agent.opening_terms)
    assert read_snapshot(restored, agent.look(write_snapshot))
    assert restored.to_dict() == agent.look(Campaign.to_dict)
    assert observable_state(factory.open(clock=clock)) == state
    audit(agent.store, agent.name)


@pytest.mark.parametrize("variant", KINDS)
@pytest.mark.parametrize("kind", STORES)
def test_actions_are_added_stopped_and_restarted(kind: str, variant: str) -> None:
    """Live, folded from the log, restored from a snapshot and in another process: all the same."""
    clock, draw = Clock(), random.Random(3)  # noqa: S311
    each = 60 if kind == "memory" else 15
    with agent_factory(kind) as factory:
        agent = create(factory, clock=clock, **KINDS[variant])
        taken: list[set[str | None]] = []
        changes: list[dict[str, Any]] = [
            {},
            {"add": {"medium": 2}, "budget": 420},
            {"stop": ["large"]},
            {"restart": ["large"], "costs": {"small": 0.5}},
        ]
        late = []
        for change in changes:
            if change:
                agent.amend(**change)
                check(agent, factory, clock)
            taken.append(set())
            for _ in range(each):
                clock.now += 10
                decision = arrive(agent, draw)
                taken[-1].add(decision.action)
                late.append(decision)
        assert "large" not in taken[2]
        assert "medium" not in taken[0]
        if kind == "memory":
            assert "medium" in taken[1] | taken[2]
        check(agent, factory, clock)
        rows = [*decisions(agent)]
        assert len(rows) == len(late)
        agent.report()
        agent.final_report()


@pytest.mark.parametrize("variant", ["features", "trusted"])
def test_a_stopped_action_learns_what_comes_late(memory: AgentFactory, variant: str) -> None:
    terms = {**KINDS[variant], "budget": 4_000}  # enough for all
    agent = create(memory, **terms)
    row: dict[str, Any] = {"features": {"chars": 1.0, "digits": 2.0}}
    if variant == "trusted":
        row = {"scores": {"small": 0.0, "large": 1.0}}
    for _ in range(5):
        late = agent.decide(**row, available=["large"])
    assert late.action == "large"
    agent.amend(stop=["large"])
    before = tallies(agent)
    agent.reward(late.id, 1.0)
    after = tallies(agent)
    assert after[1] == before[1] + 1
    assert after[0] == before[0]
    agent.amend(restart=["large"])
    assert tallies(agent) == after
    assert observable_state(agent) == replayed_state(agent)


def tallies(agent: al.Agent) -> list[float]:
    """Return how many rewards each model has learned."""
    return [*agent.look(lambda campaign: policy_of(campaign).row_state.models.tallies[1].tolist())]


def policy_of(campaign: Campaign) -> RowPolicy:
    policy = campaign.row_policy
    assert policy is not None
    return policy


def test_a_new_model_gets_what_the_price_gives_it(memory: AgentFactory) -> None:
    """After the amendment, value and spend are those of a campaign that began with all actions.

    Of 4,000 rows each, the second half of both: within 1 % of value, and all of the budget.
    """
    rng = np.random.default_rng(2)
    scores = rng.random((4_000, 3)) * [0.6, 0.8, 1.0]
    names, costs = ["small", "large", "new"], {"small": 1.0, "large": 3.0}
    value = {}
    for begun in (False, True):
        actions = {**costs, "new": 2.0} if begun else costs
        agent = memory.open(
            name=f"begun {begun}", actions=actions, scores=True, horizon=4_000, budget=4_000, seed=1
        )
        total = 0.0
        for t, row in enumerate(scores.tolist()):
            if t == 2_000 and not begun:
                agent.amend(add={"new": 2.0}, budget=4_000)
            given = dict(zip(names, row, strict=True))
            if t < 2_000:
                given = {name: given[name] for name in costs}
            allowed = [*costs] if t < 2_000 else None
            decision = agent.decide(scores=given, available=allowed)
            if t >= 2_000 and decision.action is not None:
                total += given[decision.action]
        value[begun] = total
        assert agent.ledger.left < 10 * 1_000_000
    assert value[False] > 0.99 * value[True]


def test_a_market_of_scores_begins_anew_with_a_new_action(memory: AgentFactory) -> None:
    agent, draw = create(memory, scores=True), random.Random(1)  # noqa: S311
    for _ in range(40):
        arrive(agent, draw)
    agent.amend(add={"medium": 2})
    start, fresh, rows = progress(agent)
    assert (start, fresh, rows) == (40, 0, 40)
    for _ in range(10):
        arrive(agent, draw)
    assert progress(agent) == (40, 10, 40)
    declared = agent.look(lambda campaign: policy_of(campaign).row_state.declared[:40, 2].tolist())
    assert declared == [2_000_000] * 10 + [UNAVAILABLE] * 30


def progress(agent: al.Agent) -> tuple[int, ...]:
    places = [START, FRESH, ROWS]
    return tuple(agent.look(lambda c: policy_of(c).row_state.progress[places].tolist()))


def test_a_new_cost_replaces_the_old_one_in_the_market(memory: AgentFactory) -> None:
    """Rows that gave a cost of their own keep it, even one that equals the declared cost."""
    agent = create(memory, scores=True)
    for costs in (None, {"small": 1.0}, {"small": 3.0}):
        agent.decide(scores={"small": 0.5, "large": 0.7}, costs=costs)
    agent.amend(costs={"small": 2.0})
    declared = agent.look(lambda campaign: policy_of(campaign).row_state.declared[:3, 0].tolist())
    assert declared == [2_000_000, -2 - 1_000_000, -2 - 3_000_000]
    assert observable_state(agent) == replayed_state(agent)


def test_costs_of_an_arrival_are_weighed_as_given(memory: AgentFactory) -> None:
    """Bills are three times the declared cost; a cost that an arrival gives is not multiplied."""
    actions = {"small": al.Action(cost=1, reserve=9), "large": al.Action(cost=2, reserve=9)}
    agent = create(memory, actions=actions, features=FEATURES, horizon=500, budget=4_000)
    draw = random.Random(7)  # noqa: S311
    for _ in range(400):
        decision = agent.decide(features={"chars": draw.gauss(0, 1), "digits": 0.0})
        if decision.action is not None:
            cost = 3.0 if decision.action == "small" else 6.0
            agent.settle(decision.id, cost=cost)
            agent.reward(decision.id, 1.0)
    row = {"chars": 0.1, "digits": 0.0}
    expected = {
        name: agent.decide(features=row, available=[name], costs=costs)
        for name, costs in {"small": None, "large": {"large": 0.5}}.items()
    }
    small, large = (agent.store.events(agent.name, d.id - 1) for d in expected.values())
    assert next(iter(small)).cost == pytest.approx(3_000_000, rel=0.05)
    assert next(iter(large)).cost == 500_000


def test_learned_costs_of_a_campaign_with_scores(memory: AgentFactory) -> None:
    """With learn_cost the expected cost comes from bills, in the rows of the market too."""
    actions = {"small": al.Action(cost=1, reserve=9), "large": al.Action(cost=2, reserve=9)}
    terms = {"actions": actions, "scores": True, "learn_cost": True, "horizon": 3_000}
    agent, draw = create(memory, budget=3_000, **terms), random.Random(7)  # noqa: S311
    for _ in range(1_500):
        decision = agent.decide(scores={"small": draw.random(), "large": 1.5 * draw.random()})
        if decision.action is not None:
            agent.settle(decision.id, cost=2.0 if decision.action == "small" else 4.0)
    assert agent.decide(scores={"small": 1.0, "large": 0.0}, costs={"large": 1.0}).action
    offers = agent.look(lambda campaign: next(iter(campaign.policy.offers.values())))
    assert [cost for _, cost, _ in offers] == pytest.approx([2_000_000, 4_000_000], rel=0.12)
    declared = agent.look(lambda campaign: policy_of(campaign).row_state.declared.copy())
    assert {*declared[:200, 0].tolist()} == {offers[0][1]}
    assert observable_state(agent) == replayed_state(agent)
    audit(agent.store, agent.name)


def test_refusals_of_amendments_change_nothing(memory: AgentFactory) -> None:
    agent = create(memory, scores=True, default="small")
    agent.decide(scores={"small": 0.2, "large": 0.4})
    with refused(agent, InvalidTerms, "not name the default"):
        agent.amend(stop=["small"])
    with refused(agent, InvalidTerms, "name new actions"):
        agent.amend(add={"large": 2})
    with refused(agent, InvalidTerms, "costs by context"):
        agent.amend(add={"new": {"rows": 2}})
    agent.amend(add={"new": 2})
    with refused(agent, InvalidInput, "lack the action 'new'"):
        agent.decide(scores={"small": 0.2, "large": 0.4})
    agent.amend(stop=["new"])
    assert agent.decide(scores={"small": 0.2, "large": 0.4, "new": 5.0}).action != "new"


STEP = st.one_of(
    st.tuples(st.just("decide"), st.floats(-9, 9), st.floats(0, 30)),
    st.tuples(st.just("stop"), st.sampled_from(["small", "large", "a", "b"]), st.none()),
    st.tuples(st.just("restart"), st.sampled_from(["small", "large", "a", "b"]), st.none()),
    st.tuples(st.just("add"), st.sampled_from(["a", "b"]), st.floats(0, 9)),
    st.tuples(st.just("costs"), st.sampled_from(["small", "a"]), st.floats(0, 9)),
    st.tuples(st.just("budget"), st.floats(0, 200), st.none()),
)


@given(steps=st.lists(STEP, max_size=40))
@settings(max_examples=30, deadline=None, derandomize=True, suppress_health_check=[*HealthCheck])
@pytest.mark.parametrize("variant", ["scores", "trusted", "features", "default"])
def test_any_amendments_never_overspend(variant: str, steps: list[Any]) -> None:
    """Amendments that are refused change nothing; the log folds to the same state."""
    with agent_factory("memory") as factory:
        agent = create(factory, budget=60, **KINDS[variant])
        for what, one, two in steps:
            if what == "decide":
                row: dict[str, Any] = {"features": dict.fromkeys(FEATURES, one)}
                if agent.opening_terms.scores:
                    row = {"scores": {name: one * k for k, name in enumerate(agent.terms.active)}}
                decision = agent.decide(**row, costs={"large": round(two, 2)})
                agent.reward(decision.id, 0.5)
                if decision.action is not None and one > 0:
                    agent.settle(decision.id, cost=round(two, 2))
            else:
                value: Any = round(one, 2) if what == "budget" else [one]
                changes: dict[str, Any] = {what: {one: round(two, 2)} if two is not None else value}
                with contextlib.suppress(al.errors.AlmonerError):
                    agent.amend(**changes)
            assert agent.ledger.spent + agent.ledger.reserved <= agent.ledger.budget
        assert observable_state(agent) == replayed_state(agent)
        audit(agent.store, agent.name)
