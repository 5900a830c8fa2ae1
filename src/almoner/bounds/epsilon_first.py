"""Bounds for ε-First at unequal costs: the length of exploration, and regret (Theorem 5).

Theorem 5 says O(log T) off the boundaries and O(√T) on them, without constants: those are ours,
and the letters those of `almoner.bounds.unequal_costs`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from almoner import checks
from almoner.bounds.unequal_costs import ValueCurve
from almoner.lp import ROUNDING, TOLERANCE
from almoner.problem import Problem
from almoner.types import Floats

__all__ = [
    "confidence_test_error",
    "confidence_test_tries",
    "epsilon_first_regret",
    "exploration_length",
    "slope_order_error",
    "wrong_order_probability",
]

SMALLEST = 2.0**-1022
"""No cost counts as a smaller share of the dearest: slopes stay finite."""

WIDEST = 1e3
"""A margin that no error of a mean exceeds; it stands for an infinite one."""


def exploration_length(problem: Problem, *, slack: float = 0.5) -> float:
    """Return the rounds of exploration, ε(T), that rank every slope rightly (Lemma 13).

    K/((1−δ)π_min) + log T · max(1/(δπ_min)², 16K/((1−δ)π_min Δ*²)), where Δ* is the smallest
    difference between two costs of a context (skipping included) times the smallest difference
    between two distinct slopes. The proof allows contexts to come rarer than expected by a share δ,
    ``slack``; its Hoeffding step needs π_min² beside δ², which the paper leaves out. It asks for
    far more rounds than there are on any problem with a few slopes: see the tests of
    `ExploreFirst` for what to use instead.

    Examples
    --------
    >>> from almoner.scenarios import scenario
    >>> f"{exploration_length(scenario('heterogeneous')):.1e}"
    '1.5e+11'
    """
    slack = checks.number("slack", slack, above=0, high=1 - TOLERANCE)
    margin = _Slopes.of(problem).margin
    rarest = float(problem.context_probs[problem.context_probs > 0].min())
    actions = problem.reward_means.shape[1]
    seen = (1 - slack) * rarest
    evidence = max(_over(1, (slack * rarest) ** 2), _over(16 * actions, seen * margin**2))
    learning = math.log(problem.horizon) * evidence if problem.horizon > 1 else 0.0
    return _over(actions, seen) + learning


def epsilon_first_regret(
    problem: Problem, rounds: int | None = None, *, slack: float = 0.5
) -> float:
    """Bound the regret of `epsilon_first_alp` that explores for E rounds and then learns no more.

    E is ``rounds``, or else `exploration_length`, as Theorem 5 has it. Three terms add up:

    - Exploring: E times v(∞) + Σ_j π_j max_k (η_1 c_jk − g_jk), where g is the gain over skipping.
    - Exploiting with all slopes in their true order: `general_alp_regret` for T − E rounds, and
      the worst of the budgets that exploring can leave.
    - Getting an order wrong, with a chance of at most Σ_j e^{−δ²π_jE/2} + 2K e^{−nΔ²/8} after
      n = ⌊(1−δ)π_jE/K⌋ tries of each of K actions, and with it all that can be lost in T − E
      rounds, v(∞) + Σ_j π_j max_k (−g_jk)⁺ each. Δ is the Δ* of `exploration_length`, or less:
      where some slope is nearer to 0, or two actions of one cost nearer to each other.

    Examples
    --------
    >>> problem = Problem(
    ...     context_probs=[0.5, 0.5], reward_means=[[0.9], [0.3]], costs=[1], horizon=10**6,
    ...     budget=400_000)
    >>> round(exploration_length(problem)), round(epsilon_first_regret(problem))
    (2460, 2228)
    """
    slack = checks.number("slack", slack, above=0, high=1 - TOLERANCE)
    if rounds is None:
        rounds = math.ceil(min(exploration_length(problem, slack=slack), problem.horizon))
    rounds = checks.whole("rounds", rounds)
    # An action that gains nothing may be taken for one that gains something, whatever it costs.
    curve = replace(ValueCurve.of(problem), dearest=float(problem.costs.max()))
    gains = problem.gains
    probs, rest = problem.context_probs, problem.horizon - rounds
    at_worst = curve.unlimited + float(probs @ np.maximum(-gains.min(axis=1), 0))
    most = float(problem.costs.max()) * rounds
    everything = problem.horizon * at_worst
    if rest < 1 or most > problem.budget:  # the budget may end before exploration does
        return everything
    trying = curve.unlimited + float(
        probs @ (curve.steepest * problem.costs - gains).max(axis=1).clip(0)
    )
    exploiting = curve.alp_regret(rest, (problem.budget - most) / rest, problem.budget / rest)
    mistaken = wrong_order_probability(problem, rounds, slack=slack)
    return min(everything, rounds * trying + exploiting + mistaken * rest * at_worst)


def slope_order_error(problem: Problem, rounds: int | None = None, *, slack: float = 0.5) -> float:
    """Bound the chance that exploration ranks two given slopes wrongly (Lemma 13, first part).

    Σ_j P(context j is too rare) + 4 e^{−nΔ*²/8} after n = ⌊(1−δ)π_min E/K⌋ tries of each action:
    one of four means must be off by Δ*/4. With E = `exploration_length`, the default, it is
    (J + 4) T⁻² or less.

    Examples
    --------
    >>> problem = Problem(
    ...     context_probs=[0.5, 0.5], reward_means=[[0.9], [0.3]], costs=[1], horizon=1000,
    ...     budget=400)
    >>> f"{slope_order_error(problem, 500):.1g}", slope_order_error(problem) <= 6 / 1000**2
    ('0.01', True)
    """
    rare, off = _rare_and_off(problem, rounds, slack, _Slopes.of(problem).margin)
    return min(1.0, float(np.sum(rare)) + 4 * float(np.max(off)))


def wrong_order_probability(
    problem: Problem, rounds: int | None = None, *, slack: float = 0.5
) -> float:
    """Bound the chance that exploration ranks some slope wrongly (Lemma 13, second part).

    Σ_j P(context j is too rare) + 2K e^{−nΔ²/8}: a mean is off by Δ/4, for the Δ of
    `epsilon_first_regret`. With E = `exploration_length`, the default, and Δ = Δ* it is
    (4K + 1) J T⁻² or less, as the paper has it.

    Examples
    --------
    >>> problem = Problem(
    ...     context_probs=[0.5, 0.5], reward_means=[[0.9], [0.3]], costs=[1], horizon=1000,
    ...     budget=400)
    >>> wrong_order_probability(problem) <= 5 * 2 / 1000**2
    True
    """
    rare, off = _rare_and_off(problem, rounds, slack, _Slopes.of(problem).safe_margin)
    return min(1.0, float(np.sum(rare + 2 * _options(problem) * off)))


def _rare_and_off(
    problem: Problem, rounds: int | None, slack: float, margin: float
) -> tuple[Floats, Floats]:
    """Bound for each context the chance to come too rarely, and that of a mean off to one side.

    The first is the smaller of Hoeffding's bound, e^{−2(δπ_j)²E}, and Chernoff's, e^{−δ²π_jE/2}.
    """
    slack = checks.number("slack", slack, above=0, high=1 - TOLERANCE)
    if rounds is None:
        length = exploration_length(problem, slack=slack)
        rounds = math.ceil(length) if math.isfinite(length) else problem.horizon
    rounds = checks.whole("rounds", rounds)
    probs = problem.context_probs[problem.context_probs > 0]
    tries = np.floor((1 - slack) * probs * rounds / _options(problem))
    exponent = np.maximum(2 * (slack * probs) ** 2, slack**2 * probs / 2) * rounds
    return np.exp(-exponent), np.exp(-tries * min(margin, WIDEST) ** 2 / 8)


def _options(problem: Problem) -> int:
    """Return how many options exploration tries in a context, skipping included if it must."""
    skipping_is_tried = bool(problem.default_rewards.any()) and not problem.defaults_known
    return int(problem.costs.shape[1]) + int(skipping_is_tried)


def confidence_test_tries(problem: Problem, *, gap: float) -> float:
    """Return the tries of each action that pass the paper's test at a gap of slopes (Algorithm 6).

    log T / Δ'² with Δ' = ½ Δc · gap, where Δc is the smallest difference of two costs of a context:
    from there on e^{−2Δ'²C} ≤ T⁻². Costs count as shares of the dearest.

    Examples
    --------
    >>> problem = Problem(
    ...     context_probs=[1], reward_means=[[0.3, 0.5]], costs=[1, 2], horizon=1000, budget=900)
    >>> round(confidence_test_tries(problem, gap=0.2), 1)
    2763.1
    """
    margin = _Slopes.of(problem).cost_gap * checks.number("gap", gap, above=0) / 2
    return _over(math.log(problem.horizon), margin**2)


def confidence_test_error(problem: Problem, *, tests: int = 1) -> float:
    """Bound the chance that the paper's test ends exploration with a wrong order: JK² T⁻².

    A comparison passes wrongly with a chance of at most T⁻²: the estimated difference of two slopes
    is a sum of means over at least C tries each, which exceeds its expectation by the gap with a
    chance of at most e^{−2Δ'²C}. JK² comparisons are made. The paper counts one test; where it is
    repeated, ``tests`` times, the chances add up.

    Examples
    --------
    >>> problem = Problem(
    ...     context_probs=[1], reward_means=[[0.3, 0.5]], costs=[1, 2], horizon=1000, budget=900)
    >>> confidence_test_error(problem)
    4e-06
    """
    contexts, actions = problem.costs.shape
    repeated = checks.whole("tests", tests)
    return min(1.0, float(repeated * contexts * actions**2 / problem.horizon**2))


@dataclass(frozen=True, kw_only=True)
class _Slopes:
    """Distances between the slopes of pairs of options of a context, skipping included.

    Costs count as shares of the dearest one, so that nothing depends on the unit of money.
    ``cost_gap`` is the smallest difference of two costs, ``step`` that of two distinct slopes,
    ``nearest_to_zero`` the smallest slope, and ``reward_gap`` the smallest difference of two
    rewards at one cost.
    """

    cost_gap: float
    step: float
    nearest_to_zero: float
    reward_gap: float

    @classmethod
    def of(cls, problem: Problem) -> _Slopes:
        present = problem.context_probs > 0
        nothing = np.zeros((int(present.sum()), 1))
        shares = np.maximum(problem.costs[present] / problem.costs.max(), SMALLEST)
        gains = np.hstack([nothing, problem.gains[present]])
        costs = np.hstack([nothing, shares])
        first, second = np.triu_indices(gains.shape[1], 1)
        runs = costs[:, first] - costs[:, second]
        rises = gains[:, first] - gains[:, second]
        dearer = np.maximum(costs[:, first], costs[:, second])
        differ = np.abs(runs) > TOLERANCE * dearer
        same_cost = np.abs(rises[~differ])
        rises, runs, dearer = rises[differ], runs[differ], dearer[differ]
        slopes = rises / runs
        wrong = ROUNDING * (1 + np.abs(slopes) * dearer) / np.abs(runs)
        nearly = np.maximum(TOLERANCE * np.abs(slopes), wrong)
        order = np.argsort(slopes)
        steps = np.diff(slopes[order])
        apart = steps > np.maximum(nearly[order][1:], nearly[order][:-1])
        return cls(
            cost_gap=float(np.abs(runs).min()),
            step=float(steps[apart].min(initial=math.inf)),
            nearest_to_zero=float(np.abs(slopes[np.abs(rises) > ROUNDING]).min(initial=math.inf)),
            reward_gap=float(same_cost[same_cost > ROUNDING].min(initial=math.inf)),
        )

    @property
    def margin(self) -> float:
        """Δ*: errors of the means below a quarter of it leave the order of the slopes unchanged."""
        return self.cost_gap * self.step

    @property
    def safe_margin(self) -> float:
        """Δ: such errors leave the signs of slopes, and rewards at one cost, in order too."""
        return min(self.margin, 2 * self.cost_gap * self.nearest_to_zero, 2 * self.reward_gap)


def _over(amount: float, divisor: float) -> float:
    """Return a quotient, or infinity where the divisor has underflowed to 0."""
    return amount / divisor if divisor > 0 else math.inf
