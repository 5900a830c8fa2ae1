"""Cost of a pace in a shop's week: uplift, spend by day, and the share gone on Monday.

    python -m benchmarks.campaigns.pace [seeds]

The shop has four segments and 20,000 visits, three coupons which 85 % of the buyers redeem, and
rewards at once; a coupon is charged at its expected cost. The second table is a budget for 5 % of
7,000 visitors, with one coupon of cost 1 and purchase rates of 5, 25 and 10 %.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np

import almoner as al
from almoner.live.assignment.decide import decide
from almoner.live.state.campaign_state import Campaign
from almoner.live.terms.parse_terms import make_terms
from almoner.live.transactions.new_events import follow_up
from almoner.live.transactions.transaction import Decide
from almoner.store.events import REWARDED

DAY = 86_400_000_000
OPENED = datetime(2026, 11, 16, tzinfo=UTC)
MONDAY = int(OPENED.timestamp()) * 10**6
"""The beginning of the week, in microseconds since 1970."""


@dataclass(frozen=True, kw_only=True)
class Shop:
    """A week of visitors: shares of the segments, purchase rates with and without coupons."""

    visits: int
    shares: np.ndarray[Any, Any]
    base: np.ndarray[Any, Any]
    lift: np.ndarray[Any, Any]
    costs: np.ndarray[Any, Any]
    budget: float
    defaults: str | None


_BASE = np.array([0.015, 0.05, 0.02, 0.08])
_LIFT = np.array(
    [[0.010, 0.030, 0.008, 0.010], [0.020, 0.045, 0.030, 0.012], [0.012, 0.010, 0.010, 0.030]]
).T
_FACE, _REDEEMED = np.array([5.0, 10.0, 4.9]), 0.85

COUPONS = Shop(
    visits=20_000,
    shares=np.array([0.35, 0.25, 0.2, 0.2]),
    base=_BASE,
    lift=_LIFT,
    costs=np.round(_FACE * (_BASE[:, None] + _LIFT) * _REDEEMED, 4),
    budget=1500.0,
    defaults="learned",
)
FIVE_PERCENT = Shop(
    visits=7_000,
    shares=np.array([0.5, 0.3, 0.2]),
    base=np.zeros(3),
    lift=np.array([[0.05], [0.25], [0.10]]),
    costs=np.ones((3, 1)),
    budget=350.0,
    defaults=None,
)

PACES: dict[str, Callable[[Shop], Any]] = {
    "none": lambda shop: None,
    "even": lambda shop: "even",
    "day cap 1.0": lambda shop: {"day": round(shop.budget / 7, 6)},
    "day cap 1.2": lambda shop: {"day": round(1.2 * shop.budget / 7, 6)},
}


def week(shop: Shop, pace: Any, seed: int) -> tuple[float, np.ndarray[Any, Any]]:
    """Return the uplift of a week, and the share of the budget spent on each day."""
    contexts = [f"segment {row}" for row in range(len(shop.shares))]
    actions = [f"coupon {column}" for column in range(shop.costs.shape[1])]
    closes = al.ClosingTime(opens=OPENED, at=OPENED + timedelta(days=7), arrivals=shop.visits)
    terms = make_terms(
        contexts=contexts,
        actions={
            name: dict(zip(contexts, shop.costs[:, column].tolist(), strict=True))
            for column, name in enumerate(actions)
        },
        horizon=closes,
        budget=shop.budget,
        default_rewards=shop.defaults,
        pace=pace,
        seed=seed,
    )
    campaign = Campaign(terms)
    campaign.warm_up()
    draw = np.random.default_rng(seed)
    segments = draw.choice(len(contexts), p=shop.shares, size=shop.visits)
    luck, uplift, days = draw.random(shop.visits), 0.0, np.zeros(7)
    for visit, segment in enumerate(segments):
        now = MONDAY + 7 * DAY * visit // shop.visits
        (event,) = decide(campaign, [Decide(contexts[segment])], now=now)
        rate = shop.base[segment]
        if event.action is not None:
            gain = shop.lift[segment, actions.index(event.action)]
            rate, uplift = rate + gain, uplift + gain
            days[7 * visit // shop.visits] += terms.unit.amount(event.cost or 0) / shop.budget
        if event.action is not None or shop.defaults is not None:
            reward = float(luck[visit] < rate)
            follow_up(campaign, REWARDED, event, now=now, reward=reward)
    return uplift, days


def main(seeds: int) -> None:
    """Print a table for each shop."""
    for title, shop in (("three coupons", COUPONS), ("budget for 5 %", FIVE_PERCENT)):
        print(f"{title}: {shop.visits:,} visits, budget {shop.budget:g}, {seeds} seeds")
        reference = np.zeros(seeds)
        for name, pace in PACES.items():
            weeks = [week(shop, pace(shop), seed) for seed in range(seeds)]
            uplift = np.array([one for one, _ in weeks])
            days = np.array([one for _, one in weeks])
            reference = uplift if name == "none" else reference
            change = (uplift - reference) / reference.mean()
            print(
                f"  {name:12} uplift {uplift.mean():7.2f} ± {uplift.std() / seeds**0.5:5.2f}"
                f"  against none {100 * change.mean():+6.2f} % ± "
                f"{100 * change.std() / seeds**0.5:.2f}  spent {100 * days.sum(1).mean():5.1f} %"
                f"  days {(100 * days.mean(0)).round(1).tolist()}"
                f"  worst Monday {100 * days[:, 0].max():.1f} %",
                flush=True,
            )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 20)
