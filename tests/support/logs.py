"""Logs made from a known world, for tests of the estimators."""

from __future__ import annotations

from typing import Any

import numpy as np

import almoner as al

__all__ = ["WORLD", "columns_of", "make_log"]

WORLD = al.Problem(
    context_probs=[0.3, 0.5, 0.2],
    reward_means=[[0.23, 0.30], [0.50, 0.60], [0.60, 0.90]],
    default_rewards=[0.20, 0.30, 0.10],
    costs=[1.0, 2.0],
    horizon=10_000,
    budget=5_000,
    contexts=["low", "middle", "high"],
    actions=["mail", "call"],
)
"""A world whose plans are far apart: prices fall from 0.5 to 0.3, 0.2, 0.1 and 0.05, at budgets per
arrival of 0.2, 0.4, 0.9 and 1.4."""

DESIGN = np.array([[0.5, 0.25, 0.25], [0.4, 0.4, 0.2], [0.2, 0.3, 0.5]])
"""Probabilities of skip, mail and call in each context."""


def columns_of(
    rows: int, seed: int, *, world: al.Problem = WORLD, design: Any = DESIGN
) -> dict[str, Any]:
    """Return the columns of a log that a random policy has written in a world."""
    draws = np.random.default_rng(seed)
    contexts = draws.choice(len(world.context_probs), rows, p=world.context_probs)
    chances = np.asarray(design)[contexts]
    actions = (draws.random(rows)[:, None] > np.cumsum(chances, axis=1)).sum(axis=1)
    means = np.column_stack([world.default_rewards, world.reward_means])[contexts, actions]
    costs = np.column_stack([np.zeros(len(world.costs)), world.costs])[contexts, actions]
    return {
        "context": np.array(world.contexts)[contexts],
        "action": np.array(["", *world.actions])[actions],
        "reward": (draws.random(rows) < means).astype(float),
        "cost": costs,
        "propensity": chances[np.arange(rows), actions],
    }


def make_log(rows: int, seed: int, **arguments: Any) -> al.Log:
    """Return a log of the world."""
    return al.Log.read(columns_of(rows, seed, **arguments))
