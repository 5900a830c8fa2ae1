"""A campaign that ends on the calendar, with a forecast of the arrivals still to come."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from support.agents import AgentFactory, observable_state, replayed_state

import almoner as al

OPENS = datetime(2026, 3, 1, 8, tzinfo=UTC)


class Clock:
    """A clock that tests set, in seconds since `OPENS`."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def __call__(self) -> float:
        return OPENS.timestamp() + self.seconds


def closing(seconds: float, **terms: Any) -> al.ClosingTime:
    given = {"arrivals": seconds, "trust": math.inf, **terms}
    return al.ClosingTime(at=OPENS + timedelta(seconds=seconds), **given)


def horizon_now(agent: al.Agent, clock: Clock) -> float:
    return agent.look(lambda c: c.arrivals_left(int(clock() * 1e6)))  # type: ignore[no-any-return]


def test_after_the_closing_time_everything_is_skipped(factory: AgentFactory) -> None:
    clock = Clock()
    agent = factory.create(horizon=closing(100), clock=clock, budget=500)
    clock.seconds = 99.999
    assert agent.decide("new").action == "mail"
    for seconds in (100, 101, 1e9):
        clock.seconds = seconds
        late = agent.decide("new")
        assert (late.reason, late.why) == ("horizon", "the campaign has come to its end")
        assert horizon_now(agent, clock) == 0.0
    agent.reward(1, 1.0)
    agent.settle(1, cost=1)
    assert (
        observable_state(agent)
        == observable_state(factory.open(clock=clock))
        == replayed_state(agent)
    )


def test_events_carry_the_time_of_the_clock(factory: AgentFactory) -> None:
    clock = Clock()
    agent = factory.create(horizon=closing(100), clock=clock)
    clock.seconds = 12.345678
    agent.decide("new")
    (event,) = agent.events()
    assert abs(event.at - (OPENS.timestamp() + 12.345678) * 1e6) < 1


@pytest.mark.parametrize(
    "policy", ["thrifty", "ucb-ealp", "greedy", "horizon-alp", "kl-ucb-rounded"]
)
@pytest.mark.parametrize("costs", [{"mail": 1}, {"mail": 1, "coupon": 3}])
def test_a_forecast_that_is_right_decides_like_a_number(
    policy: str, costs: dict[str, int], memory: AgentFactory
) -> None:
    """60 arrivals, one a second: before each, the forecast says what a count would say."""
    clock, contexts = Clock(), ["new", "returning", "returning"] * 20
    counted = memory.create(horizon=60, budget=25, policy=policy, actions=costs)
    timed = memory.create(
        name="timed", horizon=closing(60.4), budget=25, policy=policy, clock=clock, actions=costs
    )
    for number, context in enumerate(contexts):
        clock.seconds = number + 1.0
        ours, theirs = counted.decide(context), timed.decide(context)
        assert (ours.action, ours.probability) == (theirs.action, theirs.probability)
        for agent, decision in ((counted, ours), (timed, theirs)):
            agent.reward(decision.id, number % 4 / 4)
    assert counted.ledger == timed.ledger


def test_money_that_time_runs_out_for_is_spent(factory: AgentFactory) -> None:
    """50 for a hundred seconds; at 60 nothing is spent and 40 arrivals are left: serve them all.

    Context 0 is worth 0.8 and comes half of the time, so that at the start the budget is its own.
    """
    clock = Clock()
    policy = al.alp(context_probs=[0.5, 0.5], reward_means=[[0.8], [0.4]])
    agent = factory.create(
        actions={"mail": 1}, budget=50, horizon=closing(100), policy=policy, clock=clock
    )
    assert (agent.decide("returning").reason, agent.decide("new").action) == ("policy", "mail")
    clock.seconds = 60.0
    assert agent.decide("returning").action == "mail"


def test_the_forecast_is_scaled_by_what_comes(factory: AgentFactory) -> None:
    """After half the time 70 have come where 50 were due: (100 + 70)/(100 + 50) of 50 are left."""
    clock = Clock()
    agent = factory.create(horizon=closing(100, trust=100), clock=clock, budget=500)
    assert horizon_now(agent, clock) == 100.0
    agent.decide_many(["new"] * 70)
    clock.seconds = 50.0
    assert horizon_now(agent, clock) == pytest.approx(50 * 170 / 150)


def test_before_the_opening_everything_is_still_to_come(factory: AgentFactory) -> None:
    clock = Clock()
    agent = factory.create(horizon=closing(100, opens=OPENS), clock=clock)
    clock.seconds = -3600.0
    assert horizon_now(agent, clock) == 100.0
    assert agent.decide("new").action == "mail"


def test_a_wild_forecast_stays_within_numbers(memory: AgentFactory) -> None:
    """A microsecond after the opening a thousand have come of 1e15: the guess is not of use yet."""
    clock = Clock()
    horizon = closing(1e6, opens=OPENS, arrivals=1e15, trust=0)
    agent = memory.create(horizon=horizon, clock=clock, budget=1000)
    agent.decide_many(["new"] * 1000)
    clock.seconds = 1e-5
    assert agent.decide("new").reason in (None, "policy", "budget")


def test_a_campaign_cannot_be_opened_after_its_end(memory: AgentFactory) -> None:
    clock = Clock()
    clock.seconds = 101.0
    with pytest.raises(al.InvalidTerms, match="at must be in the future"):
        memory.create(horizon=closing(100), clock=clock)


@pytest.mark.parametrize(
    "policy", [al.epsilon_first_alp(test="usable", contexts=al.EmpiricalContexts()), al.ucb_ealp2()]
)
def test_policies_that_count_rounds_need_a_number(policy: al.Policy, memory: AgentFactory) -> None:
    with pytest.raises(al.InvalidTerms, match="tests its knowledge against the number of rounds"):
        memory.create(horizon=closing(100), policy=policy, clock=Clock())


def test_the_forecast_survives_the_store(factory: AgentFactory) -> None:
    clock = Clock()
    profile = ((OPENS + timedelta(seconds=50), 0.9),)
    horizon = closing(100, profile=profile, trust=7.0, opens=OPENS)
    agent = factory.create(horizon=horizon, clock=clock)
    again = factory.open(clock=clock)
    assert again.terms.horizon == agent.terms.horizon == horizon
    clock.seconds = 75.0
    assert horizon_now(again, clock) == pytest.approx(100 * 0.05 * 7 / (7 + 95))


def test_a_pause_is_not_taken_for_nobody_coming(factory: AgentFactory) -> None:
    """10,000 expected in 10,000 seconds: half of them are still to come after the first half."""
    clock = Clock()
    agent = factory.create(horizon=closing(10_000, trust=100), clock=clock, budget=500)
    agent.pause()
    clock.seconds = 5_000
    assert horizon_now(agent, clock) == 5_000
    agent.resume()
    assert horizon_now(agent, clock) == 5_000
    clock.seconds = 5_100
    agent.decide_many(["new"] * 150)
    assert horizon_now(agent, clock) == pytest.approx(4_900 * (100 + 150) / (100 + 100))
    assert (
        observable_state(agent)
        == observable_state(factory.open(clock=clock))
        == replayed_state(agent)
    )


def test_who_comes_before_the_opening_says_nothing_of_the_forecast(factory: AgentFactory) -> None:
    clock = Clock()
    opens = OPENS + timedelta(seconds=1_000)
    horizon = closing(11_000, arrivals=10_000, trust=100, opens=opens)
    agent = factory.create(horizon=horizon, clock=clock, budget=5_000)
    agent.decide_many(["new"] * 500)
    clock.seconds = 1_000
    assert horizon_now(agent, clock) == 10_000
    clock.seconds = 1_100
    agent.decide_many(["new"] * 200)
    assert horizon_now(agent, clock) == pytest.approx(9_900 * (100 + 200) / (100 + 100))
    assert (
        observable_state(agent)
        == observable_state(factory.open(clock=clock))
        == replayed_state(agent)
    )
