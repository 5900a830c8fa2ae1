"""Thompson's comparisons with one uniform number, against the posteriors themselves."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import special, stats

import almoner as al
from almoner.jit import jit
from almoner.kernels.beta_distribution import beta_cdf, log_gamma
from almoner.kernels.brackets import refresh
from almoner.kernels.draws import beta_above_one, round_key
from almoner.kernels.posterior import draws_above, exceeds
from almoner.kernels.state import ROUND, Memo, State, new_memo, new_state
from almoner.policy.lowering import LoweredPolicy, for_kernels, lower
from almoner.types import Floats

COUNT, ERRORS = 1_000_000, 5
"""Draws of each frequency, so that a bias of half a percent is ten standard errors or more."""


@jit
def shares_above(
    policy: LoweredPolicy, state: State, memo: Memo, value: float, draws: int, shares: Floats
) -> tuple[float, int]:
    """Count how often each context exceeds a value; return the mean weight ahead of context 0.

    Also return how often a limit changed the answer to whether the weight exceeds it.
    """
    refresh(policy, state, memo, 0, 0.0)
    total, wrong = 0.0, 0
    for draw in range(draws):
        key = round_key(np.uint64(7), draw)
        for context in range(1, len(shares)):
            shares[context] += exceeds(policy, memo, context, value, key)
        ahead = draws_above(policy, state, memo, 0, value, math.nan, key)
        limit = float(draw % 13)
        stopped = draws_above(policy, state, memo, 0, value, limit, key)
        wrong += (ahead > limit) != (stopped > limit)
        total += ahead
    return total / draws, wrong


@jit
def many_draws(a: float, b: float, draws: Floats) -> None:
    for draw in range(len(draws)):
        draws[draw] = beta_above_one(a, b, round_key(np.uint64(3), draw))


def learned(seed: int, most: int) -> tuple[LoweredPolicy, State, Memo]:
    """Return a policy in round 40 with random rewards, pairs without any included."""
    rng = np.random.default_rng(seed)
    lowered = lower(
        al.thompson_rounded(),
        context_probs=np.full(5, 0.2),
        reward_means=np.full((5, 3), 0.5),
        costs=np.ones((5, 3)),
        default_rewards=np.zeros(5),
        defaults_known=False,
        horizon=100,
        budget=50,
    )
    state = new_state(lowered)
    state.counts[:] = np.floor(most * rng.random((5, 3)) ** 3)
    state.sums[:] = rng.binomial(state.counts.astype(int), rng.random((5, 3)))
    state.context_counts[:] = [8, 12, 0, 15, 4]
    state.progress[ROUND] = 39
    return for_kernels(lowered), state, new_memo(lowered, state)


@pytest.mark.parametrize("most", [3, 30, 3000])
@pytest.mark.parametrize("value", [0.02, 0.4, 0.75, 0.97])
def test_contexts_rank_ahead_as_often_as_their_posteriors_say(most: int, value: float) -> None:
    lowered, state, memo = learned(most, most)
    shares = np.zeros(5)
    mean, wrong = shares_above(lowered, state, memo, value, COUNT, shares)
    below = stats.beta(1 + state.sums, 1 + state.counts - state.sums).cdf(value).prod(axis=1)
    chances, weights = 1 - below, state.context_counts
    errors = np.sqrt(chances * below / COUNT)
    assert np.all(np.abs(shares / COUNT - chances)[1:] <= ERRORS * errors[1:] + 1e-9)
    deviation = math.sqrt(float((weights**2 * chances * below)[1:].sum()) / COUNT)
    assert abs(mean - float((weights * chances)[1:].sum())) <= ERRORS * deviation + 1e-9
    assert wrong == 0


@pytest.mark.parametrize(("a", "b"), [(1.0, 1.0), (1.0, 3.5), (7.25, 2.0), (60.0, 900.0)])
def test_draws_of_a_posterior_have_its_law(a: float, b: float) -> None:
    draws = np.empty(COUNT)
    many_draws(a, b, draws)
    law = stats.beta(a, b)
    assert abs(draws.mean() - law.mean()) <= ERRORS * law.std() / math.sqrt(COUNT)
    assert stats.kstest(draws, law.cdf).pvalue > 1e-4


def test_the_distribution_function_is_the_incomplete_beta_function() -> None:
    rng = np.random.default_rng(2)
    for a, b in 1 + np.exp(rng.uniform(-3, 11, (3000, 2))):
        mean = a / (a + b)
        spread = math.sqrt(mean * (1 - mean) / (a + b + 1))
        x = min(max(mean + 3 * spread * rng.normal(), 1e-9), 1 - 1e-9)
        assert beta_cdf(a, b, x) == pytest.approx(special.betainc(a, b, x), abs=1e-9)
    assert [beta_cdf(2.0, 3.0, x) for x in (-0.1, 0.0, 1.0, 1.1)] == [0.0, 0.0, 1.0, 1.0]


def test_log_gamma() -> None:
    for x in [1.0, 1.5, 2.0, 9.99, 10.0, 33.3, 1e5]:
        assert log_gamma(x) == pytest.approx(special.gammaln(x), rel=1e-13, abs=1e-11)
