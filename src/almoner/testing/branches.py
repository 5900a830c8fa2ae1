"""Whether the compiled ladders have a branch for every part of a policy.

A ladder that does not know a code gives NaN. Some rules turn a NaN into a skip like any other, so
the ladders are asked directly.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from almoner.policy.lowering import LoweredPolicy

__all__ = ["missing_branch"]

SEEN = (1.0, 3.0, 50.0)
"""Counts of rewards at which an index is tried, at a mean of 0.4."""


def missing_branch(lowered: LoweredPolicy) -> str:
    """Return what a ladder lacks for the codes of a plan, in words that follow "the policy"."""
    from almoner.kernels.indices import index
    from almoner.kernels.ranking import level_at, level_of, weights_of
    from almoner.kernels.state import new_memo, new_state
    from almoner.kernels.steps import serve_share

    state = new_state(lowered)
    memo = new_memo(lowered, state)
    _, total, _ = _plain(weights_of)(lowered, state, 1)
    if math.isnan(total):
        return "has contexts without a branch in weights_of"
    clock = _plain(level_at)(lowered, memo, 1)
    level = _plain(level_of)(lowered, clock, 1 / len(lowered.costs), 1, float(lowered.budget))
    if math.isnan(level):
        return "has rewards without a level: say in clock_level, or in level_of, what it is"
    for count in SEEN:
        low, high = (
            index(
                lowered.reward, lowered.width, each, 0.4, 1 / math.sqrt(count), count, np.uint64(1)
            )
            for each in (level, 2 * level + 1)
        )
        if math.isnan(low) or math.isnan(high):
            return "has rewards without a branch in index"
        if low > high:
            return "has an index that falls as its level rises, which brackets do not allow for"
    if math.isnan(_plain(serve_share)(lowered, False, 0.2, 0.3, 0.1, 0.05)):
        return "has an allocation without a branch in serve_share"
    return ""


def _plain(kernel: Any) -> Any:
    """Return the plain Python of a kernel that is compiled for other kernels only."""
    return getattr(kernel, "py_func", kernel)
