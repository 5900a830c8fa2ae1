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

A decision at the arrival's own costs has r = c, whatever its age, and adds nothing to the second
sum: its cost was given, not learned.
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
        self._aged_at, self._largest = 0, 0.0
        # By pair: the largest reserve so far, and the open decisions that do not expire.
        self._reserves, self._lasting = np.zeros((1, 0)), np.zeros((1, 0))
        self._billed: dict[int, Floats] = {}
        self._columns = columns
        self._open: dict[int, Cohorts] = {}
        # By decision: cost and reserve of the open ones at costs of the arrivals' own.
        self._given: dict[int, tuple[int, int]] = {}
        self._largest_given = 0
        self.amend(terms)

    def amend(self, terms: Terms) -> None:
        """Go on with these terms."""
        self._expires = terms.expires
        self._evidence_needed = terms.evidence_of_risk
        for window in self._expires.values():
            self._open.setdefault(window, Cohorts(window, 1))
            self._open[window].resize(0, len(self._columns))

    def add(self, row: int, action: str, at: int, *, cost: int, reserve: int) -> None:
        """Add a decision, given its expected cost and its reserve."""
        column = self._columns[action]
        self._resize(row + 1)
        if action in self._expires:
            self._open[self._expires[action]].add(row, column, at)
        else:
            self._lasting[row, column] += 1.0
        self._reserves[row, column] = max(self._reserves[row, column], reserve)
        self._largest = max(self._largest, float(reserve))
        self.expected += cost
        self._variance += float(cost) * reserve

    def add_given(self, decision: int, *, cost: int, reserve: int) -> None:
        """Add a decision at a cost of the arrival's own."""
        self._given[decision] = cost, reserve
        self._largest_given = max(self._largest_given, reserve)
        self._largest = max(self._largest, float(reserve))
        self.expected += cost
        self._variance += float(cost) * reserve

    def remove_given(self, decision: int) -> bool:
        """Remove a decision at a cost of the arrival's own; return whether it was one."""
        if decision not in self._given:
            return False
        cost, reserve = self._given.pop(decision)
        self.expected = max(0.0, self.expected - cost)
        self._variance = max(0.0, self._variance - float(cost) * reserve)
        return True

    def remove(
        self, row: int, action: str, at: int, lifetime: int | None, *, cost: int, reserve: int
    ) -> None:
        """Remove a decision whose reserve has ended, given what it was expected to cost.

        ``lifetime`` is the time after which its reserve would have expired; None if it would not.
        """
        column, share = self._columns[action], 0.0
        if lifetime is None:
            self._lasting[row, column] -= 1.0
        else:
            self._open[lifetime].remove(row, column, at)
            age = (self._aged_at - at) / lifetime
            share = np.interp(age, EDGES, self._billed.get(lifetime, EDGES))
        rest = float(_rest(np.float64(cost), np.float64(reserve), share))
        self.expected = max(0.0, self.expected - rest)
        self._variance = max(0.0, self._variance - rest * reserve)

    def age(self, now: int, costs: ExpectedCosts) -> None:
        """Compute everything anew from the ages of the open decisions."""
        rows, columns = costs.costs.shape
        self._resize(rows)
        expected, reserves = costs.costs.astype(np.float64), self._reserves[:rows]
        by_pair = self._lasting[:rows] * expected
        for window, cohorts in self._open.items():
            cohorts.resize(rows, columns)
            ages, counts = cohorts.ages(now, rows)
            shares = np.interp(ages, EDGES, costs.billed.get(window, EDGES))
            rests = _rest(expected[:, :, None], reserves[:, :, None], shares)
            by_pair += (counts * rests).sum(axis=2)
        per_bill = np.maximum(expected, 1.0) * (costs.evidence + DECLARED_COUNT)
        given = sum(cost for cost, _ in self._given.values())
        variance = sum(cost * reserve for cost, reserve in self._given.values())
        self.expected = float(by_pair.sum()) + given
        self._variance = float((by_pair * reserves).sum()) + variance
        self._error = float((by_pair * by_pair * reserves / per_bill).sum())
        self._aged_at, self._billed = now, costs.billed

    def admits(self, ledger: Ledger, *, cost: int, reserve: int) -> bool:
        """Return whether the budget bears one more decision, but for the risk."""
        most = min(ledger.reserved + reserve, self.most(cost=cost, reserve=reserve))
        return ledger.spent + most <= ledger.budget

    def most(self, *, cost: int = 0, reserve: int = 0) -> float:
        """Return what the open decisions cost at most, but for the risk, with one more of them."""
        needed = self._evidence_needed
        variance = self._variance + self._error + float(cost) * reserve
        q = needed * max(self._largest, reserve) / 3.0
        return self.expected + cost + q + math.sqrt(q * q + 2.0 * needed * variance)

    def blocked(self, ledger: Ledger, offers: Iterable[Offer]) -> list[bool]:
        """Return which of some offers the budget cannot bear: name, cost and reserve of each."""
        return [not self.admits(ledger, cost=cost, reserve=reserve) for _, cost, reserve in offers]

    def to_dict(self, rows: int) -> dict[str, Any]:
        """Return plain values for a snapshot of a campaign with this number of contexts."""
        self._resize(rows)
        return {
            "sums": [self.expected, self._variance, self._error, self._aged_at],
            "reserves": self._reserves[:rows].tolist(),
            "lasting": self._lasting[:rows].tolist(),
            "billed": [[window, shares.tolist()] for window, shares in self._billed.items()],
            "open": [[window, own.to_dict(rows)] for window, own in self._open.items()],
            **self._given_to_dict(),
        }

    def _given_to_dict(self) -> dict[str, Any]:
        """Return plain values of decisions at costs of arrivals' own; nothing without any."""
        if not self._largest_given:
            return {}
        opened = [[number, *money] for number, money in self._given.items()]
        return {"given": opened, "largest_given": self._largest_given}

    def restore(self, table: dict[str, Any]) -> None:
        """Restore the result of `to_dict`."""
        self.expected, self._variance, self._error, self._aged_at = table["sums"]
        self._billed = {window: np.array(shares) for window, shares in table["billed"]}
        self._reserves, self._lasting = np.array(table["reserves"]), np.array(table["lasting"])
        self._given = {number: (cost, most) for number, cost, most in table.get("given", [])}
        self._largest_given = table.get("largest_given", 0)
        self._largest = float(self._reserves.max(initial=self._largest_given))
        self._open = {}  # in the order of the snapshot, in which they are added up
        for window, values in table["open"]:
            self._open[window] = Cohorts(window, 1)
            self._open[window].restore(values)

    def _resize(self, rows: int) -> None:
        """Make room for more contexts, twice as many as needed, and for all actions."""
        has, columns = len(self._reserves), len(self._columns) - self._reserves.shape[1]
        more = 2 * rows - has if rows > has else 0
        if more or columns:
            widths = [(0, more), (0, columns)]
            self._reserves = np.pad(self._reserves, widths)
            self._lasting = np.pad(self._lasting, widths)


def _rest(cost: Any, reserve: Any, share: Any) -> Floats:
    """Return r, the cost still expected of a decision without a bill by the age of a share."""
    certain = np.minimum(MOST_CERTAIN, cost / np.maximum(reserve, 1.0) * share)
    return cost * (1.0 - share) / (1.0 - certain)  # type: ignore[no-any-return]
