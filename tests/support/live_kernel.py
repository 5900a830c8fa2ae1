"""Call the live kernel for a single arrival."""

from __future__ import annotations

from typing import Any

import numpy as np

from almoner.kernels.live import ArrivalBatch, advance, new_batch
from almoner.kernels.state import Hulls, Memo, State
from almoner.policy.lowering import LoweredPolicy

Scratch = tuple[State, Memo, Hulls | None]


def decide_one(
    lowered: LoweredPolicy, scratch: Scratch, stream: np.uint64, context: int, mask: Any, price: Any
) -> tuple[int, float]:
    """Decide for one arrival and take the action; return it with its probability.

    ``price`` holds the last price, and receives the one of this decision.
    """
    batch = batch_of_one(lowered, context, mask)
    batch.price[:] = price
    reserves = np.zeros(lowered.costs.shape, np.int64)
    advance((lowered, *scratch, stream, batch), 1, reserves, 0)
    price[:] = batch.figures[0, 1]
    return int(batch.choices[0, 0]), float(batch.figures[0, 0])


def batch_of_one(lowered: LoweredPolicy, context: int, mask: Any) -> ArrivalBatch:
    """Return a batch of one arrival."""
    batch = new_batch(lowered.costs.shape[1], size=1)
    batch.contexts[0], batch.allowed[0] = context, mask
    return batch
