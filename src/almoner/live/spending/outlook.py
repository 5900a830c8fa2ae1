"""Outlook of an arrival: what it may cost under the pace and the default of a campaign."""

from __future__ import annotations

from typing import NamedTuple

from almoner.live.costs.ledger import Ledger
from almoner.live.costs.shared_reserves import SharedReserves
from almoner.live.policy.choice import Offer
from almoner.live.policy.must_serve import MustServe

__all__ = ["HELD_BY_PACE", "CapState", "Outlook"]

HELD_BY_PACE = 5
"""Reason of a skip, beside those of `almoner.kernels.live`: only a cap forbids every action."""

FIFTH = 0.2
"""How far an even spend may be from the straight line, as a share of it."""

START = 0.01
"""Share of the budget that an even spend may use at once, before the line has reached it."""

AHEAD = 0.01
"""Share of the arrivals over which an even spend returns to its limits: as in the prototype."""


class CapState(NamedTuple):
    """The cap of a period, the money held and expected in it, its end, and arrivals until then."""

    period: str
    cap: int
    held: int
    expected: int
    end: int
    arrivals: float | None

    @property
    def room(self) -> int:
        """The money that a reserve may still use."""
        return max(0, self.cap - self.held)

    def affordable(self, arrivals: int) -> float | None:
        """Return the money for all arrivals to come at the ratio that this cap allows."""
        if self.arrivals is None:
            return None
        return max(0, self.cap - self.expected) / max(1.0, self.arrivals) * arrivals


class Outlook(NamedTuple):
    """The money before an arrival.

    ``arrivals`` are those to come, with this one; ``line`` is the share of the campaign that has
    passed, if its spend is to be even. ``committed`` is the money that the plan treats as spent,
    and ``shared`` are the open decisions if reserves are shared. ``default_offer`` is that of the
    default to an arrival with costs of its own.
    """

    ledger: Ledger
    arrivals: int
    seen: int
    line: float | None
    caps: tuple[CapState, ...]
    serve: MustServe | None
    committed: int
    shared: SharedReserves | None
    default_offer: Offer | None = None

    @property
    def left(self) -> int:
        """The money that may be reserved."""
        return self.ledger.left

    @property
    def ceiling(self) -> int | None:
        """The most that an even spend may have used after this arrival."""
        if self.line is None:
            return None
        share = min(1.0, max((1.0 + FIFTH) * self.line, START))
        return min(self.ledger.budget, int(share * self.ledger.budget))

    @property
    def money(self) -> int:
        """The money left after expected costs."""
        return max(0, self.ledger.budget - self.committed)

    @property
    def beyond_default(self) -> int:
        """The money left after expected costs and the defaults to come, for improvements."""
        return max(0, self.money - self._defaults)

    @property
    def held(self) -> float:
        """The share of that money at which the plan spends: 1 without a pace."""
        money = self.beyond_default
        if money == 0 or (self.line is None and not self.caps):
            return 1.0
        return max(0.0, self.funds - self._defaults) / money

    @property
    def _defaults(self) -> int:
        return 0 if self.serve is None else self.serve.expected(self.arrivals)

    @property
    def funds(self) -> float:
        """The money for all arrivals to come at the smallest of the ratios."""
        money = float(self.money)
        if self.arrivals <= 0:
            return money
        for cap in self.caps:
            affordable = cap.affordable(self.arrivals)
            money = money if affordable is None else min(money, affordable)
        if self.line is not None and self.ceiling is not None:
            money = self._even(money, self.line, self.ceiling)
        return money

    def _even(self, money: float, line: float, ceiling: int) -> float:
        """Return the money of the plan such that the spend stays between the limits of its line."""
        used = self.ledger.committed
        ahead = min(float(self.arrivals), max(1.0, AHEAD * (self.seen + self.arrivals)))
        most = max(0, ceiling - used) / ahead * self.arrivals
        least = max(0.0, (1.0 - FIFTH) * line * self.ledger.budget - used) / ahead * self.arrivals
        return max(min(money, most), least)

    def within_budget(self, context: str, offer: Offer) -> bool:
        """Return whether the budget pays for an action, and then for the defaults to come."""
        _, cost, reserve = offer
        if self.shared is not None:
            return self.shared.admits(self.ledger, cost=cost, reserve=reserve)
        return reserve <= self.left - self._others(context, offer, self.arrivals)

    def allows(self, context: str, offer: Offer) -> bool:
        """Return whether an action can be paid within all limits."""
        _, cost, reserve = offer
        if not self.within_budget(context, offer):
            return False
        for cap in self.caps:
            coming = self.arrivals if cap.arrivals is None else cap.arrivals
            if reserve > cap.room - self._others(context, offer, coming):
                return False
        if self.ceiling is None or cost == 0 or self._is_served(context, offer):
            return True  # amendments and bills may have put the spend above its line
        return cost <= self.ceiling - self.ledger.committed

    def _others(self, context: str, offer: Offer, arrivals: float) -> int:
        """Return the money that is set aside for arrivals after this one.

        The default may use it, and so may an action that is no dearer.
        """
        if self.serve is None or self._is_served(context, offer):
            return 0
        return self.serve.set_aside(arrivals - 1)

    def _is_served(self, context: str, offer: Offer) -> bool:
        if self.serve is None:
            return False
        _, cost, reserve = offer
        if self.default_offer is None:
            return self.serve.is_no_dearer(context, cost=cost, reserve=reserve)
        return cost <= self.default_offer[1] and reserve <= self.default_offer[2]
