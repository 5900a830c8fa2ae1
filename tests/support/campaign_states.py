"""Agents on campaigns in every state, by name: no arrivals, all reserved, paused, closed, …"""

from __future__ import annotations

import random
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import almoner as al


def opened(**terms: Any) -> al.Agent:
    settings = {
        "contexts": ["new", "old"],
        "actions": {"chat": al.Action(cost=0.7, reserve=5)},
        "horizon": 400,
        "budget": 150,
        "unit": 0.01,
        "seed": 1,
        **terms,
    }
    return al.Agent.open("memory:", name="spring", **settings)


def visits(agent: al.Agent, number: int, *, settle: bool = False, reward: bool = False) -> None:
    chance = random.Random(number)  # noqa: S311
    for _ in range(number):
        decision = agent.decide(chance.choice(["new", "old"]))
        if decision.action and settle:
            agent.settle(decision.id, cost=0.7)
        if decision.action and reward:
            agent.reward(decision.id, float(chance.random() < 0.3))


def nobody() -> al.Agent:
    return opened()


def under_way() -> al.Agent:
    agent = opened()
    visits(agent, 100, settle=True, reward=True)
    return agent


def some_open() -> al.Agent:
    agent = under_way()
    visits(agent, 20)
    return agent


def all_reserved() -> al.Agent:
    agent = opened()
    visits(agent, 40, settle=True, reward=True)
    visits(agent, 120, reward=True)
    return agent


def one_bill(cost: float) -> al.Agent:
    agent = opened(actions={"car": al.Action(cost=1, reserve=50)}, budget=50)
    agent.settle(agent.decide("new").id, cost=cost)
    visits(agent, 80)
    return agent


def budget_gone() -> al.Agent:
    return one_bill(50)


def rest_unusable() -> al.Agent:
    return one_bill(48)


def rest_unusable_with_reserves() -> al.Agent:
    agent = opened(budget=8)
    agent.settle(agent.decide("new").id, cost=3)
    agent.decide("old")
    return agent


def at_another_cost(cost: float) -> al.Agent:
    agent = opened()
    for i in range(40):
        decision = agent.decide(["new", "old"][i % 2])
        if decision.action:
            agent.settle(decision.id, cost=cost)
            agent.reward(decision.id, 1.0)
    return agent


def ahead() -> al.Agent:
    return at_another_cost(5)


def behind() -> al.Agent:
    return at_another_cost(0.01)


def late_rewards() -> al.Agent:
    agent = opened(actions={"coupon": 5}, budget=800)
    visits(agent, 150)
    return agent


def good_news_only() -> al.Agent:
    agent = opened(actions={"coupon": 5}, budget=800)
    chance = random.Random(3)  # noqa: S311
    for _ in range(150):
        decision = agent.decide(chance.choice(["new", "old"]))
        if decision.action and chance.random() < 0.3:
            agent.reward(decision.id, 1.0)
    return agent


def never_given() -> al.Agent:
    agent = opened(policy="skip_always")
    visits(agent, 300)
    return agent


def never_available() -> al.Agent:
    agent = opened()
    agent.decide_many(["new", "old"] * 150, available=[])
    return agent


def all_cancelled() -> al.Agent:
    agent = opened()
    for _ in range(300):
        decision = agent.decide("new")
        if decision.action:
            agent.cancel(decision.id)
    return agent


def paused() -> al.Agent:
    agent = some_open()
    agent.pause()
    agent.decide("new")
    return agent


def closed() -> al.Agent:
    agent = all_reserved()
    agent.end()
    agent.decide("new")
    return agent


def paused_from_the_start() -> al.Agent:
    agent = opened()
    agent.pause()
    visits(agent, 300)
    return agent


def closed_before_anyone_came() -> al.Agent:
    agent = opened()
    agent.end()
    agent.decide("new")
    return agent


def closed_while_paused() -> al.Agent:
    agent = paused_from_the_start()
    agent.end()
    return agent


def one_never_came() -> al.Agent:
    agent = opened(actions={"coupon": 1}, horizon=100, budget=100)
    for _ in range(10):
        agent.reward(agent.decide("new").id, 1.0)
    return agent


def past_the_horizon() -> al.Agent:
    agent = opened(horizon=60)
    visits(agent, 80, reward=True)
    return agent


def past_the_closing_time() -> al.Agent:
    now = [1e9]
    closing = al.ClosingTime(at=datetime(2001, 9, 10, tzinfo=UTC), arrivals=100)
    agent = opened(horizon=closing, clock=lambda: now[0])
    visits(agent, 30, settle=True, reward=True)
    now[0] += 7 * 86400
    return agent


def one_unaffordable() -> al.Agent:
    agent = opened(actions={"coupon": 1, "car": 1000})
    visits(agent, 50, reward=True)
    return agent


def none_affordable() -> al.Agent:
    agent = opened(actions={"car": 1000})
    visits(agent, 300)
    return agent


def overrun() -> al.Agent:
    agent = opened()
    for _ in range(10):
        decision = agent.decide("new")
        if decision.action:
            agent.settle(decision.id, cost=9)
    return agent


def beyond_the_budget() -> al.Agent:
    agent = opened(budget=10, horizon=2)
    for decision in [agent.decide("new") for _ in range(2)]:
        agent.settle(decision.id, cost=8)
    return agent


def nobody_in_time() -> al.Agent:
    now = [1e9]
    closing = al.ClosingTime(at=datetime(2001, 9, 10, tzinfo=UTC), arrivals=100)
    agent = opened(horizon=closing, clock=lambda: now[0])
    now[0] += 7 * 86400
    return agent


def no_budget() -> al.Agent:
    agent = opened(budget=0)
    visits(agent, 20)
    return agent


def defaults_known() -> al.Agent:
    agent = opened(default_rewards={"new": 0.2, "old": 0.1})
    visits(agent, 100, settle=True, reward=True)
    return agent


def defaults_learned() -> al.Agent:
    agent = opened(default_rewards="learned")
    for _ in range(100):
        decision = agent.decide("new")
        agent.reward(decision.id, 0.6 if decision.action else 0.1)
    return agent


STATES: dict[str, Callable[[], al.Agent]] = {
    make.__name__: make
    for make in (
        nobody, under_way, some_open, all_reserved, budget_gone, rest_unusable,
        rest_unusable_with_reserves, ahead, behind, late_rewards, good_news_only, never_given,
        never_available, all_cancelled, paused, closed, past_the_horizon, past_the_closing_time,
        one_unaffordable, none_affordable, overrun, no_budget, defaults_known, defaults_learned,
        paused_from_the_start, closed_before_anyone_came, closed_while_paused, one_never_came,
        beyond_the_budget, nobody_in_time,
    )
}  # fmt: skip
