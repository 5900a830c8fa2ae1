"""Four weekly campaigns, each with ``after=`` the one before, against one campaign of four weeks.

``python -m benchmarks.campaigns.carry_over [RUNS [MEMORY …]]`` plays a shop with four segments and
three coupons on the real agent, in memory: 20,000 visits and a budget of 1,500 a week, the expected
cost of a coupon charged at the decision, every reward told at once. It prints the uplift, the
expected purchases beyond those without any coupon, as a share of that of one long campaign on the
same visits. The bar is 95 % at the default memory.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

import almoner as al
from almoner.cli.output import print_table
from almoner.live.terms.parse_terms import MEMORY
from almoner.types import Floats
from benchmarks.learner.rows import paired_ratio

__all__ = ["ACTIONS", "SEGMENTS", "Shop", "Visits", "long_campaign", "weekly_campaigns"]

SEGMENTS = {"new": 0.35, "regular": 0.25, "lapsed": 0.20, "fan": 0.20}
"""Shares of the visits."""

BOUGHT = (0.015, 0.05, 0.02, 0.08)
"""Purchase rates without a coupon, by segment."""

ACTIONS = ("5 EUR", "10 EUR", "parcel")
FACE, REDEEMED = (5.0, 10.0, 4.9), 0.85
UPLIFT = (
    (0.010, 0.020, 0.012),
    (0.030, 0.045, 0.010),
    (0.008, 0.030, 0.010),
    (0.010, 0.012, 0.030),
)
"""Purchase rates that a coupon adds, by segment and action."""

WEEKS, BAR, RUNS, FIRST_SEED, CHUNK = 4, 0.95, 150, 20_000, 100


@dataclass(frozen=True, kw_only=True)
class Shop:
    """Size of a week."""

    visits: int = 20_000
    budget: float = 1_500.0


@dataclass(frozen=True, kw_only=True)
class Visits:
    """Segments of consecutive visits, and the draws that decide whether they buy."""

    segments: list[int]
    draws: list[float]

    def week(self, number: int, shop: Shop) -> Visits:
        """Return the visits of one week."""
        part = slice(number * shop.visits, (number + 1) * shop.visits)
        return Visits(segments=self.segments[part], draws=self.draws[part])


def visits(seed: int, shop: Shop) -> Visits:
    """Return the visits of all weeks."""
    rng = np.random.default_rng(seed)
    size = WEEKS * shop.visits
    segments = rng.choice(len(SEGMENTS), size, p=[*SEGMENTS.values()])
    return Visits(segments=segments.tolist(), draws=rng.random(size).tolist())


def open_campaign(store: object, name: str, shop: Shop, weeks: int, **terms: Any) -> al.Agent:
    """Open a campaign whose coupons cost what they are expected to, by segment."""
    costs = {
        action: {
            segment: round(FACE[k] * (BOUGHT[j] + UPLIFT[j][k]) * REDEEMED, 6)
            for j, segment in enumerate(SEGMENTS)
        }
        for k, action in enumerate(ACTIONS)
    }
    return al.Agent.open(
        store,  # type: ignore[arg-type]
        name=name,
        contexts=[*SEGMENTS],
        actions=costs,
        horizon=weeks * shop.visits,
        budget=weeks * shop.budget,
        default_rewards="learned",
        **terms,
    )


def play(agent: al.Agent, arrivals: Visits) -> float:
    """Serve visits in chunks, tell all rewards of a chunk at once; return the uplift."""
    names, index = [*SEGMENTS], {action: k for k, action in enumerate(ACTIONS)}
    uplift = 0.0
    for start in range(0, len(arrivals.segments), CHUNK):
        part = slice(start, start + CHUNK)
        segments, draws = arrivals.segments[part], arrivals.draws[part]
        rewards = {}
        decisions = agent.decide_many([names[j] for j in segments])
        for decision, j, draw in zip(decisions, segments, draws, strict=True):
            gain = 0.0 if decision.action is None else UPLIFT[j][index[decision.action]]
            rewards[decision.id] = 1.0 if draw < BOUGHT[j] + gain else 0.0
            uplift += gain
        agent.reward_many(rewards)
    return uplift


def long_campaign(seed: int, shop: Shop) -> float:
    """Return the uplift of one campaign over all weeks."""
    with open_campaign("memory:", "long", shop, WEEKS, seed=seed) as agent:
        return play(agent, visits(seed, shop))


def weekly_campaigns(seed: int, shop: Shop, memory: float | None) -> list[float]:
    """Return the uplift of each of the weekly campaigns; without memory, none knows another."""
    arrivals, uplifts = visits(seed, shop), []
    store = al.Agent.open(
        "memory:", name="-", contexts=["-"], actions={"-": 1}, horizon=1, budget=1
    ).store
    for week in range(WEEKS):
        terms = {"after": f"week-{week}", "memory": memory} if week and memory is not None else {}
        agent = open_campaign(store, f"week-{week + 1}", shop, 1, seed=seed + week, **terms)
        uplifts.append(play(agent, arrivals.week(week, shop)))
    return uplifts


def run(seed: int, memories: list[float | None]) -> list[float]:
    """Return the uplift of the long campaign, and that of weekly ones for each memory."""
    shop = Shop()
    weekly = [sum(weekly_campaigns(seed, shop, memory)) for memory in memories]
    return [long_campaign(seed, shop), *weekly]


def main(runs: int = RUNS, *given: float) -> None:
    """Play all runs, and print the table."""
    memories: list[float | None] = [None, *(given or (MEMORY,))]
    uplifts: list[list[float]] = []
    for seed in range(FIRST_SEED, FIRST_SEED + runs):
        uplifts.append(run(seed, memories))
        if len(uplifts) % 10 == 0:
            shares = [f"{share:.4f}" for share, _ in _shares(np.array(uplifts))]
            print(
                f"{len(uplifts)} of {runs} runs: {', '.join(shares)}", file=sys.stderr, flush=True
            )
    print_table(["four weeks", "uplift", "of one", "bar"], _rows(np.array(uplifts), memories))


def _rows(uplifts: Floats, memories: list[float | None]) -> Iterator[list[str]]:
    yield ["one campaign", _mean(uplifts[:, 0]), "", ""]
    for memory, sums, (share, error) in zip(memories, uplifts.T[1:], _shares(uplifts), strict=True):
        name = "weekly, alone" if memory is None else f"weekly, after= with memory {memory:g}"
        bar = f"≥ {BAR:.0%}: {'met' if share >= BAR else 'missed'}" if memory == MEMORY else ""
        yield [name, _mean(sums), f"{share:.1%} ± {error:.1%}", bar]


def _shares(uplifts: Floats) -> list[tuple[float, float]]:
    """Return the ratio of each sum to that of the long campaign, with its standard error."""
    one = uplifts[:, 0]
    return [paired_ratio(sums, one) for sums in uplifts.T[1:]]


def _mean(uplifts: Floats) -> str:
    return f"{uplifts.mean():,.1f} ± {uplifts.std(ddof=1) / len(uplifts) ** 0.5:.1f}"


if __name__ == "__main__":
    main(*[int(text) for text in sys.argv[1:2]], *[float(text) for text in sys.argv[2:]])
