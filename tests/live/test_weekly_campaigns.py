"""A small version of the benchmark: weekly campaigns go on where the one before ended."""

from __future__ import annotations

import numpy as np

from benchmarks.campaigns.carry_over import BAR, Shop, long_campaign, weekly_campaigns
from benchmarks.learner.rows import paired_ratio

SHOP, SEEDS = Shop(visits=3_000, budget=225.0), range(4)


def test_four_weeks_after_each_other_are_worth_as_much_as_one_campaign() -> None:
    """Within three standard errors; `benchmarks.campaigns.carry_over` has runs enough for more."""
    one = np.array([long_campaign(seed, SHOP) for seed in SEEDS])
    weekly = np.array([sum(weekly_campaigns(seed, SHOP, 0.75)) for seed in SEEDS])
    share, error = paired_ratio(weekly, one)
    assert share + 3 * error >= BAR
    assert 0.5 < share < 1.5, "both give coupons to buyers"


def test_a_campaign_that_knows_nothing_is_the_same_in_every_setting() -> None:
    first = [weekly_campaigns(1, SHOP, memory)[0] for memory in (None, 0.75)]
    assert first[0] == first[1]
