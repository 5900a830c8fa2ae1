"""Check that the compiled ladders have a branch for every part of a policy.

A ladder returns NaN for an unknown code. Some allocation rules turn NaN into an ordinary skip, so
the ladders are called directly.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from almoner.policy.lowering import LoweredPolicy

__all__ = ["missing_branch"]

SEEN = (1.0, 3.0, 50.0)
"""Counts of rewards at which an index is computed, at a mean of 0.4."""


def missing_branch(lowered: LoweredPolicy) -> str:
    """Return the missing branch for the codes of a policy, as words that follow "the policy"."""
    from almoner.kernels.indices import index
    from almoner.kernels.pair_index import level_at, level_of, weights_of
    from almoner.kernels.state import new_memo, new_state
    from almoner.kernels.steps import serve_share

    state = new_state(lowered)
    memo = new_memo(lowered, state)
    _, total, _ = _python(weights_of)(lowered, state, 1)
    if math.isnan(total):
        return "has contexts without a branch in weights_of"
    clock = _python(level_at)(lowered, memo, 1)
    level = _python(level_of)(lowered, clock, 1 / len(lowered.costs), 1, float(lowered.budget))
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
    if math.isnan(_python(serve_share)(lowered, False, 0.2, 0.3, 0.1, 0.05)):
        return "has an allocation without a branch in serve_share"
    return ""


def _python(kernel: Any) -> Any:
    """Return the Python function of a kernel that only other kernels can call."""
    return getattr(kernel, "py_func", kernel)
