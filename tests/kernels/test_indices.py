"""Indices against their definitions, and a branch in the kernels for every part."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from almoner.kernels import priced as general
from almoner.kernels.indices import (
    clock_level,
    index,
    kl_at_most,
    kl_bound,
    score_bound,
    widened_bound,
    wilson_bound,
)
from almoner.kernels.pair_index import weights_of
from almoner.kernels.price import nearness
from almoner.kernels.priced import options_at
from almoner.kernels.state import new_hulls, new_memo, new_state
from almoner.kernels.steps import learn, serve_share
from almoner.policy.base import PARTS, Policy
from almoner.policy.contexts import NoContexts
from almoner.policy.lowering import LoweredPolicy, lower
from almoner.policy.recipes import RECIPES, alp, greedy
from almoner.policy.rewards import KLUCB, UCB, LogPlus, RewardKnowledge, Thompson, Wilson

NONE = np.uint64(0)
UNKNOWN = 99

REWARDS, CONTEXTS, ALLOCATIONS, _ = (parts for _, parts in PARTS.values())

WITH_BONUS = [UCB, KLUCB, LogPlus, Wilson]
LEARNING = [name for name in REWARDS if name not in ("KnownRewards", "Thompson")]


def value(part: type[RewardKnowledge], *, mean: float, count: float, level: float) -> float:
    """Return the index of a pair as `decide` computes it."""
    root = 1 / math.sqrt(count) if count else 0.0
    return index(part.code, getattr(part, "width", 0.0), level, mean, root, count, NONE)


def kl(p: float, q: float) -> float:
    first = p * math.log(p / q) if p > 0 else 0.0
    return first + ((1 - p) * math.log((1 - p) / (1 - q)) if p < 1 else 0.0)


def wilson(successes: float, count: float, plays_left: float) -> float:
    """Section 7 of our reading, letter by letter."""
    p, x = successes / count, plays_left / count
    if p == 1:
        return 1 + 1e-9 * count
    g = math.log(1 + x / (5 + 1.5 * math.log(1 + x)))
    d = g / count
    return (p + d + math.sqrt(d**2 + 2 * d * p * (1 - p))) / (1 + 2 * d)


@pytest.mark.parametrize("reward", [0.0, 0.3, 1.0])
def test_the_mean_of_constant_rewards_is_that_constant(reward: float) -> None:
    lowered = lower(greedy(), horizon=50, budget=50, costs=np.ones((2, 3)))
    state = new_state(lowered)
    memo = new_memo(lowered, state)
    for _ in range(40):
        learn(lowered, state, memo, 1, 2, 0, reward, NONE)
    assert memo.means[1, 2] == pytest.approx(reward, abs=1e-14)
    assert state.counts[1, 2] == state.counts.sum() == 40
    assert memo.roots[1, 2] == pytest.approx(1 / math.sqrt(40), abs=1e-15)
    assert (
        value(REWARDS["EmpiricalMean"], mean=memo.means[1, 2], count=40, level=0)
        == (memo.means[1, 2])
    )


@pytest.mark.parametrize("name", LEARNING)
def test_a_pair_never_seen_has_index_one(name: str) -> None:
    assert value(REWARDS[name], mean=1.0, count=0.0, level=7.0) == 1.0


def test_thompson_draws_a_pair_never_seen_from_the_uniform_prior() -> None:
    draws = [index(Thompson.code, 0.0, 0.0, 1.0, 0.0, 0.0, np.uint64(k)) for k in range(2000)]
    assert abs(np.mean(draws) - 0.5) < 4 * math.sqrt(1 / 12 / 2000)  # 4 standard errors


@pytest.mark.parametrize("part", WITH_BONUS)
@pytest.mark.parametrize("mean", [0.0, 0.35, 0.6])
def test_the_bonus_shrinks_as_the_count_grows(part: type[RewardKnowledge], mean: float) -> None:
    indices = [value(part, mean=mean, count=count, level=6.0) for count in (1, 2, 5, 30, 200)]
    assert indices == sorted(indices, reverse=True)
    assert len(set(indices)) == len(indices)
    assert min(indices) > mean


@pytest.mark.parametrize("name", REWARDS)
@pytest.mark.parametrize("mean", [0.0, 0.35, 1.0])
@pytest.mark.parametrize("count", [1.0, 8.0, 500.0])
def test_every_index_rises_with_its_level(name: str, mean: float, count: float) -> None:
    levels = (0.0, 0.2, 1.0, 3.0, 12.0, 400.0)
    indices = [value(REWARDS[name], mean=mean, count=count, level=level) for level in levels]
    assert indices == sorted(indices)


@pytest.mark.parametrize("t", [1, 2, 30, 10_000])
def test_levels_follow_their_definitions(t: int) -> None:
    """With ū = 0.4 and C = 9 each bonus is √(a·log t / 9), or has log⁺(t/9) for log t."""
    ucb = index(UCB.code, 0.5, clock_level(UCB.code, 0.5, t), 0.4, 1 / 3, 9.0, NONE)
    plus = index(LogPlus.code, 0.25, clock_level(LogPlus.code, 0.25, t), 0.4, 1 / 3, 9.0, NONE)
    assert ucb == pytest.approx(0.4 + math.sqrt(0.5 * math.log(t) / 9), abs=1e-14)
    assert plus == pytest.approx(0.4 + math.sqrt(0.25 * max(0.0, math.log(t / 9)) / 9), abs=1e-14)
    assert clock_level(KLUCB.code, 1.5, t) == pytest.approx(1.5 * math.log(t), abs=1e-14)


@example(p=0.875, level=4.0)
@given(p=st.floats(0, 1, exclude_max=True), level=st.floats(1e-6, 20))
def test_the_kl_bound_solves_its_equation_and_lies_below_pinsker_s(p: float, level: float) -> None:
    """kl(p, ·) rises right of p, so q is the root if the level lies between its neighbours."""
    q, near = kl_bound(p, level), 1e-12
    assert p <= q <= min(1.0, p + math.sqrt(level / 2) + near)
    assert kl(p, max(p, q - near)) <= level * (1 + 1e-9)
    assert q + near >= 1 or kl(p, q + near) >= level * (1 - 1e-9)


def test_the_kl_index_divides_the_level_by_the_count() -> None:
    q = index(KLUCB.code, 1.0, math.log(500), 0.3, 1 / math.sqrt(20), 20.0, NONE)
    assert 20 * kl(0.3, q) == pytest.approx(math.log(500), rel=1e-9)


@pytest.mark.parametrize("level", [0.0, 0.1, 2.0])
def test_the_kl_bound_is_known_at_the_ends(level: float) -> None:
    """kl(0, q) = −log(1 − q), so the bound at 0 is 1 − exp(−level)."""
    assert kl_bound(0.0, level) == pytest.approx(1 - math.exp(-level), abs=1e-14)
    assert kl_bound(1.0, level) == 1.0
    assert kl_bound(0.6, 0.0) == 0.6


@given(count=st.integers(1, 500), share=st.floats(0, 1), plays_left=st.floats(1, 1e5))
def test_the_wilson_index_is_the_formula(count: int, share: float, plays_left: float) -> None:
    successes = round(share * count)
    have = wilson_bound(successes / count, float(count), plays_left)
    assert have == pytest.approx(wilson(successes, count, plays_left), rel=1e-13)
    assert have <= 1 + 1e-9 * count


def test_the_wilson_index_at_the_ends() -> None:
    """At p = 0 it is 2d/(1 + 2d), twice the KL bound 1 − exp(−d) where d is small."""
    d = math.log(1 + 0.1 / (5 + 1.5 * math.log(1.1))) / 100  # 100 tries, 10 plays left
    assert wilson_bound(0.0, 100.0, 10.0) == pytest.approx(2 * d / (1 + 2 * d), rel=1e-13)
    assert wilson_bound(0.0, 100.0, 10.0) == pytest.approx(2 * kl_bound(0.0, d), rel=1e-3)
    assert wilson_bound(1.0, 3.0, 10.0) == 1 + 3e-9
    assert wilson_bound(1.0, 3.0, 1e6) < wilson_bound(1.0, 4.0, 1.0)


# Adding a part is one spec, one code, one branch. What follows fails where the branch is missing.


def reward_branch(code: int) -> bool:
    level = clock_level(code, 0.5, 7)
    return math.isfinite(level) and math.isfinite(index(code, 0.5, 1.0, 0.4, 0.5, 4.0, NONE))


def allocation_branch(code: int) -> bool:
    pure: Any = serve_share
    share = pure.py_func(a_plan()._replace(rule=code), False, 0.2, 0.3, 0.1, 0.05)
    return bool(0.0 <= share <= 1.0)


def context_branch(code: int) -> bool:
    """Arrivals were 3 and 1 in 4 rounds; who knows the probabilities was told 0.9 and 0.1."""
    lowered = a_plan()._replace(context=code)
    state = new_state(lowered)
    state.context_counts[:] = 3, 1
    pure: Any = weights_of
    weights, total, arrival = pure.py_func(lowered, state, 5)
    expected = {
        "KnownContexts": ([0.9, 0.1], 1, 0),
        "EmpiricalContexts": ([3, 1], 5, 1),
        "TruncatedContexts": ([3, 1], 5, 1),
        "NoContexts": ([0.9, 0.1], 1, 0),  # `lower` puts ones there
    }
    names = {part.code: name for name, part in CONTEXTS.items()}
    return (weights.tolist(), total, arrival) == expected.get(names.get(code, ""))


def prior_branch(code: int) -> bool:
    """After a reward every pair has a prior, if there is room for priors at all."""
    lowered = lower(greedy(), horizon=10, budget=4, costs=np.ones((2, 1)))._replace(pooled=code)
    state = new_state(lowered)
    if state.prior_counts.shape not in ((0, 0), (2, 1)):  # made for codes 0 and 1
        return False
    memo = new_memo(lowered, state)
    learn(lowered, state, memo, 1, 0, 0, 0.3, NONE)
    return bool(np.all(state.prior_counts > 0.0))


def a_plan() -> LoweredPolicy:
    policy = alp(context_probs=[0.9, 0.1], reward_means=[[0.8], [0.4]])
    return lower(policy, horizon=10, budget=4, costs=np.ones((2, 1)))


BRANCHES = {
    "rewards": reward_branch,
    "contexts": context_branch,
    "allocation": allocation_branch,
    "prior": prior_branch,
}


@pytest.mark.parametrize(
    ("axis", "name"), [(axis, name) for axis, (_, parts) in PARTS.items() for name in parts]
)
def test_every_part_has_a_code_of_its_own_and_a_branch_for_it(axis: str, name: str) -> None:
    parts = PARTS[axis][1]
    codes = [part.code for part in parts.values()]
    assert codes.count(parts[name].code) == 1
    assert BRANCHES[axis](parts[name].code)


@pytest.mark.parametrize("axis", BRANCHES)
def test_a_part_without_a_branch_would_be_noticed(axis: str) -> None:
    assert not BRANCHES[axis](UNKNOWN)


def test_an_unknown_code_gives_nan_and_not_a_number_that_looks_right() -> None:
    pure: Any = serve_share
    assert math.isnan(index(UNKNOWN, 0.5, 1.0, 0.4, 0.5, 4.0, NONE))
    assert math.isnan(clock_level(UNKNOWN, 0.5, 7))
    assert math.isnan(pure.py_func(a_plan()._replace(rule=UNKNOWN), False, 0.2, 0.3, 0.1, 0.05))
    weights: Any = weights_of
    lowered = a_plan()._replace(context=UNKNOWN)
    assert math.isnan(weights.py_func(lowered, new_state(lowered), 1)[1])


@pytest.mark.parametrize("rule", ALLOCATIONS)
def test_every_rule_has_a_probability_at_unequal_costs(rule: str) -> None:
    """A step at the price, of which .3 is bought: rounded, none of it."""
    lowered = a_plan()._replace(rule=ALLOCATIONS[rule].code)
    hulls = new_hulls(lowered._replace(priced=1))
    assert hulls is not None
    hulls.sizes[:], hulls.slopes[:], hulls.tops[:] = 1, 0.5, 0
    pure: Any = options_at
    plain: Any = nearness
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setattr(general, "nearness", plain.py_func)
        share = pure.py_func(lowered, hulls, 0, 0.5, 0.3)[2]
        unknown = pure.py_func(lowered._replace(rule=UNKNOWN), hulls, 0, 0.5, 0.3)[2]
    priced = {"AdaptiveLP": 0.3, "FixedLP": 0.3, "EagerRounding": 0.3, "RoundedLP": 0.0}
    assert math.isnan(unknown)
    if rule in priced:  # the others never come so far
        assert share == priced[rule]


def test_every_part_is_used_by_some_recipe() -> None:
    policies = [make() for make in RECIPES.values()]
    used = {type(getattr(policy, axis)).__name__ for policy in policies for axis in PARTS}
    assert used == {name for _, parts in PARTS.values() for name in parts}


def test_a_part_from_outside_is_refused_by_name() -> None:
    class Lucky(RewardKnowledge):
        code: ClassVar[int] = UNKNOWN

    with pytest.raises(ValueError, match="rewards must be one of KLUCB, UCB"):
        Policy(rewards=Lucky(), contexts=NoContexts(), allocation=ALLOCATIONS["SkipAlways"]())


@given(mean=st.floats(0, 1, exclude_max=True), level=st.floats(1e-6, 20))
def test_a_kl_bound_is_at_most_what_it_is_said_to_be_without_a_search(
    mean: float, level: float
) -> None:
    at_most = kl_at_most(mean, level)
    assert kl_bound(mean, level) <= at_most + 1e-12
    assert at_most <= mean + math.sqrt(level / 2) + 1e-12  # Pinsker's inequality


@given(mean=st.floats(0, 1), d=st.floats(1e-9, 50), factor=st.floats(1, 4), slack=st.floats(0, 0.5))
def test_a_score_bound_at_a_larger_level_is_bounded_by_one_at_a_smaller_level(
    mean: float, d: float, factor: float, slack: float
) -> None:
    bound = score_bound(mean, d) + slack
    widened = widened_bound(mean, bound, factor)
    assert score_bound(mean, factor * d) <= widened + 1e-12
    assert widened <= mean + factor * (bound - mean) + 1e-12
