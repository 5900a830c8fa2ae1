"""Rows for tests: random ones, and streams made to do harm."""

from __future__ import annotations

from typing import Any

import numpy as np

import almoner as al

__all__ = ["routing_rows", "uplift_rows"]


def uplift_rows(count: int, *, seed: int = 0) -> al.Rows:
    """Return rows of known uplifts, two fifths of them negative, at costs of their own."""
    rng = np.random.default_rng(seed)
    level = rng.normal(0.02, 0.05, (count, 1))
    uplifts = level * np.array([1.0, 1.4, 1.8]) + rng.normal(0.0, 0.03, (count, 3)) - 0.01
    costs = np.round(rng.gamma(2.0, 0.5, (count, 3)) * np.array([1, 2, 4]) + 0.05, 3)
    return al.Rows(rewards=uplifts, costs=costs, scores=uplifts)


def routing_rows(count: int, *, seed: int = 0, **changes: Any) -> al.Rows:
    """Return rows of three models: features say which prompts are hard, bills vary."""
    rng = np.random.default_rng(seed)
    features = rng.normal(size=(count, 4)) * np.array([1.0, 10.0, 0.1, 1.0])
    hard = 1 / (1 + np.exp(-1.5 * features[:, 0] - 0.1 * features[:, 1]))
    quality = np.column_stack([0.9 - 0.7 * hard, 0.92 - 0.35 * hard, 0.95 - 0.05 * hard])
    right = (rng.random((count, 3)) < quality).astype(float)
    bills = np.round(np.array([1, 6, 40]) * rng.lognormal(0.0, 0.3, (count, 3)), 2)
    arrays: dict[str, Any] = {
        "rewards": right,
        "costs": bills,
        "expected_costs": np.array([1.05, 6.3, 42.0]),
        "scores": quality,
        "features": features,
        "actions": ["small", "medium", "large"],
    }
    return al.Rows(**{**arrays, **changes})
