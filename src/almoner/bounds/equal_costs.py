"""Regret bounds at equal costs: Theorems 1 to 4 of the paper as numbers, with every constant.

Letters, with contexts numbered by falling best reward, and only those of π_j > 0: π_j is
the probability of context j, q_j = π_1 + … + π_j, u_jk a mean reward, u*_j = max_k u_jk; T rounds,
a budget for B whole actions, ρ = B/T, b_τ the budget left, in actions, with τ rounds to go; v(ρ)
the value of the LP and ū* = Σ_j π_j u*_j its value without a budget. ρ is *on a boundary* if it
equals some q_j, j < J. The *marginal* context m is the last one that the LP serves:
q_{m−1} < ρ ≤ q_m.

Regret is against `upper_bound`, hence also against the oracle; that of `ucb_pb` against the oracle
only. A budget between two numbers of whole actions raises the upper bound, which is the LP's value
at that budget, but pays for no further action. The theorems are about whole numbers, so T times the
difference of the two values comes on top of each bound against the upper bound.
The bounds are loose: they show what is proved, not what to expect. Actions of one context that tie
are harmless, so sums over actions leave out gaps of zero; where a proof has to tell contexts apart
that tie, it proves nothing, and the number is infinite. With a budget for nobody (ρ = 0) or for
everybody (ρ ≥ 1), or where all contexts tie, only the choice among actions can cost.
"""

from __future__ import annotations

import math

import numpy as np

from almoner.bounds.lemmas import action_regret, ranking_errors
from almoner.bounds.ranked_problem import RankedProblem, error_constants
from almoner.errors import NotComputable
from almoner.problem import Problem

__all__ = [
    "alp_regret",
    "truncation_round",
    "ucb_alp_log_constants",
    "ucb_alp_regret",
    "ucb_pb_regret",
]


def alp_regret(problem: Problem) -> float:
    """Bound the regret of `alp` (Theorem 1).

    Off the boundaries (u*_1 − u*_J) / (1 − e^{−2δ²}), where δ is the distance from ρ to the nearest
    q_j. On a boundary δ is the distance to the next one, and 2 (u*_1 − u*_J) √(ρ(1−ρ)T) comes on
    top. Contexts that tie for the best reward are one to the LP and count as one here.

    Examples
    --------
    >>> from almoner import alp, exact_value, upper_bound
    >>> problem = Problem(
    ...     context_probs=[0.4, 0.6], reward_means=[[0.8], [0.4]], horizon=10_000, budget=3_900)
    >>> round(alp_regret(problem)), round(upper_bound(problem) - exact_value(problem, alp()), 1)
    (2000, 4.0)
    """
    case = RankedProblem.of(problem, merge=True)
    if not case.contested:
        return case.cut
    root = case.root if case.on_boundary else 0.0
    return case.cut + case.spread * (root - 1 / math.expm1(-2 * case.distance**2))


def ucb_alp_log_constants(problem: Problem) -> tuple[float, float]:
    """Return Θ^(a) and Θ^(c), the factors of log T in `ucb_alp_regret` (Theorem 2).

    Θ^(a) = Σ 2/Δ + 2Δ as in `action_regret`, and Θ^(c) = w Σ 27 / (2gΔ²) + 2 as in
    `ranking_errors`, with w = v(ρ) on a boundary and ū* + v(ρ) off it. (The twos add up to
    2K(J−1), which the paper rounds up to 2KJ.)

    Examples
    --------
    >>> problem = Problem(
    ...     context_probs=[0.4, 0.6], reward_means=[[0.3, 0.8], [0.2, 0.4]], horizon=50, budget=20)
    >>> [round(constant, 2) for constant in ucb_alp_log_constants(problem)]
    [15.4, 196.28]
    """
    case = RankedProblem.of(problem)
    errors = sum(float(each.sum()) for each in case.error_constants())
    return float(np.sum(2 / case.action_gaps + 2 * case.action_gaps)), case.error_cost * errors


def ucb_alp_regret(problem: Problem) -> float:
    """Bound the regret of `ucb_alp` (Theorem 2, every term at this horizon).

    With E the sum of `ranking_errors`, and δ as there: `action_regret` plus, off the boundaries,
    (u*_1 − u*_J + 2ū*) / (e^{2δ²} − 1) + (ū* + v(ρ)) E, and on one
    2 u*_1 √(ρ(1−ρ)T) + 2 v(ρ) / (e^{2δ²} − 1) + v(ρ) E.

    Examples
    --------
    >>> problem = Problem(
    ...     context_probs=[0.4, 0.6], reward_means=[[0.8], [0.4]], horizon=10_000, budget=4_000)
    >>> round(ucb_alp_regret(problem))
    1344
    """
    case = RankedProblem.of(problem)
    regret = case.cut + action_regret(problem)
    if not case.contested:
        return regret
    if case.on_boundary:
        drift = float(case.best[0]) * case.root + 2 * case.value * case.series
    else:
        drift = (case.spread + 2 * case.unlimited) * case.series
    return regret + drift + case.error_cost * sum(ranking_errors(problem))


def ucb_pb_regret(problem: Problem) -> float:
    """Bound the regret of `ucb_pb` against the oracle (Theorem 3, every term).

    `action_regret` plus Σ_k (27 / (2π_2 Δ) + 2Δ) log T + (2 + T⁻³) Δ with Δ = u*_1 − u_2k, for the
    rounds in which the worse context looks the better one; on and off the boundaries alike.

    Examples
    --------
    >>> problem = Problem(
    ...     context_probs=[0.4, 0.6], reward_means=[[0.8], [0.4]], horizon=10_000, budget=4_000)
    >>> round(ucb_pb_regret(problem))
    526
    """
    case, regret = RankedProblem.of(problem), action_regret(problem)
    if len(case.probs) > 2:
        raise NotComputable(
            f"the bound for ucb_pb needs two contexts, got {len(case.probs)}; use ucb_alp_regret"
        )
    if not case.contested:
        return regret
    gaps = case.best[0] - case.means[1]
    errors = error_constants(gaps, case.probs[1]) * math.log(case.horizon) + 2
    return regret + float(gaps @ (errors + case.horizon**-3.0))


def truncation_round(problem: Problem) -> tuple[float, bool]:
    """Return T₁ = 16 J² log³T / δ², and whether T is long enough (Theorem 4, on `ealp2`).

    With the context shares frozen after round T₁ regret is O(1), provided that
    log³T / T ≤ δ³ / (64 J²). δ is the distance from ρ to the nearest q_j; on a boundary there is no
    such round.

    Examples
    --------
    >>> problem = Problem(
    ...     context_probs=[0.4, 0.6], reward_means=[[0.8], [0.4]], horizon=10_000, budget=3_900)
    >>> last_round, long_enough = truncation_round(problem)
    >>> f"{last_round:.2g}", long_enough
    ('5e+08', False)
    """
    case = RankedProblem.of(problem)
    if case.on_boundary or not 0 < case.ratio < 1:
        return math.inf, False
    scale = len(case.probs) ** 2 * math.log(case.horizon) ** 3
    return 16 * scale / case.distance**2, 64 * scale <= case.distance**3 * case.horizon
