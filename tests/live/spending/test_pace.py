"""Pace of a campaign: caps by calendar period, an even spend, and what is refused."""

from __future__ import annotations

import json
import random
from collections import Counter, defaultdict
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.agents import AgentFactory, assert_sentence, replay
from support.clock import Clock

import almoner as al
from almoner.live.audit import audit
from almoner.live.state.campaign_state import Campaign
from almoner.live.terms.pace import PERIODS, parse_pace, period_end
from almoner.money import denomination

BERLIN = ZoneInfo("Europe/Berlin")
TWICE = al.PerPerson(actions=2, every="1 day")
MONDAY = datetime(2026, 11, 16, tzinfo=UTC).timestamp()
HOUR, DAY = 3600.0, 86_400.0
MONEY = denomination("0.01")


def microseconds(text: str) -> int:
    return round(datetime.fromisoformat(text).timestamp() * 1e6)


@pytest.mark.parametrize(
    ("period", "at", "end"),
    [
        ("hour", "2026-11-18T10:20+01:00", "2026-11-18T11:00+01:00"),
        ("day", "2026-11-18T00:00+01:00", "2026-11-19T00:00+01:00"),
        ("day", "2026-11-17T23:30+00:00", "2026-11-19T00:00+01:00"),
        ("week", "2026-11-18T10:20+01:00", "2026-11-23T00:00+01:00"),
        ("week", "2026-11-22T23:59:59+01:00", "2026-11-23T00:00+01:00"),
        # Clocks go forward on 29 March, at 2:00, and back on 25 October, at 3:00.
        ("day", "2026-03-29T01:00+01:00", "2026-03-30T00:00+02:00"),
        ("day", "2026-10-25T01:00+02:00", "2026-10-26T00:00+01:00"),
        ("week", "2026-10-25T01:00+02:00", "2026-10-26T00:00+01:00"),
        ("hour", "2026-03-29T01:30+01:00", "2026-03-29T03:00+02:00"),
        ("hour", "2026-10-25T02:30+02:00", "2026-10-25T02:00+01:00"),
        ("hour", "2026-10-25T02:30+01:00", "2026-10-25T03:00+01:00"),
    ],
)
def test_periods_are_those_of_the_calendar_in_their_zone(period: str, at: str, end: str) -> None:
    assert period_end(period, microseconds(at), BERLIN) == microseconds(end)


@given(
    at=st.integers(0, 4 * 10**15),
    period=st.sampled_from(PERIODS),
    zone=st.sampled_from(
        ["Europe/Berlin", "America/Havana", "Australia/Lord_Howe", "Asia/Kolkata"]
    ),
)
def test_a_period_ends_after_each_of_its_times(at: int, period: str, zone: str) -> None:
    end = period_end(period, at, ZoneInfo(zone))
    longest = {"hour": 1, "day": 25, "week": 169}[period]
    assert 0 < end - at <= longest * 3_600_000_000
    assert period_end(period, end, ZoneInfo(zone)) > end


def test_a_pace_is_stored_in_units_and_written_back() -> None:
    pace = parse_pace({"day": 500, "hour": "40.5"}, MONEY)
    assert pace == {"caps": {"hour": 4050, "day": 50000}, "zone": "UTC"}
    assert parse_pace(al.Pace(day=500, hour=40.5), MONEY) == pace
    assert parse_pace("even", MONEY) == "even"


@pytest.mark.parametrize(
    ("pace", "names"),
    [
        ("fast", "fast"),
        (5, "5"),
        ({}, "amounts by period"),
        ({"zone": "Europe/Berlin"}, "amounts by period"),
        ({"day": 0}, "day"),
        ({"day": -1}, "day"),
        ({"hour": "a lot"}, "hour"),
        ({"month": 5}, "month"),
        ({"day": 5, "zone": "Berlin"}, "Berlin"),
        ({"day": 5, "zone": "Europe"}, "Europe"),
        ({"day": 5, "zone": "../etc/passwd"}, "passwd"),
        ({"day": 5, "zone": 7}, "7"),
        ({"day": float("nan")}, "nan"),
        ({"day": 0.0000001}, "day"),
    ],
)
def test_a_bad_pace_is_refused_in_a_sentence(pace: Any, names: str, memory: AgentFactory) -> None:
    with pytest.raises(al.InvalidTerms, match=names) as raised:
        memory.create(pace=pace)
    assert_sentence(raised.value)


def test_a_policy_that_explores_first_has_no_pace(memory: AgentFactory) -> None:
    with pytest.raises(al.InvalidTerms, match="explores first"):
        memory.create(pace={"day": 5}, policy="epsilon_first_alp")


def test_a_campaign_is_resumed_with_its_own_pace(factory: AgentFactory) -> None:
    terms = {"pace": {"day": 20, "zone": "Europe/Berlin"}}
    factory.create(**terms)
    assert factory.create(pace=al.Pace(day=20, zone="Europe/Berlin")).terms.pace == {
        "caps": {"day": 20_000_000},
        "zone": "Europe/Berlin",
    }
    with pytest.raises(al.DifferentTerms, match=r"pace\['day'\]=20, got pace\['day'\]=30"):
        factory.create(pace={"day": 30, "zone": "Europe/Berlin"})
    with pytest.raises(al.DifferentTerms, match="pace"):
        factory.create(pace="even")


def test_terms_without_a_pace_are_stored_as_before(memory: AgentFactory) -> None:
    agent = memory.create()
    stored = json.loads(agent.store.terms(agent.name) or "")
    assert not {"pace", "default"} & set(stored)


def one_kind(memory: AgentFactory, clock: Callable[[], float], **terms: Any) -> al.Agent:
    """A campaign of one context and one action that costs 1."""
    return memory.open(
        **{
            "contexts": ["all"],
            "actions": {"mail": 1},
            "horizon": 1000,
            "budget": 1000,
            "seed": 1,
            "clock": clock,
            **terms,
        }
    )


def test_the_decisions_of_a_day_cost_at_most_its_cap(factory: AgentFactory) -> None:
    clock = Clock(MONDAY + 8 * HOUR)
    agent = one_kind(factory, clock, pace={"day": 3})
    first = agent.decide_many(["all"] * 5)
    assert [decision.action for decision in first] == ["mail"] * 3 + [None] * 2
    assert [decision.reason for decision in first[3:]] == ["pace"] * 2
    assert "pace" in first[3].why
    agent.cancel(first[0].id)
    assert agent.decide("all").action == "mail"
    clock.now += DAY  # a reserve of Monday frees no money of Tuesday
    agent.decide_many(["all"] * 3)
    agent.cancel(first[1].id)
    assert agent.decide("all").reason == "pace"
    assert audit(agent.store, agent.name).spent == 0
    assert agent.look(Campaign.to_dict) == replay(agent)


def test_a_bill_above_its_reserve_is_charged_and_counts(memory: AgentFactory) -> None:
    clock = Clock(MONDAY)
    agent = one_kind(memory, clock, pace={"day": 4})
    taken = agent.decide("all")
    assert agent.settle(taken.id, cost=6).charged == 6.0
    assert agent.decide("all").reason == "pace"
    assert audit(agent.store, agent.name).spent == 6_000_000


def test_a_skip_for_want_of_budget_is_no_matter_of_pace(memory: AgentFactory) -> None:
    agent = one_kind(memory, Clock(MONDAY), budget=2, horizon=3, pace={"day": 4})
    agent.settle(agent.decide("all").id, cost=2)
    assert agent.decide("all").reason == "budget"
    assert agent.decide("all", available=[]).reason == "unavailable"
    assert agent.decide("all").reason == "horizon"


def test_a_clock_that_goes_back_does_not_open_a_period_again(memory: AgentFactory) -> None:
    clock = Clock(MONDAY + DAY - 1)
    agent = one_kind(memory, clock, pace={"day": 2})
    taken = []
    for jump in (0, 2, -2, 2, -2, 2):
        clock.now += jump
        taken.append(agent.decide("all").reason)
    assert taken == [None, None, None, None, "pace", "pace"]


def test_money_is_spread_over_the_arrivals_of_the_day(memory: AgentFactory) -> None:
    """The day's 24 arrivals and its 6 of money: a quarter is served, not the first six."""
    clock = Clock(MONDAY)
    horizon = al.ClosingTime(
        opens=datetime.fromtimestamp(MONDAY, UTC),
        at=datetime.fromtimestamp(MONDAY + 10 * DAY, UTC),
        arrivals=240,
        trust=float("inf"),
    )
    agent = one_kind(memory, clock, horizon=horizon, budget=240, pace={"day": 6}, policy="greedy")
    agent.reward(agent.decide("all").id, 1.0)
    served: Counter[int] = Counter()
    for hour in range(1, 240):
        clock.now = MONDAY + hour * HOUR
        decision = agent.decide("all")
        if decision.action is not None:
            served[hour // 24] += 1
            agent.reward(decision.id, 1.0)
        if hour % 24 == 12:
            assert served[hour // 24] <= 5
    assert all(4 <= served[day] <= 6 for day in range(10))


def label(period: str, at: int, zone: str) -> str:
    """Name a calendar period, without the code of the package."""
    local = datetime.fromtimestamp(at / 1e6, ZoneInfo(zone))
    if period == "hour":
        return f"{local:%Y-%m-%d %H %z}"
    return f"{local:%Y-%m-%d}" if period == "day" else str(local.isocalendar()[:2])


JUMPS = st.sampled_from(
    [0.0, 1.0, 60.0, 1800.0, 3600.0, 20_000.0, DAY, 7 * DAY, -1.0, -3600.0, -DAY]
)
STEPS = st.lists(
    st.tuples(
        JUMPS,
        st.sampled_from(["decide", "decide", "decide", "settle", "more", "cancel", "reward"]),
        st.integers(0, 3),
    ),
    min_size=5,
    max_size=60,
)


@settings(max_examples=60, deadline=None)
@given(
    steps=STEPS,
    caps=st.dictionaries(st.sampled_from(PERIODS), st.integers(3, 25), min_size=1),
    zone=st.sampled_from(["UTC", "Europe/Berlin", "America/Havana"]),
    start=st.sampled_from([MONDAY, 1_774_738_800.0, 1_792_879_200.0]),  # days of 23 and 25 hours
    default=st.sampled_from([None, "mail"]),
    timed=st.booleans(),
)
@pytest.mark.slow
def test_no_period_costs_more_than_its_cap(
    steps: Any, caps: Any, zone: str, start: float, default: str | None, timed: bool
) -> None:
    """Whatever is settled and cancelled, whatever the clock does, and whoever decides."""
    clock = Clock(start)
    horizon: Any = 200
    if timed:
        horizon = al.ClosingTime(
            opens=datetime.fromtimestamp(start, UTC),
            at=datetime.fromtimestamp(start + 30 * DAY, UTC),
            arrivals=100,
        )
    terms: dict[str, Any] = {
        "name": "paced",
        "contexts": ["new", "old"],
        "actions": {"mail": 1, "call": al.Action(cost=2, reserve=3), "free": 0},
        "horizon": horizon,
        "budget": 100,
        "pace": {**caps, "zone": zone},
        "default": default,
        "seed": 1,
        "clock": clock,
    }
    one = al.Agent.open("memory:", **terms)
    other = al.Agent.open(one.store, **terms)
    used: Counter[tuple[str, str]] = Counter()
    overruns: Counter[tuple[str, str]] = Counter()
    pending: list[tuple[al.Decision, list[tuple[str, str]]]] = []
    for jump, what, index in steps:
        clock.now += jump
        agent = one if index % 2 else other
        if what == "decide":
            decision = agent.decide(["new", "old"][index % 2])
            at = int(clock.now * 1e6)
            keys = [(period, label(period, at, zone)) for period in caps]
            if decision.action is not None:
                pending.append((decision, keys))
                for key in keys:
                    used[key] += round(decision.reserved)
        elif pending:
            decision, keys = pending.pop(index % len(pending))
            reserved, charged = round(decision.reserved), 0
            if what == "cancel":
                agent.cancel(decision.id)
            elif what == "reward":
                agent.reward(decision.id, index / 3)
                charged = reserved
            else:
                bill = reserved + 2 if what == "more" else reserved // 2
                charged = round(agent.settle(decision.id, cost=bill).charged)
            for key in keys:
                used[key] += charged - reserved
                overruns[key] += max(0, charged - reserved)
        for key, amount in used.items():
            assert amount <= caps[key[0]] + overruns[key]
    assert one.look(Campaign.to_dict) == other.look(Campaign.to_dict) == replay(one)
    audit(one.store, "paced")


@pytest.mark.slow
@pytest.mark.parametrize("policy", ["thrifty", "greedy", "ucb-ealp", "thompson-rounded"])
@pytest.mark.parametrize("actions", [{"mail": 1}, {"mail": 1, "call": 3}], ids=["equal", "unequal"])
def test_an_even_spend_stays_within_a_fifth_of_the_line(
    memory: AgentFactory, policy: str, actions: dict[str, float]
) -> None:
    """From both sides, while each arrival is worth an action, and after the first hundredth."""
    horizon, budget = 2000, 400
    agent = memory.open(
        contexts=["a", "b"], actions=actions, horizon=horizon, budget=budget,
        policy=policy, pace="even", seed=2,
    )  # fmt: skip
    for arrival in range(horizon):
        decision = agent.decide("ab"[arrival % 3 == 0])
        if decision.action is not None:
            agent.reward(decision.id, float(arrival % 5 < 2 + (decision.context == "a")))
        spent, line = budget - decision.budget_left, (arrival + 1) / horizon
        assert spent <= budget * max(1.2 * line, 0.01) + 1e-9
        if line > 0.1:
            assert spent >= 0.8 * line * budget - 0.02 * budget - 3
    audit(agent.store, agent.name)


def test_an_even_spend_follows_the_forecast(memory: AgentFactory) -> None:
    """Half of the arrivals are expected on the last of ten days."""
    clock = Clock(MONDAY)
    horizon = al.ClosingTime(
        opens=datetime.fromtimestamp(MONDAY, UTC),
        at=datetime.fromtimestamp(MONDAY + 10 * DAY, UTC),
        profile=((datetime.fromtimestamp(MONDAY + 9 * DAY, UTC), 0.5),),
        arrivals=1000,
    )
    agent = one_kind(memory, clock, horizon=horizon, budget=100, pace="even")
    spent = []
    for day in range(10):
        clock.now = MONDAY + (day + 0.99) * DAY
        agent.decide_many(["all"] * 100)
        spent.append(round(100 - agent.report().left))
    assert 3 <= spent[0] <= 6
    assert 39 <= spent[8] <= 60
    assert spent[9] == 100
    audit(agent.store, agent.name)


def test_a_budget_for_a_twentieth_of_the_visitors_lasts_the_week(memory: AgentFactory) -> None:
    """A week of 7,000 visitors, budget for 5 %: without a pace most of it is gone on Monday."""
    gone = {}
    for pace in (None, "even"):
        clock = Clock(MONDAY)
        draw = random.Random(5)  # noqa: S311
        agent = memory.open(
            name=f"week {pace}",
            contexts=["low", "high", "middle"],
            actions={"coupon": 1},
            horizon=al.ClosingTime(
                opens=datetime.fromtimestamp(MONDAY, UTC),
                at=datetime.fromtimestamp(MONDAY + 7 * DAY, UTC),
                arrivals=7000,
            ),
            budget=350,
            pace=pace,
            seed=1,
            clock=clock,
        )
        for visitor in range(1000):
            clock.now = MONDAY + visitor * DAY / 1000
            context = draw.choices(["low", "high", "middle"], [0.5, 0.3, 0.2])[0]
            decision = agent.decide(context)
            rate = {"low": 0.05, "high": 0.25, "middle": 0.10}[context]
            if decision.action is not None:
                agent.reward(decision.id, float(draw.random() < rate))
        gone[pace] = 1 - agent.report().left / 350
    assert gone["even"] <= 1.2 / 7
    assert gone["even"] >= 0.8 / 7 - 0.02
    assert gone[None] > 1.2 / 7


def test_a_free_action_is_taken_above_the_line_of_an_even_spend(factory: AgentFactory) -> None:
    """More arrivals, and a bill above its reserve, put the spend above its line."""
    agent = factory.create(
        actions={"mail": 0, "coupon": 5.0}, budget=100, horizon=20, pace="even", explore=0.5
    )
    decisions = [agent.decide("new") for _ in range(20)][-5:]
    assert any(decision.action == "coupon" for decision in decisions)
    agent.amend(horizon=1_000)
    later = [agent.decide("new") for _ in range(40)]
    assert {decision.action for decision in later} == {None, "mail"}
    assert {decision.reason for decision in later} <= {None, "policy", "explore"}
    assert audit(agent.store, agent.name).decisions == 60


@pytest.mark.parametrize("pace", ["even", {"day": 300}], ids=["even", "caps"])
@pytest.mark.slow
def test_a_pace_goes_with_a_risk_and_learned_costs(memory: AgentFactory, pace: Any) -> None:
    """Coupons that are redeemed by one in five: caps hold for full reserves all the same."""
    clock = Clock(MONDAY)
    agent = one_kind(
        memory, clock, pace=pace, risk=0.01, learn_cost=True, reward_window="2 days",
        actions={"coupon": al.Action(cost=2, reserve=5, expires="2 days")}, budget=600,
    )  # fmt: skip
    reserved: dict[float, float] = defaultdict(float)
    for arrival in range(600):
        clock.now += 600
        decision = agent.decide("all")
        if decision.action is not None:
            reserved[clock.now // DAY] += decision.reserved
            if arrival % 5 == 0:
                agent.settle(decision.id, cost=5)
                agent.reward(decision.id, 1.0)
    assert sum(reserved.values()) > 0
    if pace != "even":
        assert max(reserved.values()) <= 300 + 1e-9
    assert agent.look(Campaign.to_dict) == replay(agent)
    audit(agent.store, agent.name)


@pytest.mark.slow
@pytest.mark.parametrize(
    "terms",
    [
        {"pace": {"day": 10}, "explore": 0.1},
        {"pace": {"hour": 7, "day": 12}, "holdout": 0.2},
        {"pace": "even", "explore": 0.1},
        {"pace": "even", "holdout": 0.1, "explore": 0.2},
        {"pace": {"day": 10}, "per_person": TWICE},
        {"pace": "even", "per_person": TWICE, "holdout": 0.2},
        {"pace": {"hour": 7, "week": 60}, "per_person": TWICE, "holdout": 0.1, "explore": 0.2},
    ],
)
def test_a_pace_goes_with_exploration_a_hold_out_and_persons(
    terms: dict[str, Any], factory: AgentFactory
) -> None:
    """Probabilities are those of the options that fit the pace, as the audit computes them."""
    clock = Clock()
    actions = {"coupon": 5, "mail": 2, "free": 0}
    agent = factory.create(actions=actions, horizon=100, budget=200, clock=clock, **terms)
    twin, made = factory.open(clock=clock), []
    for count in range(100):
        decision = (agent, twin)[count % 2].decide(
            ["new", "returning"][count % 2], person=f"c-{count * count % 23}"
        )
        clock.now += 1_000.0
        made.append(decision)
        if decision.action and count % 5 == 0:
            agent.settle(decision.id, cost=count % 2 * 9)  # some exceed the caps
        agent.reward(decision.id, float(count % 3 == 0))
    reasons = {decision.reason for decision in made}
    if "holdout" not in terms:  # who is held out follows from a random key
        assert ("person" in reasons) == ("per_person" in terms)
    audit(agent.store, factory.name)
    assert replay(agent) == agent.look(lambda campaign: campaign.to_dict())
