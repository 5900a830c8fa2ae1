"""Lift: intervals worked by hand, and their coverage by simulation."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from almoner.live.estimates.group_sums import GroupSums, OddsSums
from almoner.live.estimates.lift import (
    Difference,
    compare,
    group_mean,
    score_interval,
    stratified_lift,
    stratum,
)
from almoner.types import Floats, Mask

RUNS = 800
"""Simulated campaigns: 95 % of them have a standard error of 0.77 %."""

SLACK = 4 * math.sqrt(0.95 * 0.05 / RUNS)


def group(rewards: Floats) -> GroupSums:
    return GroupSums(len(rewards), float(rewards.sum()), float((rewards**2).sum()))


def test_the_sums_of_a_group_grow_by_arrivals_and_their_rewards() -> None:
    sums = GroupSums().plus(0.0).plus(0.5).corrected(0.0, 0.25)
    assert sums == (2, 0.75, 0.3125)
    odds = OddsSums().plus(3.0, 0.0).plus(0.5, 0.5).corrected(3.0, 0.0, 1.0)
    assert odds == (3.5, 9.25, 3.25, 3.125)


def test_a_difference_of_proportions_is_newcombes() -> None:
    """His examples (1998, method 10): 56/70 with 48/80, 9/10 with 3/10, 10/10 with 0/10."""
    for (a, m, b, n), ends in [
        ((56, 70, 48, 80), (0.0524, 0.3339)),
        ((9, 10, 3, 10), (0.1705, 0.8090)),
        ((10, 10, 0, 10), (0.6075, 1.0000)),
    ]:
        result = compare(group_mean(GroupSums(m, a, a)), group_mean(GroupSums(n, b, b)))
        assert result.value == pytest.approx(a / m - b / n)
        assert (result.low, result.high) == pytest.approx(ends, abs=5e-5)


def test_rewards_of_a_constant_amount_have_the_interval_of_the_yes_or_no_scaled() -> None:
    """4 of 400 times 0.2: Wilson's 0.0039 to 0.0254, times 0.2, up to terms of the order m²."""
    yes = group_mean(GroupSums(400, 4.0, 4.0))
    scaled = group_mean(GroupSums(400, 0.8, 0.16))
    assert (yes.low, yes.high) == pytest.approx((0.00390, 0.02542), abs=1e-5)
    assert (scaled.low, scaled.high) == pytest.approx((0.2 * yes.low, 0.2 * yes.high), rel=0.01)


def test_without_any_reward_the_interval_is_wilsons_of_none() -> None:
    """z²/(n + z²) for 0 of 96: 3.8415/99.8415."""
    assert score_interval(0.0, 0.0, 96) == pytest.approx((0.0, 0.038476), abs=1e-6)
    assert score_interval(1.0, 0.0, 96) == pytest.approx((0.961524, 1.0), abs=1e-6)


def test_a_stratified_lift_worked_by_hand() -> None:
    """Odds 1 (P = ½): 4 actions bring 3, 4 skips 1. Odds 16: 10 actions bring 5, 2 skips none.

    (4(3/4 − 1/4) + 10(5/10 − 0))/20 = (2 + 5)/20 for 20 arrivals.
    """
    assert [stratum(odds) for odds in (1.0, 3.99, 4.0, 0.99, 16.0)] == [0, 0, 1, -1, 2]
    actions = {0: GroupSums(4, 3, 3), 2: GroupSums(10, 5, 5)}
    skips = {0: OddsSums(4, 4, 1, 1), 2: OddsSums(32, 512, 0, 0)}
    lift = stratified_lift(actions, skips, 20)
    assert lift is not None
    assert lift.value == pytest.approx(7 / 20)
    # From the Wilson intervals of 3/4 (0.3006, 0.9544), of 1/4 with 3 degrees of freedom
    # (0.0368, 0.7439), of 5/10 (0.2366, 0.7634) and of 0/2 (0, 0.6576).
    below = 0.2**2 * (0.4494**2 + 0.4939**2) + 0.5**2 * (0.2634**2 + 0.6576**2)
    above = 0.2**2 * (0.2044**2 + 0.2132**2) + 0.5**2 * (0.2634**2 + 0.0**2)
    assert lift.low == pytest.approx(0.35 - math.sqrt(below), abs=2e-4)
    assert lift.high == pytest.approx(0.35 + math.sqrt(above), abs=2e-4)


def test_a_stratum_without_skips_is_unknown_and_no_skips_at_all_give_no_lift() -> None:
    actions = {0: GroupSums(5, 5, 5), 3: GroupSums(5, 5, 5)}
    skips = {0: OddsSums(4, 4, 2, 2)}
    lift = stratified_lift(actions, skips, 10)
    assert lift is not None
    assert lift.value == pytest.approx(0.5)  # the mean of all skips stands for the unknown ones
    known = stratified_lift({0: actions[0]}, skips, 10)
    assert known is not None
    assert lift.high - lift.low > known.high - known.low
    assert stratified_lift(actions, {}, 10) is None


Rewards = Callable[[np.random.Generator, Floats], Floats]


def yes_or_no(rng: np.random.Generator, rates: Floats) -> Floats:
    return (rng.random(len(rates)) < rates).astype(np.float64)


def baskets(rng: np.random.Generator, rates: Floats) -> Floats:
    """Amounts between 0.05 and 0.4 of the largest basket, 0.225 on average."""
    return yes_or_no(rng, rates) * rng.uniform(0.05, 0.4, len(rates))


MEANS: dict[Rewards, float] = {yes_or_no: 1.0, baskets: 0.225}


@pytest.mark.slow
@pytest.mark.parametrize("rewards", [yes_or_no, baskets])
@pytest.mark.parametrize(
    ("arrivals", "held_out", "rates"),
    [
        (2_000, 0.1, (0.05, 0.03)),
        (5_000, 0.1, (0.01, 0.006)),
        (20_000, 0.1, (0.04, 0.03)),
        (500, 0.1, (0.3, 0.3)),
        (1_000, 0.5, (0.1, 0.02)),
    ],
)
def test_the_interval_of_a_hold_out_covers(
    rewards: Rewards, arrivals: int, held_out: float, rates: tuple[float, float]
) -> None:
    rng = np.random.default_rng(15)
    truth, covered = (rates[0] - rates[1]) * MEANS[rewards], 0
    for _ in range(RUNS):
        is_held = rng.random(arrivals) < held_out
        values = rewards(rng, np.where(is_held, rates[1], rates[0]))
        lift = compare(*(group_mean(group(values[part])) for part in (~is_held, is_held)))
        covered += lift.low <= truth <= lift.high
    assert covered / RUNS == pytest.approx(0.95, abs=SLACK)


def explored(rewards: Floats, acted: Mask, skip: Floats) -> Difference:
    """The lift of arrivals with their probabilities of a skip."""
    odds = (1 - skip) / skip
    numbers = np.array([stratum(value) for value in odds])
    actions, skips = {}, {}
    for number in np.unique(numbers):
        taken, left = (numbers == number) & acted, (numbers == number) & ~acted
        if taken.any():
            actions[int(number)] = group(rewards[taken])
        if left.any():
            o, r = odds[left], rewards[left]
            sums = (o, o**2, o * r, o * r**2)
            skips[int(number)] = OddsSums(*(float(part.sum()) for part in sums))
    lift = stratified_lift(actions, skips, len(rewards))
    assert lift is not None
    return lift


@pytest.mark.parametrize("rewards", [yes_or_no, baskets])
@pytest.mark.parametrize(
    ("arrivals", "explore", "options", "skip_rates"),
    [
        (5_000, 0.1, 2, (0.2, 0.2)),
        (5_000, 0.1, 4, (0.05, 0.05)),
        (5_000, 0.05, 4, (0.08, 0.03)),  # those served would also buy without
        (5_000, 0.05, 3, (0.02, 0.06)),
    ],
)
@pytest.mark.slow
def test_the_interval_of_exploration_covers(
    rewards: Rewards,
    arrivals: int,
    explore: float,
    options: int,
    skip_rates: tuple[float, float],
) -> None:
    """A quarter of the arrivals is served for sure, a fifth with some probability, others not."""
    rng, covered = np.random.default_rng(16), 0
    for _ in range(RUNS // 2):
        kind = rng.random(arrivals)
        policy = np.where(kind < 0.25, 1.0, np.where(kind < 0.45, rng.random(arrivals), 0.0))
        skip = (1 - explore) * (1 - policy) + explore / options
        acted = rng.random(arrivals) >= skip
        without = np.where(kind < 0.45, *skip_rates)
        values = rewards(rng, np.where(acted, 0.12, without))
        truth = float(((1 - skip) * (0.12 - without)).mean()) * MEANS[rewards]
        lift = explored(values, acted, skip)
        covered += lift.low <= truth <= lift.high
    assert covered / (RUNS // 2) == pytest.approx(0.95, abs=SLACK * math.sqrt(2))


@pytest.mark.slow
@pytest.mark.parametrize(("persons", "explore"), [(40, 0.3), (200, 0.1)])
def test_the_interval_of_exploration_covers_where_the_same_persons_come_again(
    persons: int, explore: float
) -> None:
    """Half of the persons hardly ever buy, half mostly; each arrival is drawn by itself."""
    rng, covered, arrivals = np.random.default_rng(18), 0, 2_000
    for _ in range(RUNS // 2):
        rates = np.where(rng.random(persons) < 0.5, 0.02, 0.7)[rng.integers(persons, size=arrivals)]
        policy = np.where(rng.random(arrivals) < 0.5, 1.0, 0.0)
        skip = (1 - explore) * (1 - policy) + explore / 2
        acted = rng.random(arrivals) >= skip
        values = yes_or_no(rng, rates + 0.1 * acted)
        lift = explored(values, acted, skip)
        covered += lift.low <= 0.1 * float((1 - skip).mean()) <= lift.high
    assert covered / (RUNS // 2) == pytest.approx(0.95, abs=SLACK * math.sqrt(2))
