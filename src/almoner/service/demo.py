"""A demonstration: a campaign of coupons, and simulated visitors who answer them after a while."""

from __future__ import annotations

import asyncio
import random

from almoner.requests import Cancel, Decide, Request, Reward, Settle
from almoner.service.desks import Desk, Desks

__all__ = ["NAME", "TERMS", "show"]

NAME = "spring-coupons"

TERMS = {
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


async def show(desks: Desks) -> None:
    """Feed the demonstration until its horizon is reached."""
    desk = await desks.desk(NAME, **TERMS)
    chance = random.Random()  # noqa: S311  # visitors, not secrets
    loop = asyncio.get_running_loop()
    started, due = loop.time(), 0.0
    later: list[tuple[float, Request]] = []
    while await desk.look(lambda campaign: campaign.arrivals_left(desk.agent.now())) > 0:
        await asyncio.sleep(TICK)
        now = loop.time()
        due += TICK * (RUSH if now - started < RUSH_SECONDS else AFTERWARDS)
        visitors, due = int(due), due % 1
        later = await _answers(desk, later, now)
        later += await _visits(desk, visitors, chance, now)


async def _visits(
    desk: Desk, visitors: int, chance: random.Random, now: float
) -> list[tuple[float, Request]]:
    """Decide for visitors who arrive; return what they will do, and when."""
    contexts = chance.choices(range(len(SHARES)), SHARES, k=visitors)
    names = desk.agent.terms.contexts
    decisions = await desk.ask(*[Decide(names[place]) for place in contexts]) if visitors else []
    later: list[tuple[float, Request]] = []
    for place, decision in zip(contexts, decisions, strict=True):
        if decision.action is None:
            continue
        if chance.random() < NEVER_SHOWN:
            later.append((now, Cancel(decision.id)))
            continue
        rate = RATES[place][desk.agent.terms.actions.index(decision.action)]
        bought = float(chance.random() < rate)
        moment = now + chance.expovariate(1 / PATIENCE)
        later += [
            (moment, Settle(decision.id, decision.reserved)),
            (moment, Reward(decision.id, bought)),
        ]
    return later


async def _answers(
    desk: Desk, later: list[tuple[float, Request]], now: float
) -> list[tuple[float, Request]]:
    """Report what visitors have done by now; return what is still to come."""
    done = [request for moment, request in later if moment <= now]
    if done:
        await desk.ask(*done)
    return [(moment, request) for moment, request in later if moment > now]
