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
from almoner.kernels.live import ACTED, NOT_ALLOWED, PAST_HORIZON, POLICY_SKIP, UNAFFORDABLE
from almoner.kernels.rows.live import LiveScratch, advance_row, learn_outcome
from almoner.kernels.rows.state import PRICE, ROUND, UNAVAILABLE, Row, new_row_state
from almoner.kernels.state import LEFT
from almoner.kernels.steps import SKIP
from almoner.live.policy.choice import Choice, Offer, PendingArrival
from almoner.live.policy.live_policy import LivePolicy
from almoner.live.rows.arrival_row import ArrivalRow, logged_row
from almoner.live.rows.row_arrays import arrays_to_dict, copy_arrays, restore_arrays
from almoner.live.rows.row_counts import count_decision, count_events
from almoner.live.terms.reward_scale import UNSCALED
from almoner.live.terms.terms import LEARNED, ROWS, SKIP_NAME, Terms
from almoner.live.times.closing_time import ClosingTime
from almoner.money import LARGEST
from almoner.policy.allocation import AdaptiveLP
from almoner.policy.base import Policy
from almoner.policy.contexts import EmpiricalContexts
from almoner.policy.rewards import EmpiricalMean
from almoner.policy.row_lowering import GIVEN, NO_DEFAULT, lower_rows
from almoner.store.events import SETTLED, Event
from almoner.types import Floats

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
        self._row = Row(np.zeros(actions + 1 + len(terms.features)), np.zeros(actions, np.int64))
        self._scratch = LiveScratch(
            fits=np.ones(actions, np.bool_),
            spread=np.zeros(actions),
            costs=np.zeros(actions, np.int64),
            figures=np.zeros(2),
        )
        self._advance_row, self._learn_outcome = advance_row, learn_outcome
        self._decided: tuple[ArrivalRow, list[Offer]] | None = None
        super().__init__(replace(terms, policy=_COUNTS), contexts, amended=amended)

    def warm_up(self) -> None:
        """Load the compiled kernels from the disk, or compile them, which takes seconds."""
        fixed = (self._lowered_rows, self.row_state, self._row)
        self._advance_row = specialize(advance_row, *fixed, self._scratch, self._stream, 0, 0)
        if self.learns:
            self._learn_outcome = specialize(learn_outcome, *fixed, 0, 0.0, 0)
        if self._terms.spreads:
            self.draw(0)
        self.is_warm = True

    def warm_up_own_costs(self) -> None:
        """Do nothing: every row has costs of its own."""

    def replay(self, rows: Sequence[tuple[int, int, int, int]], rewards: Sequence[float]) -> None:
        """Count events, each with the reward it may carry."""
        windowed = self._terms.reward_window is not None
        skips = self._terms.default_rewards == LEARNED
        count_events(self.state, rows, rewards, windowed=windowed, learns_skips=skips)

    def set_evidence(self, columns: dict[str | None, int], came: Floats, made: Floats) -> None:
        """Set the evidence of all pairs, which is reported: models learn rewards as they come."""
        self.statistics.set_evidence(columns, came, made)

    @property
    def price(self) -> float | None:
        """The price of a unit of budget, as of the last decision; None before the first."""
        if self.row_state.progress.item(ROUND) == 0:
            return None
        return self.row_state.figures.item(PRICE) * self.per_unit

    def offers_to(self, arrival: PendingArrival) -> list[Offer]:
        """Return the actions as an arrival has them; once it is weighed, at predicted costs."""
        if self._decided is not None and self._decided[0] is arrival.row:
            return self._decided[1]
        if not arrival.own_costs:
            return self.offers[ROWS]
        return self._terms.offers_at(ROWS, self.offers[ROWS], arrival.own_costs)

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
        arrival, t = arrivals[0], self.row_state.progress.item(ROUND)
        action, money = self._ask(arrival, t, horizon, left, blocked, held, takes=1)
        count_decision(self.state, 0, action)
        reason = ACTED
        if action == SKIP:
            reason = self._reason(t >= horizon, self._options(money, past=t >= horizon))
        probability, price = self._scratch.figures.tolist()
        return (((action, reason), (probability, nan if t >= horizon else price)),)

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
        t = self.row_state.progress.item(ROUND)
        action, money = self._ask(arrival, t, horizon, left, blocked, held, takes=0)
        options = self._options(money, past=t >= horizon)
        reason = self._reason(t >= horizon, options) if action == SKIP else ACTED
        probability, price = self._scratch.figures.tolist()
        figures = probability, nan if t >= horizon else price
        return ((action, reason), figures), self._scratch.spread.tolist(), options

    def _ask(
        self,
        arrival: PendingArrival,
        t: int,
        horizon: int,
        left: int,
        blocked: Sequence[bool] | None,
        held: float,
        *,
        takes: int,
    ) -> tuple[int, int]:
        """Return the action for an arrival, and the money of the plan that it was chosen for."""
        self._decided, given, allowed = None, arrival.row, arrival.available
        own_costs = arrival.own_costs
        offers = self.offers_to(arrival)
        given.horizon = self._planned(t, horizon, held)
        self._write_row(given, offers)
        money, fits = self._money(own_costs), self._scratch.fits
        if blocked is not None:
            fits[:] = [not barred for barred in blocked]
        else:
            fits[:] = [reserve <= left for _, _, reserve in offers]
        if allowed is not None and allowed is not given.available:  # rules leave out more
            fits &= [name in allowed for name in self.actions]
        action = self._call_kernel(given.horizon, money, takes)
        if self._lowered_rows.learns_costs:
            costs = self._scratch.costs.tolist()
            predicted = zip(offers, costs, strict=True)
            offers = [(name, min(cost, reserve), reserve) for (name, _, reserve), cost in predicted]
        self._decided = given, offers
        return action, money

    def _call_kernel(self, horizon: int, money: int, takes: int) -> int:
        """Call the kernel on the row that was filled in."""
        if horizon != self._lowered_rows.horizon:
            self._lowered_rows = self._lowered_rows._replace(horizon=horizon)
        return self._advance_row(
            self._lowered_rows,
            self.row_state,
            self._row,
            self._scratch,
            self._stream,
            money,
            takes,
        )

    def _options(self, money: int, *, past: bool) -> list[bool]:
        """Return the actions that the arrival just weighed could be given."""
        costs = self._row.costs.tolist()
        fits = zip(self._scratch.fits.tolist(), costs, strict=True)
        return [fit and cost <= money and not past for fit, cost in fits]

    def _reason(self, past: bool, options: list[bool]) -> int:
        """Return why the arrival just weighed is skipped."""
        if past:
            return PAST_HORIZON
        if max(self._row.costs.tolist()) == UNAVAILABLE:
            return NOT_ALLOWED
        return POLICY_SKIP if any(options) else UNAFFORDABLE

    def take(self, arrival: PendingArrival, action: int, *, horizon: int | None = None) -> None:
        """Record a decision for an arrival; ``horizon`` is that of an arrival not weighed."""
        given, t = arrival.row, self.row_state.progress.item(ROUND)
        if given.horizon is None:
            given.horizon = self._planned(t, horizon or t, 1.0)
        self._take(given, arrival.own_costs)
        count_decision(self.state, 0, action)

    def fold_row(self, event: Sequence[Any]) -> None:
        """Record the row of a decision in the log, before its money is counted."""
        self._take(*logged_row(event[_DETAIL], event[_AVAILABLE]))

    def learn(self, event: Sequence[Any]) -> None:
        """Learn the reward or the bill of an event, which repeats the row of its decision."""
        if event[_DETAIL] is None or event[_ACTION] not in (None, *self.actions):
            return
        row, costs = logged_row(event[_DETAIL], None)
        self._write_row(row, self._terms.offers_at(ROWS, self.offers[ROWS], costs))
        action = SKIP if event[_ACTION] is None else self.actions[event[_ACTION]]
        billed = event[_KIND] == SETTLED
        outcome = float((event[_BILL] if billed else event[_REWARD]) or 0)
        self._learn_outcome(
            self._lowered_rows, self.row_state, self._row, action, outcome, int(billed)
        )

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

    def _take(self, given: ArrivalRow, costs: dict[str, int] | None) -> None:
        self._write_row(given, self._terms.offers_at(ROWS, self.offers[ROWS], costs or {}))
        self._scratch.fits[:] = True
        self._call_kernel(given.horizon or 0, self._money(costs), 1)

    def _write_row(self, given: ArrivalRow, offers: Sequence[Offer]) -> None:
        """Write the row of an arrival, at the costs of offers, for the kernels."""
        scores, features, available = given.scores or {}, given.features, given.available
        scale, names = self._terms.scale, self.actions
        if scale is not UNSCALED:
            scores = {name: scale.units(score, count=1) for name, score in scores.items()}
        values = [scores.get(name, 0.0) for name in names]
        values.append(scores.get(SKIP_NAME, scale.zero))
        if features is not None:
            values += [features.get(name, 0.0) for name in self._terms.features]
        self._row.values[:] = values
        costs = [cost for _, cost, _ in offers]
        if available is not None:
            named = zip(names, costs, strict=True)
            costs = [cost if name in available else UNAVAILABLE for name, cost in named]
        self._row.costs[:] = costs

    def _money(self, costs: dict[str, int] | None) -> int:
        """Return the money of the plan; with a default, beyond what that costs this arrival."""
        left, default = int(self.state.progress.item(LEFT)), self._terms.default
        if default is None or not costs or default not in costs:
            return left
        expected = {name: cost for name, cost, _ in self.offers[ROWS]}[default]
        return max(0, left + expected - costs[default])

    def _planned(self, t: int, horizon: int, held: float) -> int:
        """Return the horizon for which a plan that is held back spends as much per arrival."""
        remaining = horizon - t
        if held >= 1.0 or remaining < 1:
            return horizon
        return t + min(LARGEST, ceil(remaining / max(held, 1e-12)))


_KIND, _ACTION, _AVAILABLE, _BILL, _REWARD, _DETAIL = map(
    Event._fields.index, ("kind", "action", "available", "bill", "reward", "detail")
)
