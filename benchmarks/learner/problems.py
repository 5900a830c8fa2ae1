"""Generators of problems: random, without structure, with structure, with unequal costs.

Letters: J contexts, K actions, ρ budget per round. A generator returns the same problem for the
same seed and number.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

import almoner as al
from almoner.types import Floats

__all__ = [
    "RANDOM",
    "STRUCTURED",
    "Case",
    "Synthetic",
    "random_problem",
    "structured",
    "synthetic",
    "unstructured",
]

RANDOM = 24
"""Number of random problems in a set, and of those without structure."""

FAMILIES = ("unif", "small", "near1", "prod", "sparse", "narrow")
INDEPENDENT = ("unif", "unif", "sparse", "narrow", "near1", "small")
RATIOS = (0.05, 0.1, 0.2, 0.35, 0.5, 0.65, 0.8, 0.95)
ROUNDS = 5_000

SHAPES = (
    (1, 4), (2, 10), (3, 10), (4, 8), (5, 5), (6, 5), (8, 5), (10, 4),
    (12, 4), (15, 8), (20, 8), (30, 2), (1, 10), (2, 4), (3, 2), (4, 5),
    (5, 8), (6, 5), (8, 10), (10, 8), (12, 3), (15, 5), (20, 4), (30, 8),
)  # fmt: skip
"""Contexts and actions of the random problems."""

STRUCTURED = (
    (30, 10, -3, 0.2, 10_000, 3_000, False),
    (30, 10, -1, 0.4, 10_000, 5_000, False),
    (100, 15, -2, 0.2, 20_000, 6_000, False),
    (300, 20, -2, 0.3, 20_000, 8_000, False),
    (300, 10, -3, 0.0, 30_000, 10_000, False),
    (60, 10, -2, 0.6, 10_000, 4_000, False),
    (30, 10, -1, 1.44, 10_000, 5_000, True),
    (100, 10, -1, 1.0, 10_000, 4_000, True),
)
"""Contexts, actions, mean of the log-odds, variance of the residual, rounds, budget, whether the
log-odds are independent: without effects of contexts and actions."""


@dataclass(frozen=True)
class Case:
    """A problem with its name in the tables, and the kind of problems that it belongs to."""

    kind: str
    name: str
    problem: al.Problem


@dataclass(frozen=True)
class Synthetic:
    """Parameters of a problem with unequal costs; see `synthetic`."""

    contexts: int
    actions: int
    rounds: int
    budget: float
    residual: float
    seed: int
    independent: bool = False
    level: float = -1.5


def random_problem(number: int, seed: int) -> Case:
    """Return a random problem: families and shapes take turns, the rest is drawn."""
    rng = np.random.default_rng((seed, number))
    family = FAMILIES[number % len(FAMILIES)]
    shape = J, K = SHAPES[number % len(SHAPES)]
    if family == "prod":
        means = np.outer(rng.random(J), rng.random(K))
    elif family == "sparse":  # half of the contexts have one action that is far better
        means = rng.uniform(0.0, 0.1, shape)
        action, hit = rng.integers(K, size=J), rng.random(J) < 0.5
        means[np.arange(J)[hit], action[hit]] = rng.uniform(0.4, 0.9, int(hit.sum()))
    else:
        means = _independent(family, shape, rng)
    return _drawn_budget("random", family, means, rng)


def unstructured(number: int, seed: int) -> Case:
    """Return a problem whose means are independent of one another, so that pooling has no use."""
    rng = np.random.default_rng((seed, number, 5))
    family = INDEPENDENT[number % len(INDEPENDENT)]
    shape = (int(rng.choice([2, 3, 5, 8, 12, 20, 30])), int(rng.choice([2, 4, 6, 10])))
    if family == "sparse":  # every pair is a good one with probability 1/K
        good = rng.random(shape) < 1 / shape[1]
        means = np.where(good, rng.uniform(0.3, 0.9, shape), rng.uniform(0, 0.1, shape))
    else:
        means = _independent(family, shape, rng)
    return _drawn_budget("unstructured", family, means, rng)


def structured(number: int, seed: int) -> Case:
    """Return a problem whose log-odds are μ + α_j + β_k + residual, or independent."""
    J, K, level, residual, rounds, budget, independent = STRUCTURED[number]
    rng = np.random.default_rng((seed, 77, number))
    probs = _floored(rng.dirichlet(np.ones(J)), 0.1 / J)
    odds = level + rng.normal(0, residual**0.5, (J, K))
    if not independent:
        odds = odds + rng.normal(0, 0.8, (J, 1)) + rng.normal(0, 0.6, (1, K))
    kind = "iid" if independent else "additive"
    return Case(
        "structured",
        f"{kind} {J}×{K}, μ = {level}, σ² = {residual:g}",
        al.Problem(context_probs=probs, reward_means=_rate(odds), horizon=rounds, budget=budget),
    )


def synthetic(terms: Synthetic) -> Case:
    """Return a problem with unequal costs, whose dearer actions are better on average.

    Costs are 1, 3, 10 for three actions, else they rise evenly from 1 to 5.
    """
    J, K = terms.contexts, terms.actions
    rng = np.random.default_rng(terms.seed)
    probs = rng.dirichlet(np.ones(J)) + 0.1 / J
    if terms.independent:
        odds = -1 + rng.normal(0, 1, (J, K))
    else:
        rising = np.linspace(0, 2, K)[None, :]
        odds = terms.level + rng.normal(0, 0.8, (J, 1)) + rising + rng.normal(0, 0.4, (1, K))
        odds = odds + rng.normal(0, terms.residual**0.5, (J, K))
    kind = "iid" if terms.independent else "additive"
    return Case(
        "unequal costs",
        f"{kind} {J}×{K}, σ² = {1.0 if terms.independent else terms.residual:g}",
        al.Problem(
            context_probs=probs / probs.sum(),
            reward_means=_rate(odds),
            costs=[1.0, 3.0, 10.0] if K == 3 else np.linspace(1, 5, K),
            horizon=terms.rounds,
            budget=terms.budget,
        ),
    )


def _independent(family: str, shape: tuple[int, int], rng: np.random.Generator) -> Floats:
    """Return means that are drawn one by one."""
    low, high = {"unif": (0, 1), "small": (0.005, 0.03), "near1": (0.9, 0.999)}.get(
        family, (0.4, 0.6)
    )
    return rng.random(shape) if family == "unif" else rng.uniform(low, high, shape)


def _drawn_budget(kind: str, family: str, means: Floats, rng: np.random.Generator) -> Case:
    """Return a problem with these means; draw context probabilities and budget."""
    J, K = means.shape
    probs = _floored(rng.dirichlet(np.ones(J)), 0.002)
    ratio = float(rng.choice(RATIOS))
    return Case(
        kind,
        f"{family} {J}×{K}, ρ = {ratio:g}",
        al.Problem(
            context_probs=probs,
            reward_means=means,
            horizon=ROUNDS,
            budget=round(ROUNDS * ratio),
        ),
    )


def _floored(probs: Floats, floor: float) -> Floats:
    raised: Floats = np.maximum(probs, floor)
    return np.asarray(raised / raised.sum())


def _rate(odds: Floats) -> Floats:
    return 1 / (1 + np.exp(-odds))
