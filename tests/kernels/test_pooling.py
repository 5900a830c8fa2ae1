"""The pooled prior: its formulas, the model it recovers, and what it must not depend on."""

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
from almoner.kernels.pool_priors import SCORE, WEIGHT, WIDEST, _score, digamma, set_priors
from almoner.kernels.pooling import fit_pool
from almoner.kernels.state import (
    ACTION_SPREAD,
    CONTEXT_SPREAD,
    EFFECT,
    GRAND_MEAN,
    NEW_COUNT,
    NEW_MEAN,
    NEW_SHARE,
    RESIDUAL,
    REWARDS,
    ROUND,
    SEEN_SHARE,
    Memo,
    State,
    new_memo,
    new_state,
)
from almoner.policy.lowering import LoweredPolicy, lower

Fit = tuple[State, Memo]


def lowered(counts: Any, *, proof: float | None = None) -> LoweredPolicy:
    """Return a pooled policy for pairs with these counts."""
    policy = replace(al.thrifty(), prior=al.Pooled(proof=proof))
    return lower(policy, horizon=10**6, budget=10**5, costs=np.ones(np.shape(counts)))


def fitted(counts: Any, sums: Any, *, fits: int = 1, proof: float | None = None) -> Fit:
    """Return the state after rewards with these counts and sums, fitted one or more times."""
    counts, sums = np.asarray(counts, float), np.asarray(sums, float)
    policy = lowered(counts, proof=proof)
    state = new_state(policy)
    state.counts[:], state.sums[:], state.fit[REWARDS] = counts, sums, counts.sum()
    state.context_counts[:] = np.minimum(counts.sum(axis=1), 1000)
    state.progress[ROUND], state.fit[SEEN_SHARE] = state.context_counts.sum(), 1.0
    memo = new_memo(policy, state)
    for _ in range(fits):
        fit_pool(policy, state, memo, plain(pairs_of)(policy, state, memo))
    return state, memo


def rewards_of(seed: int, *, variance: float, count: int, shape: tuple[int, int] = (40, 5)) -> Any:
    """Return the sums of ``count`` rewards of each pair, and the predictions μ + α + β.

    The mean of a pair has a beta distribution around its prediction m, of 1/(variance · m(1 − m))
    in total: the distribution whose variance the kernel estimates.
    """
    rng = np.random.default_rng(seed)
    effects = rng.normal(size=(shape[0], 1)), rng.normal(size=(1, shape[1]))
    prediction = -0.5 + effects[0] + effects[1]
    means = m = special.expit(prediction)
    if variance > 0:
        prior = 1 / (variance * m * (1 - m))
        means = rng.beta(m * prior, (1 - m) * prior)
    return rng.binomial(count, means).astype(float), prediction


def predictions(state: State) -> Any:
    return state.fit[GRAND_MEAN] + state.context_effects[:, None] + state.action_fit[EFFECT]


@given(x=st.floats(1e-6, 1e12))
def test_digamma_is_accurate_to_its_documented_error(x: float) -> None:
    assert digamma(x) == pytest.approx(float(special.digamma(x)), rel=1e-13, abs=1e-7)


def log_likelihood(count: float, rewards: float, m: float, variance: float) -> float:
    """Return the beta-binomial log-likelihood, without the binomial coefficient."""
    prior = 1 / (variance * m * (1 - m))
    a, b = m * prior, (1 - m) * prior
    return float(special.betaln(a + rewards, b + count - rewards) - special.betaln(a, b))


@given(
    count=st.integers(1, 2000),
    share=st.floats(0, 1),
    m=st.floats(0.02, 0.98),
    variance=st.floats(0.01, 5),
)
def test_the_score_is_the_derivative_of_the_log_likelihood(
    count: int, share: float, m: float, variance: float
) -> None:
    """By Richardson's extrapolation; the error allowed is 1e-6 of the log-likelihood."""

    def slope(h: float) -> float:
        above = log_likelihood(count, share * count, m, variance * (1 + h))
        below = log_likelihood(count, share * count, m, variance * (1 - h))
        return (above - below) / (2 * h * variance)

    expected = (4 * slope(5e-4) - slope(1e-3)) / 3
    scale = 1 + abs(expected) + abs(log_likelihood(count, share * count, m, variance))
    have = plain(_score)(float(count), share * count, m, variance)
    assert have == pytest.approx(expected, abs=1e-6 * scale / variance)


@pytest.mark.parametrize("m", [0.1, 0.5, 0.8])
@pytest.mark.parametrize("reward", [0.0, 1.0])
def test_a_single_reward_says_nothing_about_the_variance(m: float, reward: float) -> None:
    """Its distribution has mean m whatever the variance: the likelihood is m or 1 − m."""
    assert plain(_score)(1.0, reward, m, 0.7) == pytest.approx(0.0, abs=1e-5)


def test_effects_are_recovered() -> None:
    """Squared errors are those of least squares: 1 on average, relative to their variances.

    A pair of 400 rewards has the precision 400·m(1 − m); its prediction, the variance of a mean of
    its row and of its column. Over 3·200 pairs with 3·40 independent rows the average has a
    standard error of √(2/120) = .13, and 4 of them are allowed.
    """
    ratios = []
    for seed in range(3):
        sums, truth = rewards_of(seed, variance=0.0, count=400)
        state, _ = fitted(np.full(sums.shape, 400), sums, fits=20)
        m = special.expit(truth)
        precision = 400 * m * (1 - m)
        variance = 1 / precision.sum(axis=1, keepdims=True) + 1 / precision.sum(axis=0)
        ratios.append(np.mean((predictions(state) - truth) ** 2 / variance))
    assert np.mean(ratios) == pytest.approx(1.0, abs=4 * math.sqrt(2 / 120))


def test_the_spreads_of_the_effects_are_recovered() -> None:
    """Effects are standard normal: the variance of 40 has a standard error of √(2/40)."""
    sums, _ = rewards_of(5, variance=0.0, count=400)
    state, _ = fitted(np.full(sums.shape, 400), sums, fits=20)
    assert state.fit[CONTEXT_SPREAD] == pytest.approx(1.0, abs=4 * math.sqrt(2 / 40))
    assert 0.3 < state.fit[ACTION_SPREAD] < 3.0  # of five actions, and a guess worth two


@pytest.mark.parametrize("variance", [0.3, 2.0])
def test_the_residual_variance_is_recovered(variance: float) -> None:
    """One estimate has a standard deviation of 13 % (over 40 seeds): 4 standard errors of 8."""
    estimates = []
    for seed in range(8):
        sums, _ = rewards_of(seed, variance=variance, count=60)
        state, _ = fitted(np.full(sums.shape, 60), sums, fits=30)
        estimates.append(state.fit[RESIDUAL] / variance)
    assert np.mean(estimates) == pytest.approx(1.0, abs=4 * 0.13 / math.sqrt(8))


def test_without_interaction_the_residual_variance_falls_to_its_least() -> None:
    """The guess 0.15 is worth one pair beside the 200, which leaves 0.15/201 and the noise."""
    sums, _ = rewards_of(2, variance=0.0, count=400)
    state, _ = fitted(np.full(sums.shape, 400), sums, fits=60)
    assert 0.15 / 201 / 2 < state.fit[RESIDUAL] < 0.01
    assert np.all(state.prior_counts > 30)


def test_contexts_that_share_nothing_leave_pairs_to_their_own_rewards() -> None:
    rng = np.random.default_rng(0)
    sums = np.where(rng.random((40, 5)) < 0.5, 1.0, 49.0)
    state, _ = fitted(np.full(sums.shape, 50), sums, fits=60)
    assert state.fit[RESIDUAL] == WIDEST
    worth = state.prior_counts * state.prior_means * (1 - state.prior_means)
    assert np.all(worth < 1 / WIDEST)  # 1.2 rewards of mean ½


def test_a_prior_does_not_depend_on_its_own_rewards_but_by_the_effects() -> None:
    """With the effects and the variances given, the prediction of a pair leaves its rewards out.

    Its mean is the same, whatever its own working log-odds and their weight. So is its count, but
    for the variance 1/total of μ, to which every weight adds. All other pairs of its row and of its
    column are predicted by it.
    """
    sums, _ = rewards_of(3, variance=0.3, count=30)
    counts = np.full(sums.shape, 30.0)
    state, memo = fitted(counts, sums, fits=5)
    scores, weights = memo.working[:, SCORE], memo.working[:, WEIGHT]
    pairs = plain(pairs_of)(lowered(counts), state, memo)
    fit = state.fit.copy()

    def priors() -> tuple[Any, Any]:
        state.fit[:] = fit  # but for the variance of ε, which the call updates
        plain(set_priors)(state, memo, pairs, -math.inf)
        return state.prior_means.copy(), state.prior_counts.copy()

    means, worth = priors()
    scores[7, 2] += 3.0
    other_means, other_worth = priors()
    assert other_means[7, 2] == pytest.approx(means[7, 2], rel=1e-12)
    assert other_worth[7, 2] == pytest.approx(worth[7, 2], rel=1e-12)
    changed = ~np.isclose(other_means, means, rtol=1e-9)
    expected = np.zeros(changed.shape, bool)
    expected[7], expected[:, 2], expected[7, 2] = True, True, False
    np.testing.assert_array_equal(changed, expected)
    before = 1 / (1 / WIDEST + weights.sum())
    weights[7, 2] *= 2.0
    third_means, third_worth = priors()
    assert third_means[7, 2] == pytest.approx(means[7, 2], rel=1e-12)
    scale = 200 / 220  # of 200 pairs
    m = means[7, 2]
    variances = [scale / (m * (1 - m) * count[7, 2]) for count in (worth, third_worth)]
    less = before - 1 / (1 / WIDEST + weights.sum())
    assert variances[0] - variances[1] == pytest.approx(less, rel=1e-6)


def test_contexts_without_rewards_have_the_prior_of_a_new_one_and_no_part_in_the_fit() -> None:
    """To the last bit, wherever they come among the others."""
    sums, _ = rewards_of(4, variance=0.3, count=9, shape=(6, 3))
    counts = np.full((6, 3), 9.0)
    counts[1, 2] = sums[1, 2] = 0.0
    rows = [1, 2, 5, 6, 7, 9]
    many, more = np.zeros((11, 3)), np.zeros((11, 3))
    many[rows], more[rows] = counts, sums
    few, _ = fitted(counts, sums, fits=7)
    all_of_them, _ = fitted(many, more, fits=7)
    for name, values in few._asdict().items():
        other = getattr(all_of_them, name)
        other = other[rows] if len(other) == 11 else other
        np.testing.assert_array_equal(other, values, err_msg=name)
    empty = np.setdiff1d(np.arange(11), rows)
    for name, row in (
        ("prior_means", NEW_MEAN),
        ("prior_counts", NEW_COUNT),
        ("action_shares", NEW_SHARE),
    ):
        for context in empty:
            have = getattr(all_of_them, name)[context]
            np.testing.assert_array_equal(have, all_of_them.action_fit[row], err_msg=name)
    assert not all_of_them.context_effects[empty].any()


def test_the_order_of_contexts_and_of_actions_does_not_matter() -> None:
    rng = np.random.default_rng(6)
    sums, _ = rewards_of(6, variance=0.3, count=20, shape=(9, 4))
    counts = np.full((9, 4), 20.0)
    contexts, actions = rng.permutation(9), rng.permutation(4)
    one, _ = fitted(counts, sums, fits=6)
    two, _ = fitted(counts[contexts][:, actions], sums[contexts][:, actions], fits=6)
    for name in ("prior_means", "prior_counts", "action_shares"):
        have, expected = getattr(two, name), getattr(one, name)[contexts][:, actions]
        np.testing.assert_allclose(have, expected, rtol=1e-10)
    np.testing.assert_allclose(two.context_effects, one.context_effects[contexts], atol=1e-10)
    np.testing.assert_allclose(two.action_fit, one.action_fit[:, actions], rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(two.fit, one.fit, rtol=1e-10)


@given(
    counts=st.lists(
        st.lists(st.sampled_from([0, 1, 2, 7, 1000, 10**9]), min_size=3, max_size=3),
        min_size=1,
        max_size=4,
    ).filter(lambda rows: any(map(any, rows))),
    share=st.sampled_from([0.0, 1e-9, 0.3, 0.5, 1.0]),
    other=st.sampled_from([0.0, 0.25, 1.0]),
    fits=st.sampled_from([1, 2, 40]),
)
def test_every_fit_is_finite(
    counts: list[list[int]], share: float, other: float, fits: int
) -> None:
    """With rewards of 0, of 1, of any number in between, and 1e9 of them."""
    table = np.array(counts, float)
    sums = table * np.where(np.arange(3) == 1, other, share)
    state, _ = fitted(table, sums, fits=fits)
    for name, values in state._asdict().items():
        assert np.isfinite(values).all(), name
    assert 0.0 < state.fit[RESIDUAL] <= WIDEST
    assert np.all((state.prior_means > 1e-4 / 2) & (state.prior_means < 1 - 1e-4 / 2))
    assert np.all(state.prior_counts > 0.0)
    assert np.all((state.action_shares > 0.0) & (state.action_shares < 1.0))


@pytest.mark.parametrize("reward", [0.0, 1.0])
def test_equal_rewards_are_expected_of_a_new_context(reward: float) -> None:
    state, _ = fitted(np.full((30, 2), 50.0), np.full((30, 2), 50.0 * reward), fits=40)
    assert np.all(np.abs(state.action_fit[NEW_MEAN] - reward) < 0.02)


def test_fractional_rewards_are_predicted_by_their_mean() -> None:
    """Rewards of exactly .3 vary less than any that are 0 or 1, so little is left to ε."""
    state, _ = fitted(np.full((30, 2), 50.0), np.full((30, 2), 15.0), fits=40)
    np.testing.assert_allclose(state.prior_means, 0.3, atol=0.01)
    assert state.fit[RESIDUAL] < 0.03
