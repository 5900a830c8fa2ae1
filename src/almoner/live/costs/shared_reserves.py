"""Shared reserves: with a risk, open decisions need not all be paid in full at the same time.

A decision of age a that is expected to cost c, and f at most, will cost in expectation

    r = c (1 − F(a)) / (1 − (c/f) F(a)),

if nothing was heard of it so far; F(a) is the share of bills that come by its age, learned as in
`almoner.live.rewards.cohorts`, but from a straight line up to the end of its reserve: another guess
would free money before bills have shown that it is free. For a reserve that does not expire F is 0.
Let A = Σ r over the open decisions, f_max the largest reserve, L = log(1/risk), and

    V = Σ r f + Σ_pairs A_jk² f_k / (c_jk (E_jk + w)),

the second sum for the error of the expected costs, which rest on E bills and on the declared cost,
worth w of them. By Bernstein's inequality the open decisions exceed

    A + q + √(q² + 2LV),    q = L f_max / 3,

with a probability of at most the risk. A new decision is admitted if that, or all reserves, and
the money spent stay within the budget.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from almoner.live.costs.bills import DECLARED_COUNT, ExpectedCosts
from almoner.live.costs.ledger import Ledger
from almoner.live.policy.choice import Offer
from almoner.live.rewards.cohorts import EDGES, Cohorts
from almoner.live.terms.terms import Terms
from almoner.live.times.durations import LONGEST
from almoner.types import Floats

__all__ = ["SharedReserves"]

MOST_CERTAIN = 0.9
"""Largest value of (c/f) F: no decision is taken to be all but paid."""


class SharedReserves:
    """The open decisions of a campaign with a risk, by pair and age.

    ``expected`` is A, in units. Between two ageings it changes by decisions and bills only.
    """

    def __init__(self, terms: Terms, columns: dict[str, int]) -> None:
        self.expected = 0.0
        self._variance = self._error = 0.0
        self._aged_at = 0
        self._billed: dict[int, Floats] = {}
        self._columns = columns
        self._open: dict[int, Cohorts] = {}
        self.amend(terms)

    def amend(self, terms: Terms) -> None:
        """Go on with these terms."""
        self._expires = {name: terms.expires.get(name, LONGEST) for name in terms.actions}
        self._evidence_needed = math.log(1.0 / terms.risk)
        reserves = [terms.reserves_in(context) for context in terms.contexts]
        self._largest = float(np.max(reserves))
        for window in self._expires.values():
            self._open.setdefault(window, Cohorts(window, 1))
            self._open[window].resize(0, len(self._columns))

    def add(self, row: int, action: str, at: int, *, cost: int, reserve: int) -> None:
        """Add a decision, given its expected cost and its reserve."""
        self._open[self._expires[action]].add(row, self._columns[action], at)
        self.expected += cost
        self._variance += float(cost) * reserve

    def remove(self, row: int, action: str, at: int, *, cost: int, reserve: int) -> None:
        """Remove a decision whose reserve has ended, given what it was expected to cost."""
        window = self._expires[action]
        self._open[window].remove(row, self._columns[action], at)
        share = np.interp((self._aged_at - at) / window, EDGES, self._billed.get(window, EDGES))
        rest = float(_rest(np.float64(cost), np.float64(reserve), share))
        self.expected = max(0.0, self.expected - rest)
        self._variance = max(0.0, self._variance - rest * reserve)

    def age(self, now: int, costs: ExpectedCosts) -> None:
        """Compute everything anew from the ages of the open decisions."""
        rows, columns = costs.costs.shape
        expected, reserves = costs.costs.astype(np.float64), costs.reserves.astype(np.float64)
        by_pair = np.zeros(costs.costs.shape)
        for window, cohorts in self._open.items():
            cohorts.resize(rows, columns)
            ages, counts = cohorts.ages(now, rows)
            shares = np.interp(ages, EDGES, costs.billed.get(window, EDGES))
            rests = _rest(expected[:, :, None], reserves[:, :, None], shares)
            by_pair += (counts * rests).sum(axis=2)
        per_bill = np.maximum(expected, 1.0) * (costs.evidence + DECLARED_COUNT)
        self.expected = float(by_pair.sum())
        self._variance = float((by_pair * reserves).sum())
        self._error = float((by_pair * by_pair * reserves / per_bill).sum())
        self._aged_at, self._billed = now, costs.billed

    def admits(self, ledger: Ledger, *, cost: int, reserve: int) -> bool:
        """Return whether the budget bears one more decision, but for the risk."""
        needed = self._evidence_needed
        variance = self._variance + self._error + float(cost) * reserve
        q = needed * max(self._largest, reserve) / 3.0
        most = self.expected + cost + q + math.sqrt(q * q + 2.0 * needed * variance)
        return ledger.spent + min(ledger.reserved + reserve, most) <= ledger.budget

    def blocked(self, ledger: Ledger, offers: Iterable[Offer]) -> list[bool]:
        """Return which of some offers the budget cannot bear: name, cost and reserve of each."""
        return [not self.admits(ledger, cost=cost, reserve=reserve) for _, cost, reserve in offers]

    def to_dict(self, rows: int) -> dict[str, Any]:
        """Return plain values for a snapshot of a campaign with this number of contexts."""
        return {
            "sums": [self.expected, self._variance, self._error, self._aged_at],
            "billed": [[window, shares.tolist()] for window, shares in self._billed.items()],
            "open": [[window, own.to_dict(rows)] for window, own in self._open.items()],
        }

    def restore(self, table: dict[str, Any]) -> None:
        """Restore the result of `to_dict`."""
        self.expected, self._variance, self._error, self._aged_at = table["sums"]
        self._billed = {window: np.array(shares) for window, shares in table["billed"]}
        for window, values in table["open"]:
            self._open.setdefault(window, Cohorts(window, 1)).restore(values)


def _rest(cost: Any, reserve: Any, share: Any) -> Floats:
    """Return r, the cost still expected of a decision without a bill by the age of a share."""
    certain = np.minimum(MOST_CERTAIN, cost / np.maximum(reserve, 1.0) * share)
    return cost * (1.0 - share) / (1.0 - certain)  # type: ignore[no-any-return]
