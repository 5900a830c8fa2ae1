"""Campaign: the state of a live campaign, folded from its log. No I/O, no clock, no locks.

A `LivePolicy` decides, and the ledger is kept beside it: policies plan with expected costs, and an
action is admitted only if its reserve fits the money left.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from math import ceil
from typing import Any

import numpy as np

from almoner.concurrency.signals import raise_from_handler
from almoner.errors import BrokenLedger
from almoner.kernels.live import SET_LEFT
from almoner.kernels.state import ROUND, State
from almoner.kernels.steps import SKIP
from almoner.live.costs.ledger import Ledger, new_ledger, reserve
from almoner.live.costs.shared_reserves import SharedReserves
from almoner.live.policy.live_policy import LivePolicy
from almoner.live.rewards.reward_window import RewardWindow
from almoner.live.rows.row_policy import RowPolicy
from almoner.live.spending.spending import spending_rules
from almoner.live.state.evidence import Evidence
from almoner.live.state.expiring_reserves import ExpiringReserves
from almoner.live.state.fold import fold
from almoner.live.state.status import Status
from almoner.live.terms.terms import Terms
from almoner.live.times.closing_time import ClosingTime, ForecastCorrections
from almoner.money import LARGEST
from almoner.store.events import EventRow

__all__ = ["Campaign", "unreadable"]


class Campaign:
    """The terms of a campaign, and its state after the events folded so far.

    Attributes
    ----------
    terms, seq
        The terms, and the number of events folded.
    ledger, policy
        The money, and the policy with the statistics it has learned.
    contexts
        Contexts by name, with their indices in the state.
    action_index
        The indices of active actions by name, and of a skip by None.
    status
        ``"running"``, ``"paused"`` or ``"closed"``.
    overrun
        By how much bills have exceeded their reserves, in units.
    corrections
        Arrivals and periods excluded when scaling the forecast of a closing time.
    expiring
        The open decisions whose reserves end by themselves.
    spending
        The pace and the default of the campaign; None if it has neither.
    evidence
        Evidence that comes with time: rewards within a window, bills of reserves that expire.
    """

    def __init__(self, terms: Terms) -> None:
        self.terms = self._opened_with = terms
        self.seq = 0
        self.ledger = new_ledger(terms.budget, risk=terms.risk)
        self.status: str = Status.RUNNING.value
        self.overrun = 0
        self.corrections = ForecastCorrections()
        self.expiring = ExpiringReserves(terms)
        self.spending = spending_rules(terms)
        self.evidence = Evidence(terms)
        self._use(_policy_for(terms))

    def _use(self, policy: LivePolicy) -> None:
        self.policy, self.contexts = policy, policy.contexts
        self.action_index = dict[str | None, int]([(None, SKIP), *policy.actions.items()])

    def warm_up(self) -> None:
        """Load the compiled kernels from the disk, or compile them, which takes seconds."""
        self.policy.warm_up()

    def amend(self, terms: Terms, at: int) -> None:
        """Go on with other terms, and with everything that was learned."""
        kept = 0 if self.shared is not None else self.ledger.reserved
        if terms.budget < self.ledger.spent + kept:
            raise BrokenLedger(f"a budget of {terms.budget} is less than is spent and reserved")
        before, horizon = self.policy, self.terms.horizon
        self.terms = terms
        self._use(_policy_for(terms, tuple(self.contexts), amended=True))
        self.policy.take_over(before)
        if before.is_warm:
            self.policy.warm_up()
        self.ledger = self.ledger._replace(budget=terms.budget)
        self.expiring.amend(terms)
        self.evidence.amend(self)
        if isinstance(horizon, ClosingTime) and isinstance(terms.horizon, ClosingTime):
            scale = horizon.arrivals / terms.horizon.arrivals
            self.corrections = self.corrections._replace(missed=self.corrections.missed * scale)
        if self.spending is not None:
            self.spending.amend(terms)
        self.policy.replay([(SET_LEFT, self.units_left(at), SKIP, -1)], [0.0])

    def units_left(self, at: int) -> int:
        """Return the money left after expected costs, in the kernels' units.

        With a default it is the money for improvements. A pace takes nothing from it: it holds
        back what a plan spends, not what is worth learning.
        """
        return self.policy.units(self.funds(at))

    def funds(self, at: int) -> int:
        """Return the same in units of money."""
        if self.spending is not None:
            return self.spending.outlook(self, at).beyond_default
        return max(0, self.ledger.budget - self.committed)

    @property
    def committed(self) -> int:
        """The money that the policy treats as spent: actual and expected costs."""
        if self.shared is not None:
            return self.ledger.spent + ceil(self.shared.expected)
        return self.ledger.committed

    @property
    def deadlines(self) -> int:
        """The number of decisions that wait for deadlines, counted once for each of them."""
        return len(self.expiring) + (len(self.window.waiting) if self.window is not None else 0)

    @property
    def row_policy(self) -> RowPolicy | None:
        """The policy, if the campaign is on rows."""
        return self.policy if isinstance(self.policy, RowPolicy) else None

    @property
    def window(self) -> RewardWindow | None:
        """The decisions that wait for rewards, if these come within a window."""
        return self.evidence.window

    @property
    def shared(self) -> SharedReserves | None:
        """The open decisions, if reserves are shared."""
        return self.evidence.shared

    @property
    def state(self) -> State:
        """The statistics that the policy has learned."""
        return self.policy.state

    def ledger_at(self, now: int) -> Ledger:
        """Return the money as if the deadlines that have passed were recorded."""
        return self.expiring.ledger_at(self.ledger, now)

    def open(self, decided: EventRow) -> None:
        """Set the deadline of a decision, if its reserve ends by itself."""
        self.expiring.decided(decided)

    def apply(self, events: Iterable[EventRow]) -> None:
        """Fold events of the log in their order; refuse events that no campaign could write."""
        try:
            fold(self, events, compare=True)
        except (KeyError, TypeError, ValueError, BrokenLedger) as reason:
            raise_from_handler(reason)
            raise unreadable(self.seq, reason) from reason

    def admit(self, context: str) -> None:
        """Add a context that arrives for the first time."""
        if context not in self.contexts:
            if not self.terms.new_contexts:
                raise BrokenLedger(f"context {context!r} was never declared")
            self.policy.admit(context)

    @property
    def arrivals(self) -> int:
        """The number of arrivals counted so far."""
        return self.state.progress.item(ROUND)

    def arrivals_left(self, now: int) -> float:
        """Return the number of arrivals still to come, by the horizon or the forecast."""
        seen, horizon = self.arrivals, self.terms.horizon
        if not isinstance(horizon, ClosingTime):
            return max(0, horizon - seen)
        seconds = now / 1e6
        if seconds >= horizon.at.timestamp():
            return 0.0
        return horizon.arrivals_left(seconds, seen=seen, corrections=self.corrections)

    def to_dict(self) -> dict[str, Any]:
        """Return the state as plain values, for a snapshot."""
        return {
            "seq": self.seq,
            "status": self.status,
            "overrun": self.overrun,
            "attendance": list(self.corrections),
            "ledger": list(self.ledger),
            "expiring": self.expiring.to_list(),
            "spending": None if self.spending is None else self.spending.to_dict(),
            **self.evidence.to_dict(self),
            "contexts": list(self.contexts),
            "state": self.policy.to_dict(),
            "terms": None if self.terms is self._opened_with else self.terms.to_dict(),
            "stopped": {
                name: rows.tolist() for name, rows in self.policy.statistics.of_stopped().items()
            },
        }

    def copy(self) -> Campaign:
        """Return a campaign in the same state, which shares nothing with this one."""
        other = Campaign(self._opened_with)
        other.restore(json.loads(json.dumps(self.to_dict())))
        return other

    def restore(self, table: dict[str, Any]) -> None:
        """Restore the state that `to_dict` returned."""
        if table["terms"] is not None:
            self.terms = Terms.from_dict(table["terms"])
            self.spending = spending_rules(self.terms)
        amended = table["terms"] is not None
        self._use(_policy_for(self.terms, tuple(table["contexts"]), amended=amended))
        self.policy.restore(table["state"])
        stopped = {name: np.array(rows) for name, rows in table["stopped"].items()}
        self.policy.statistics.stopped = stopped
        self.ledger = type(self.ledger)(*table["ledger"])
        self.expiring.amend(self.terms)
        self.expiring.restore(table["expiring"])
        self.evidence = Evidence(self.terms)
        self.evidence.restore(self, table)
        if self.spending is not None:
            self.spending.restore(table["spending"])
        self.corrections = ForecastCorrections(*table["attendance"])
        self.seq, self.status, self.overrun = table["seq"], table["status"], table["overrun"]

    def horizon_at(self, now: int, seen: int) -> int:
        """Return the total number of arrivals, at least ``seen``: with a closing time, a forecast.

        The forecast counts an arrival of now.
        """
        horizon = self.terms.horizon
        if not isinstance(horizon, ClosingTime):
            return max(seen, horizon)
        seconds = now / 1e6
        if seconds >= horizon.at.timestamp():
            return seen
        coming = horizon.arrivals_left(seconds, seen=seen, corrections=self.corrections)
        return seen + 1 + round(min(coming, LARGEST))

    def reserve(self, amount: int, cost: int) -> None:
        """Reserve money for decisions, given their reserves and expected costs in all."""
        if amount or cost:
            self.ledger = reserve(self.ledger, reserve=amount, cost=cost)

    def correct_forecast(self, now: int) -> None:
        """Count an arrival for the forecast, if there is one."""
        if isinstance(self.terms.horizon, ClosingTime):
            self.corrections = self.corrections.arrival(self.terms.horizon, now / 1e6)


def _policy_for(
    terms: Terms, contexts: tuple[str, ...] | None = None, *, amended: bool = False
) -> LivePolicy:
    """Return the policy of a campaign, on rows or on named contexts."""
    kind = RowPolicy if terms.on_rows else LivePolicy
    return kind(terms, contexts, amended=amended)


def unreadable(seq: int, reason: Exception) -> BrokenLedger:
    """Return the error for a log whose events after ``seq`` cannot be folded."""
    return BrokenLedger(
        f"the log cannot be read beyond event {seq}: {reason}; "
        "almoner ledger verify says what is wrong with it"
    )
