"""Must serve: a default action that takes the place of skipping, and the money set aside for it.

For the kernels an action costs what it costs more than the default, at least 0, so that the plan
buys improvements: the default itself is free, and with it all actions that are no dearer. The
money of the plan is what is left beyond the default's expected cost for every arrival to come.
"""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

from almoner.live.terms.action import in_context
from almoner.live.terms.terms import Terms

__all__ = ["MustServe", "improvement_costs"]


def improvement_costs(terms: Terms, context: str) -> list[int]:
    """Return the costs of the actions in a context for the kernels: beyond those of the default."""
    costs = [cost for _, cost, _ in terms.offers_in(context)]
    if terms.default is None:
        return costs
    own = in_context(terms.costs[terms.default], context)
    return [max(0, cost - own) for cost in costs]


class MustServe:
    """Costs of the default action, and the arrivals so far by context."""

    def __init__(self, terms: Terms) -> None:
        if terms.default is None:
            raise ValueError("the campaign has no default")
        self.name = terms.default
        self._arrivals: Counter[str] = Counter()
        self.amend(terms)

    def amend(self, terms: Terms) -> None:
        """Go on with other costs."""
        self._costs, self._reserves = terms.costs[self.name], terms.reserves[self.name]
        self._dearest, self._largest = _most(self._costs), _most(self._reserves)

    def is_no_dearer(self, context: str, *, cost: int, reserve: int) -> bool:
        """Return whether an action needs no more money than the default, now and once settled."""
        most = in_context(self._costs, context), in_context(self._reserves, context)
        return cost <= most[0] and reserve <= most[1]

    def arrived(self, context: str) -> None:
        """Count an arrival."""
        self._arrivals[context] += 1

    def expected(self, arrivals: float) -> int:
        """Return the expected cost of serving some arrivals with the default.

        The cost of an arrival is the mean so far, with one more arrival in the dearest context.
        """
        if not isinstance(self._costs, dict):
            return math.ceil(self._costs * arrivals)
        total = sum(count * self._costs[context] for context, count in self._arrivals.items())
        mean = (total + self._dearest) / (self._arrivals.total() + 1)
        return math.ceil(mean * arrivals)

    def set_aside(self, arrivals: float) -> int:
        """Return the money without which some arrivals to come might not be served.

        Each may come in the dearest context; the last one needs its whole reserve.
        """
        if arrivals <= 0:
            return 0
        return self._dearest * max(0, math.ceil(arrivals) - 1) + self._largest

    def to_dict(self) -> dict[str, int]:
        """Return plain values for a snapshot."""
        return dict(self._arrivals)

    def restore(self, arrivals: dict[str, int]) -> None:
        """Restore what `to_dict` returned."""
        self._arrivals = Counter(arrivals)


def _most(units: Any) -> int:
    return max(units.values()) if isinstance(units, dict) else int(units)
