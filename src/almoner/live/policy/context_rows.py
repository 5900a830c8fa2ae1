"""Rows of contexts: the arrays of the kernels, with room for contexts to come."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from almoner.kernels.capacity import doubled, first_contexts, new_buffers, set_new_priors
from almoner.kernels.state import (
    OVERALL_MEAN,
    REFIT_AT,
    VALID_UNTIL,
    Hulls,
    Memo,
    State,
    new_hulls,
    new_memo,
)
from almoner.policy.lowering import LoweredPolicy, cost_bounds
from almoner.types import Ints

__all__ = ["ContextRows"]


class ContextRows:
    """The lowered policy, the state and the caches of a campaign, with a row for each context.

    ``count`` is the number of contexts, and ``reserves`` has those of their actions.
    """

    def __init__(self, lowered: LoweredPolicy, reserves: Ints) -> None:
        self.count, self.reserves = len(lowered.costs), reserves
        self._buffers = new_buffers(lowered)
        # Tells the fit that rows not in use have their priors from.
        self._fit: tuple[float, float] | None = None

    def in_use(self) -> tuple[LoweredPolicy, State, Memo, Hulls | None]:
        """Return views of the rows of all contexts."""
        return first_contexts(self._buffers, self.count)

    def add(self) -> None:
        """Add a context without rewards; costs, and a prior if there is one, are the others'."""
        row = self.count
        self.count += 1
        if self.count > len(self._buffers.policy.costs):
            self._buffers = doubled(self._buffers)
            self.reserves = np.repeat(self.reserves[:1], len(self._buffers.policy.costs), axis=0)
            self._fit = None
        state = self._buffers.state
        fit = state.fit.item(REFIT_AT), state.fit.item(OVERALL_MEAN)
        if fit != self._fit:  # all rows at once: one takes as long
            set_new_priors(self._buffers, row)
            self._fit = fit

    def set_costs(self, start: int, costs: Sequence[Sequence[int]] | Ints) -> None:
        """Set the expected costs of contexts from ``start`` on, and whatever depends on them."""
        self._buffers.policy.costs[start : start + len(costs)] = costs
        bounds = cost_bounds(self._buffers.policy.costs[: self.count])
        policy = self._buffers.policy._replace(**bounds)
        self._buffers.memo.validity[VALID_UNTIL] = 0
        self._buffers = self._buffers._replace(policy=policy, hulls=new_hulls(policy))

    def rebuild(self) -> None:
        """Make the caches anew, after the state was written."""
        lowered, state, _, _ = self._buffers
        self._buffers = self._buffers._replace(
            memo=new_memo(lowered, state), hulls=new_hulls(lowered)
        )
        self._fit = None
