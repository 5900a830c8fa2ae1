"""A demonstration: a campaign of coupons, and simulated visitors who answer them after a while."""

from __future__ import annotations

import asyncio
import random
from typing import Any

from almoner.live.async_agent import AsyncAgent
from almoner.live.commands import Cancel, Reward, Settle
from almoner.live.decision import Decision
from almoner.live.status import SkipReason
from almoner.live.transaction import Command, Decide
from almoner.service.agents import AgentPool

__all__ = ["NAME", "TERMS", "run_demo"]

Later = tuple[float, Command]
"""What a visitor will do, and when by the clock of the event loop."""

NAME = "spring-coupons"

TERMS: dict[str, Any] = {
    "contexts": ["new", "returning", "loyal", "lapsed"],
    "actions": {"free shipping": 1.5, "5 euro off": 3.0, "15 percent off": 6.0},
    "horizon": 60_000,
    "budget": 60_000,
    "seed": 2015,
}

SHARES = (0.45, 0.30, 0.10, 0.15)
"""Of the visitors, by context."""

RATES = (
    (0.021, 0.034, 0.048),
    (0.058, 0.092, 0.115),
    (0.140, 0.165, 0.178),
    (0.012, 0.041, 0.077),
)
"""How often a visitor buys, by context and action; one without a coupon counts as nothing gained.
Loyal customers buy anyway, lapsed ones need the dear coupon: the best plan is not obvious."""

RUSH_SECONDS, RUSH, AFTERWARDS = 10.0, 400.0, 6.0
"""How long the first crowd keeps coming, and visitors per second then and later."""

TICK = 0.05
PATIENCE = 4.0
"""Seconds until a visitor has bought or not, on average."""

NEVER_SHOWN = 0.01
"""The share of coupons that no visitor saw, because the page was left too soon."""


async def run_demo(agents: AgentPool) -> None:
    """Feed the demonstration until its horizon is reached, or somebody closes it."""
    agent = await agents.get(NAME, **TERMS)
    chance = random.Random()  # noqa: S311  # visitors, not secrets
    clock = asyncio.get_running_loop().time
    started = last = clock()
    later: list[Later] = []
    due, over = 0.0, False
    while later or not over:
        await asyncio.sleep(TICK)
        now = clock()
        due += (now - last) * (RUSH if now - started < RUSH_SECONDS else AFTERWARDS)
        later = await _answers(agent, later, now)
        if not over and due >= 1:
            places = chance.choices(range(len(SHARES)), SHARES, k=int(due))
            decisions = await agent.ask(*[Decide(TERMS["contexts"][place]) for place in places])
            for place, decision in zip(places, decisions, strict=True):
                later += _reactions(place, decision, chance, now)
            over = decisions[-1].reason in {SkipReason.HORIZON, SkipReason.CLOSED}
        due, last = due % 1, now


def _reactions(place: int, decision: Decision, chance: random.Random, now: float) -> list[Later]:
    """Return what a visitor will do, and when."""
    if decision.action is None:
        return []
    if chance.random() < NEVER_SHOWN:
        return [(now, Cancel(decision.id))]
    rate = RATES[place][list(TERMS["actions"]).index(decision.action)]
    bought = float(chance.random() < rate)
    moment = now + chance.expovariate(1 / PATIENCE)
    return [
        (moment, Settle(decision.id, decision.reserved)),
        (moment, Reward(decision.id, bought)),
    ]


async def _answers(agent: AsyncAgent, later: list[Later], now: float) -> list[Later]:
    """Report what visitors have done by now; return what is still to come."""
    done = [request for moment, request in later if moment <= now]
    if done:
        await agent.ask(*done)
    return [(moment, request) for moment, request in later if moment > now]
