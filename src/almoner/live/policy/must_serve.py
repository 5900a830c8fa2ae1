"""Must serve: a default action that takes the place of skipping, and the money set aside for it.

For the kernels an action costs what it costs more than the default, at least 0, so that the plan
buys improvements: the default itself is free, and with it all actions that are no dearer. The
money of the plan is what is left beyond the default's expected cost for every arrival to come,
which is the mean so far: arrivals may have costs of their own for it.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
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
    """Costs of the default action, and arrivals so far: by context, or at costs of their own."""

    def __init__(self, terms: Terms) -> None:
        if terms.default is None:
            raise ValueError("the campaign has no default")
        self.name = terms.default
        self._arrivals: Counter[str] = Counter()
        self._own, self._own_costs = 0, 0
        self.amend(terms)

    def amend(self, terms: Terms) -> None:
        """Go on with other costs."""
        self._costs, self._reserves = terms.costs[self.name], terms.reserves[self.name]
        self._dearest, self._largest = _most(self._costs), _most(self._reserves)

    def is_no_dearer(self, context: str, *, cost: int, reserve: int) -> bool:
        """Return whether an action needs no more money than the default, now and once settled."""
        most = in_context(self._costs, context), in_context(self._reserves, context)
        return cost <= most[0] and reserve <= most[1]

    def arrived(self, context: str, own_costs: Mapping[str, int] | None = None) -> None:
        """Count an arrival, with the costs that it had of its own."""
        cost = None if own_costs is None else own_costs.get(self.name)
        if cost is None:
            self._arrivals[context] += 1
        else:
            self._own += 1
            self._own_costs += cost

    def expected(self, arrivals: float) -> int:
        """Return the expected cost of serving some arrivals with the default.

        The cost of an arrival is the mean so far, with one more arrival in the dearest context.
        """
        if self._own == 0 and not isinstance(self._costs, dict):
            return math.ceil(self._costs * arrivals)
        return math.ceil(self._mean * arrivals)

    @property
    def _mean(self) -> float:
        declared = (n * in_context(self._costs, name) for name, n in self._arrivals.items())
        total = sum(declared) + self._own_costs
        return (total + self._dearest) / (self._arrivals.total() + self._own + 1)

    def set_aside(self, arrivals: float) -> int:
        """Return the money without which some arrivals to come might not be served.

        Each may come in the dearest context, or at the mean of costs so far, if that is more; the
        last one needs its whole reserve.
        """
        if arrivals <= 0:
            return 0
        dearest = self._dearest if self._own == 0 else max(self._dearest, math.ceil(self._mean))
        return dearest * max(0, math.ceil(arrivals) - 1) + self._largest

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for a snapshot."""
        return {"arrivals": dict(self._arrivals), "own": [self._own, self._own_costs]}

    def restore(self, table: dict[str, Any]) -> None:
        """Restore what `to_dict` returned."""
        self._arrivals = Counter(table["arrivals"])
        self._own, self._own_costs = table["own"]


def _most(units: Any) -> int:
    return max(units.values()) if isinstance(units, dict) else int(units)
