"""RowWriter: writes the values, costs and reserves of arrivals into the arrays of the kernels.

The columns are those of all actions, the stopped ones included, which no arrival is offered.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from operator import itemgetter
from struct import Struct
from typing import Any

from almoner.kernels.rows.live import LiveScratch
from almoner.kernels.rows.state import UNAVAILABLE, Row, given_cost
from almoner.live.policy.choice import Offer, PendingArrival
from almoner.live.rows.arrival_row import ArrivalRow
from almoner.live.terms.reward_scale import UNSCALED
from almoner.live.terms.terms import SKIP_NAME, Terms
from almoner.money import LARGEST

__all__ = ["RowWriter"]

BEYOND = LARGEST + 1
"""Reserve of an action that is not to be taken: no money left can pay it."""


class RowWriter:
    """Writes arrivals of a campaign into a row, and their reserves into the scratch space."""

    def __init__(self, terms: Terms, row: Row, scratch: LiveScratch) -> None:
        self._terms, self._row, self._scratch = terms, row, scratch
        self._scores = _values_by(terms.actions)
        self._features = _values_by(terms.features)
        # Through numpy, the same takes twice the time.
        values: Any = row.values
        self._numbers = Struct(f"{len(values)}d")
        self._memory = memoryview(values).cast("B")
        self._none: Sequence[float] = (0.0,) * len(terms.actions)
        self._idle = terms.scale.zero
        self._written: Sequence[Offer] | None = None

    def write_arrival(
        self,
        arrival: PendingArrival,
        offers: Sequence[Offer],
        blocked: Sequence[bool] | None,
    ) -> None:
        """Write an arrival to be decided, at the costs and reserves of offers."""
        given, own_costs = arrival.row, arrival.own_costs
        self._write_values(given)
        plain = not own_costs and arrival.available is None and blocked is None
        if plain and offers is self._written:
            return
        self._write_offers(offers, own_costs, given.available, arrival.available, blocked)
        self._written = offers if plain else None

    def write_taken(
        self, given: ArrivalRow, offers: Sequence[Offer], own_costs: Collection[str] | None
    ) -> None:
        """Write an arrival whose action is known, or its outcome, to be learned."""
        self._write_values(given)
        self._write_offers(offers, own_costs, given.available, None, None)
        self._written = None

    def _write_values(self, given: ArrivalRow) -> None:
        """Write scores and the value of a skip, then features; in the kernels' units."""
        scores, features, scale = given.scores, given.features, self._terms.scale
        values, idle = self._none, self._idle
        if scores is not None:
            if scale is not UNSCALED:
                scores = {name: scale.units(score, count=1) for name, score in scores.items()}
            values, idle = self._scores(scores), scores.get(SKIP_NAME, idle)
        more = () if features is None else self._features(features)
        self._numbers.pack_into(self._memory, 0, *values, idle, *more)

    def _write_offers(
        self,
        offers: Sequence[Offer],
        own_costs: Collection[str] | None,
        available: Collection[str] | None,
        allowed: Collection[str] | None,
        blocked: Sequence[bool] | None,
    ) -> None:
        """Write costs and reserves; ``allowed`` are the actions that rules leave, if any."""
        costs, reserves, own_costs = {}, {}, own_costs or ()
        for place, (name, cost, reserve) in enumerate(offers):
            if available is not None and name not in available:
                continue
            costs[name] = given_cost(cost) if name in own_costs else cost
            barred = allowed is not None and name not in allowed
            barred |= blocked is not None and blocked[place]
            reserves[name] = BEYOND if barred else (0 if blocked is not None else reserve)
        names = self._terms.actions
        self._row.costs[:] = [costs.get(name, UNAVAILABLE) for name in names]
        self._scratch.reserves[:] = [reserves.get(name, BEYOND) for name in names]


def _values_by(names: Sequence[str]) -> Callable[[Mapping[str, float]], Sequence[float]]:
    """Return a function that gets the values of a table in the order of names, 0 where missing."""
    get_all: Any = itemgetter(*names) if len(names) > 1 else lambda table: [table[names[0]]]

    def values(table: Mapping[str, float]) -> Sequence[float]:
        try:
            return get_all(table)  # type: ignore[no-any-return]
        except KeyError:
            return [table.get(name, 0.0) for name in names]

    return values if names else lambda table: ()
