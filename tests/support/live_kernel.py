"""The live kernel for one request at a time, as tests of single decisions want it."""

from __future__ import annotations

from typing import Any

import numpy as np

from almoner.kernels.live import Line, advance, new_line
from almoner.kernels.state import Hulls, Memo, State
from almoner.policy.lowering import Plan

Scratch = tuple[State, Memo, Hulls | None]


def advance_one(
    plan: Plan, scratch: Scratch, stream: np.uint64, context: int, mask: Any, price: Any
) -> tuple[int, float]:
    """Decide for one request and take it; return the action and its probability.

    ``price`` holds the last price known, and gets the one of this decision.
    """
    line = one_in_line(plan, context, mask)
    line.price[:] = price
    advance(plan, *scratch, stream, line, 1, np.zeros(plan.costs.shape, np.int64), 0)
    price[:] = line.odds[0, 1]
    return int(line.choices[0, 0]), float(line.odds[0, 0])


def one_in_line(plan: Plan, context: int, mask: Any) -> Line:
    """Return a line with one request in it."""
    line = new_line(plan.costs.shape[1], places=1)
    line.contexts[0], line.allowed[0] = context, mask
    return line
