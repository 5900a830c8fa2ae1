"""Lemmas of the paper against exact probabilities."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.bound_problems import three, two

from almoner import bounds
from almoner.policy.recipes import alp, ucb_alp
from almoner.problem import Problem
from almoner.simulation.simulate import simulate
from almoner.types import Floats


def hypergeometric(horizon: int, budget: int, left: int) -> tuple[Floats, Floats]:
    """Return values of the budget left and their probabilities, by counting."""
    values = range(max(0, left - horizon + budget), min(budget, left) + 1)
    ways = [
        math.comb(budget, value) * math.comb(horizon - budget, left - value) for value in values
    ]
    probs = [way / math.comb(horizon, left) for way in ways]
    return np.array(values, np.float64), np.array(probs)


@st.composite
def urns(draw: st.DrawFn) -> tuple[int, int, int]:
    horizon = draw(st.integers(1, 80))
    return horizon, draw(st.integers(0, horizon)), draw(st.integers(0, horizon))


@given(urns())
def test_moments_of_the_budget_left_are_those_of_the_urn(urn: tuple[int, int, int]) -> None:
    horizon, budget, left = urn
    values, probs = hypergeometric(*urn)
    mean, variance = bounds.remaining_budget(three(budget, horizon), left)
    assert mean == pytest.approx(values @ probs, abs=1e-9)
    assert variance == pytest.approx((values - mean) ** 2 @ probs, abs=1e-9)


@given(urns(), st.integers(1, 60))
def test_the_tail_of_the_urn_stays_under_lemma_2(urn: tuple[int, int, int], percent: int) -> None:
    horizon, budget, left = urn
    values, probs = hypergeometric(*urn)
    gap = percent / 100
    bound = bounds.remaining_budget_tail(three(budget, horizon), left, gap=gap)
    ratio = budget / horizon
    for beyond in (values < (ratio - gap) * left - 1e-9, values > (ratio + gap) * left + 1e-9):
        assert probs[beyond].sum() <= bound + 1e-12


def test_lemma_2_by_hand() -> None:
    """T = 5, B = 2, τ = 3: mean .4·3; variance 3·.4·.6·(2/4) = .36; tail e^{−2·.25·3}."""
    problem = three(2, 5)
    assert bounds.remaining_budget(problem, 3) == pytest.approx((1.2, 0.36))
    assert bounds.remaining_budget_tail(problem, 3, gap=0.5) == pytest.approx(math.exp(-1.5))


def test_a_budget_for_everybody_loses_one_each_round() -> None:
    assert bounds.remaining_budget(three(130), 40) == pytest.approx((70, 0))
    assert bounds.remaining_budget(three(1, 1), 1) == (1, 0)


@pytest.mark.parametrize(
    ("problem", "room"),
    [
        pytest.param(three(130), -0.3, id="more actions than rounds"),
        pytest.param(
            three(70, reward_means=[[0.9, 0.1], [0.6, 0.4], [0.0, 0.0], [0.1, 0.1]]),
            0.8 - 0.7,
            id="a context that brings nothing",
        ),
    ],
)
def test_budget_that_no_round_can_use_exceeds_lemma_2(problem: Problem, room: float) -> None:
    """Before round 51 of 100 the share of runs off by more than the gap, 4 standard errors on top.

    With 130 actions 80 are left for certain, 1.6 a round: more than the lemma allows at any gap.
    """
    runs = 2000
    left = simulate(problem, alp(), runs=runs, seed=3, marks=[51]).budget_left[:, 0]
    ratio = min(1.0, problem.ratio) if room < 0 else problem.ratio
    for gap in (0.02, 0.1, 0.15, 0.25):
        bound = bounds.remaining_budget_tail(problem, 50, gap=gap)
        assert np.mean(left > (ratio + gap) * 50 + 1e-9) <= bound + 4 * math.sqrt(bound / runs)
        expected = 1.0 if room < 0 else math.exp(-100 * min(gap, room) ** 2)
        assert bound == pytest.approx(expected)


def test_lemma_2_holds_while_learning() -> None:
    """UCB-ALP, under any ranking, takes an action with probability b/τ (4 standard errors)."""
    runs = 4000
    problem = three(120, 300)
    marks = [50, 151, 281]
    left_at = simulate(problem, ucb_alp(), runs=runs, seed=3, marks=marks).budget_left
    for left, sample in zip([251, 150, 20], left_at.T, strict=True):
        mean, variance = bounds.remaining_budget(problem, left)
        assert sample.mean() == pytest.approx(mean, abs=4 * math.sqrt(variance / runs))
        # A nearly normal sample variance has a relative standard error of √(2/n).
        assert sample.var() == pytest.approx(variance, rel=4 * math.sqrt(2 / runs))


# Lemmas 3 to 5


def binomial(count: int, mean: float) -> Floats:
    """Probabilities of 0 … count successes; in logarithms, as the ways are too many for a float."""
    ways = [math.log(math.comb(count, wins)) for wins in range(count + 1)]
    wins = np.arange(count + 1)
    return np.exp(ways + wins * math.log(mean) + (count - wins) * math.log1p(-mean))


@pytest.mark.parametrize("at_round", [2, 20, 100])
@pytest.mark.parametrize("better_pulls", [1, 7, 60])
def test_lemma_3_holds_for_counts_fixed_in_advance(at_round: int, better_pulls: int) -> None:
    problem = three(40)
    pulls = math.ceil(bounds.pulls_needed(problem, gap=0.6))
    worse = np.arange(pulls + 1) / pulls + math.sqrt(math.log(at_round) / (2 * pulls))
    better = np.arange(better_pulls + 1) / better_pulls
    better += math.sqrt(math.log(at_round) / (2 * better_pulls))
    wrong = worse[:, None] >= better
    error = binomial(pulls, 0.3) @ wrong @ binomial(better_pulls, 0.9)
    assert error <= bounds.ranking_error_probability(at_round)


def test_lemma_3_fails_for_counts_that_depend_on_rewards() -> None:
    """One context, two actions: Bernoulli(.9), and .5 without noise. All rounds may be paid for.

    With T = 800, ℓ = 2 log 800 / .4² = 83.6. The worse action has been taken that often before
    round 98 only on paths on which the better one has failed and failed, and on all of these it is
    still ranked first, where the lemma as printed allows a probability of 2/98.
    """
    at_round, better, worse = 98, 0.9, 0.5
    problem = Problem(context_probs=[1], reward_means=[[better, worse]], horizon=800, budget=800)
    needed = bounds.pulls_needed(problem, gap=better - worse)
    paths = {(0, 0): 1.0}  # pulls and successes of the better action, and how likely they are

    def lead(pulls: int, wins: int, t: int) -> float:
        index = wins / pulls + math.sqrt(math.log(t) / (2 * pulls)) if pulls else 1.0
        others = t - 1 - pulls
        return index - (worse + math.sqrt(math.log(t) / (2 * others)) if others else 1.0)

    for t in range(1, at_round):
        after: dict[tuple[int, int], float] = {}
        for (pulls, wins), chance in paths.items():
            ahead = lead(pulls, wins, t)
            share = 0.5 if abs(ahead) < 1e-12 else float(ahead > 0)
            for state, part in (
                ((pulls + 1, wins + 1), share * better),
                ((pulls + 1, wins), share * (1 - better)),
                ((pulls, wins), 1 - share),
            ):
                after[state] = after.get(state, 0.0) + chance * part
        paths = after
    often = {state: p for state, p in paths.items() if p and at_round - 1 - state[0] >= needed}
    wrong = sum(p for state, p in often.items() if lead(*state, at_round) <= 0)
    assert 1e-6 < sum(often.values()) < 2e-6
    assert wrong == sum(often.values())
    assert wrong <= bounds.ranking_error_probability(at_round)  # not given the count: no failure


def test_lemma_3_by_hand() -> None:
    """2 log 1000 / .5² = 13.81551 / .25 = 55.26204; 2/8; and a probability is at most 1."""
    assert bounds.pulls_needed(two(400), gap=0.5) == pytest.approx(55.26204, abs=1e-5)
    assert bounds.ranking_error_probability(8) == 0.25
    assert bounds.ranking_error_probability(1) == 1


@pytest.mark.parametrize("chance", [0.05, 0.3, 0.8])
def test_lemma_5_bounds_the_binomial_tail(chance: float) -> None:
    probs = binomial(60, chance)
    for executions in range(int(60 * chance)):
        gap = chance - executions / 60
        assert probs[: executions + 1].sum() <= bounds.execution_tail(60, gap=gap)


@pytest.mark.parametrize("horizon", [2, 10, 50])
@pytest.mark.parametrize("chance", [0.02, 0.1, 0.5])
def test_a_pair_seldom_falls_short_of_a_third_of_its_chances(chance: float, horizon: int) -> None:
    """The step of Lemma 6 and of the two-context theorem that needs more than Lemma 5.

    With N = 27 log T / 2g chances of probability g (a gap of 1, the worst case), fewer than gN/3
    executions have probability T⁻⁴ at most, though at a gap of ⅔g Lemma 5 gives far less than that.
    """
    chances = math.ceil(13.5 * math.log(horizon) / chance)
    fewer = math.ceil(chances * chance / 3)
    probs = binomial(chances, chance)
    assert probs[:fewer].sum() <= horizon**-4.0
    if chance < 0.2:
        assert bounds.execution_tail(chances, gap=chance * 2 / 3) > horizon**-4.0
        assert bounds.execution_tail(chances, gap=2 / 3) < probs[:fewer].sum()  # as printed
