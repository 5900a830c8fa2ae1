"""Call the live kernel for a single arrival."""

from __future__ import annotations

from typing import Any

import numpy as np

from almoner.kernels.live import Line, advance, new_line
from almoner.kernels.state import Hulls, Memo, State
from almoner.policy.lowering import LoweredPolicy

Scratch = tuple[State, Memo, Hulls | None]


def decide_one(
    lowered: LoweredPolicy, scratch: Scratch, stream: np.uint64, context: int, mask: Any, price: Any
) -> tuple[int, float]:
    """Decide for one arrival and take the action; return it with its probability.

    ``price`` holds the last price, and receives the one of this decision.
    """
    line = batch_of_one(lowered, context, mask)
    line.price[:] = price
    advance(lowered, *scratch, stream, line, 1, np.zeros(lowered.costs.shape, np.int64), 0)
    price[:] = line.odds[0, 1]
    return int(line.choices[0, 0]), float(line.odds[0, 0])


def batch_of_one(lowered: LoweredPolicy, context: int, mask: Any) -> Line:
    """Return a batch of one arrival."""
    line = new_line(lowered.costs.shape[1], places=1)
    line.contexts[0], line.allowed[0] = context, mask
    return line
