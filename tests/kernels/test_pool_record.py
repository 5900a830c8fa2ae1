"""The record of the pooled fit: its formula, and when nothing is borrowed for lack of one."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special
from support.plain_kernels import plain

import almoner as al
from almoner.kernels.pairs import pairs_of
from almoner.kernels.pool_record import _rising, _stirling, log_gain
from almoner.kernels.pooling import _proof, fit_pool
from almoner.kernels.state import (
    LEFT,
    NEW_COUNT,
    REWARDS,
    ROUND,
    SEEN_SHARE,
    State,
    new_memo,
    new_state,
)
from almoner.policy.lowering import LoweredPolicy, lower


@given(x=st.floats(1e-6, 1e9))
def test_log_gamma_is_accurate_to_its_documented_error(x: float) -> None:
    assert _stirling(x) == pytest.approx(math.lgamma(x + 4), rel=1e-13, abs=1e-8)
    rising = math.exp(math.lgamma(x + 4) - math.lgamma(x))
    assert plain(_rising)(x) == pytest.approx(rising, rel=1e-5)


def test_a_single_reward_gains_the_logarithm_of_twice_its_probability() -> None:
    """A uniform mean gives ½ to either reward."""
    gain = plain(log_gain)
    assert gain(1.0, 1.0, 0.8, 7.0) == pytest.approx(math.log(0.8 / 0.5), abs=1e-7)
    assert gain(1.0, 0.0, 0.8, 7.0) == pytest.approx(math.log(0.2 / 0.5), abs=1e-7)


@given(
    count=st.integers(1, 2000),
    share=st.floats(0, 1),
    mean=st.floats(0.01, 0.99),
    prior=st.floats(0.1, 1000),
)
def test_the_gain_is_that_of_two_beta_binomial_laws(
    count: int, share: float, mean: float, prior: float
) -> None:
    rewards = share * count
    wins, losses = mean * prior, (1 - mean) * prior
    predicted = special.betaln(wins + rewards, losses + count - rewards)
    uniform = special.betaln(1 + rewards, 1 + count - rewards)
    expected = predicted - special.betaln(wins, losses) - uniform
    assert plain(log_gain)(float(count), rewards, mean, prior) == pytest.approx(expected, abs=1e-6)


def fitted(counts: Any, sums: Any, *, proof: float | None, left: int = 10**5) -> State:
    """Return the state after these rewards, fitted three times."""
    lowered, state = rewarded(counts, sums, proof=proof, left=left)
    memo = new_memo(lowered, state)
    for _ in range(3):
        fit_pool(lowered, state, memo, plain(pairs_of)(lowered, state, memo))
    return state


def rewarded(
    counts: Any, sums: Any, *, proof: float | None, left: int = 10**5
) -> tuple[LoweredPolicy, State]:
    counts = np.asarray(counts, float)
    policy = replace(al.thrifty(), prior=al.Pooled(proof=proof))
    lowered = lower(policy, horizon=10**6, budget=10**5, costs=np.ones(counts.shape))
    state = new_state(lowered)
    state.counts[:], state.sums[:], state.context_counts[:] = counts, sums, counts.sum(axis=1)
    state.progress[ROUND], state.progress[LEFT] = counts.sum(), left
    state.fit[REWARDS], state.fit[SEEN_SHARE] = counts.sum(), 1.0
    return lowered, state


def test_predictions_that_hold_are_used_as_without_a_proof() -> None:
    """Every action of a context has the same mean."""
    sums = np.repeat([[2.0], [9.0], [16.0], [3.0]], 3, axis=1)
    state, free = (fitted(np.full((4, 3), 20.0), sums, proof=proof) for proof in (4.0, None))
    assert state.prior_counts.min() > 0.0
    for one, other in zip(state, free, strict=True):
        np.testing.assert_array_equal(one, other)


def test_nothing_is_borrowed_where_means_have_nothing_in_common() -> None:
    """The first guess of σ² expects more structure than there is."""
    sums = np.random.default_rng(3).permutation(np.linspace(0, 20, 12)).round().reshape(4, 3)
    state, free = (fitted(np.full((4, 3), 20.0), sums, proof=proof) for proof in (4.0, None))
    for values in (state.prior_means, state.prior_counts, state.action_shares):
        np.testing.assert_array_equal(values, 0.0)
    np.testing.assert_array_equal(state.action_fit[NEW_COUNT], 0.0)
    np.testing.assert_array_equal(state.fit, free.fit)
    np.testing.assert_array_equal(state.context_effects, free.context_effects)


@pytest.mark.parametrize(
    ("each", "left", "judged"),
    [(2.0, 10**5, True), (1.0, 10**5, True), (0.5, 10**5, False), (2.0, 499, False)],
)
def test_predictions_are_judged_after_a_reward_for_each_pair(
    each: float, left: int, judged: bool
) -> None:
    """Of 27 pairs, and where 20 × 27 = 540 rewards are to be had: 54 so far, and those left."""
    counts = np.full((9, 3), each)
    policy, state = rewarded(counts, counts / 2, proof=4.0, left=left - 14)
    assert plain(_proof)(policy, state) == (4.0 if judged else -math.inf)


def test_fifteen_rewards_are_the_least_to_judge_by() -> None:
    for rewards in (14.0, 15.0):
        policy, state = rewarded([[rewards - 7.0, 7.0]], [[1, 1]], proof=4.0)
        assert plain(_proof)(policy, state) == (4.0 if rewards >= 15.0 else -math.inf)
