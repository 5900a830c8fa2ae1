"""Amendments: terms of a running campaign change, what was learned stays, the log says why."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pytest
from support.agents import AgentFactory, refused, replay
from support.clock import Clock

import almoner as al
from almoner.live.audit import audit
from almoner.live.times.closing_time import ClosingTime
from almoner.store.events import AMENDED

DAY = 86_400.0
MONDAY = datetime(2026, 11, 16, tzinfo=UTC)


def follow(agent: al.Agent, contexts: list[str], rewards: list[float]) -> list[al.Decision]:
    """Decide for contexts, and reward each action at once."""
    decisions = []
    for context, reward in zip(contexts, rewards, strict=True):
        decision = agent.decide(context)
        if decision.action is not None:
            agent.reward(decision.id, reward)
        decisions.append(decision)
    return decisions


def test_more_money_a_new_action_and_a_stopped_one(factory: AgentFactory) -> None:
    agent = factory.create(budget=12)
    follow(agent, ["new", "returning"] * 6, [1.0, 0.0] * 6)
    agent.amend(budget=40, add={"gift": 7}, stop=["mail"], note="boss", by="Ann")
    terms = agent.terms
    assert (terms.budget, terms.actions) == (40_000_000, ("mail", "coupon", "gift"))
    assert terms.active == ("coupon", "gift")
    later = follow(agent, ["new", "returning"] * 2, [0.0] * 4)
    assert {decision.action for decision in later} <= {"coupon", "gift", None}
    assert any(decision.action for decision in later)
    agent.amend(restart=["mail"])
    assert agent.decide("new", available=["mail"]).action == "mail"
    assert audit(agent.store, factory.name).budget == 40_000_000
    (first, second) = [event for event in agent.events() if event.kind == AMENDED]
    detail = json.loads(first.detail or "")
    assert (detail["by"], detail["note"]) == ("Ann", "boss")
    assert json.loads(second.detail or "")["terms"] == {"stopped": []}
    (change, _) = agent.report().amendments
    assert change.changes == ["budget 12 → 40", "gift added", "mail stopped"]
    assert (change.arrivals, change.by, change.note) == (12, "Ann", "boss")


def test_a_log_with_amendments_is_folded_to_the_same_state(factory: AgentFactory) -> None:
    agent, other = factory.create(policy="thrifty"), factory.open()
    random = np.random.default_rng(3)
    changes: list[dict[str, Any]] = [
        {"budget": 90, "horizon": 60},
        {"add": {"gift": al.Action(cost=2, reserve=6)}},
        {"stop": ["mail"]},
        {"costs": {"coupon": 4}},
        {"restart": ["mail"], "stop": ["coupon"]},
    ]
    for change in changes:
        for _ in range(8):
            decision = agent.decide(str(random.choice(["new", "returning"])))
            if decision.action is not None and random.random() < 0.7:
                other.reward(decision.id, float(random.random() < 0.4))
        other.amend(**change)
    agent.decide("new")
    state = agent.look(lambda campaign: campaign.to_dict())
    assert other.look(lambda campaign: campaign.to_dict()) == state
    assert factory.open().look(lambda campaign: campaign.to_dict()) == state
    assert replay(agent) == state
    audit(agent.store, factory.name)


def test_a_preview_shows_what_the_change_does_and_nothing_else(memory: AgentFactory) -> None:
    """An amendment computes the pooled prior anew, so the preview does on both sides."""
    agent, random = (
        memory.create(policy="thrifty", horizon=200, budget=300),
        np.random.default_rng(5),
    )
    for _ in range(3):
        contexts = [str(name) for name in random.choice(["new", "returning"], 9)]
        follow(agent, contexts, [float(random.random() < 0.3) for _ in contexts])
        changes, before, after = agent.preview_amendment(budget=300)
        assert (changes, before) == ([], after)
        _, before, after = agent.preview_amendment(horizon=180)
        for one, other in zip(before.contexts, after.contexts, strict=True):
            pairs = zip(one.actions, other.actions, strict=True)
            assert all((a.pooled, a.borrowed) == (b.pooled, b.borrowed) for a, b in pairs)
    agent.amend(horizon=180)
    assert agent.report().contexts == after.contexts


def test_what_was_learned_stays(memory: AgentFactory) -> None:
    agent = memory.create(actions={"mail": 1, "card": 1}, horizon=400, budget=100)
    follow(agent, ["new"] * 30, [1.0] * 30)
    before = {pair.action: (pair.taken, pair.mean) for pair in agent.report().contexts[0].actions}
    agent.amend(stop=["mail"])
    decision = agent.decide("new")
    assert decision.action == "card"
    agent.amend(restart=["mail"], budget=200)
    after = {pair.action: (pair.taken, pair.mean) for pair in agent.report().contexts[0].actions}
    assert after["mail"] == before["mail"]
    assert after["card"][0] == before["card"][0] + 1


def test_open_decisions_of_a_stopped_action_go_on(factory: AgentFactory) -> None:
    agent = factory.create(actions={"call": al.Action(cost=1, reserve=3), "mail": 1})
    calls = [agent.decide("new", available=["call"]) for _ in range(3)]
    agent.amend(stop=["call"])
    assert agent.decide("new", available=["call"]).reason == "unavailable"
    agent.reward(calls[0].id, 1.0)
    assert agent.settle(calls[0].id, cost=2).refunded == 1
    assert agent.cancel(calls[1].id).refunded == 3
    assert agent.ledger.reserved == 3_000_000
    pair = agent.report().contexts[0].actions[0]
    assert (pair.action, pair.rewarded, pair.mean, pair.stopped) == ("call", 1, 1.0, True)
    agent.amend(restart=["call"])
    assert replay(agent) == agent.look(lambda campaign: campaign.to_dict())
    pair = agent.report().contexts[0].actions[0]
    assert (pair.rewarded, pair.taken, pair.stopped) == (1, 2, False)


def test_new_contexts_come_after_an_action_was_stopped(memory: AgentFactory) -> None:
    agent = memory.create(new_contexts=True)
    follow(agent, ["new", "returning"], [1.0, 0.0])
    agent.amend(stop=["coupon"])
    follow(agent, ["vip", "new", "vip"], [1.0, 1.0, 0.0])
    agent.amend(restart=["coupon"])
    follow(agent, ["vip", "other"], [1.0, 1.0])
    assert replay(agent) == agent.look(lambda campaign: campaign.to_dict())


def test_a_closing_time_moves_and_the_forecast_goes_on() -> None:
    now = [MONDAY.timestamp()]
    agent = al.Agent.open(
        "memory:",
        name="week",
        contexts=["new"],
        actions={"mail": 1},
        horizon=ClosingTime(at=MONDAY + timedelta(days=7), arrivals=700, trust=1e9),
        budget=70,
        clock=lambda: now[0],
    )
    now[0] += DAY
    assert agent.report().arrivals_left == pytest.approx(600)
    agent.amend(closes="2026-11-25T00:00+00:00")
    assert agent.report().arrivals_left == pytest.approx(800)
    agent.amend(closes="2026-11-18T00:00+00:00")
    assert agent.report().arrivals_left == pytest.approx(100)
    agent.amend(arrivals=500)
    assert agent.report().arrivals_left == pytest.approx(250)
    changes = [change.changes for change in agent.report().amendments]
    assert changes[-1] == ["arrivals 200 → 500"]
    assert changes[0][0] == "end 2026-11-23 00:00 UTC → 2026-11-25 00:00 UTC"
    with pytest.raises(al.InvalidTerms, match=r"closes must be in the future, .*close it"):
        agent.amend(closes="2026-11-16T12:00+00:00")
    with pytest.raises(al.InvalidTerms, match=r"horizon cannot be changed: .*give closes=…"):
        agent.amend(horizon=5)


def test_a_profile_is_kept_when_the_end_moves() -> None:
    points = ((MONDAY + timedelta(days=1), 0.5),)
    week = ClosingTime(
        opens=MONDAY, at=MONDAY + timedelta(days=4), arrivals=800, profile=points, trust=1e9
    )
    noon = MONDAY.timestamp() + DAY / 2
    longer = week.moved("2026-11-24T00:00+00:00")
    assert longer.arrivals == 1600
    assert longer.arrivals * longer.share_due(noon) == pytest.approx(200)
    assert longer.arrivals * longer.share_due(MONDAY.timestamp() + 4 * DAY) == pytest.approx(800)
    shorter = week.moved("2026-11-17T00:00+00:00")
    assert shorter.arrivals == 400
    assert shorter.arrivals * shorter.share_due(noon) == pytest.approx(200)


def test_an_end_before_the_first_arrival_is_expected() -> None:
    """Where the forecast has nobody until the new end, arrivals come evenly if some are given."""
    days = [MONDAY + timedelta(days=day) for day in range(5)]
    profile = ((days[1], 0.0), (days[2], 0.0), (days[3], 0.5))
    week = ClosingTime(opens=MONDAY, at=days[4], arrivals=100, profile=profile)
    early = (days[1] + timedelta(hours=12)).isoformat()
    with pytest.raises(al.InvalidTerms) as raised:
        week.moved(early)
    assert f"closes must leave time in which arrivals come, got closes='{early}'" in str(
        raised.value
    )
    moved = week.moved(early, 30)
    assert moved.arrivals == 30
    assert moved.share_due(MONDAY.timestamp() + 0.75 * DAY) == pytest.approx(0.5)
    with pytest.raises(al.InvalidTerms, match=r"after the campaign opens, got closes='2026-11-1"):
        week.moved(MONDAY)


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({}, "an amendment must change something; give one of budget, horizon"),
    ({"bugdet": 9}, "the amendment has the unknown key 'bugdet'; did you mean 'budget'"),
    ({"budget": 1}, r"budget must be at least the 0.0 spent and 5.0 reserved, got budget=1; the"),
    ({"budget": "much"}, "budget must"),
    ({"horizon": 0}, "horizon must be at least 1, got horizon=0"),
    ({"horizon": 2.5}, "horizon must be a whole number"),
    ({"closes": "2026-12-24T18:00+01:00"}, "closes cannot be changed: the campaign ends after 40"),
    ({"arrivals": 9}, "arrivals cannot be changed"),
    ({"add": ["gift"]}, "add must be a table by action"),
    ({"add": {"mail": 2}}, "add must name new actions, got add='mail'; change its cost with costs"),
    ({"add": {"skip": 2}}, "an action must not be called 'skip'"),
    ({"add": {"gift": None}}, "the cost of 'gift' is missing"),
    ({"add": {"gift": -1}}, "the cost of 'gift' must"),
    ({"stop": "mail"}, "stop must be a list of names"),
    ({"stop": ["mial"]}, "an action to stop must be one of mail, coupon.*did you mean 'mail'"),
    ({"stop": ["mail", "coupon"]}, "stop must leave an action that can be taken; .*pause"),
    ({"stop": ["mail"], "restart": ["mail"]}, "stop must name no action to restart too"),
    ({"costs": {"gift": 1}}, "an action of costs must be one of mail, coupon"),
    ({"costs": {"mail": al.Action(cost=2, reserve=1)}}, "the reserve of 'mail' must be no less"),
    ({"budget": 90, "note": ""}, "note must be a text of 1 to 1,000 characters"),
    ({"budget": 90, "by": 7}, "by must be a text of 1 to 200 characters"),
]


@pytest.mark.parametrize(("change", "message"), REFUSED)
def test_changes_that_cannot_be_made_are_refused(
    change: dict[str, Any], message: str, memory: AgentFactory
) -> None:
    agent = memory.create()
    agent.decide("new", available=["coupon"])
    events = [*agent.events()]
    with pytest.raises(al.InvalidInput, match=message):
        agent.amend(**change)
    assert [*agent.events()] == events


def test_a_closed_campaign_is_not_amended(memory: AgentFactory) -> None:
    agent = memory.create()
    agent.end()
    with pytest.raises(al.Conflict, match="closed for good"):
        agent.amend(budget=100)


def test_the_same_change_again_writes_nothing(memory: AgentFactory) -> None:
    agent = memory.create()
    for _ in range(3):
        agent.amend(budget=90, add={"gift": 7}, stop=["mail"])
    assert len([*agent.events()]) == 1


def test_a_stopped_action_is_restarted_not_added(memory: AgentFactory) -> None:
    """A request with add that is sent again after the action was stopped must not pass for done."""
    agent = memory.create()
    agent.amend(add={"gift": 7})
    agent.amend(add={"gift": 7})
    agent.amend(stop=["gift"])
    with pytest.raises(al.InvalidTerms, match=r"this one is stopped.*take it again with restart="):
        agent.amend(add={"gift": 7})
    with pytest.raises(al.InvalidTerms, match=r"restart=\['gift'\] and change its cost with costs"):
        agent.amend(add={"gift": 8})
    agent.amend(add={"gift": 7}, restart=["gift"])
    assert agent.terms.stopped == ()


@pytest.mark.parametrize("costs", [9, {"new": 1, "old": 9}])
def test_a_cost_above_a_reserve_of_its_own_is_refused(costs: Any, memory: AgentFactory) -> None:
    agent = memory.create(contexts=["new", "old"], actions={"5 EUR": al.Action(cost=1, reserve=5)})
    with pytest.raises(al.InvalidTerms) as refused:
        agent.amend(costs={"5 EUR": costs})
    assert str(refused.value) == (
        f"costs must give '5 EUR' no more than its reserve 5, got costs={{'5 EUR': {costs}}}; for "
        "another reserve, give an Action with cost and reserve"
    )
    agent.amend(costs={"5 EUR": al.Action(cost=9, reserve=9)})


def test_the_report_names_changes_of_expiry_and_learned_costs(memory: AgentFactory) -> None:
    agent = memory.create()
    agent.amend(costs={"mail": al.Action(cost=1, learn_cost=True)})
    call = al.Action(cost=1, reserve=2, expires="2 hours", on_expiry="charge")
    agent.amend(costs={"mail": call})
    assert [change.changes for change in agent.report().amendments] == [
        ["cost of mail declared → learned"],
        [
            "reserve of mail 1 → 2",
            "expiry of mail none → 2 hours",
            "mail on expiry released → charged",
            "cost of mail learned → declared",
        ],
    ]


def test_a_program_with_the_old_or_the_new_terms_resumes(factory: AgentFactory) -> None:
    factory.create().amend(budget=90)
    assert factory.create().ledger.budget == 90_000_000
    assert factory.create(budget=90).ledger.budget == 90_000_000
    with pytest.raises(al.DifferentTerms, match=r"budget=60, got budget=91"):
        factory.create(budget=91)


def test_costs_change_for_new_decisions_only(factory: AgentFactory) -> None:
    agent = factory.create(actions={"call": al.Action(cost=1, reserve=3), "mail": 1})
    first = agent.decide("new", available=["call"])
    agent.amend(costs={"call": 2, "mail": "0.5"})
    second, third = agent.decide("new", available=["call"]), agent.decide("new", available=["mail"])
    assert (first.reserved, second.reserved, third.reserved) == (3, 3, 0.5)
    agent.amend(costs={"call": al.Action(cost=2, reserve=5)})
    assert agent.decide("new", available=["call"]).reserved == 5
    audit(agent.store, factory.name)


def test_names_may_come_from_a_generator(memory: AgentFactory) -> None:
    agent = memory.create()
    agent.amend(stop=(name for name in ["mail"]))
    assert agent.terms.stopped == ("mail",)


def test_an_audit_finds_an_amendment_that_was_forged(memory: AgentFactory) -> None:
    agent = memory.create()
    agent.decide("new", available=["coupon"])
    agent.amend(budget=70)
    log = agent.store._logs[memory.name]  # type: ignore[attr-defined]
    good = log.rows[1]
    for changes, message in (
        ({"budget": 80_000_000}, "says that 65000000 is left"),
        ({"budget": 1_000_000}, "overspends the budget"),
        ({"policy": {}}, "changes policy, which no amendment may"),
        ({"reward_range": [0, 9]}, "changes reward_range, which no amendment may"),
        ({"inherited": {"pairs": {}}}, "changes inherited, which no amendment may"),
        ({"horizon": 0}, "sets a horizon of 0 after 1 arrivals"),
        ({"costs": {}, "reserves": {}}, "removes actions"),
    ):
        log.rows[1] = good._replace(detail=json.dumps({"terms": changes, "by": None, "note": None}))
        with pytest.raises(al.BrokenLedger, match=message):
            audit(agent.store, memory.name)


def test_reserves_made_before_an_amendment_are_not_spent_again(factory: AgentFactory) -> None:
    """Where all actions that are left reserve their cost, reserves of before may be larger."""
    agent = factory.create(actions={"call": al.Action(cost=1, reserve=6), "mail": 1})
    for _ in range(12):
        agent.decide("new", available=["call"])
    agent.amend(stop=["call"])
    assert {agent.decide("new").reason for _ in range(20)} == {"budget"}
    assert agent.ledger.left == 0
    audit(agent.store, factory.name)


def test_an_action_is_added_and_stopped_at_once(factory: AgentFactory) -> None:
    agent = factory.create()
    agent.decide("new")
    agent.amend(add={"gift": 7}, stop=["gift"])
    assert [row.action for row in agent.report().contexts[0].actions][-1] == "gift"
    agent.final_report()
    agent.amend(restart=["gift"])
    assert agent.decide("new", available=["gift"]).action == "gift"
    assert replay(agent) == agent.look(lambda campaign: campaign.to_dict())


CONTRADICTIONS: list[tuple[dict[str, Any], dict[str, Any], str]] = [
    ({"new_contexts": True}, {"costs": {"mail": {"new": 1, "returning": 2}}}, "one cost for each"),
    ({"new_contexts": True}, {"add": {"gift": al.Action(cost={"new": 1})}}, "lacks the key"),
    (
        {"default": "mail"},
        {"add": {"gift": al.Action(cost=1, reserve=2, learn_cost=True)}},
        "default goes with neither learn_cost nor risk",
    ),
]


@pytest.mark.parametrize(("terms", "change", "message"), CONTRADICTIONS)
def test_terms_that_contradict_each_other_are_refused(
    terms: dict[str, Any], change: dict[str, Any], message: str, memory: AgentFactory
) -> None:
    agent = memory.create(**terms)
    agent.decide("new")
    if "new_contexts" in terms:
        agent.decide("never seen")
    with refused(agent, al.InvalidInput, match=message):
        agent.amend(**change)
    agent.report()


def test_a_campaign_beyond_its_horizon_is_amended(memory: AgentFactory) -> None:
    agent = memory.create(horizon=3)
    for _ in range(5):
        agent.decide("new")
    agent.amend(budget=90)
    assert audit(agent.store, memory.name).budget == 90_000_000


@pytest.mark.slow
@pytest.mark.parametrize("risk", [None, 0.05])
@pytest.mark.parametrize(("before", "after"), [("1 hour", "7 days"), ("7 days", "1 hour")])
def test_open_decisions_keep_the_lifetime_they_were_made_with(
    before: str, after: str, risk: float | None, memory: AgentFactory
) -> None:
    """Bills and cancellations after the change leave no negative evidence, also after a restart."""
    clock = Clock()

    def call(expires: str) -> al.Action:
        return al.Action(cost=1, reserve=3, expires=expires, learn_cost=True)

    agent = memory.create(
        actions={"call": call(before), "mail": 1}, horizon=400, budget=300, risk=risk, clock=clock
    )
    random = np.random.default_rng(5)
    for count in range(120):
        if count == 40:
            agent.amend(costs={"call": call(after)})
        clock.now += float(random.choice([60.0, 600.0, 4_000.0]))
        made = agent.open_decisions(limit=5)
        if made and random.random() < 0.3:
            agent.cancel(made[-1].id)
        elif made and random.random() < 0.6:
            agent.settle(made[0].id, cost=int(random.integers(0, 4)))
        agent.decide("new", available=["call"])
        if count % 17 == 0:
            restored = agent.look(lambda campaign: campaign.copy().to_dict())
            assert restored == agent.look(lambda campaign: campaign.to_dict()) == replay(agent)
    bills = agent.look(lambda campaign: campaign.evidence.bills)
    assert bills.evidence(agent.now(), 2).min() >= 0
    audit(agent.store, memory.name)
