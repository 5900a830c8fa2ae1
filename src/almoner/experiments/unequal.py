"""The experiment that the paper leaves out: unequal costs, on a made problem and two real ones."""

from __future__ import annotations

from almoner.experiments.sweep import Sweep
from almoner.policy.base import Policy
from almoner.policy.recipes import alp, epsilon_first_alp, horizon_alp, thrifty, ucb_alp
from almoner.scenarios import scenario

__all__ = ["email", "heterogeneous", "routing"]

HORIZONS = (1000, 2000, 5000, 10_000)
QUICK_HORIZONS = (1000, 5000)

LEARNERS: dict[str, Policy] = {
    "explore_test": epsilon_first_alp(test="usable"),
    "ucb_alp": ucb_alp(),
    "horizon_alp": horizon_alp(),
    "thrifty": thrifty(),
}
"""Explore first until a test says enough, and three ways to be optimistic inside the LP."""

LENGTHS: dict[str, Policy] = {
    **{
        f"explore_{share}": epsilon_first_alp(cap=share / 100, update=False) for share in (2, 5, 10)
    },
    "explore_literal": epsilon_first_alp(test="literal", cap=1.0, update=False),
}
"""Explore first as the paper has it: for a share of rounds and budget, or by its own test."""


def heterogeneous(*, runs: int, seed: int = 0, quick: bool = False) -> Sweep:
    """Return five contexts and four costs, beside a boundary and on one.

    Examples
    --------
    >>> len(heterogeneous(runs=10).cells())
    72
    """
    return Sweep(
        problems={"heterogeneous": scenario("heterogeneous")},
        policies={"alp": alp(), **LENGTHS, **LEARNERS},
        horizons=QUICK_HORIZONS if quick else HORIZONS,
        ratios=(1.1, 1.2),
        runs=max(1, runs // 5),  # a run takes five times what a run at equal costs does
        seed=seed,
    )


def email(*, runs: int, seed: int = 0, quick: bool = False) -> Sweep:
    """Return e-mails to a shop's customers, who visit without one too."""
    return Sweep(
        problems={"hillstrom-email": scenario("hillstrom-email")},
        policies={"alp": alp(), **LEARNERS},
        horizons=(4000, 8000) if quick else (8000, 16_000, 32_000, 64_000),
        ratios=(0.25,),
        runs=max(1, runs // 20),
        seed=seed,
    )


def routing(*, runs: int, seed: int = 0, quick: bool = False) -> Sweep:
    """Return prompts to be answered by a cheap or a strong model, at real prices."""
    return Sweep(
        problems={"llm-routing": scenario("llm-routing")},
        policies={"alp": alp(), **LEARNERS},
        horizons=QUICK_HORIZONS if quick else HORIZONS,
        ratios=(2.0, 3.0),
        runs=max(1, runs // 10),
        seed=seed,
    )
