"""Learned costs: the expected cost of each pair, from its bills and the cost that was declared.

    c = (Σ bills + w·declared) / (E + w),    w = 50

E counts the decisions whose bills are known. Where a reserve expires, a decision without a bill
counts by its age, as silence does in a reward window (`almoner.live.rewards.cohorts`); elsewhere
it counts once it is settled.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from almoner.live.rewards.cohorts import EDGES, Cohorts
from almoner.live.terms.terms import CHARGE, Terms
from almoner.store.events import CANCELLED, Event
from almoner.types import Floats, Ints

__all__ = ["DECLARED_COUNT", "Bills", "ExpectedCosts"]

DECLARED_COUNT = 50.0
"""w, the bills that a declared cost is worth."""


class ExpectedCosts(NamedTuple):
    """Expected costs and reserves (contexts, actions) in units, and the evidence E of each pair.

    ``billed`` are the shares of bills that come by an age, at `EDGES`, by the time to expiry. They
    are learned from a straight line: money that may still be due is not freed by a mere guess.
    """

    costs: Ints
    reserves: Ints
    evidence: Floats
    billed: dict[int, Floats]


class Bills:
    """Sums of the bills of each pair, and the decisions that they are of.

    ``columns`` are those of the actions, stopped ones included. Decisions up to ``since`` were made
    before bills counted: each counts when it is settled or expires, whatever its age.
    """

    def __init__(self, terms: Terms, since: int = 0) -> None:
        self.since = since
        self.columns: dict[str, int] = {}
        self._sums = np.zeros((1, 0))
        self._settled = np.zeros((1, 0))
        self._cohorts: dict[int, Cohorts] = {}
        self.amend(terms)

    def amend(self, terms: Terms) -> None:
        """Go on with these terms; make room for their actions."""
        self._terms = terms
        for name in terms.actions:
            self.columns.setdefault(name, len(self.columns))
        for window in terms.expires.values():
            self._cohorts.setdefault(window, Cohorts(window, 1))
        self._resize(len(self._sums))

    def add(self, row: int, action: str, at: int) -> None:
        """Add a decision for an action in the context of a row."""
        window = self._terms.expires.get(action)
        if window is not None:
            self._cohorts[window].add(row, self.columns[action], at)

    def end(self, row: int, event: Event, deadline: int | None, decided_at: int) -> None:
        """Add the bill of an event that ends a reserve, or comes after its end.

        ``deadline`` is that of the decision, on the terms that it was made on; None if its reserve
        did not expire by itself, or has ended before.
        """
        if row >= len(self._sums):
            self._resize(2 * row)
        bill, column = event.bill or 0, self.columns[event.action or ""]
        self._sums[row, column] += bill
        if event.reason == CHARGE:
            self._sums[row, column] -= event.reserve or 0
        if deadline is None or (event.decision or 0) <= self.since:
            self._settled[row, column] += event.kind != CANCELLED and event.reason is None
        elif event.kind == CANCELLED:
            self._cohorts[deadline - decided_at].remove(row, column, decided_at)
        elif bill > 0:
            self._cohorts[deadline - decided_at].note_outcome(decided_at, event.at)

    def expected(self, now: int, contexts: dict[str, int]) -> ExpectedCosts:
        """Return the expected costs now; those that are not learned are as declared."""
        terms, rows = self._terms, len(contexts)
        declared = np.array([terms.costs_in(name) for name in contexts], np.int64)
        reserves = np.array([terms.reserves_in(name) for name in contexts], np.int64)
        evidence, sums = self.evidence(now, rows), self._sums[:rows]
        means = (sums + DECLARED_COUNT * declared) / (evidence + DECLARED_COUNT)
        bounded = np.rint(np.clip(means, np.minimum(1, declared), reserves)).astype(np.int64)
        learned = [name in terms.learned_costs for name in terms.actions]
        billed = {window: own.shares(now, EDGES) for window, own in self._cohorts.items()}
        return ExpectedCosts(np.where(learned, bounded, declared), reserves, evidence, billed)

    def means(self, now: int, rows: int) -> Floats:
        """Return the mean bill of each pair in units, NaN without the evidence of one."""
        evidence = self.evidence(now, rows)
        known = evidence >= 1.0
        return np.where(known, self._sums[:rows] / np.where(known, evidence, 1.0), np.nan)

    def evidence(self, now: int, rows: int) -> Floats:
        """Return E of each pair."""
        self._resize(rows)
        evidence = self._settled[:rows].copy()
        for cohorts in self._cohorts.values():
            came, _ = cohorts.evidence(now, rows)
            evidence += came[:, : len(self.columns)]
        return evidence

    def to_dict(self, rows: int) -> dict[str, Any]:
        """Return plain values for a snapshot of a campaign with this number of contexts."""
        self._resize(rows)
        return {
            "since": self.since,
            "sums": self._sums[:rows].tolist(),
            "settled": self._settled[:rows].tolist(),
            "cohorts": [[window, own.to_dict(rows)] for window, own in self._cohorts.items()],
        }

    def restore(self, table: dict[str, Any]) -> None:
        """Restore the result of `to_dict`."""
        self.since = table["since"]
        self._sums, self._settled = np.array(table["sums"]), np.array(table["settled"])
        self._cohorts = {}  # in the order of the snapshot, in which they are added up
        for window, values in table["cohorts"]:
            self._cohorts[window] = Cohorts(window, 1)
            self._cohorts[window].restore(values)

    def _resize(self, rows: int) -> None:
        """Make room for more contexts, and for all actions."""
        columns = len(self.columns)
        more = max(0, rows - len(self._sums)), columns - self._sums.shape[1]
        if any(more):
            self._sums = np.pad(self._sums, [(0, more[0]), (0, more[1])])
            self._settled = np.pad(self._settled, [(0, more[0]), (0, more[1])])
        for cohorts in self._cohorts.values():
            cohorts.resize(rows, columns)
