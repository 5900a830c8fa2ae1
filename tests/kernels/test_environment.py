"""Draws of contexts and rewards against the probabilities, means and spread of a problem."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from almoner.kernels.draws import round_key
from almoner.kernels.environment import draw_context, make_environment
from almoner.kernels.reward_noise import draw_reward

DRAWS = 20_000


def keys() -> list[np.uint64]:
    return [np.uint64(round_key(np.uint64(9), t)) for t in range(DRAWS)]


@given(weights=st.lists(st.integers(0, 50) | st.floats(0, 1), min_size=1, max_size=12).filter(any))
def test_the_alias_table_holds_the_context_probabilities(weights: list[float]) -> None:
    """Column i of J gives itself with chance cut/J and its other with (1 − cut)/J."""
    probs = np.array(weights) / sum(weights)
    nothing = np.zeros((len(probs), 1))
    environment = make_environment(probs, nothing, nothing[:, 0], 1.0, np.zeros((len(probs), 2)))
    implied = environment.cuts / len(probs)
    np.add.at(implied, environment.aliases[:, 1], (1 - environment.cuts) / len(probs))
    assert environment.cuts.min() >= 0.0
    assert environment.cuts.max() <= 1.0
    np.testing.assert_allclose(implied, probs, rtol=0, atol=1e-14)
    assert np.all(implied[probs == 0] == 0)


def test_contexts_come_as_often_as_they_should() -> None:
    probs = np.array([0.05, 0.0, 0.6, 0.35])
    nothing = np.zeros((4, 1))
    environment = make_environment(probs, nothing, nothing[:, 0], 1.0, np.zeros((4, 2)))
    counts = np.bincount([draw_context(environment, key) for key in keys()], minlength=4)
    errors = np.sqrt(probs * (1 - probs) / DRAWS)
    assert counts[1] == 0
    assert np.all(np.abs(counts / DRAWS - probs) <= 4 * errors)  # 4 standard errors


@pytest.mark.parametrize("spread", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("mean", [0.0, 0.15, 0.5, 0.9, 1.0])
def test_rewards_have_the_mean_and_the_spread_of_the_problem(spread: float, mean: float) -> None:
    """The variance is spread · m(1 − m). 4 standard errors; its own is taken from the draws."""
    environment = make_environment(
        np.ones(1), np.array([[mean]]), np.zeros(1), spread, np.zeros((1, 2))
    )
    rewards = np.array([draw_reward(environment, 0, 0, key) for key in keys()])
    variance = spread * mean * (1 - mean)
    squares = (rewards - mean) ** 2
    assert rewards.min() >= 0.0
    assert rewards.max() <= 1.0
    assert abs(rewards.mean() - mean) <= 4 * math.sqrt(variance / DRAWS) + 1e-15
    assert abs(squares.mean() - variance) <= 4 * squares.std() / math.sqrt(DRAWS) + 1e-15
    if spread == 1.0:
        assert set(rewards) <= {0.0, 1.0}
