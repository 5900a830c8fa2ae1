"""The paper's results on unequal costs as numbers, as far as it gives any.

Its theorem on explore-first says O(log T) off the boundaries and O(√T) on them, without constants;
what has constants is how long to explore, and how the budget left concentrates.
"""

from __future__ import annotations

import math

import numpy as np

from almoner import checks
from almoner.problem import Problem

__all__ = ["exploration_length", "general_budget_tail"]

TOLERANCE = 1e-12


def exploration_length(problem: Problem, *, slack: float = 0.5) -> float:
    """Return the rounds of exploration, ε(T), that rank every slope rightly (Theorem 4).

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
    present = problem.context_probs > 0
    rarest = float(problem.context_probs[present].min())
    nothing = np.zeros((int(present.sum()), 1))
    gains = (problem.reward_means - problem.default_rewards[:, None])[present]
    gains, costs = np.hstack([nothing, gains]), np.hstack([nothing, problem.costs[present]])
    one, two = np.triu_indices(gains.shape[1], 1)
    runs = costs[:, one] - costs[:, two]
    differ = np.abs(runs) > TOLERANCE
    slopes = np.unique((gains[:, one] - gains[:, two])[differ] / runs[differ])
    steps = np.diff(slopes)
    steps = steps[steps > TOLERANCE]
    margin = float(np.abs(runs[differ]).min() * steps.min()) if len(steps) else math.inf
    actions = problem.reward_means.shape[1]
    seen = (1 - slack) * rarest
    evidence = max(1 / (slack * rarest) ** 2, 16 * actions / (seen * margin**2))
    return float(actions / seen + math.log(problem.horizon) * evidence)


def general_budget_tail(problem: Problem, rounds_left: int, *, gap: float) -> float:
    """Bound the chance that b_τ/τ is off ρ by more than ``gap`` to one side (Lemma 8).

    e^{−κδ²τ} with κ = 1/(2c_max²), c_max being the dearest cost; the paper has a stray ρ² in it.

    Examples
    --------
    >>> from almoner.scenarios import scenario
    >>> round(general_budget_tail(scenario("heterogeneous"), 5_000, gap=0.2), 4)
    0.0019
    """
    rounds_left = checks.whole("rounds_left", rounds_left)
    gap = checks.number("gap", gap, low=0)
    dearest = float(problem.costs.max())
    return math.exp(-(gap**2) * rounds_left / (2 * dearest**2))
