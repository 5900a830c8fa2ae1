"""Figures that ParetoBandit has published, on prompts of the same kind as ours.

They are of 1,824 held-out prompts, after 8,374 prompts to warm up, with a budget that may be
passed; ours are of 1,785 other prompts of the same sets and models. The optimum in hindsight is
known for both, so that shares of it can be compared.
"""

from __future__ import annotations

from typing import NamedTuple

from benchmarks.rows.bars import BUDGETS

__all__ = ["PUBLISHED", "Published"]


class Published(NamedTuple):
    """Reward per prompt as published, and the optimum in hindsight of those prompts."""

    reward: float
    optimum: float


PUBLISHED = {
    budget: Published(reward, optimum)
    for budget, reward, optimum in zip(
        BUDGETS,
        (0.813, 0.859, 0.898, 0.917, 0.924),
        (0.8757, 0.9304, 0.9458, 0.9562, 0.9633),
        strict=True,
    )
}
"""By budget per prompt."""
