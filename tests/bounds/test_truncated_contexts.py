"""Lemmas 7 to 10 and Theorem 4, against the exact chain of the budget left after the freeze."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import almoner as al
from almoner import bounds
from almoner.types import Floats

PROBS = np.array([0.3, 0.5, 0.2])
MEANS = np.array([[0.9], [0.5], [0.2]])
HORIZON, BUDGET, UNTIL, ERROR = 240, 96, 12, 0.03
PROBLEM = al.Problem(context_probs=PROBS, reward_means=MEANS, horizon=HORIZON, budget=BUDGET)
GIVEN: dict[str, Any] = {"until": UNTIL, "error": ERROR}
SHARES = [
    PROBS + np.array(change)
    for change in ([0.03, -0.03, 0.0], [-0.03, 0.0, 0.03], [-0.03, 0.03, 0.0], [0.0, 0.0, 0.0])
]
"""Frozen shares that are off by no more than `ERROR`, contexts ranked best first."""


def serving(shares: Floats, ratio: float) -> float:
    """Return h(ratio): the probability of spending with these frozen shares, as the LP has it."""
    if ratio >= 1:
        return 1.0
    below = np.concatenate([[0.0], np.cumsum(shares)[:-1]])
    return float(PROBS @ np.clip((ratio - below) / shares, 0, 1))


def carried(shares: Floats, left: int, budget: int, until: int) -> Floats:
    """Return the distribution of the budget with ``until`` rounds left, from (left, budget)."""
    law = np.zeros(budget + 1)
    law[budget] = 1.0
    for tau in range(left, until, -1):
        spend = np.array([serving(shares, b / tau) for b in range(budget + 1)])
        spend[0] = 0.0
        law = law * (1 - spend) + np.append(law[1:] * spend[1:], 0.0)
    return law


FREEZE = HORIZON - UNTIL
"""Rounds left when the shares are frozen."""


@pytest.mark.parametrize("shares", SHARES)
@pytest.mark.parametrize("spent", [0, 5, UNTIL])
def test_the_mean_ratio_stays_within_the_drift(shares: Floats, spent: int) -> None:
    for left in (200, 100, 20, 3, 1):
        law = carried(shares, FREEZE, BUDGET - spent, left)
        ratio = float(law @ np.arange(len(law))) / left
        bound = bounds.frozen_budget_drift(PROBLEM, left, until=UNTIL, error=ERROR)
        assert abs(ratio - PROBLEM.ratio) <= bound + 1e-12


@pytest.mark.parametrize("shares", SHARES)
def test_tails_and_differences_hold_for_the_exact_chain(shares: Floats) -> None:
    for left in (150, 60, 10):
        law = carried(shares, FREEZE, BUDGET - 4, left)
        budgets = np.arange(len(law))
        mean = float(law @ budgets)
        for gap in (0.05, 0.1, 0.2):
            tail = float(law[np.abs(budgets - mean) >= gap * left].sum())
            assert tail <= bounds.frozen_budget_tail(PROBLEM, left, gap=gap, **GIVEN)
        for since in (FREEZE - 1, 180):
            richer = carried(shares, since, BUDGET - 10, left)
            poorer = carried(shares, since, BUDGET - 11, left)
            change = float(richer @ np.arange(len(richer)) - poorer @ np.arange(len(poorer)))
            product = math.prod(
                bounds.coupling_probability(PROBLEM, tau, **GIVEN)
                for tau in range(left + 1, since + 1)
            )
            assert change <= product + 1e-12
            bound = bounds.budget_difference(PROBLEM, left, since=since, **GIVEN)
            assert product <= bound


@pytest.mark.parametrize("shares", SHARES)
def test_serving_rises_with_the_budget_as_lemma_10_needs(shares: Floats) -> None:
    for tau in (50, 7, 2):
        rises = [serving(shares, (b + 1) / tau) - serving(shares, b / tau) for b in range(tau)]
        assert 1 - min(rises) <= bounds.coupling_probability(PROBLEM, tau, **GIVEN) + 1e-12


def test_the_chain_is_that_of_the_policy() -> None:
    """Shares frozen by ealp2 after some rounds, and the probability with which it then serves."""
    trace = al.trace(PROBLEM, al.ealp2(until=UNTIL), seed=4)
    shares = np.bincount(trace.contexts[:UNTIL], minlength=3) / UNTIL
    below = np.concatenate([[0.0], np.cumsum(shares)[:-1]])
    assert (shares > 0).all()
    for t in range(UNTIL, 200):
        left, tau, context = trace.budget_left[t - 1], HORIZON - t, trace.contexts[t]
        served = float(np.clip((left / tau - below[context]) / shares[context], 0, 1))
        expected = served if trace.actions[t] != al.SKIP else 1 - served
        assert trace.probabilities[t] == pytest.approx(expected, abs=1e-9)


def test_numbers_worked_by_hand() -> None:
    """J = 3, δ = 0.1: 0.4 lies between 0.3 and 0.8."""
    error, chance = bounds.frozen_shares_error(PROBLEM, until=200, error=0.1)
    assert error == 0.1
    assert chance == pytest.approx(6 * math.exp(-2 * 0.01 * 200))
    sigma = 0.03 / 0.23
    assert bounds.coupling_probability(PROBLEM, 5, **GIVEN) == pytest.approx(1 - (1 - sigma) / 5)
    assert bounds.budget_difference(PROBLEM, 50, since=200, **GIVEN) == pytest.approx(
        2 * 0.25 ** (1 - sigma)
    )
    squares = 4 * (1 + 60 / (1 - 2 * sigma))
    assert bounds.frozen_budget_tail(PROBLEM, 60, gap=0.2, **GIVEN) == pytest.approx(
        min(1, 2 * math.exp(-2 * 12**2 / squares))
    )
    start = max(0.4 - 84 / 229, 96 / 229 - 0.4)
    assert bounds.frozen_budget_drift(PROBLEM, 227, **GIVEN) == pytest.approx(
        start + 0.09 * (1 / 227 + 1 / 228)
    )


def test_the_paper_s_numbers_make_the_shares_wrong_with_chance_2j_over_t_squared() -> None:
    long = PROBLEM.scaled(10**11)
    error, chance = bounds.frozen_shares_error(long)
    assert error == pytest.approx(0.1 / (12 * math.log(10**11)))
    assert chance == pytest.approx(6e-22, rel=1e-6)
    assert bounds.truncation_round(long)[1]


def test_regret_has_every_term() -> None:
    """Two contexts of ½, ρ = ¼: δ = ¼; the terms by hand at T = 10⁹."""
    horizon = 10**9
    problem = al.Problem(
        context_probs=[0.5, 0.5], reward_means=[[0.8], [0.4]], horizon=horizon, budget=horizon // 4
    )
    log = math.log(horizon)
    until, error = 16 * 4 * log**3 / 0.0625, 0.25 / (8 * log)
    last = horizon - math.ceil(until)
    start = max(0.25 - (horizon / 4 - until) / (last + 1), horizon / 4 / (last + 1) - 0.25)
    gap = 0.25 - 2 * error - start - 2 * error * (1 + math.log(last))
    slack = 1 - 2 * error / (0.5 + error)
    rounds = 4 / math.expm1(0.0625 / 32) + (horizon - until) * 4 / horizon**2
    rounds += 2 * math.exp(gap**2 / 2 * slack**2) / math.expm1(gap**2 / 2 * slack)
    assert bounds.ealp2_regret(problem) == pytest.approx(0.4 * rounds, rel=1e-9)
    longer = problem.scaled(10**11)
    assert bounds.ealp2_regret(longer) < bounds.ealp2_regret(problem)  # O(1): g grows to 3δ/4 − …


def test_where_nothing_is_proved_the_bound_is_infinite() -> None:
    assert bounds.ealp2_regret(PROBLEM) == math.inf  # too short
    assert bounds.ealp2_regret(PROBLEM.scaled(10**11, ratio=0.3)) == math.inf  # on a boundary
    assert bounds.ealp2_regret(PROBLEM.scaled(100, ratio=1)) == 0.0  # enough for everybody
    wide = bounds.frozen_budget_tail(PROBLEM, 10, gap=0.1, until=5, error=0.5)
    assert wide == 1.0


def test_regret_bound_holds_in_simulation_where_it_is_finite() -> None:
    """A wide margin and a long freeze make it finite at a horizon that can be simulated."""
    problem = al.Problem(context_probs=[1.0], reward_means=[[0.8, 0.3]], horizon=1000, budget=400)
    assert bounds.ealp2_regret(problem) == 0.0
    regret = al.simulate(problem, al.ealp2(until=50), runs=20, against="upper bound").regret
    assert regret.max <= 1e-9


def test_bad_arguments_are_refused() -> None:
    with pytest.raises(al.InvalidInput, match="at least rounds_left"):
        bounds.budget_difference(PROBLEM, 50, since=20)
    with pytest.raises(al.InvalidInput, match="error"):
        bounds.frozen_shares_error(PROBLEM, error=0)
