"""Costs of an arrival's own for the kernels, which take whole numbers of their units.

These are multiples of all costs that are expected, and seldom of an arrival's own. So such an
arrival is weighed in units of money; the decision is then recorded as any other.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from almoner.jit import specialize
from almoner.kernels.live import PRICE
from almoner.kernels.own_costs import weigh_at_own_costs
from almoner.kernels.state import LEFT, empty_hulls
from almoner.live.policy.choice import Offer
from almoner.live.terms.action import in_context
from almoner.live.terms.terms import Terms
from almoner.policy.lowering import LoweredPolicy
from almoner.types import Floats

__all__ = ["OwnCosts"]


class OwnCosts:
    """A policy in units of money, with one row of costs more, for the arrival that is decided."""

    def __init__(
        self, lowered: LoweredPolicy, terms: Terms, working: tuple[Any, ...], weighed: Floats
    ) -> None:
        self.lowered, self._terms, self._weighed = lowered, terms, weighed
        contexts, actions = lowered.costs.shape
        top = lowered.top
        self._policy = lowered._replace(
            top=1,
            budget=lowered.budget * top,
            costs=lowered.costs * top,
            cheapest=lowered.cheapest * top,
            cheapest_paid=lowered.cheapest_paid * top,
            dearest=lowered.dearest * top,
            priced=1,
        )
        self._extended = self._policy._replace(
            costs=np.append(self._policy.costs, self._policy.costs[:1], axis=0)
        )
        self._hulls = empty_hulls(contexts + 1, actions)
        self._reserves = np.zeros(actions, np.int64)
        arguments = self._policy, self._extended, *self._arguments(working, 0)
        self._kernel = specialize(weigh_at_own_costs, *arguments)

    def weigh(
        self,
        now: LoweredPolicy,
        working: tuple[Any, ...],
        context: str,
        offers: Sequence[Offer],
        limits: tuple[Sequence[int], int],
        funds: int,
    ) -> None:
        """Weigh the first arrival of the batch at the costs of its offers.

        ``now`` has the present horizon and share of the plan; ``working`` are state, memo, stream
        and batch; ``limits`` the reserves and the money that they must fit; ``funds`` the money of
        the plan. With a default the plan buys improvements over it, at the arrival's costs too.
        """
        state, batch = working[0], working[3]
        costs = [cost for _, cost, _ in offers]
        if self._terms.default is not None:
            expected = in_context(self._terms.costs[self._terms.default], context)
            own = {name: cost for name, cost, _ in offers}.get(self._terms.default, expected)
            costs = [max(0, cost - own) for cost in costs]
            funds = max(0, funds + expected - own)
        self._extended.costs[-1] = costs
        self._reserves[:], left = limits
        dearest = max(self._policy.dearest, *costs)
        horizon, held = now.horizon, now.held
        policy = self._policy._replace(horizon=horizon, held=held)
        extended = self._extended._replace(horizon=horizon, held=held, dearest=dearest)
        before, state.progress[LEFT] = state.progress.item(LEFT), funds
        self._kernel(policy, extended, *self._arguments(working, left))
        state.progress[LEFT] = before
        batch.figures[0, PRICE] *= self.lowered.top  # per kernel unit, as all prices are

    def _arguments(self, working: tuple[Any, ...], left: int) -> tuple[Any, ...]:
        state, memo, stream, batch = working
        return state, memo, self._hulls, stream, batch, self._reserves, left, self._weighed
