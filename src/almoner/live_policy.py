"""LivePolicy: the policy of a live campaign, played by the simulator's own kernels.

They are asked one request at a time, and told of rewards as they come. Contexts are rows here, and
actions places; money is in the kernels' own units.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from almoner.closing import ClosingTime
from almoner.compiled import direct
from almoner.core.draws import POLICY, stream_key
from almoner.core.live import advance, redraw, replay
from almoner.core.state import LEFT, ROUND, State, new_hulls, new_memo, new_state
from almoner.errors import InvalidInput
from almoner.policy.plan import Plan, make_plan
from almoner.policy.rewards import Thompson
from almoner.terms import LEARNED, Terms

__all__ = ["LivePolicy", "Mask", "Row"]

Mask = npt.NDArray[np.bool_]
"""Which actions a request allows."""

Row = tuple[int, int, int, int]
"""What the kernels are told of an event: see `almoner.core.live.replay`."""


class LivePolicy:
    """A policy with all that it has learned.

    Attributes
    ----------
    plan, state
        The policy as kernels take it, and what it has learned.
    everything
        The mask of a request that allows all actions.
    """

    def __init__(self, terms: Terms) -> None:
        self._terms = terms
        root = np.random.SeedSequence(terms.seed).generate_state(1, np.uint64)[0]
        self._stream = np.uint64(stream_key(root, 0, POLICY))
        self._price = np.zeros(1)
        self.everything: Mask = np.ones(len(terms.actions), np.bool_)
        self._one = np.empty((1, 4), np.int64), np.empty(1)
        self._shares = np.empty(len(terms.actions) + 1)
        self._advance, self._replay, self._redraw, self._warm = advance, replay, redraw, False
        self.lay_out(terms.contexts)

    def lay_out(self, contexts: tuple[str, ...]) -> None:
        """Make room for these contexts; what is known of the first ones is kept."""
        before = getattr(self, "state", None)
        self.plan = self._now = self._make_plan(contexts)
        self._per_unit = self._terms.unit.bottom / (self._terms.unit.top * self.plan.top)
        self.state = new_state(self.plan)
        if before is not None:
            _copy(before, self.state)
        self._refresh()
        if self._warm:  # the types of what kernels are given may have changed
            self.warm_up()

    def warm_up(self) -> None:
        """Get the kernels ready: from the disk, or compiled, which takes seconds."""
        fixed = (self.plan, *self._working, self._stream)
        self._advance = direct(advance, *fixed, 0, self.everything, self._price)
        self._replay = direct(replay, *fixed, *self._one)
        if self.plan.reward == Thompson.code:
            self._redraw = direct(redraw, *fixed, 0, self.everything, self._shares)
        self._warm = True

    def choose(self, context: int, mask: Mask, *, horizon: int) -> tuple[int, float, float]:
        """Decide for an arrival, of ``horizon`` in all, and book it.

        Returns the action or SKIP, its probability, and the price of a unit of money (or NaN).
        """
        if horizon != self._now.horizon:
            self._now = self.plan._replace(horizon=horizon)
            self._working[1].expiry[0] = 0  # brackets were made for another horizon
        drawn = self.plan.reward == Thompson.code
        if drawn:
            self._redraw(self._now, *self._working, self._stream, context, mask, self._shares)
        action, probability = self._advance(
            self._now, *self._working, self._stream, context, mask, self._price
        )
        if drawn:
            probability = float(self._shares[action + 1])
        return action, probability, float(self._price[0] * self._per_unit)

    def replay(self, rows: Sequence[Row], rewards: Sequence[float]) -> None:
        """Fold in what has happened."""
        if not rows:
            return
        table, values = self._one
        if len(rows) == 1:  # new arrays would take longer than the kernel
            table[0], values[0] = rows[0], rewards[0]
        else:
            table, values = np.array(rows, np.int64), np.array(rewards, np.float64)
        self._replay(self.plan, *self._working, self._stream, table, values)

    def affords(self, context: int, mask: Mask) -> bool:
        """Return whether the money left pays for any action that a request allows."""
        left = self.state.clock[LEFT]
        if mask is self.everything and left >= self.plan.dearest:
            return True
        return bool((mask & (self.plan.costs[context] <= left)).any())

    def units(self, money: int) -> int:
        """Return an amount of the ledger in the kernels' units, rounded down."""
        return money // self.plan.top

    @property
    def arrivals(self) -> int:
        """How many arrivals were booked."""
        return int(self.state.clock[ROUND])

    def to_dict(self) -> dict[str, Any]:
        """Return what it has learned, as plain values."""
        return {name: value.tolist() for name, value in self.state._asdict().items()}

    def restore(self, table: dict[str, Any]) -> None:
        """Go to where `to_dict` was called, with the same contexts."""
        for name, values in table.items():
            getattr(self.state, name)[...] = values
        self._refresh()

    def _refresh(self) -> None:
        self._working = (self.state, new_memo(self.plan, self.state), new_hulls(self.plan))

    def _make_plan(self, contexts: tuple[str, ...]) -> Plan:
        terms, horizon = self._terms, self._terms.horizon
        if isinstance(horizon, ClosingTime):
            horizon = max(1, round(horizon.arrivals))
        defaults = None
        if isinstance(terms.default_rewards, dict):
            defaults = np.array([terms.default_rewards[name] for name in contexts])
        plan = make_plan(
            terms.policy,
            horizon=horizon,
            budget=float(terms.budget),
            costs=np.array([terms.costs_in(name) for name in contexts], np.float64),
            default_rewards=defaults,
            defaults_known=defaults is not None,
            learn_defaults=terms.default_rewards == LEARNED,
        )
        if plan.bottom != 1:
            raise InvalidInput("costs are whole numbers of units, so their grid is")
        # A simulation has no use for more than its actions can cost; bills may exceed costs.
        return plan._replace(budget=terms.budget // plan.top)


def _copy(before: State, after: State) -> None:
    """Copy what was known of fewer contexts."""
    for name, values in before._asdict().items():
        target = getattr(after, name)
        target[: len(values)] = values
