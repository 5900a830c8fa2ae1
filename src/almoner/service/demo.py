"""Demonstration: a campaign of coupons with simulated visitors."""

from __future__ import annotations

import asyncio
import random
from typing import Any

from almoner.live.async_agent import AsyncAgent
from almoner.live.decision import Decision
from almoner.live.state.status import SkipReason
from almoner.live.transactions.follow_ups import Cancel, Reward, Settle
from almoner.live.transactions.transaction import Command, Decide
from almoner.service.agents import AgentPool

__all__ = ["NAME", "TERMS", "run_demo"]

Scheduled = tuple[float, Command]
"""A command for a later time, by the clock of the event loop."""

NAME = "spring-coupons"

TERMS: dict[str, Any] = {
    "contexts": ["new", "returning", "loyal", "lapsed"],
    "actions": {"free shipping": 1.5, "5 euro off": 3.0, "15 percent off": 6.0},
    "horizon": 60_000,
    "budget": 60_000,
    "seed": 2015,
}

SHARES = (0.45, 0.30, 0.10, 0.15)
"""Shares of the visitors by context."""

RATES = (
    (0.021, 0.034, 0.048),
    (0.058, 0.092, 0.115),
    (0.140, 0.165, 0.178),
    (0.012, 0.041, 0.077),
)
"""Probabilities of a purchase by context and action; without a coupon, a purchase counts nothing.
Loyal customers buy anyway, lapsed ones need the dear coupon: the best plan is not obvious."""

RUSH_SECONDS, RUSH, AFTERWARDS = 10.0, 400.0, 6.0
"""Seconds of the first rush, and visitors per second then and afterwards."""

TICK = 0.05
"""Seconds between batches of visitors."""

REACTION_SECONDS = 4.0
"""Mean time until a visitor has bought or not."""

NEVER_SHOWN = 0.01
"""Share of coupons that are cancelled, because the visitor left too soon to see them."""


async def run_demo(agents: AgentPool) -> None:
    """Send simulated visitors until the horizon is reached, or the campaign is closed."""
    agent = await agents.get(NAME, **TERMS)
    chance = random.Random()  # noqa: S311  # visitors, not secrets
    clock = asyncio.get_running_loop().time
    started = last = clock()
    scheduled: list[Scheduled] = []
    due, over = 0.0, False
    while scheduled or not over:
        await asyncio.sleep(TICK)
        now = clock()
        due += (now - last) * (RUSH if now - started < RUSH_SECONDS else AFTERWARDS)
        scheduled = await _send_due(agent, scheduled, now)
        if not over and due >= 1:
            rows = chance.choices(range(len(SHARES)), SHARES, k=int(due))
            decisions = await agent.ask(*[Decide(TERMS["contexts"][row]) for row in rows])
            for row, decision in zip(rows, decisions, strict=True):
                scheduled += _reactions(row, decision, chance, now)
            over = decisions[-1].reason in {SkipReason.HORIZON, SkipReason.CLOSED}
        due, last = due % 1, now


def _reactions(row: int, decision: Decision, chance: random.Random, now: float) -> list[Scheduled]:
    """Return the commands of a visitor's reaction to a decision, with their times."""
    if decision.action is None:
        return []
    if chance.random() < NEVER_SHOWN:
        return [(now, Cancel(decision.id))]
    rate = RATES[row][list(TERMS["actions"]).index(decision.action)]
    bought = float(chance.random() < rate)
    later = now + chance.expovariate(1 / REACTION_SECONDS)
    return [
        (later, Settle(decision.id, decision.reserved)),
        (later, Reward(decision.id, bought)),
    ]


async def _send_due(agent: AsyncAgent, scheduled: list[Scheduled], now: float) -> list[Scheduled]:
    """Send the commands that are due; return the others."""
    due = [command for time, command in scheduled if time <= now]
    if due:
        await agent.ask(*due)
    return [(time, command) for time, command in scheduled if time > now]
