"""The paper's theorems on equal costs as numbers: what is proved, constants and all.

Letters, with contexts numbered by falling best reward and those that never come left out: π_j is
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
from dataclasses import dataclass

import numpy as np

from almoner import checks
from almoner.checks import Floats
from almoner.errors import NotComputable
from almoner.money import on_grid
from almoner.problem import Problem

__all__ = [
    "action_regret",
    "alp_regret",
    "execution_tail",
    "pulls_needed",
    "ranking_error_probability",
    "ranking_errors",
    "remaining_budget",
    "remaining_budget_tail",
    "truncation_round",
    "ucb_alp_log_constants",
    "ucb_alp_regret",
    "ucb_pb_regret",
]

TOLERANCE = 1e-12
"""Ratios, boundaries and rewards nearer than this are equal, as they are to the LP."""


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
    case = _case(problem, merge=True)
    if not case.contested:
        return case.cut
    root = case.root if case.on_boundary else 0.0
    return case.cut + case.spread * (root - 1 / math.expm1(-2 * case.distance**2))


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
    case, left = _case(problem), checks.whole("rounds_left", rounds_left, low=0)
    if left > case.horizon:
        raise checks.refuse("rounds_left", f"be at most the horizon, {case.horizon}", left)
    idle = max(0, case.budget - case.horizon)  # more than the rounds can use stays to the end
    drawn = (case.horizon - left) / max(1, case.horizon - 1)
    return idle + case.ratio * left, drawn * left * case.ratio * (1 - case.ratio)


def remaining_budget_tail(problem: Problem, rounds_left: int, *, gap: float) -> float:
    """Bound P(b_τ < (ρ−δ)τ), and likewise P(b_τ > (ρ+δ)τ), by e^{−2δ²τ} (Lemma 2, second part).

    ``gap`` is δ > 0, in actions per round. Where some rounds never pay (more actions than rounds,
    or contexts that bring nothing), money piles up that no plan can use: a gap counts only up to
    the share of rounds that can use it, and beyond it the bound is 1.

    Examples
    --------
    >>> problem = Problem(context_probs=[1], reward_means=[[0.5]], horizon=100, budget=40)
    >>> round(remaining_budget_tail(problem, 50, gap=0.1), 4)
    0.3679
    """
    remaining_budget(problem, rounds_left)  # for its checks
    tail, case = execution_tail(rounds_left, gap=gap), _case(problem)
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
    """Bound what `ucb_alp` and `ucb_pb` lose to the wrong action in a context (Lemma 4).

    Σ_j Σ_k (2/Δ + 2Δ) log T + 2Δ over the actions with a positive gap Δ = u*_j − u_jk.

    Examples
    --------
    >>> problem = Problem(context_probs=[1], reward_means=[[0.3, 0.8]], horizon=1000, budget=400)
    >>> round(action_regret(problem), 2)
    35.54
    """
    gaps = _case(problem).action_gaps
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
    case = _case(problem)
    rare = 2 + case.horizon**-3.0
    above, below = (
        float(np.sum(each * math.log(case.horizon) + rare)) + (2 * case.series if len(each) else 0)
        for each in case.error_constants()
    )
    return above, below


def ucb_alp_log_constants(problem: Problem) -> tuple[float, float]:
    """Return Θ^(a) and Θ^(c): what multiplies log T in `ucb_alp_regret`.

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
    case = _case(problem)
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
    case = _case(problem)
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
    case, regret = _case(problem), action_regret(problem)
    if len(case.probs) > 2:
        raise NotComputable(
            f"the bound for ucb_pb needs two contexts, got {len(case.probs)}; use ucb_alp_regret"
        )
    if not case.contested:
        return regret
    gaps = case.best[0] - case.means[1]
    errors = _error_constants(gaps, case.probs[1]) * math.log(case.horizon) + 2
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
    case = _case(problem)
    if case.on_boundary or not 0 < case.ratio < 1:
        return math.inf, False
    scale = len(case.probs) ** 2 * math.log(case.horizon) ** 3
    return 16 * scale / case.distance**2, 64 * scale <= case.distance**3 * case.horizon


@dataclass(frozen=True, kw_only=True, eq=False)
class _Case:
    """A problem as the proofs see it: the contexts that come, best first, and where ρ lies.

    ``cut`` is what the upper bound counts for the part of the budget that pays for no whole action.
    """

    horizon: int
    budget: int
    ratio: float
    probs: Floats
    means: Floats
    best: Floats
    margin: int
    on_boundary: bool
    distance: float
    value: float
    cut: float
    unlimited: float

    @property
    def spread(self) -> float:
        return float(self.best[0] - self.best[-1])

    @property
    def contested(self) -> bool:
        """Whether it matters whom the budget serves."""
        return 0 < self.budget < self.horizon and self.spread > TOLERANCE

    @property
    def root(self) -> float:
        """2√(ρ(1−ρ)T), which bounds Σ_τ √Var(b_τ)/τ."""
        return 2 * math.sqrt(self.ratio * (1 - self.ratio) * self.horizon)

    @property
    def series(self) -> float:
        """Σ_τ e^{−2δ²τ} = 1 / (e^{2δ²} − 1), with half the distance for δ."""
        return 1 / math.expm1(self.distance**2 / 2)

    @property
    def error_cost(self) -> float:
        """What the proof charges for a round with a ranking error."""
        return self.value if self.on_boundary else self.unlimited + self.value

    @property
    def action_gaps(self) -> Floats:
        gaps = self.best[:, None] - self.means
        return gaps[gaps > TOLERANCE]

    def error_constants(self) -> tuple[Floats, Floats]:
        """What multiplies log T in the errors of each pair above, and below, the margin."""
        if not self.contested:
            return np.empty(0), np.empty(0)
        chance, m = np.minimum(self.probs, self.distance / 2), self.margin
        above = _error_constants(self.best[:m, None] - self.means[m], chance[m])
        below = _error_constants(self.best[m] - self.means[m + 1 :], chance[m + 1 :, None])
        return above.ravel(), below.ravel()


def _error_constants(gaps: Floats, chance: Floats) -> Floats:
    """Return 27 / (2gΔ²) + 2: from 2 log T / (g(1−ε)ε²Δ²) at ε = ⅔, and from Σ_t 2/t."""
    squares: Floats = chance * np.where(gaps > TOLERANCE, gaps, 0) ** 2
    with np.errstate(divide="ignore"):
        return 13.5 / squares + 2


def _case(problem: Problem, *, merge: bool = False) -> _Case:
    grid = on_grid(problem.budget, problem.costs)
    if np.any(problem.costs != problem.costs.flat[0]):
        raise NotComputable(
            "the bounds need every action to cost the same, got costs from "
            f"{problem.costs.min():g} to {problem.costs.max():g}; use simulate"
        )
    if problem.default_rewards.any():
        raise NotComputable(
            "the bounds need skipping to bring nothing, got default_rewards up to "
            f"{problem.default_rewards.max():g}; use simulate"
        )
    order = np.argsort(-problem.reward_means.max(axis=1), kind="stable")
    order = order[problem.context_probs[order] > 0]
    probs, means = problem.context_probs[order], problem.reward_means[order]
    best = means.max(axis=1)
    if merge:
        first = np.flatnonzero(np.diff(best, prepend=math.inf) < -TOLERANCE)
        probs, means, best = np.add.reduceat(probs, first), means[first], best[first]
    edges = np.concatenate([[0.0], np.cumsum(probs)])
    ratio = min(1.0, grid.budget / problem.horizon)
    asked = max(ratio, min(1.0, problem.ratio / float(problem.costs.flat[0])))
    value, value_asked = (
        float(np.clip(each - edges[:-1], 0, probs) @ best) for each in (ratio, asked)
    )
    away, near = np.abs(edges - ratio), TOLERANCE * np.maximum(edges, ratio)
    return _Case(
        horizon=problem.horizon,
        budget=grid.budget,
        ratio=ratio,
        probs=probs,
        means=means,
        best=best,
        margin=int(np.sum(edges < ratio - near)) - 1,
        on_boundary=bool(np.any((away <= near)[1:-1])),
        distance=float(away[away > near].min()),  # δ of Theorem 1, its δ' on a boundary
        value=value,
        cut=problem.horizon * (value_asked - value),
        unlimited=float(probs @ best),
    )
