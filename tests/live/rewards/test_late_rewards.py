"""Rewards that come late: money is not spent before there is anything to learn from."""

from __future__ import annotations

import math
from collections import deque
from typing import Any

import numpy as np
import pytest

import almoner as al

SHARES = {"new": 0.6, "returning": 0.1, "loyal": 0.3}
BUYS = {"new": 0.05, "returning": 0.25, "loyal": 0.10}
VISITORS, COUPONS = 2_000, 125
BEST = COUPONS * 0.25
"""All coupons to returning visitors, of whom some 200 come."""


def open_shop(seed: int, **terms: Any) -> al.Agent:
    return al.Agent.open(
        "memory:",
        name="spring",
        contexts=list(SHARES),
        actions={"coupon": 1},
        horizon=VISITORS,
        budget=COUPONS,
        seed=seed,
        **terms,
    )


def expected_sales(delay: int, seed: int) -> float:
    """Mean reward of a campaign's coupons, where a reward comes ``delay`` visitors later."""
    agent, day, sales = open_shop(seed), np.random.default_rng(seed), 0.0
    late: deque[tuple[int, int, float]] = deque()
    for visitor in range(VISITORS):
        while late and late[0][0] <= visitor:
            _, decision, value = late.popleft()
            agent.reward(decision, value)
        context = str(day.choice(list(SHARES), p=list(SHARES.values())))
        decision_now = agent.decide(context)
        if decision_now.action is not None:
            sales += BUYS[context]
            late.append((visitor + delay, decision_now.id, float(day.random() < BUYS[context])))
    return sales


def test_without_any_reward_the_budget_is_paced() -> None:
    """As if by drawing 125 of 2,000 visitors: after 500, within 4 standard deviations of 31."""
    agent, day = open_shop(seed=1), np.random.default_rng(1)
    visitors = day.choice(list(SHARES), VISITORS, p=list(SHARES.values())).tolist()
    served = [decision.action is not None for decision in agent.decide_many(visitors)]
    ratio, quarter = COUPONS / VISITORS, VISITORS // 4
    deviation = math.sqrt(quarter * ratio * (1 - ratio) * (VISITORS - quarter) / (VISITORS - 1))
    assert abs(sum(served[:quarter]) - quarter * ratio) < 4 * deviation
    assert sum(served) == COUPONS


@pytest.mark.parametrize("delay", [0, 20, 200, 500])
def test_late_rewards_cost_some_of_what_there_is_to_gain_and_not_all_of_it(delay: int) -> None:
    """Coupons to whoever comes first bring 34 % of the best; eight campaigns, fixed seeds."""
    sales = [expected_sales(delay, seed) for seed in range(8)]
    assert sum(sales) / len(sales) > 0.6 * BEST


def coupons_by_context(zeros_after: int | None, seed: int) -> dict[str, int]:
    """Coupons by context where zeros are reported so many visitors after purchases, or never."""
    agent, day = open_shop(seed, default_rewards="learned"), np.random.default_rng(seed)
    served = dict.fromkeys(SHARES, 0)
    zeros: deque[tuple[int, int]] = deque()
    for visitor in range(VISITORS):
        while zeros and zeros[0][0] <= visitor:
            agent.reward(zeros.popleft()[1], 0.0)
        context = str(day.choice(list(SHARES), p=list(SHARES.values())))
        decision = agent.decide(context)
        served[context] += not decision.skipped
        if day.random() < (0.02 if decision.skipped else BUYS[context]):
            agent.reward(decision.id, 1.0)
        elif zeros_after is not None:
            zeros.append((visitor + zeros_after, decision.id))
    return served


def test_where_zeros_are_never_told_nothing_is_given_out() -> None:
    """As the guide warns: if only purchases are reported, rewards of skips count too much."""
    assert sum(coupons_by_context(None, seed=1).values()) == 0


def test_zeros_that_are_told_at_a_fixed_age_mend_it() -> None:
    served = coupons_by_context(100, seed=1)
    assert sum(served.values()) == COUPONS
    assert served["returning"] > 0.5 * COUPONS, "a tenth of the visitors"


def test_an_action_that_was_cancelled_is_not_waited_for() -> None:
    agent = open_shop(seed=2)
    for _ in range(20):
        decision = agent.decide("returning")
        if decision.action is not None:
            agent.cancel(decision.id)
    assert agent.look(lambda campaign: campaign.state.pending.sum()) == 0
