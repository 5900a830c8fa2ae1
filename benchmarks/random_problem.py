"""Random problems of any size."""

from __future__ import annotations

import numpy as np

import almoner as al

__all__ = ["random_problem"]


def random_problem(
    contexts: int, actions: int, *, horizon: int = 1000, costs: float | None = None
) -> al.Problem:
    """Return a problem with half the horizon as budget at equal costs, and all of it otherwise."""
    rng = np.random.default_rng(1)
    return al.Problem(
        context_probs=rng.dirichlet(np.ones(contexts)),
        reward_means=rng.random((contexts, actions)),
        costs=rng.uniform(0.5, 4, size=(contexts, actions)) if costs is None else costs,
        horizon=horizon,
        budget=horizon if costs is None else horizon // 2,
    )
