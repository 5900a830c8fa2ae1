"""Bounds for `ealp2`, whose shares of the contexts are frozen after round T₁: Lemmas 7 to 10.

The letters are those of `almoner.bounds.equal_costs`. J is the number of contexts, δ the distance
from ρ to the nearest boundary, and α the error of the frozen shares. The paper takes
T₁ = 16 J² log³T / δ² and α = δ / (4J log T); ``until`` and ``error`` give others. σ is the largest
α / (π_j + α), by which the probability of serving may rise too slowly with the budget left.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from almoner import checks
from almoner.bounds.equal_costs import truncation_round
from almoner.bounds.ranked_problem import RankedProblem
from almoner.problem import Problem

__all__ = [
    "budget_difference",
    "coupling_probability",
    "ealp2_regret",
    "frozen_budget_drift",
    "frozen_budget_tail",
    "frozen_shares_error",
]


def frozen_shares_error(
    problem: Problem, *, until: int | None = None, error: float | None = None
) -> tuple[float, float]:
    """Return α, and a bound on the probability that some frozen share is off by more (Step 1).

    2J e^{−2α²T₁} by Hoeffding's inequality; with the paper's α and T₁ it is 2J / T².

    Examples
    --------
    >>> problem = Problem(
    ...     context_probs=[0.5, 0.5], reward_means=[[0.8], [0.4]], horizon=10**9, budget=25 * 10**7)
    >>> error, probability = frozen_shares_error(problem)
    >>> round(error, 5), f"{probability:.1g}"
    (0.00151, '4e-18')
    """
    case = _Truncation.of(problem, until, error)
    return case.error, case.share_error_probability


def frozen_budget_drift(
    problem: Problem, rounds_left: int, *, until: int | None = None, error: float | None = None
) -> float:
    """Bound |E[b_τ/τ] − ρ| after the freeze, the frozen shares being off by at most α (Lemma 7).

    The most that T₁ rounds can move the ratio, plus Jα/s for each s from τ to T − T₁: every round
    spends an amount that is wrong by Jα at most. The paper's numbers make both δ/4.

    Examples
    --------
    >>> problem = Problem(
    ...     context_probs=[0.5, 0.5], reward_means=[[0.8], [0.4]], horizon=2000, budget=500)
    >>> round(frozen_budget_drift(problem, 1000, until=100, error=0.02), 4)
    0.0653
    """
    case = _Truncation.of(problem, until, error)
    left = checks.whole("rounds_left", rounds_left)
    return case.start + case.contexts * case.error * _harmonic(left, case.last)


def coupling_probability(
    problem: Problem, rounds_left: int, *, until: int | None = None, error: float | None = None
) -> float:
    """Bound the chance that two runs one action apart stay so in a round (Lemma 10).

    1 − (1−σ)/τ. Both are coupled: they serve alike, unless only the richer one serves.

    Examples
    --------
    >>> problem = Problem(
    ...     context_probs=[0.5, 0.5], reward_means=[[0.8], [0.4]], horizon=2000, budget=500)
    >>> round(coupling_probability(problem, 10, until=100, error=0.1), 4)
    0.9167
    """
    case = _Truncation.of(problem, until, error)
    return 1 - (1 - case.sigma) / checks.whole("rounds_left", rounds_left)


def budget_difference(
    problem: Problem,
    rounds_left: int,
    *,
    since: int,
    until: int | None = None,
    error: float | None = None,
) -> float:
    """Bound the difference that one action in round t' makes to E[b_τ] (Lemma 9).

    2(τ/(T−t'))^{1−σ}; ``since`` is T − t', the rounds left after that round. It bounds the product
    of `coupling_probability` over the rounds between.

    Examples
    --------
    >>> problem = Problem(
    ...     context_probs=[0.5, 0.5], reward_means=[[0.8], [0.4]], horizon=2000, budget=500)
    >>> round(budget_difference(problem, 100, since=1000, until=100, error=0.1), 4)
    0.2936
    """
    case = _Truncation.of(problem, until, error)
    left, since = checks.whole("rounds_left", rounds_left), checks.whole("since", since)
    if since < left:
        raise checks.refuse("since", f"be at least rounds_left={left}", since)
    return float(2 * (left / since) ** (1 - case.sigma))


def frozen_budget_tail(
    problem: Problem,
    rounds_left: int,
    *,
    gap: float,
    until: int | None = None,
    error: float | None = None,
) -> float:
    """Bound the chance that b_τ/τ is off its mean given the freeze by ``gap`` or more (Lemma 8).

    2 e^{−2g²τ²/S}, where S = 4(1 + τ/(1−2σ)) bounds the sum of the squares of `budget_difference`.
    The paper has 4τ for S, which leaves out the factor 1/(1−2σ). Without σ < ½ the bound is 1.

    Examples
    --------
    >>> problem = Problem(
    ...     context_probs=[0.5, 0.5], reward_means=[[0.8], [0.4]], horizon=2000, budget=500)
    >>> round(frozen_budget_tail(problem, 500, gap=0.15, until=100, error=0.02), 4)
    0.0112
    """
    case = _Truncation.of(problem, until, error)
    left, gap = checks.whole("rounds_left", rounds_left), checks.number("gap", gap, above=0)
    if case.slack <= 0:
        return 1.0
    squares = 4 * (1 + left / case.slack)
    return min(1.0, 2 * math.exp(-2 * (gap * left) ** 2 / squares))


def ealp2_regret(
    problem: Problem, *, until: int | None = None, error: float | None = None
) -> float:
    """Bound the regret of `ealp2` off the boundaries (Theorem 4, every term).

    A round can lose max(u*_1 − u*_m, u*_m − u*_J) at most, and only if the ratio has crossed a
    boundary of the shares in use. The expected number of such rounds is below
    2J / (e^{δ²/8J²} − 1) up to T₁, (T − T₁) 2J e^{−2α²T₁} for frozen shares that are off by more
    than α, and 2 e^{g²s²/2} / (e^{g²s/2} − 1) for a ratio that strays by
    g = δ − Jα − `frozen_budget_drift`, with s = 1 − 2σ. Where T₁ rounds can move the ratio by more
    than δ/4, where g or s is not positive, and on a boundary, nothing is proved, and the number is
    infinite.

    Examples
    --------
    >>> problem = Problem(
    ...     context_probs=[0.5, 0.5], reward_means=[[0.8], [0.4]], horizon=10**9, budget=25 * 10**7)
    >>> round(ealp2_regret(problem))
    872
    """
    ranked = RankedProblem.of(problem)
    if not ranked.contested:
        return ranked.cut
    case = _Truncation.of(problem, until, error)
    if ranked.on_boundary or case.start > case.distance / 4 or case.slack <= 0:
        return math.inf
    drift = frozen_budget_drift(problem, 1, until=until, error=error)
    gap = case.distance - case.contexts * case.error - drift
    if gap <= 0:
        return math.inf
    learning = 2 * case.contexts / math.expm1(case.distance**2 / (8 * case.contexts**2))
    frozen = (problem.horizon - case.until) * case.share_error_probability
    rate = gap**2 / 2
    straying = 2 * math.exp(rate * case.slack**2) / math.expm1(rate * case.slack)
    margin = float(ranked.best[ranked.margin])
    worst = max(float(ranked.best[0]) - margin, margin - float(ranked.best[-1]))
    crossings = min(float(problem.horizon), learning + frozen + straying)
    return ranked.cut + worst * crossings


@dataclass(frozen=True, kw_only=True)
class _Truncation:
    """J, δ, T₁, α, σ of a problem; ``last`` is T − T₁, ``start`` how far T₁ rounds can move ρ."""

    contexts: int
    distance: float
    until: float
    error: float
    sigma: float
    last: int
    start: float

    @classmethod
    def of(cls, problem: Problem, until: int | None, error: float | None) -> _Truncation:
        ranked = RankedProblem.of(problem)
        contexts, horizon = len(ranked.probs), problem.horizon
        if error is None:
            error = ranked.distance / (4 * contexts * max(math.log(horizon), 1.0))
        error = checks.number("error", error, above=0)
        freeze = truncation_round(problem)[0] if until is None else checks.whole("until", until)
        last = max(0, horizon - math.ceil(min(freeze, horizon)))
        early = (ranked.budget - freeze) / (last + 1), ranked.budget / (last + 1)
        start = max(ranked.ratio - early[0], early[1] - ranked.ratio)
        return cls(
            contexts=contexts,
            distance=ranked.distance,
            until=min(freeze, horizon),
            error=error,
            sigma=float(np.max(error / (ranked.probs + error))),
            last=last,
            start=start,
        )

    @property
    def share_error_probability(self) -> float:
        """2J e^{−2α²T₁}, at most 1."""
        return min(1.0, 2 * self.contexts * math.exp(-2 * self.error**2 * self.until))

    @property
    def slack(self) -> float:
        """1 − 2σ."""
        return 1 - 2 * self.sigma


def _harmonic(first: int, last: int) -> float:
    """Return 1/first + … + 1/last, or a bound on it where there are many terms."""
    if last < first:
        return 0.0
    if last - first <= 10**6:
        return float(np.sum(1 / np.arange(first, last + 1)))
    return 1 / first + math.log(last / first)
