"""Call the live kernel for a single arrival."""

from __future__ import annotations

from typing import Any

import numpy as np

from almoner.kernels.live import Line, advance, new_line
from almoner.kernels.state import Hulls, Memo, State
from almoner.policy.lowering import Plan

Scratch = tuple[State, Memo, Hulls | None]


def decide_one(
    plan: Plan, scratch: Scratch, stream: np.uint64, context: int, mask: Any, price: Any
) -> tuple[int, float]:
    """Decide for one arrival and take the action; return it with its probability.

    ``price`` holds the last price, and receives the one of this decision.
    """
    line = batch_of_one(plan, context, mask)
    line.price[:] = price
    advance(plan, *scratch, stream, line, 1, np.zeros(plan.costs.shape, np.int64), 0)
    price[:] = line.odds[0, 1]
    return int(line.choices[0, 0]), float(line.odds[0, 0])


def batch_of_one(plan: Plan, context: int, mask: Any) -> Line:
    """Return a batch of one arrival."""
    line = new_line(plan.costs.shape[1], places=1)
    line.contexts[0], line.allowed[0] = context, mask
    return line
