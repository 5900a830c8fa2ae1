"""RowPolicy: the policy of a campaign on rows, run by the simulator's own kernels for rows.

It is a `LivePolicy` with one context, which counts arrivals, rewards and money, and a state on rows
beside it, which decides. Money is in the ledger's units.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from math import ceil
from typing import Any

import numpy as np

from almoner.jit import specialize
from almoner.kernels.live import PAST_HORIZON
from almoner.kernels.rows.live import LiveScratch, advance_row, learn_outcome
from almoner.kernels.rows.state import PRICE, ROUND, Row, new_row_state
from almoner.kernels.state import LEFT
from almoner.kernels.steps import SKIP
from almoner.live.policy.choice import Choice, Offer, PendingArrival
from almoner.live.policy.live_policy import LivePolicy
from almoner.live.rows.arrival_row import ArrivalRow, logged_row
from almoner.live.rows.row_amendments import change_expected_costs, change_offers, take_over_rows
from almoner.live.rows.row_arrays import arrays_to_dict, restore_arrays
from almoner.live.rows.row_counts import count_decision, count_events
from almoner.live.rows.row_writer import RowWriter
from almoner.live.terms.terms import LEARNED, ROWS, Terms
from almoner.live.times.closing_time import ClosingTime
from almoner.money import LARGEST
from almoner.policy.allocation import AdaptiveLP
from almoner.policy.base import Policy
from almoner.policy.contexts import EmpiricalContexts
from almoner.policy.rewards import EmpiricalMean
from almoner.policy.row_lowering import GIVEN, NO_DEFAULT, lower_rows
from almoner.store.events import SETTLED, Event
from almoner.types import Floats, Ints

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
        actions, default = len(terms.actions), NO_DEFAULT
        if terms.default is not None:
            default = terms.actions.index(terms.default)
        self._lowered_rows = lower_rows(
            terms.policy,
            horizon=horizon,
            budget=terms.budget,
            features=len(terms.features),
            learns_skip=terms.default_rewards == LEARNED,
            default=default,
        )
        self._shape = {"actions": actions, "features": len(terms.features)}
        self.row_state = new_row_state(self._lowered_rows, **self._shape)
        self._row = Row(np.zeros(actions + 1 + len(terms.features)), np.zeros(actions, np.int64))
        self._scratch = LiveScratch(
            reserves=np.zeros(actions, np.int64),
            fits=np.ones(actions, np.bool_),
            spread=np.zeros(actions),
            costs=np.zeros(actions, np.int64),
            figures=np.zeros(3),
        )
        self._writer = RowWriter(terms, self._row, self._scratch)
        self._columns = [terms.actions.index(name) for name in terms.active]
        places = {column: place for place, column in enumerate(self._columns)}
        self._places = [*(places.get(column, SKIP) for column in range(actions)), SKIP]
        self._advance_row, self._learn_outcome = advance_row, learn_outcome
        self._decided: tuple[ArrivalRow, list[Offer]] | None = None
        super().__init__(replace(terms, policy=_COUNTS), contexts, amended=amended)

    def warm_up(self) -> None:
        """Load the compiled kernels from the disk, or compile them, which takes seconds."""
        fixed = (self._lowered_rows, self.row_state, self._row)
        limits = self._stream, 0, 0, 0
        self._advance_row = specialize(advance_row, *fixed, self._scratch, *limits)
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
        action = self._ask(arrivals[0], horizon, left, blocked, held, takes=1)
        count_decision(self.state, 0, action)
        probability, price, reason = self._scratch.figures.tolist()
        return ((action, int(reason), probability, price),)

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
        action = self._ask(arrival, horizon, left, blocked, held, takes=0)
        probability, price, reason = self._scratch.figures.tolist()
        options = self._scratch.fits[self._columns] & (reason != PAST_HORIZON)
        spread = self._scratch.spread[self._columns].tolist()
        return (action, int(reason), probability, price), spread, options.tolist()

    def _ask(
        self,
        arrival: PendingArrival,
        horizon: int,
        left: int,
        blocked: Sequence[bool] | None,
        held: float,
        *,
        takes: int,
    ) -> int:
        """Return the action for an arrival, by its place among the active ones."""
        given, own_costs = arrival.row, arrival.own_costs
        self._decided = None
        offers = self.offers_to(arrival)
        given.horizon = horizon if held >= 1.0 else self._planned(horizon, held)
        self._writer.write_arrival(arrival, offers, blocked)
        payable = left if blocked is None else 0
        action = self._call_kernel(given.horizon, self._money(own_costs), payable, takes)
        if self._lowered_rows.learns_costs:
            costs = self._scratch.costs.tolist()
            predicted = zip(offers, self._columns, strict=True)
            offers = [(name, min(costs[k], most), most) for (name, _, most), k in predicted]
        self._decided = given, offers
        return self._places[action]

    def _call_kernel(self, horizon: int, money: int, payable: int, takes: int) -> int:
        """Call the kernel on the row that was written; return the column of the action."""
        if horizon != self._lowered_rows.horizon:
            self._lowered_rows = self._lowered_rows._replace(horizon=horizon)
        return self._advance_row(
            self._lowered_rows,
            self.row_state,
            self._row,
            self._scratch,
            self._stream,
            money,
            payable,
            takes,
        )

    def take(self, arrival: PendingArrival, action: int, *, horizon: int | None = None) -> None:
        """Record a decision for an arrival; ``horizon`` is that of an arrival not weighed."""
        given = arrival.row
        if given.horizon is None:
            given.horizon = horizon or self.row_state.progress.item(ROUND)
        self._take(given, arrival.own_costs)
        count_decision(self.state, 0, action)

    def fold_row(self, event: Sequence[Any]) -> None:
        """Record the row of a decision in the log, before its money is counted."""
        self._take(*logged_row(event[_DETAIL], event[_AVAILABLE]))

    def learn(self, event: Sequence[Any]) -> None:
        """Learn the reward or the bill of an event, which repeats the row of its decision.

        Stopped actions learn what comes late, and go on with it if they are restarted.
        """
        if event[_DETAIL] is None or not self.learns:
            return
        row, costs = logged_row(event[_DETAIL], None)
        terms = self._terms
        offers = [*self.offers[ROWS], *_offers_of(terms, terms.stopped)]
        self._writer.write_taken(row, terms.offers_at(ROWS, offers, costs), costs)
        name = event[_ACTION]
        action = SKIP if name is None else terms.actions.index(name)
        billed = event[_KIND] == SETTLED
        outcome = float((event[_BILL] if billed else event[_REWARD]) or 0)
        self._learn_outcome(
            self._lowered_rows, self.row_state, self._row, action, outcome, int(billed)
        )

    @property
    def learns(self) -> bool:
        """Whether rewards and bills change the values of rows."""
        return self._lowered_rows.model != GIVEN

    def set_costs(self, costs: Ints) -> None:
        """Set the expected costs (contexts, active actions), in units of money, of old rows too."""
        super().set_costs(costs)
        expected = {self._columns[place]: cost for place, cost in enumerate(costs[0].tolist())}
        change_expected_costs(self.row_state, expected)

    def take_over(self, other: LivePolicy) -> None:
        """Take over everything that the policy has learned on other terms."""
        if isinstance(other, RowPolicy):
            self._keep_sizes(other._lowered_rows.size, other._lowered_rows.warm_up)
            take_over_rows(self.row_state, other.row_state, self._lowered_rows)
            change_offers(self.row_state, other._terms, self._terms)
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
        offers = self._terms.offers_at(ROWS, self.offers[ROWS], costs or {})
        self._writer.write_taken(given, offers, costs)
        self._call_kernel(given.horizon or 0, self._money(costs), LARGEST, 1)

    def _money(self, costs: dict[str, int] | None) -> int:
        """Return the money of the plan; with a default, beyond what that costs this arrival."""
        left, default = int(self.state.progress.item(LEFT)), self._terms.default
        if default is None or not costs or default not in costs:
            return left
        expected = {name: cost for name, cost, _ in self.offers[ROWS]}[default]
        return max(0, left + expected - costs[default])

    def _planned(self, horizon: int, held: float) -> int:
        """Return the horizon for which a plan that is held back spends as much per arrival."""
        t = self.row_state.progress.item(ROUND)
        remaining = horizon - t
        if remaining < 1:
            return horizon
        return t + min(LARGEST, ceil(remaining / max(held, 1e-12)))


def _offers_of(terms: Terms, names: Collection[str]) -> list[Offer]:
    """Return the declared offers of some actions."""
    offers = zip(terms.actions, terms.costs_in(ROWS), terms.reserves_in(ROWS), strict=True)
    return [offer for offer in offers if offer[0] in names]


_KIND, _ACTION, _AVAILABLE, _BILL, _REWARD, _DETAIL = map(
    Event._fields.index, ("kind", "action", "available", "bill", "reward", "detail")
)
