"""Counts and curve of a campaign so far: a second fold over its log, for reports.

It folds batches of events: consecutive decisions with the same outcome and the same costs are
counted together, and their money is added up, which takes a third of the time.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from itertools import groupby
from operator import itemgetter
from typing import Any

from almoner.concurrency.signals import raise_from_handler
from almoner.errors import BrokenLedger
from almoner.live.costs.ledger import Ledger, new_ledger, reserve
from almoner.live.estimates.lift_tally import LiftTally
from almoner.live.reports.aged_costs import AgedCosts
from almoner.live.reports.amendment_text import changes_in_words
from almoner.live.reports.curve import CurveBuilder, moment
from almoner.live.reports.oldest_open import OldestOpen
from almoner.live.reports.report import Amendment
from almoner.live.reports.row_tally import RowTally
from almoner.live.state.campaign_state import unreadable
from almoner.live.state.fold import amendment_of, ledger_after, paid_at_expiry
from almoner.live.state.status import SkipReason
from almoner.live.terms.terms import CHARGE, Terms
from almoner.store.events import (
    AMENDED,
    CANCELLED,
    DECIDED,
    EXPIRED,
    REWARDED,
    SETTLED,
    Event,
    EventRow,
)

__all__ = ["History"]

_KIND, _AT, _ROUND, _CONTEXT, _ACTION, _RESERVE, _REASON, _REWARD = map(
    Event._fields.index,
    ("kind", "at", "round", "context", "action", "reserve", "reason", "reward"),
)
_ROUND_OF = itemgetter(_ROUND)
_OUTCOME = itemgetter(*map(Event._fields.index, ("context", "action", "reason", "cost", "reserve")))


class History:
    """Counters of the events of a campaign, and its curve.

    Attributes
    ----------
    seq
        The number of events folded so far.
    arrivals, taken
        Arrivals by context, and actions taken by context and action.
    skips, skipped
        Skips by reason, and those of counted arrivals up to the horizon by context.
    idle
        Skips of counted arrivals since an action was last taken, by reason.
    rewarded, reward
        How many rewards have come, and their sum in [0, 1].
    zeros
        How many of them were 0, or less in their unit.
    rewards
        The same by context and action (None for a skip), whether or not the policy learned from
        them.
    uncharged
        The part of the bills that the budget could not bear, in whole units.
    open
        How many decisions have money reserved.
    oldest_open
        The oldest of them.
    ratio_start
        Budget per arrival at the start.
    amendments
        The amendments of the terms.
    curve
        Money and reward after arrivals.
    lift
        The groups that a lift compares; None without a hold-out or exploration.
    rows
        The values taken and left, in a campaign with scores; None elsewhere.
    """

    def __init__(self, terms: Terms) -> None:
        self.seq = 0
        self._ledger = new_ledger(terms.budget, risk=terms.risk)
        self.arrivals: Counter[str] = Counter()
        self.taken: Counter[tuple[str, str]] = Counter()
        self.skips: Counter[str] = Counter()
        self.skipped: Counter[str] = Counter()
        self.idle: Counter[str] = Counter()
        self.rewarded, self.reward, self.zeros, self.uncharged, self.open = 0, 0.0, 0, 0, 0
        self.oldest_open = OldestOpen()
        self._terms, self._horizon = terms, terms.expected_arrivals
        self.ratio_start = terms.unit.amount(terms.budget) / self._horizon
        self.amendments: list[Amendment] = []
        self.rewards: dict[tuple[str, str | None], tuple[int, float]] = {}
        self._scale, self._zero = terms.scale, max(0.0, terms.scale.zero)
        self.curve = CurveBuilder(terms.unit.amount, terms.scale)
        self.lift = LiftTally(terms) if terms.spreads else None
        self.rows = RowTally() if terms.scores else None
        self._aged = AgedCosts(terms) if terms.risk > 0.0 else None
        self._arrived = 0
        self._latest: tuple[EventRow, Ledger, float, float] | None = None

    @property
    def total(self) -> float:
        """The sum of the rewards in their unit."""
        return self._scale.total(self.reward, count=self.rewarded)

    @property
    def waiting(self) -> int:
        """The number of arrivals that a snapshot lists one by one."""
        return 0 if self.lift is None else len(self.lift)

    def apply(self, events: Sequence[EventRow]) -> None:
        """Fold in events of the log, in their order; refuse events that no campaign could write."""
        if not events:
            return
        try:
            for kind, run in groupby(events, itemgetter(_KIND)):
                self._fold(kind, run)
            if self._latest is not None:
                decided, ledger, reward, horizon = self._latest
                if self._aged is not None:
                    planned = self._aged.planned_meanwhile(events[-1][_AT])
                    ledger = self._ledger._replace(planned=planned)
                self.curve.end(decided, ledger, reward, horizon)
        except (TypeError, ValueError, OverflowError, BrokenLedger) as reason:
            raise_from_handler(reason)
            raise unreadable(self.seq, reason) from reason
        if self.lift is not None:
            self.lift.apply(events)
        if self.rows is not None:
            self.rows.apply(events)
        self._count_idle(events)
        self.seq = events[-1][0]

    def _fold(self, kind: str, run: Iterable[EventRow]) -> None:
        """Fold in consecutive events of one kind."""
        if kind == DECIDED:
            self._decide([*run])
        elif kind == REWARDED:
            for event in run:
                self._add(event[_CONTEXT] or "", event[_ACTION], event[_REWARD] or 0.0)
        elif kind in (SETTLED, CANCELLED, EXPIRED):
            for event in map(Event._make, run):
                self._end(event)
        elif kind == AMENDED:
            for event in map(Event._make, run):
                self._amend(event)

    def _decide(self, decisions: list[EventRow]) -> None:
        """Fold in consecutive decisions, of which some may not be counted as arrivals."""
        if None not in map(_ROUND_OF, decisions):
            self._arrive(decisions)
            return
        for is_counted, group in groupby(decisions, lambda row: row[_ROUND] is not None):
            if is_counted:
                self._arrive([*group])
            else:
                self._count([*group], is_counted=False)

    def _arrive(self, decisions: list[EventRow]) -> None:
        """Fold in the decisions of consecutive arrivals, and add points to the curve."""
        start, first = 0, decisions[0][_ROUND]
        while True:
            end = start + -(first + start) % self.curve.stride  # at the next point
            if end >= len(decisions):
                break
            self._count(decisions[start : end + 1])
            money = self._money(decisions[end][_AT])
            self.curve.add(decisions[end], money, self.total, self._horizon)
            start = end + 1
        if start < len(decisions):
            self._count(decisions[start:])
        self._latest = decisions[-1], self._ledger, self.total, self._horizon
        self._arrived = decisions[-1][_ROUND] + 1

    def _count(self, decisions: list[EventRow], *, is_counted: bool = True) -> None:
        """Count decisions and reserve their money, a group of equal ones at a time."""
        reserves = costs = 0
        groups = [(_OUTCOME(decisions[0]), 1)]
        if len(decisions) > 1:
            groups = [*Counter(map(_OUTCOME, decisions)).items()]
        for (context, action, reason, cost, amount), count in groups:
            if amount is not None:
                if not 0 <= cost <= amount:
                    raise BrokenLedger(f"{amount} is reserved for an expected cost of {cost}")
                reserves, costs = reserves + count * amount, costs + count * cost
                self.open += count if amount > 0 else 0  # a free action waits for nothing
            if action is None:
                self.skips[reason or ""] += count
            else:
                self.taken[context or "", action] += count
            if is_counted:
                self.arrivals[context or ""] += count
                if action is None and reason != SkipReason.HORIZON:
                    self.skipped[context or ""] += count
        self._ledger = reserve(self._ledger, reserve=reserves, cost=costs)
        self.oldest_open.extend(row[0] for row in decisions if row[_RESERVE])
        if self._aged is not None:
            self._aged.decided(row for row in decisions if row[_RESERVE] is not None)

    def _end(self, event: Event) -> None:
        """End the reserve of a decision, or correct its bill after that."""
        bill, paid = event.bill or 0, paid_at_expiry(event)
        if self._aged is not None:
            self._aged.ended(event)
        self._ledger, charged = ledger_after(self._ledger, event.kind, event, bill, paid)
        self.uncharged += bill - (charged or 0)
        if event.reason == CHARGE:  # in place of the reserve
            self.uncharged -= (event.reserve or 0) - (paid or 0)
        if event.reserve and event.reason is None:  # else its reserve has ended before
            self.open -= 1
            self.oldest_open.end(event.decision or 0)
        if event.kind == CANCELLED:
            self.taken[event.context or "", event.action or ""] -= 1

    def _money(self, at: int) -> Ledger:
        """Return the ledger with the expected cost of the open decisions at a time."""
        if self._aged is None:
            return self._ledger
        return self._ledger._replace(planned=self._aged.planned(at))

    def _amend(self, event: Event) -> None:
        """Fold in an amendment, and list it."""
        amendment = amendment_of(event)
        before, self._terms = self._terms, self._terms.amended(amendment["terms"])
        self._ledger = self._ledger._replace(budget=self._terms.budget)
        self._horizon = self._terms.expected_arrivals
        if self._aged is not None:
            self._aged.amend(self._terms)
        self.amendments.append(
            Amendment(
                at=moment(event.at),
                arrivals=self._arrived,
                by=amendment["by"],
                note=amendment["note"],
                changes=changes_in_words(before, self._terms),
            )
        )

    def _add(self, context: str, action: str | None, reward: float) -> None:
        self.rewarded += 1
        self.reward += reward
        self.zeros += reward <= self._zero
        count, total = self.rewards.get((context, action), (0, 0.0))
        self.rewards[context, action] = count + 1, total + reward

    def _count_idle(self, events: Sequence[EventRow]) -> None:
        """Count the skips since an action was last taken, from the end."""
        reasons = []
        for event in reversed(events):
            if event[_KIND] != DECIDED:
                continue
            if event[_ACTION] is not None:
                self.idle.clear()
                break
            if event[_ROUND] is not None:
                reasons.append(event[_REASON] or "")
        self.idle.update(reversed(reasons))

    def to_dict(self) -> dict[str, Any]:
        """Return the state as plain values, for a snapshot."""
        counters = {name: _listed(getattr(self, name)) for name in _COUNTERS}
        return {
            "seq": self.seq,
            "ledger": list(self._ledger),
            "counters": counters,
            "sums": [getattr(self, name) for name in _SUMS],
            "oldest_open": self.oldest_open.to_list(),
            "amendments": [asdict(amendment) for amendment in self.amendments],
            "curve": self.curve.to_dict(),
            "lift": None if self.lift is None else self.lift.to_dict(),
            "latest": self._latest,
            "aged": None if self._aged is None else self._aged.to_dict(),
            "rows": None if self.rows is None else self.rows.to_list(),
        }

    def restore(self, table: dict[str, Any], terms: Terms) -> None:
        """Restore the state that `to_dict` returned; ``terms`` are those after the last event."""
        self._terms, self._horizon = terms, terms.expected_arrivals
        self._ledger = Ledger(*table["ledger"])
        for name in _COUNTERS:
            getattr(self, name).update(_restored(table["counters"][name]))
        for name, value in zip(_SUMS, table["sums"], strict=True):
            setattr(self, name, value)
        self.oldest_open.restore(table["oldest_open"])
        self.amendments = [Amendment(**entry) for entry in table["amendments"]]
        self.curve.restore(table["curve"])
        if table["latest"] is not None:
            decided, ledger, reward, horizon = table["latest"]
            self._latest = tuple(decided), Ledger(*ledger), reward, horizon
        if self.lift is not None:
            self.lift.restore(table["lift"])
        if self._aged is not None:
            self._aged.restore(table["aged"], terms)
        if self.rows is not None:
            self.rows.restore(table["rows"])
        self.seq = table["seq"]


_COUNTERS = ("arrivals", "taken", "skips", "skipped", "idle", "rewards")
_SUMS = ("rewarded", "reward", "zeros", "uncharged", "open", "_arrived")


def _listed(counter: Mapping[Any, Any]) -> list[list[Any]]:
    """Return entries with their keys, of which some are pairs, as lists."""
    return [[key, value] for key, value in counter.items()]


def _restored(entries: list[list[Any]]) -> dict[Any, Any]:
    """Return the entries of `_listed` after JSON, which has no tuples."""
    return {
        tuple(key) if isinstance(key, list) else key: (
            tuple(value) if isinstance(value, list) else value
        )
        for key, value in entries
    }
