"""Campaigns on rows: decisions, refusals, replays, snapshots, audits and exports on every store."""

from __future__ import annotations

import json
import random
from datetime import UTC, datetime
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
from almoner.errors import InvalidInput, InvalidTerms
from almoner.live.audit import audit
from almoner.live.export.rows import decisions
from almoner.live.state.campaign_state import Campaign
from almoner.live.state.snapshot import read_snapshot, write_snapshot
from almoner.live.terms.parse_terms import make_terms
from almoner.live.terms.terms import Terms
from almoner.live.terms.written_terms import written_terms
from almoner.policy.recipes_rows import dual_descent, linear, priced

ACTIONS: dict[str, Any] = {"cheap": 1.0, "strong": al.Action(cost=3, reserve=5)}
FEATURES = ["chars", "digits"]


def create(factory: AgentFactory, **terms: Any) -> al.Agent:
    """Open a campaign on rows; with scores, unless features are given."""
    kind = {} if "features" in terms else {"scores": True}
    defaults = {"actions": ACTIONS, "horizon": 60, "budget": 80, "seed": 3}
    return factory.open(**{**defaults, **kind, **terms})


def arrive(agent: al.Agent, draw: random.Random, **more: Any) -> al.Decision:
    """Decide for one arrival with a row drawn at random."""
    cost = round(draw.uniform(0.2, 6), 2)
    row: dict[str, Any] = {"features": {name: draw.gauss(0, 3) for name in FEATURES}}
    if agent.opening_terms.scores:
        row = {"scores": {"cheap": draw.random(), "strong": 1.4 * draw.random(), None: 0.1}}
    return agent.decide(**row, costs={"strong": cost} if draw.random() < 0.7 else None, **more)


def play(agent: al.Agent, clock: Clock, seed: int, arrivals: int) -> None:
    """Decide for arrivals on rows; settle, cancel and reward some of them, some later."""
    draw, late = random.Random(seed), []  # noqa: S311
    for number in range(arrivals):
        clock.now += 2_000
        available = [name for name in agent.opening_terms.actions if draw.random() < 0.85]
        decision = arrive(agent, draw, available=available, key=f"k{seed}-{number}")
        fate = draw.random()
        if decision.action is not None and fate < 0.2:
            agent.cancel(decision.id)
            continue
        if decision.action is not None and fate < 0.7:
            agent.settle(decision.id, cost=round(draw.uniform(0, 6), 2))
        late.append((decision.id, draw.random()))
        if fate > 0.5:
            agent.reward(*late.pop(draw.randrange(len(late))))
        ledger = agent.ledger
        assert ledger.spent <= ledger.budget
        assert ledger.left >= 0


VARIANTS: dict[str, dict[str, Any]] = {
    "scores": {},
    "trusted scores": {"policy": priced(trust=20)},
    "features": {"features": FEATURES},
    "explored": {"explore": 0.2, "holdout": 0.1},
    "explored features": {"features": FEATURES, "explore": 0.3},
    "even": {"pace": "even"},
    "learned skips": {"features": FEATURES, "default_rewards": "learned", "holdout": 0.2},
    "caps": {"pace": {"day": 15}, "features": FEATURES},
    "default": {"default": "cheap"},
    "default with features": {"default": "cheap", "features": FEATURES},
    "rewards in money": {"reward_range": (0, 50), "currency": "EUR", "policy": priced(trust=5)},
    "expiring": {
        "actions": {"cheap": 1.0, "strong": al.Action(cost=3, reserve=5, expires="1 day")}
    },
    "a closing time": {
        "horizon": al.ClosingTime(at=datetime(2030, 1, 5, tzinfo=UTC), arrivals=60),
        "features": FEATURES,
    },
}


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("kind", STORES)
def test_logs_replay_restore_and_verify(kind: str, variant: str) -> None:
    """Live, folded from the log, restored from a snapshot and in another process: all the same."""
    clock = Clock()
    clock.now = 1_893_456_000.0 + 60  # 2030-01-01
    with agent_factory(kind) as factory:
        agent = create(factory, clock=clock, **VARIANTS[variant])
        play(agent, clock, 1, 70 if kind == "memory" else 30)
        state = observable_state(agent)
        assert state == replayed_state(agent)
        restored = Campaign(agent.opening_terms)
        assert read_snapshot(restored, agent.look(write_snapshot))
        assert restored.to_dict() == agent.look(Campaign.to_dict)
        other = factory.open(clock=clock)
        assert observable_state(other) == state
        arrive(other, random.Random(2))  # noqa: S311
        assert observable_state(agent) == observable_state(other)
        audit(agent.store, agent.name)
        rows = [*decisions(agent)]
        given = "features" if "features" in VARIANTS[variant] else "scores"
        assert all(isinstance(json.loads(row[given]), dict) for row in rows)
        agent.report()
        agent.final_report()


@given(
    rows=st.lists(
        st.tuples(
            st.floats(-1e6, 1e6),
            st.floats(-1, 1),
            st.floats(0, 1e4),
            st.none() | st.floats(0, 200),
        ),
        max_size=30,
    )
)
@settings(max_examples=40, deadline=None, derandomize=True, suppress_health_check=[*HealthCheck])
@pytest.mark.parametrize("terms", [{}, {"features": FEATURES}], ids=["scores", "features"])
def test_hostile_rows_never_overspend(terms: dict[str, Any], rows: list[Any]) -> None:
    """Scores and features of any size, costs from 0 to far above the budget, bills likewise."""
    with agent_factory("memory") as factory:
        agent = create(factory, horizon=25, **terms)
        for one, two, cost, bill in rows:
            row: dict[str, Any] = {"features": dict(zip(FEATURES, (one, two), strict=True))}
            if not terms:
                row = {"scores": {"cheap": one, "strong": two}}
            decision = agent.decide(**row, costs={"strong": cost, "cheap": cost / 7})
            if decision.action is not None and bill is not None:
                agent.settle(decision.id, cost=bill)
            agent.reward(decision.id, 0.5)
            assert agent.ledger.spent <= agent.ledger.budget
        assert observable_state(agent) == replayed_state(agent)
        audit(agent.store, agent.name)


SCORES = st.sampled_from([-0.2, 0.0, 0.1, 0.2, 0.3, 1 / 3, 0.6]) | st.floats(-1, 2)
"""Scores of which many are equal, so that arrivals lie exactly at the price."""


@given(
    factor=st.sampled_from([7.0, 1 / 3, 1e-9, 1e6, 2.0**-40]),
    terms=st.sampled_from(
        [{}, {"default": "cheap"}, {"explore": 0.2, "holdout": 0.1}, {"pace": "even"}]
    ),
    rows=st.lists(
        st.tuples(SCORES, SCORES, SCORES, st.sampled_from([None, 0.0, 1.0, 2.5, 9.0])),
        min_size=60,
        max_size=70,
    ),
)
@settings(max_examples=50, deadline=None, derandomize=True, suppress_health_check=[*HealthCheck])
def test_scores_need_no_scale(factor: float, terms: dict[str, Any], rows: list[Any]) -> None:
    """All scores times a factor: the same decisions and probabilities, at so many times the price.

    Money is scarce, and the campaign goes on beyond its end.
    """
    with agent_factory("memory") as factory:
        one = create(factory, budget=40, **terms)
        other = create(factory, budget=40, name="other", **terms)
        for cheap, strong, idle, cost in rows:
            scores = {"cheap": cheap, "strong": strong, None: idle}
            costs = None if cost is None else {"strong": cost}
            first = one.decide(scores=scores, costs=costs)
            scaled = {name: factor * value for name, value in scores.items()}
            second = other.decide(scores=scaled, costs=costs)
            assert (first.action, first.reason) == (second.action, second.reason)
            assert first.probability == pytest.approx(second.probability, abs=1e-9)
            assert (second.price or 0) == pytest.approx(factor * (first.price or 0), rel=1e-6)


def test_the_better_score_is_taken_where_money_is_no_object(memory: AgentFactory) -> None:
    agent = create(memory, budget=1_000)
    taken = [
        agent.decide(scores={"cheap": 0.4, "strong": 0.9}),
        agent.decide(scores={"cheap": 0.4, "strong": 0.3}),
        agent.decide(scores={"cheap": 0.4, "strong": 0.3, None: 0.5}),
        agent.decide(scores={"cheap": 0.4, "skip": 0.3}, available=["cheap"]),
    ]
    assert [decision.action for decision in taken] == ["strong", "cheap", None, "cheap"]
    assert taken[2].reason == "policy"


def test_the_default_serves_everybody_and_the_price_buys_improvements(memory: AgentFactory) -> None:
    """50 for 60 arrivals at 0.5: 20 are for improvements, which cost 2.5 each."""
    agent = create(memory, actions={"cheap": 0.5, "strong": 3.0}, budget=50, default="cheap")
    draw, taken = random.Random(5), []  # noqa: S311
    for _ in range(60):
        scores = {"cheap": draw.random() - 2, "strong": draw.random() - 2}  # both worse than 0
        taken.append(agent.decide(scores=scores))
        agent.settle(taken[-1].id, cost=taken[-1].reserved)
    names = [decision.action for decision in taken]
    assert None not in names
    assert 5 <= names.count("strong") <= 8
    assert agent.ledger.left >= 0


def test_a_default_dearer_than_declared_is_still_set_aside(memory: AgentFactory) -> None:
    """Each arrival says that the default costs twice what was declared: later ones get it too."""
    draw = random.Random(8)  # noqa: S311
    agent = create(memory, horizon=200, budget=900, default="cheap")
    taken = []
    for _ in range(200):
        scores = {"cheap": 0.3 * draw.random(), "strong": 0.3 + draw.random()}
        taken.append(agent.decide(scores=scores, costs={"cheap": 2.0, "strong": 10.0}).action)
    assert None not in taken
    assert taken.count("strong") >= 55  # of 62 that the money beyond the defaults can pay
    assert observable_state(agent) == replayed_state(agent)
    restored = Campaign(agent.opening_terms)
    assert read_snapshot(restored, agent.look(write_snapshot))
    assert restored.to_dict() == agent.look(Campaign.to_dict)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "decide needs the scores of the arrival; give scores"),
        ({"scores": 3}, "scores must be a table of numbers by name"),
        ({"scores": {"cheap": 1}}, "scores lack the action 'strong'"),
        ({"scores": {"cheap": 1, "strong": 1, "best": 1}}, "an action with a score must be one of"),
        ({"scores": {"cheap": float("nan"), "strong": 1}}, "the score of 'cheap' must be finite"),
        ({"scores": {"cheap": float("inf"), "strong": 1}}, "the score of 'cheap' must be finite"),
        ({"scores": {"cheap": "much", "strong": 1}}, "the score of 'cheap' must be a number"),
        ({"scores": {"cheap": 1, "strong": 1, None: 0, "skip": 0}}, "a value for None and for"),
        ({"scores": {"cheap": 1, "strong": 1}, "context": "new"}, "context must be left out"),
        ({"features": {"chars": 1}}, "decide needs the scores"),
        ({"scores": {"cheap": 1, "strong": 1}, "features": {}}, "decide takes no features"),
        ({"scores": {"cheap": 1, "strong": 1}, "costs": {"cheap": -1}}, "must be at least 0"),
    ],
)
def test_bad_scores_are_refused_in_a_sentence_and_change_nothing(
    memory: AgentFactory, arguments: dict[str, Any], message: str
) -> None:
    agent = create(memory)
    with refused(agent, InvalidInput, message):
        agent.decide(**arguments)


@pytest.mark.parametrize(
    ("features", "message"),
    [
        (None, "decide needs the features of the arrival"),
        ({"chars": 1}, "features lacks the key 'digits'"),
        ({"chars": 1, "digits": 2, "words": 3}, "features has the unknown key 'words'"),
        ({"chars": 1, "digits": float("nan")}, "the feature 'digits' must be finite"),
        ({"chars": 1, "digits": None}, "the feature 'digits' must be a number"),
    ],
)
def test_unknown_and_missing_features_are_refused_by_name(
    memory: AgentFactory, features: Any, message: str
) -> None:
    agent = create(memory, features=FEATURES)
    with refused(agent, InvalidInput, message):
        agent.decide(features=features)


def test_named_contexts_take_neither_scores_nor_features(memory: AgentFactory) -> None:
    agent = memory.create()
    with refused(agent, InvalidInput, "decide takes no scores in this campaign"):
        agent.decide("new", scores={"mail": 1, "coupon": 2})
    with refused(agent, InvalidInput, "context must be one of new, returning"):
        agent.decide()


@pytest.mark.parametrize(
    ("terms", "message"),
    [
        ({"contexts": ["new"]}, "contexts go with neither scores nor features"),
        ({"features": FEATURES}, "scores and features exclude each other"),
        ({"new_contexts": True}, "new_contexts has no meaning"),
        ({"default_rewards": "learned"}, "default_rewards has no .* skip brings under None"),
        (
            {"scores": None, "features": FEATURES, "default_rewards": {"rows": 0.1}},
            "default_rewards has no meaning in a campaign with features; give 'learned'",
        ),
        ({"scores": None, "features": FEATURES, "learn_cost": True}, "learn_cost has no meaning"),
        ({"risk": 0.05}, "risk has no meaning"),
        ({"policy": "thrifty"}, "needs the policy priced\\(\\)"),
        ({"policy": linear()}, "needs the policy priced\\(\\)"),
        ({"policy": dual_descent()}, "needs the policy priced\\(\\)"),
        ({"scores": 1}, "scores must be True or False"),
        ({"scores": None, "features": []}, "features must name 1 to 500 features"),
        ({"scores": None, "features": ["a", "a"]}, "features must be different names"),
        ({"actions": {"a": al.Action(cost={"rows": 1})}}, "costs by context have no meaning"),
    ],
)
def test_terms_that_rows_cannot_have_are_refused(
    memory: AgentFactory, terms: dict[str, Any], message: str
) -> None:
    with pytest.raises(InvalidTerms, match=message):
        memory.open(**{"actions": ACTIONS, "horizon": 9, "budget": 9, "scores": True, **terms})


def test_a_policy_on_rows_is_refused_for_named_contexts(memory: AgentFactory) -> None:
    with pytest.raises(InvalidTerms, match="the policy decides on rows"):
        memory.create(policy=priced())


def test_a_campaign_is_resumed_with_its_terms_and_refuses_others(factory: AgentFactory) -> None:
    create(factory, features=FEATURES)
    assert factory.open(features=FEATURES, actions=ACTIONS).opening_terms.features == (
        "chars",
        "digits",
    )
    for other in ({"features": ["chars"]}, {"contexts": ["new"]}, {"scores": True}):
        with pytest.raises(al.errors.DifferentTerms, match=next(iter(other))):
            factory.open(**other)


def test_terms_are_written_as_they_were_given(memory: AgentFactory) -> None:
    for terms in ({}, {"features": FEATURES}):
        agent = create(memory, name=f"written {len(terms)}", **terms)
        assert make_terms(**written_terms(agent.opening_terms)) == agent.opening_terms
        assert Terms.from_dict(agent.opening_terms.to_dict()) == agent.opening_terms


def test_a_budget_can_be_amended_and_the_market_stays(factory: AgentFactory) -> None:
    agent, draw = create(factory), random.Random(4)  # noqa: S311
    for _ in range(20):
        arrive(agent, draw)
    before = agent.look(lambda campaign: campaign.policy.to_dict()["rows"]["values"])
    agent.amend(budget=120, horizon=90, costs={"cheap": 0.9})
    assert agent.look(lambda campaign: campaign.policy.to_dict()["rows"]["values"]) == before
    for _ in range(20):
        arrive(agent, draw)
    assert observable_state(agent) == replayed_state(agent)
    audit(agent.store, agent.name)


def test_several_rows_are_decided_as_one_after_the_other(factory: AgentFactory) -> None:
    agent, other = create(factory), create(factory, name=f"{factory.name}-other")
    draw = random.Random(9)  # noqa: S311
    rows = [{"cheap": draw.random(), "strong": draw.random()} for _ in range(30)]
    many = agent.decide_many(scores=rows, costs=[{"strong": 2.0}] * 30)
    single = [other.decide(scores=row, costs={"strong": 2.0}) for row in rows]
    assert [d.action for d in many] == [d.action for d in single]
    assert [d.probability for d in many] == [d.probability for d in single]


@pytest.mark.parametrize(
    "terms",
    [
        {"policy": priced(trust=5)},
        {"features": FEATURES},
        {"features": FEATURES, "default_rewards": "learned"},
    ],
    ids=str,
)
def test_silence_until_the_window_ends_is_learned_as_a_reward_of_0(
    factory: AgentFactory, terms: dict[str, Any]
) -> None:
    """A campaign that is told the zeros by hand has learned the same, to the last bit."""
    clock, draw = Clock(), random.Random(6)  # noqa: S311
    silent = create(factory, clock=clock, reward_window="1 hour", **terms)
    told = create(factory, clock=clock, name=f"{factory.name}-told", **terms)
    waiting, skips = [], "default_rewards" in terms
    for _ in range(25):
        clock.now += 60
        state = draw.getstate()
        first = arrive(silent, draw)
        draw.setstate(state)
        second = arrive(told, draw)
        assert (first.action, first.probability) == (second.action, second.probability)
        waiting += [second.id] * (skips or second.action is not None)
    assert observable_state(silent) == replayed_state(silent)
    clock.now += 7_200
    told.reward_many(dict.fromkeys(waiting, 0.0))
    arrive(silent, random.Random(1))  # noqa: S311
    arrive(told, random.Random(1))  # noqa: S311
    models = [
        agent.look(lambda campaign: campaign.policy.to_dict()["rows"]["models"])
        for agent in (silent, told)
    ]
    assert waiting
    assert models[0] == models[1]
    restored = Campaign(silent.opening_terms)
    assert read_snapshot(restored, silent.look(write_snapshot))
    assert restored.to_dict() == silent.look(Campaign.to_dict)
    assert observable_state(silent) == replayed_state(silent)
    audit(silent.store, silent.name)
    taken = [row for row in [*decisions(silent)][:25] if skips or row["action"] != "skip"]
    assert [row["reward"] for row in taken] == [0.0] * len(waiting)


def test_probabilities_of_exploration_are_exact(memory: AgentFactory) -> None:
    """With a price at which one action is certain: 0.7 + 0.3/3 of it, 0.1 of each other option."""
    agent = create(memory, budget=1_000, explore=0.3)
    agent.decide(scores={"cheap": 0.2, "strong": 0.9})
    (row,) = decisions(agent)
    shares = json.loads(row["probabilities"])
    assert shares == pytest.approx({"skip": 0.1, "cheap": 0.1, "strong": 0.8})


def test_late_rewards_and_bills_are_learned_from_the_row_of_their_decision(
    memory: AgentFactory,
) -> None:
    """Strong is worth its money where chars are many, and costs twice what was declared."""
    agent = create(
        memory,
        features=FEATURES,
        actions={"cheap": 1.0, "strong": al.Action(cost=2, reserve=9)},
        horizon=1_500,
        budget=3_000,
    )
    draw, waiting = random.Random(1), []  # noqa: S311
    taken: dict[tuple[str | None, bool], int] = {}
    for number in range(1_200):
        long = draw.random() < 0.5
        decision = agent.decide(
            features={"chars": 100.0 if long else 10.0, "digits": draw.random()}
        )
        if number > 800:
            taken[decision.action, long] = taken.get((decision.action, long), 0) + 1
        waiting.append((decision, long))
        if len(waiting) > 20:
            due, was_long = waiting.pop(0)
            mean = {None: 0.0, "cheap": 0.3, "strong": 0.95 if was_long else 0.3}[due.action]
            agent.reward(due.id, float(draw.random() < mean))
            if due.action is not None:
                agent.settle(due.id, cost=1.0 if due.action == "cheap" else 4.0)
    assert taken["strong", True] > 5 * taken.get(("strong", False), 0)
    cost = [row["cost"] for row in decisions(agent) if row["action"] == "strong"][-30:]
    assert cost
    planned = agent.look(lambda campaign: campaign.ledger.planned / 1e6)
    still_open = agent.report().open
    assert planned > 2.0 * still_open / 2  # nearer to 4 than to 2 for strong
    assert observable_state(agent) == replayed_state(agent)


def test_the_same_key_returns_the_first_decision(factory: AgentFactory) -> None:
    agent = create(factory)
    first = agent.decide(scores={"cheap": 1, "strong": 2}, key="a")
    assert agent.decide(scores={"cheap": 5, "strong": 1}, key="a") == first
    assert agent.ledger.reserved == int(first.reserved * 1e6)


@pytest.mark.parametrize(
    ("terms", "row"),
    [
        ({"scores": True}, {"scores": {"mail": 1e308}}),
        ({"scores": True, "policy": al.priced(trust=20)}, {"scores": {"mail": -1e200}}),
        ({"features": ["x"]}, {"features": {"x": 1e200}}),
    ],
    ids=["scores", "trust", "features"],
)
def test_numbers_that_overflow_are_refused_and_change_nothing(
    terms: dict[str, Any], row: dict[str, Any]
) -> None:
    agent = al.Agent.open("memory:", name="d", actions={"mail": 1}, horizon=9, budget=5, **terms)
    with pytest.raises(al.InvalidInput, match=r"must be between -1e\+[13]00 and 1e\+[13]00, got"):
        agent.decide(**row)
    assert agent.report().arrivals == 0


@pytest.mark.parametrize("spread", [{"holdout": 0.3}, {"explore": 0.5}], ids=str)
@pytest.mark.parametrize("kind", [{"policy": priced(trust=5)}, {"features": FEATURES}], ids=str)
def test_silence_is_verified_where_arrivals_are_held_out_or_explore(
    factory: AgentFactory, kind: dict[str, Any], spread: dict[str, Any]
) -> None:
    clock, draw = Clock(), random.Random(6)  # noqa: S311
    agent = create(factory, clock=clock, reward_window="1 hour", **kind, **spread)
    decisions = [arrive(agent, draw, person=f"p{number % 7}") for number in range(20)]
    agent.reward(decisions[0].id, 0.5)
    clock.now += 7_200
    arrive(agent, draw)
    assert audit(agent.store, agent.name).decisions == 21
    assert agent.report().waiting <= 1
