"""The paper's results on ε-First at unequal costs as numbers: how long to explore, and its regret.

Theorem 5 says O(log T) off the boundaries and O(√T) on them, without constants: those are ours,
and the letters those of `almoner.bounds.general`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from almoner import checks
from almoner.bounds.general import Curve
from almoner.checks import Floats
from almoner.problem import Problem

__all__ = ["epsilon_first_regret", "exploration_length"]

TOLERANCE = 1e-12


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
    evidence = max(1 / (slack * rarest) ** 2, 16 * actions / (seen * margin**2))
    return float(actions / seen + math.log(problem.horizon) * evidence)


def epsilon_first_regret(
    problem: Problem, rounds: int | None = None, *, slack: float = 0.5
) -> float:
    """Bound the regret of `epsilon_first_alp` that explores for E rounds and then learns no more.

    E is ``rounds``, or else `exploration_length`, as Theorem 5 has it. Three things add up:

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
    curve = replace(Curve.of(problem), dearest=float(problem.costs.max()))
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
    mistaken = _chance_of_a_wrong_order(problem, rounds, slack)
    return min(everything, rounds * trying + exploiting + mistaken * rest * at_worst)


def _chance_of_a_wrong_order(problem: Problem, rounds: int, slack: float) -> float:
    """Bound it by the chances that a context comes too rarely, and that a mean is off by Δ/4."""
    slopes = _Slopes.of(problem)
    probs = problem.context_probs[problem.context_probs > 0]
    skipping_is_tried = problem.default_rewards.any() and not problem.defaults_known
    options = problem.costs.shape[1] + int(skipping_is_tried)
    tries = np.floor((1 - slack) * probs * rounds / options)
    rare = np.exp(-(slack**2) * probs * rounds / 2)
    off = 2 * options * np.exp(-tries * slopes.safe_margin**2 / 8)
    return min(1.0, float(np.sum(rare + off)))


@dataclass(frozen=True, kw_only=True)
class _Slopes:
    """How far apart the slopes between options of a context are, skipping included."""

    cost_gap: float
    step: float
    nearest_to_zero: float
    reward_gap: float

    @classmethod
    def of(cls, problem: Problem) -> _Slopes:
        present = problem.context_probs > 0
        nothing = np.zeros((int(present.sum()), 1))
        gains = np.hstack([nothing, problem.gains[present]])
        costs = np.hstack([nothing, problem.costs[present]])
        one, two = np.triu_indices(gains.shape[1], 1)
        runs, rises = costs[:, one] - costs[:, two], gains[:, one] - gains[:, two]
        differ = np.abs(runs) > TOLERANCE
        slopes = np.unique(rises[differ] / runs[differ])
        return cls(
            cost_gap=float(np.abs(runs[differ]).min()),
            step=_smallest(np.diff(slopes)),
            nearest_to_zero=_smallest(np.abs(slopes)),
            reward_gap=_smallest(np.abs(rises[~differ])),
        )

    @property
    def margin(self) -> float:
        """Δ*: means that are off by less than a quarter leave slopes in their order."""
        return self.cost_gap * self.step

    @property
    def safe_margin(self) -> float:
        """Δ: they leave signs, and rewards at one cost, in their order too."""
        return min(self.margin, 2 * self.cost_gap * self.nearest_to_zero, 2 * self.reward_gap)


def _smallest(differences: Floats) -> float:
    return float(differences[differences > TOLERANCE].min(initial=math.inf))
