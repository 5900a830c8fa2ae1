"""A shop's week: visitors of four segments, three coupons, purchases that come days later.

The figures are those of the trial that campaigns with a reward window were designed for. A shop
draws everything beforehand, for each visit and each coupon the visitor may get, so that policies
are compared on the same visitors. Purchases are told when they happen; zeros, nobody tells.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from heapq import heappop, heappush
from typing import Any

import numpy as np

import almoner as al

SEGMENTS = ("new", "returning", "lapsed", "loyal")
SHARES = np.array([0.35, 0.25, 0.20, 0.20])
COUPONS = ("5 EUR", "10 EUR", "4.90 EUR")
FACES = np.array([5.0, 10.0, 4.9])
BASE = np.array([0.015, 0.05, 0.02, 0.08])
LIFT = np.array(
    [[0.010, 0.020, 0.012], [0.030, 0.045, 0.010], [0.008, 0.030, 0.010], [0.010, 0.012, 0.030]]
)
RATES = np.column_stack([BASE, BASE[:, None] + LIFT])
"""Purchase rates by segment: without a coupon, then with each of them."""

REDEEMED = 0.85
"""Share of the buyers with a coupon who redeem it."""

COSTS = FACES * RATES[:, 1:] * REDEEMED
"""Expected costs of the coupons by segment."""

BASKETS = np.array([45.0, 60.0, 80.0, 95.0])
LARGEST_BASKET = 350.0
MEAN_BASKETS = np.array([44.84, 59.47, 78.38, 92.00])
"""Means of the baskets by segment, of which none is above the largest."""

DAY = 86_400.0
VALID = 7 * DAY
"""Time in which a coupon can be redeemed."""

OPENED = 1_790_000_000.0
"""Time of the first visit, in seconds since 1970."""


Purchase = tuple[float, int, al.Decision, float]
"""Time, visit, decision and reward of a purchase to come."""


@dataclass(kw_only=True)
class Outcome:
    """Expected uplift of a campaign, its coupons, its money spent or reserved, purchases to come.

    The uplift is in purchases, or in money where rewards are baskets.
    """

    uplift: float
    coupons: int
    spent: float
    agent: al.Agent
    to_come: list[Purchase]


class Shop:
    """The visitors of some days, the same ones for the same seed."""

    def __init__(
        self, seed: int, *, visits: int = 20_000, days: float = 7.0, delay: float = 1.2
    ) -> None:
        rng = np.random.default_rng(seed)
        self.visits, self.days, self.seed = visits, days, seed
        self.segments = rng.choice(len(SEGMENTS), size=visits, p=SHARES)
        self.luck = rng.random(visits)
        self.delays = rng.exponential(delay * DAY, visits)
        self.redeems = rng.random(visits) < REDEEMED
        baskets = BASKETS[self.segments] * np.exp(-0.32 + 0.8 * rng.standard_normal(visits))
        self.baskets = np.minimum(baskets, LARGEST_BASKET)

    def times(self) -> Any:
        """Return the times of the visits."""
        return OPENED + np.arange(self.visits) * (self.days * DAY / self.visits)

    def buys(self, visit: int, option: int) -> bool:
        """Return whether a visitor buys, with the coupon of this option (0: without one)."""
        return bool(self.luck[visit] < RATES[self.segments[visit], option])


class Clock:
    """A clock that is set by hand."""

    def __init__(self, now: float = OPENED) -> None:
        self.now = now

    def __call__(self) -> float:
        """Return the time in seconds since 1970."""
        return self.now


def by_segment(coupon: int) -> dict[str, float]:
    """Return the expected cost of a coupon by segment, rounded to a hundredth of a cent."""
    return {name: round(float(COSTS[row, coupon]), 4) for row, name in enumerate(SEGMENTS)}


def open_campaign(shop: Shop, clock: Clock, *, budget: float = 1_500, **terms: Any) -> al.Agent:
    """Open the campaign of a shop in memory, at the coupons' expected costs."""
    terms = {
        "actions": {name: al.Action(cost=by_segment(k)) for k, name in enumerate(COUPONS)},
        "unit": "0.0001",
        "default_rewards": "learned",
        "seed": shop.seed,
        **terms,
    }
    return al.Agent.open(
        "memory:",
        name="week",
        clock=clock,
        contexts=SEGMENTS,
        horizon=shop.visits,
        budget=budget,
        **terms,
    )


def run_week(
    shop: Shop,
    *,
    at_once: bool = False,
    silent: bool = True,
    baskets: bool = False,
    agent: al.Agent | None = None,
    clock: Clock | None = None,
    bought: Callable[[al.Agent, int, al.Decision], None] | None = None,
    **terms: Any,
) -> Outcome:
    """Run a campaign over all visits; purchases are told when they happen.

    With ``at_once`` every reward is told at its visit, the zeros too unless ``silent``. A reward is
    1, or with ``baskets`` the share of the largest basket. ``bought`` is called for a purchase
    after its reward, to settle the coupon.
    """
    clock = clock or Clock()
    agent = agent or open_campaign(shop, clock, **terms)
    queue: list[Purchase] = []
    uplift, coupons = 0.0, 0
    options: dict[str | None, int] = {name: k for k, name in enumerate((None, *COUPONS))}
    for visit, now in enumerate(shop.times().tolist()):
        tell(shop, agent, clock, queue, now, bought)
        clock.now = now
        segment = int(shop.segments[visit])
        decision = agent.decide(SEGMENTS[segment])
        option = options[decision.action]
        worth = MEAN_BASKETS[segment] if baskets else 1.0
        uplift += float(RATES[segment, option] - RATES[segment, 0]) * worth
        coupons += option > 0
        reward = float(shop.baskets[visit]) / LARGEST_BASKET if baskets else 1.0
        buys = shop.buys(visit, option)
        if at_once and (buys or not silent):
            agent.reward(decision.id, reward * buys)
        elif buys:
            due = now + float(shop.delays[visit])
            heappush(queue, (due, visit, decision, reward))
    ledger = agent.ledger
    spent = agent.terms.unit.amount(ledger.spent + ledger.reserved)
    return Outcome(uplift=uplift, coupons=coupons, spent=spent, agent=agent, to_come=queue)


def tell(
    shop: Shop,
    agent: al.Agent,
    clock: Clock,
    queue: list[Purchase],
    now: float,
    bought: Callable[[al.Agent, int, al.Decision], None] | None = None,
) -> None:
    """Tell the purchases that happen before ``now`` and within their windows."""
    window = agent.terms.reward_window
    while queue and queue[0][0] < now:
        clock.now, visit, decision, reward = heappop(queue)
        late = window is not None and float(shop.delays[visit]) * 1e6 >= window - 1
        if not late:
            agent.reward(decision.id, reward)
        if bought is not None and float(shop.delays[visit]) < VALID:
            bought(agent, visit, decision)


def run_coupons(
    shop: Shop, *, budget: float = 1_500, declared: float = 1.0, **terms: Any
) -> Outcome:
    """Run a campaign whose coupons cost their face value, and only if they are redeemed in time.

    Costs are ``declared`` times the true ones. Afterwards all purchases have come, and all coupons
    have expired.
    """
    clock = Clock()
    costs = [
        {name: round(float(COSTS[row, k]) * declared, 4) for row, name in enumerate(SEGMENTS)}
        for k in range(len(COUPONS))
    ]
    actions = {
        name: al.Action(cost=costs[k], reserve=float(FACES[k]), expires="7 days")
        for k, name in enumerate(COUPONS)
    }
    agent = open_campaign(
        shop, clock, budget=budget, actions=actions, reward_window="7 days", **terms
    )

    def bought(agent: al.Agent, visit: int, decision: al.Decision) -> None:
        if decision.action is not None:
            face = float(FACES[COUPONS.index(decision.action)])
            agent.settle(decision.id, cost=face if shop.redeems[visit] else 0.0)

    week = run_week(shop, agent=agent, clock=clock, bought=bought)
    after = OPENED + shop.days * DAY + VALID
    tell(shop, agent, clock, week.to_come, after, bought)
    clock.now = after
    week.spent = agent.terms.unit.amount(agent.ledger.spent)
    return week


def random_uplift(visits: int, budget: float, *, baskets: bool = False) -> float:
    """Return the expected uplift of coupons drawn at random until the budget is spent."""
    served = min(1.0, budget / visits / float(SHARES @ COSTS.mean(axis=1)))
    worth = MEAN_BASKETS if baskets else np.ones(len(SEGMENTS))
    return visits * served * float(SHARES @ (LIFT.mean(axis=1) * worth))
