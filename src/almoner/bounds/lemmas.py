"""The paper's lemmas at equal costs as numbers: budget left, tail bounds, ranking errors.

The letters are those of `almoner.bounds.equal_costs`.
"""

from __future__ import annotations

import math

import numpy as np

from almoner import checks
from almoner.bounds.ranked_problem import RankedProblem
from almoner.lp import TOLERANCE
from almoner.problem import Problem

__all__ = [
    "action_regret",
    "execution_tail",
    "pulls_needed",
    "ranking_error_probability",
    "ranking_errors",
    "remaining_budget",
    "remaining_budget_tail",
]


def remaining_budget(problem: Problem, rounds_left: int) -> tuple[float, float]:
    """Return mean and variance of b_τ under `alp` and `ucb_alp` (Lemma 2, first part).

    A round takes an action with probability b_τ/τ, as if T balls, B of them black, were drawn one
    by one: b_τ is hypergeometric, with mean ρτ and variance τρ(1−ρ)(T−τ)/(T−1). (Our `alp` does
    not pay in a context that brings nothing; where one comes, it has more left than this.)

    Examples
    --------
    >>> problem = Problem(context_probs=[1], reward_means=[[0.5]], horizon=5, budget=2)
    >>> [round(moment, 4) for moment in remaining_budget(problem, 3)]
    [1.2, 0.36]
    """
    case, left = RankedProblem.of(problem), checks.whole("rounds_left", rounds_left, low=0)
    if left > case.horizon:
        raise checks.refuse("rounds_left", f"be at most the horizon, {case.horizon}", left)
    idle = max(0, case.budget - case.horizon)  # the rounds cannot use it
    drawn = (case.horizon - left) / max(1, case.horizon - 1)
    return idle + case.ratio * left, drawn * left * case.ratio * (1 - case.ratio)


def remaining_budget_tail(problem: Problem, rounds_left: int, *, gap: float) -> float:
    """Bound P(b_τ < (ρ−δ)τ), and likewise P(b_τ > (ρ+δ)τ), by e^{−2δ²τ} (Lemma 2, second part).

    ``gap`` is δ > 0, in actions per round. Where some rounds never pay (more actions than rounds,
    or contexts that bring nothing), money is left that no policy can use: a gap counts only up to
    the share of rounds that can use it, and beyond it the bound is 1.

    Examples
    --------
    >>> problem = Problem(context_probs=[1], reward_means=[[0.5]], horizon=100, budget=40)
    >>> round(remaining_budget_tail(problem, 50, gap=0.1), 4)
    0.3679
    """
    remaining_budget(problem, rounds_left)  # checks the arguments
    tail, case = execution_tail(rounds_left, gap=gap), RankedProblem.of(problem)
    useful = float(case.probs[case.best > 0].sum())
    room = useful - case.budget / case.horizon
    if (case.budget <= case.horizon and useful >= 1 - TOLERANCE) or gap <= room:
        return tail
    return execution_tail(rounds_left, gap=room) if room > 0 else 1.0


def pulls_needed(problem: Problem, *, gap: float) -> float:
    """Return ℓ = 2 log T / Δ², how often to pull a pair that is worse by Δ = ``gap`` (Lemma 3).

    From then on `ranking_error_probability` bounds how likely its index is to be the higher one.

    Examples
    --------
    >>> problem = Problem(context_probs=[1], reward_means=[[0.3, 0.8]], horizon=1000, budget=400)
    >>> round(pulls_needed(problem, gap=0.5), 2)
    55.26
    """
    return 2 * math.log(problem.horizon) / checks.number("gap", gap, above=0) ** 2


def ranking_error_probability(at_round: int) -> float:
    """Bound by 2/t the probability that in round t a worse pair has the higher UCB (Lemma 3).

    It is Hoeffding's inequality, for a pair pulled at least ℓ times and counts fixed in advance.
    The paper conditions on counts that the rewards have steered, where it can fail (the tests show
    a case); the bounds for policies that learn inherit this step.

    Examples
    --------
    >>> ranking_error_probability(500)
    0.004
    """
    return min(1.0, 2 / checks.whole("at_round", at_round))


def execution_tail(chances: int, *, gap: float) -> float:
    """Bound by e^{−2ε²N} the probability of (p−ε)N executions or fewer in N chances (Lemma 5).

    A chance is a round in which a pair is executed with probability p or more, whatever came
    before; executions may steer which rounds become chances. ``chances`` is N, ``gap`` is ε.

    Examples
    --------
    >>> round(execution_tail(200, gap=0.1), 4)
    0.0183
    """
    chances = checks.whole("chances", chances, low=0)
    return math.exp(-2 * checks.number("gap", gap, above=0) ** 2 * chances)


def action_regret(problem: Problem) -> float:
    """Bound the regret of `ucb_alp` and `ucb_pb` for wrong actions within a context (Lemma 4).

    Σ_j Σ_k (2/Δ + 2Δ) log T + 2Δ over the actions with a positive gap Δ = u*_j − u_jk.

    Examples
    --------
    >>> problem = Problem(context_probs=[1], reward_means=[[0.3, 0.8]], horizon=1000, budget=400)
    >>> round(action_regret(problem), 2)
    35.54
    """
    gaps = RankedProblem.of(problem).action_gaps
    return float(np.sum((2 / gaps + 2 * gaps) * math.log(problem.horizon) + 2 * gaps))


def ranking_errors(problem: Problem) -> tuple[float, float]:
    """Bound the expected rounds in which `ucb_alp` misplaces a context (Lemma 6).

    First those that belong above the marginal one, j < m: Σ_j Σ_k (27 / (2 g_m Δ²) + 2) log T + 2
    + T⁻³ with Δ = u*_j − u_mk; then those below, j > m: the same with g_j and Δ = u*_m − u_jk. Here
    g_j = min(π_j, δ), δ half the δ of `alp_regret`. Each kind that has members also gets
    2 / (e^{2δ²} − 1), for the rounds in which b_τ/τ is further than δ from ρ.

    T⁻³ is T rounds of T⁻⁴. The paper takes that from `execution_tail` with ε = ⅔ as a share of p,
    which would need ε = ⅔p; the multiplicative Chernoff bound e^{−(ε + (1−ε) log(1−ε)) pN} does
    give T^{−4.05/Δ²}.

    Examples
    --------
    >>> problem = Problem(
    ...     context_probs=[0.4, 0.6], reward_means=[[0.8], [0.4]], horizon=1000, budget=500)
    >>> [round(errors) for errors in ranking_errors(problem)]
    [12072, 0]
    """
    case = RankedProblem.of(problem)
    rare = 2 + case.horizon**-3.0
    above, below = (
        float(np.sum(each * math.log(case.horizon) + rare)) + (2 * case.series if len(each) else 0)
        for each in case.error_constants()
    )
    return above, below
