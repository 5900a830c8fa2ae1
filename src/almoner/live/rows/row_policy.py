"""RowPolicy: the policy of a campaign on rows, run by the simulator's own kernels for rows.

It is a `LivePolicy` with one context, which counts arrivals, rewards and money, and a state on rows
beside it, which decides. Money is in the ledger's units.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from math import ceil, nan
from typing import Any

import numpy as np

from almoner.jit import specialize
from almoner.kernels.draws import round_key
from almoner.kernels.live import ACTED, NOT_ALLOWED, PAST_HORIZON, POLICY_SKIP, UNAFFORDABLE
from almoner.kernels.rows.live import take_live, weigh_live
from almoner.kernels.rows.state import PRICE, ROUND, UNAVAILABLE, Row, new_row_state
from almoner.kernels.rows.steps import learn_bill, learn_row
from almoner.kernels.state import LEFT
from almoner.kernels.steps import SKIP
from almoner.live.policy.choice import Choice, Offer, PendingArrival
from almoner.live.policy.live_policy import LivePolicy
from almoner.live.rows.arrival_row import ArrivalRow, logged_row
from almoner.live.rows.row_arrays import arrays_to_dict, copy_arrays, restore_arrays
from almoner.live.terms.terms import ROWS, SKIP_NAME, Terms
from almoner.live.times.closing_time import ClosingTime
from almoner.money import LARGEST
from almoner.policy.allocation import AdaptiveLP
from almoner.policy.base import Policy
from almoner.policy.contexts import EmpiricalContexts
from almoner.policy.rewards import EmpiricalMean
from almoner.policy.row_lowering import GIVEN, NO_DEFAULT, lower_rows
from almoner.store.events import SETTLED, Event

__all__ = ["RowPolicy"]

_COUNTS = Policy(rewards=EmpiricalMean(), contexts=EmpiricalContexts(), allocation=AdaptiveLP())
"""The policy by whose state arrivals and rewards are counted; it decides nothing."""


class RowPolicy(LivePolicy):
    """A policy on rows with what it has learned.

    Attributes
    ----------
    row_state
        The market, its price, and the models of rewards and bills.
    """

    def __init__(
        self, terms: Terms, contexts: tuple[str, ...] | None = None, *, amended: bool = False
    ) -> None:
        horizon = terms.horizon
        if isinstance(horizon, ClosingTime):
            horizon = max(1, round(horizon.arrivals))
        actions, default = len(terms.active), NO_DEFAULT
        if terms.default is not None:
            default = terms.active.index(terms.default)
        self._lowered_rows = lower_rows(
            terms.policy,
            horizon=horizon,
            budget=terms.budget,
            features=len(terms.features),
            default=default,
        )
        self._shape = {"actions": actions, "features": len(terms.features)}
        self.row_state = new_row_state(self._lowered_rows, **self._shape)
        self._fits, self._spread = np.ones(actions, np.bool_), np.zeros(actions)
        self._expected, self._numbers = np.zeros(actions, np.int64), np.zeros(2)
        self._weigh_row, self._take_row = weigh_live, take_live
        self._learn_row, self._learn_bill = learn_row, learn_bill
        self._decided: tuple[ArrivalRow, list[int]] | None = None
        super().__init__(replace(terms, policy=_COUNTS), contexts, amended=amended)

    def warm_up(self) -> None:
        """Load the compiled kernels from the disk, or compile them, which takes seconds."""
        super().warm_up()
        row = self._row(ArrivalRow({}, {}), {})
        fixed, key = (self._lowered_rows, self.row_state, row), np.uint64(0)
        scratch = (self._spread, self._expected, self._numbers)
        self._weigh_row = specialize(weigh_live, *fixed, self._fits, key, 0, *scratch)
        self._take_row = specialize(take_live, *fixed, self._fits, key, 0)
        self._learn_row = specialize(learn_row, *fixed, 0, 0.0)
        self._learn_bill = specialize(learn_bill, *fixed, 0, 0.0)

    def warm_up_own_costs(self) -> None:
        """Do nothing: every row has costs of its own."""

    @property
    def price(self) -> float | None:
        """The price of a unit of budget, as of the last decision; None before the first."""
        if self.row_state.progress.item(ROUND) == 0:
            return None
        return self.row_state.figures.item(PRICE) * self.per_unit

    def offers_to(self, arrival: PendingArrival) -> list[Offer]:
        """Return the actions as an arrival has them; once it is weighed, at predicted costs."""
        offers = super().offers_to(arrival)
        if self._decided is None or self._decided[0] is not arrival.row:
            return offers
        return [
            (name, min(cost, reserve), reserve)
            for (name, _, reserve), cost in zip(offers, self._decided[1], strict=True)
        ]

    def choose(
        self,
        arrivals: Sequence[PendingArrival],
        *,
        horizon: int,
        left: int,
        blocked: Sequence[bool] | None = None,
        held: float = 1.0,
        funds: int | None = None,
    ) -> Iterable[Choice]:
        """Decide for one arrival, and record it as taken."""
        choice, _, _ = self.weigh(
            arrivals[0], horizon=horizon, left=left, blocked=blocked, held=held
        )
        self.take(arrivals[0], choice[0][0], horizon=horizon)
        return (choice,)

    def weigh(
        self,
        arrival: PendingArrival,
        *,
        horizon: int,
        left: int,
        held: float = 1.0,
        blocked: Sequence[bool] | None = None,
        funds: int | None = None,
    ) -> tuple[Choice, list[float], list[bool]]:
        """Decide for an arrival, and record nothing: see `LivePolicy.weigh`."""
        self._decided, given = None, arrival.row
        offers, t = self.offers_to(arrival), self.row_state.progress.item(ROUND)
        given.horizon = self._planned(t, horizon, held)
        row = self._row(given, arrival.own_costs)
        money = self._money(arrival.own_costs)
        for k, (name, _, reserve) in enumerate(offers):
            bears = reserve <= left if blocked is None else not blocked[k]
            self._fits[k] = bears and (arrival.available is None or name in arrival.available)
        action = self._weigh_row(
            self._lowered_rows._replace(horizon=given.horizon),
            self.row_state,
            row,
            self._fits,
            self._key(t),
            money,
            self._spread,
            self._expected,
            self._numbers,
        )
        self._decided = given, self._costs_of(offers)
        past = t >= horizon
        options = [
            bool(fits and cost <= money and not past)
            for fits, cost in zip(self._fits.tolist(), row.costs.tolist(), strict=True)
        ]
        reason = ACTED
        if action == SKIP:
            reason = POLICY_SKIP if any(options) else UNAFFORDABLE
            reason = reason if (row.costs != UNAVAILABLE).any() else NOT_ALLOWED
            reason = PAST_HORIZON if past else reason
        probability, price = self._numbers.tolist()
        figures = probability, nan if past else price
        return ((action, reason), figures), self._spread.tolist(), options

    def take(self, arrival: PendingArrival, action: int, *, horizon: int | None = None) -> None:
        """Record a decision for an arrival; ``horizon`` is that of an arrival not weighed."""
        given, t = arrival.row, self.row_state.progress.item(ROUND)
        if given.horizon is None:
            given.horizon = self._planned(t, horizon or t, 1.0)
        self._take(given, arrival.own_costs, t)
        super().take(arrival, action)

    def fold_row(self, event: Sequence[Any]) -> None:
        """Record the row of a decision in the log, before its money is counted."""
        row, costs = logged_row(event[_DETAIL], event[_AVAILABLE])
        self._take(row, costs, self.row_state.progress.item(ROUND))

    def learn(self, event: Sequence[Any]) -> None:
        """Learn the reward or the bill of an event, which repeats the row of its decision."""
        if event[_DETAIL] is None or event[_ACTION] not in (None, *self.actions):
            return
        row = self._row(*logged_row(event[_DETAIL], None))
        action = SKIP if event[_ACTION] is None else self.actions[event[_ACTION]]
        if event[_KIND] == SETTLED:
            bill = float(event[_BILL] or 0)
            self._learn_bill(self._lowered_rows, self.row_state, row, action, bill)
        else:
            reward = float(event[_REWARD] or 0.0)
            self._learn_row(self._lowered_rows, self.row_state, row, action, reward)

    @property
    def learns(self) -> bool:
        """Whether rewards and bills change the values of rows."""
        return self._lowered_rows.model != GIVEN

    def take_over(self, other: LivePolicy) -> None:
        """Take over everything that the policy has learned on other terms."""
        if isinstance(other, RowPolicy):
            self._keep_sizes(other._lowered_rows.size, other._lowered_rows.warm_up)
            copy_arrays(other.row_state, self.row_state)
        super().take_over(other)

    def to_dict(self) -> dict[str, Any]:
        """Return the market, the models and the counts as plain values."""
        return {
            **super().to_dict(),
            "rows": arrays_to_dict(self.row_state),
            "sizes": [self._lowered_rows.size, self._lowered_rows.warm_up],
        }

    def restore(self, table: dict[str, Any]) -> None:
        """Restore the result of `to_dict`."""
        counts = dict(table)
        self._keep_sizes(*counts.pop("sizes"))
        restore_arrays(self.row_state, counts.pop("rows"))
        super().restore(counts)

    def _keep_sizes(self, market: int, warm_up: int) -> None:
        """Keep the sizes of the opening, which follow from its horizon, after an amendment."""
        lowered = self._lowered_rows
        if (market, warm_up) != (lowered.size, lowered.warm_up):
            self._lowered_rows = lowered._replace(size=market, warm_up=warm_up)
            self.row_state = new_row_state(self._lowered_rows, **self._shape)

    def _take(self, given: ArrivalRow, costs: dict[str, int] | None, t: int) -> None:
        policy = self._lowered_rows._replace(horizon=given.horizon or 0)
        row = self._row(given, costs)
        self._take_row(policy, self.row_state, row, self._fits, self._key(t), self._money(costs))

    def _row(self, given: ArrivalRow, costs: dict[str, int] | None) -> Row:
        """Return a row as the kernels take it."""
        names, terms, available = [*self.actions], self._terms, given.available
        to_unit = terms.scale.units
        scores = {name: to_unit(v, count=1) for name, v in (given.scores or {}).items()}
        offers = terms.offers_at(ROWS, self.offers[ROWS], costs or {})
        amounts = [cost for _, cost, _ in offers]
        idle = scores.get(SKIP_NAME, terms.scale.zero)
        if available is not None:
            costs_by_name = zip(names, amounts, strict=True)
            amounts = [c if name in available else UNAVAILABLE for name, c in costs_by_name]
        features = [(given.features or {}).get(name, 0.0) for name in terms.features]
        values = [*(scores.get(name, 0.0) for name in names), idle, *features]
        return Row(np.array(values), np.array(amounts, np.int64))

    def _money(self, costs: dict[str, int] | None) -> int:
        """Return the money of the plan; with a default, beyond what that costs this arrival."""
        left, default = int(self.state.progress.item(LEFT)), self._terms.default
        if default is None or not costs or default not in costs:
            return left
        expected = {name: cost for name, cost, _ in self.offers[ROWS]}[default]
        return max(0, left + expected - costs[default])

    def _costs_of(self, offers: Sequence[Offer]) -> list[int]:
        """Return the expected costs of the row just weighed, in whole."""
        if not self._lowered_rows.learns_costs:
            return [cost for _, cost, _ in offers]
        return self._expected.tolist()

    def _planned(self, t: int, horizon: int, held: float) -> int:
        """Return the horizon for which a plan that is held back spends as much per arrival."""
        remaining = horizon - t
        if held >= 1.0 or remaining < 1:
            return horizon
        return t + min(LARGEST, ceil(remaining / max(held, 1e-12)))

    def _key(self, t: int) -> np.uint64:
        return np.uint64(round_key(self._stream, t))


_KIND, _ACTION, _AVAILABLE, _BILL, _REWARD, _DETAIL = map(
    Event._fields.index, ("kind", "action", "available", "bill", "reward", "detail")
)
