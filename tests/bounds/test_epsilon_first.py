"""Probabilities of Lemma 13 and of the Confidence Level Test, by hand and by simulation."""

from __future__ import annotations

import math

import numpy as np
import pytest

import almoner as al
from almoner import bounds

SMALL = al.Problem(
    context_probs=[0.5, 0.5],
    reward_means=[[0.9], [0.3]],
    costs=[1],
    horizon=1000,
    budget=400,
)
"""Slopes 0.9 and 0.3 at one cost: Δ* = 0.6."""


def test_chances_at_the_paper_s_length_are_the_paper_s() -> None:
    """J = 2, K = 1: at most (J + 4)/T² for two slopes, (4K + 1)J/T² for all."""
    length = math.ceil(bounds.exploration_length(SMALL))
    assert bounds.slope_order_error(SMALL) == bounds.slope_order_error(SMALL, length)
    assert bounds.slope_order_error(SMALL) <= 6 / 1000**2
    assert bounds.wrong_order_probability(SMALL) <= 10 / 1000**2


def test_chances_by_hand() -> None:
    """E = 200: 50 tries each; too rare e^{−δ²πE/2} = e^{−12.5} against Hoeffding's e^{−25}."""
    rare, off = 2 * math.exp(-25), math.exp(-50 * 0.36 / 8)
    assert bounds.slope_order_error(SMALL, 200) == pytest.approx(rare + 4 * off)
    assert bounds.wrong_order_probability(SMALL, 200) == pytest.approx(rare + 2 * 2 * off)


def test_simulated_orders_are_wrong_less_often() -> None:
    """After 200 rounds the bound is below 1, and the share of wrong orders is below it."""
    rng = np.random.default_rng(1)
    bound = bounds.slope_order_error(SMALL, 200)
    assert 0.01 < bound < 1
    contexts = rng.random((4000, 200)) < 0.5
    rewards = rng.random((4000, 200)) < np.where(contexts, 0.9, 0.3)
    first = (rewards & contexts).sum(axis=1) / contexts.sum(axis=1)
    second = (rewards & ~contexts).sum(axis=1) / (~contexts).sum(axis=1)
    assert np.mean(first <= second) <= bound


def test_tries_that_pass_the_confidence_test_by_hand() -> None:
    """Costs 1 and 2: half the dearest apart, so Δ' = ¼ · 0.2 = 0.05, and log 1000 / 0.0025."""
    problem = al.Problem(
        context_probs=[1], reward_means=[[0.3, 0.5]], costs=[1, 2], horizon=1000, budget=900
    )
    assert bounds.confidence_test_tries(problem, gap=0.2) == pytest.approx(math.log(1000) / 0.0025)
    assert bounds.confidence_test_error(problem) == pytest.approx(4e-6)
    assert bounds.confidence_test_error(problem, tests=10) == pytest.approx(4e-5)
    assert bounds.confidence_test_error(problem, tests=10**9) == 1.0


@pytest.mark.parametrize("tries", [30, 120])
def test_a_comparison_passes_wrongly_with_a_chance_below_that_of_the_test(tries: int) -> None:
    """Slopes of two contexts, equal but for 1e-3, at T = 20: T⁻² = 0.0025, four standard errors."""
    horizon, runs = 20, 200_000
    rng = np.random.default_rng(2)
    worse = rng.binomial(tries, 0.5, runs) / tries
    better = rng.binomial(tries, 0.501, runs) / tries
    passes = np.exp(-2 * ((worse - better) / 2) ** 2 * tries) <= horizon**-2.0
    wrong = float(np.mean(passes & (worse > better)))
    assert wrong <= horizon**-2.0 + 4 * math.sqrt(horizon**-2.0 / runs)
