"""Reference model of a campaign's money in plain Python, in cents.

It has no policy: it checks each answer of an agent and applies it to its balances. Times are in
seconds; reserves end, and silence becomes a reward of 0, when the model is told the time.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from copy import deepcopy
from dataclasses import dataclass

import almoner as al

CONTEXTS = ["new", "returning", "lapsed"]
ACTIONS = {
    "mail": al.Action(cost="0.30"),
    "call": al.Action(cost="0.55", reserve="2.20"),
    "gift": al.Action(cost={"new": 3, "returning": "4.50", "lapsed": 6}),
}
RESERVES = {
    "mail": {"new": 30, "returning": 30, "lapsed": 30},
    "call": {"new": 220, "returning": 220, "lapsed": 220},
    "gift": {"new": 300, "returning": 450, "lapsed": 600},
}
"""Reserve of each action in each context, in cents, independent of `ACTIONS`."""
COSTS = {**RESERVES, "call": {"new": 55, "returning": 55, "lapsed": 55}}
"""Expected cost of each action in each context, in cents."""


@dataclass
class Entry:
    """One decision, with its reserve, bill, charge, reward, cancellation and expiry.

    A bill above ``covered`` is an overrun: that is the reserve, or 0 once it was released. If it
    expires, ``due`` is charged as far as money is left; ``paid`` is what it used before its bill.
    """

    decision: al.Decision
    reserve: int
    covered: int
    cost: int = 0
    at: float = 0.0
    deadline: float | None = None
    due: int = 0
    expired: bool = False
    billed: int | None = None
    paid: int = 0
    charged: int = 0
    reward: float | None = None
    cancelled: bool = False

    @property
    def skip(self) -> bool:
        """Whether the decision was to skip."""
        return self.decision.action is None

    @property
    def open(self) -> bool:
        """Whether its money is still reserved."""
        return not self.cancelled and self.billed is None and not self.expired

    @property
    def used(self) -> int:
        """The money that it takes: its reserve, or what was charged."""
        return self.reserve if self.open else self.charged

    def may_be_settled(self, bill: int) -> bool:
        """Whether a settlement with this bill must be accepted."""
        return not self.skip and not self.cancelled and self.billed in (None, bill)

    def may_be_rewarded(self, value: float) -> bool:
        """Whether this reward must be accepted."""
        return not self.cancelled and self.reward in (None, value)

    def may_be_cancelled(self) -> bool:
        """Whether a cancellation must be accepted."""
        return not self.skip and self.billed is None and self.reward is None and not self.expired


class MoneyModel:
    """Expected balances of one campaign.

    ``lifetimes`` are the seconds after which reserves of an action end, ``charged_at_end`` the
    actions whose reserve is then charged, and ``window`` the seconds within which rewards come.
    """

    def __init__(
        self,
        *,
        budget: int,
        horizon: int,
        lifetimes: Mapping[str, float] | None = None,
        charged_at_end: Collection[str] = (),
        window: float | None = None,
    ) -> None:
        self.budget, self.horizon, self.counted = budget, horizon, 0
        self.lifetimes, self.charged_at_end = dict(lifetimes or {}), {*charged_at_end}
        self.window, self.now = window, 0.0
        self.reserves, self.costs = deepcopy(RESERVES), deepcopy(COSTS)
        self.stopped = set[str]()
        self.status = "running"
        self.entries: dict[int, Entry] = {}
        self.keys: dict[str, al.Decision] = {}

    @property
    def spent(self) -> int:
        """Sum of charges."""
        return sum(entry.charged for entry in self.entries.values())

    @property
    def reserved(self) -> int:
        """Sum of open reserves."""
        return sum(entry.reserve for entry in self.entries.values() if entry.open)

    @property
    def left(self) -> int:
        """Amount that can still be reserved."""
        return self.budget - self.spent - self.reserved

    @property
    def payable(self) -> int:
        """Amount that a bill without a reserve may charge."""
        return self.left

    @property
    def planned(self) -> int:
        """Sum of the expected costs of actions with a reserve."""
        return sum(entry.cost for entry in self.entries.values() if entry.open)

    @property
    def overrun(self) -> int:
        """Sum of bills above their reserves."""
        return sum(max(0, (entry.billed or 0) - entry.covered) for entry in self.entries.values())

    def learned(self, *, skips: bool) -> int:
        """Return the number of rewarded actions, or of rewarded skips."""
        return sum(
            entry.reward is not None and entry.skip == skips for entry in self.entries.values()
        )

    @property
    def pending(self) -> int:
        """Number of actions neither rewarded nor cancelled."""
        return sum(
            not entry.skip and entry.reward is None and not entry.cancelled
            for entry in self.entries.values()
        )

    @property
    def active(self) -> list[str]:
        """Actions that are not stopped."""
        return [action for action in self.reserves if action not in self.stopped]

    def pass_time(self, now: float) -> None:
        """End the reserves and the windows whose time has come."""
        self.now = now
        for entry in self.entries.values():
            if entry.open and entry.deadline is not None and entry.deadline <= now:
                entry.expired = True
                entry.covered, entry.charged = entry.due, min(entry.due, self.payable)
            silent = entry.reward is None and not entry.cancelled
            if silent and self.window is not None and entry.at + self.window <= now:
                entry.reward = 0.0

    def conflicts(self, contexts: list[str], keys: list[str | None]) -> bool:
        """Return whether a key is used for two contexts, here or in a batch."""
        context_of_key = {key: decision.context for key, decision in self.keys.items()}
        return any(
            key is not None and context_of_key.setdefault(key, context) != context
            for key, context in zip(keys, contexts, strict=True)
        )

    def decided(self, decision: al.Decision, available: list[str] | None, key: str | None) -> None:
        """Apply a decision, or compare it with the earlier one of the same key."""
        if key in self.keys:
            assert decision == self.keys[key]
            return
        if key is not None:
            self.keys[key] = decision
        listed = self.reserves if available is None else available
        allowed = [action for action in listed if action not in self.stopped]
        assert 0 < decision.probability <= 1
        reserve = cost = 0
        if decision.action is None:
            self.check_skip(decision, allowed)
        else:
            reserve = self.reserves[decision.action][decision.context]
            cost = self.costs[decision.action][decision.context]
            assert decision.action in allowed
            assert (self.status, decision.reason) == ("running", None)
            assert self.counted < self.horizon
            self.check_action(decision, reserve, cost)
        self.counted += self.status == "running"
        assert decision.id not in self.entries
        lifetime = self.lifetimes.get(decision.action or "")
        deadline = None if lifetime is None else self.now + lifetime
        due = reserve if decision.action in self.charged_at_end else 0
        entry = Entry(decision, reserve, reserve, cost, self.now, deadline, due)
        self.entries[decision.id] = entry
        assert decision.reserved == reserve / 100
        assert decision.budget_left == self.left / 100

    def check_skip(self, decision: al.Decision, allowed: list[str]) -> None:
        """Check the reason of a skip, where these actions were allowed."""
        assert decision.reason == self._reason(decision.context, allowed)

    def check_action(self, decision: al.Decision, reserve: int, cost: int) -> None:
        """Check that an action with this reserve and expected cost could be paid."""
        assert 0 <= cost <= reserve <= self.left

    def settled(self, entry: Entry, bill: int, settlement: al.Settlement) -> None:
        """Apply a settlement, or compare it with the earlier one."""
        if entry.billed is None:
            entry.paid, entry.billed, entry.charged = entry.used, bill, 0
            entry.charged = min(bill, self.payable)
            assert settlement.budget_left == self.left / 100
        assert (settlement.id, settlement.billed) == (entry.decision.id, bill / 100)
        assert settlement.charged == entry.charged / 100
        assert settlement.refunded == max(0, entry.paid - bill) / 100
        assert settlement.overrun == max(0, bill - entry.covered) / 100

    def cancelled(self, entry: Entry, settlement: al.Settlement) -> None:
        """Apply a cancellation, or compare it with the earlier one."""
        entry.cancelled = True
        assert (settlement.refunded, settlement.billed, settlement.charged) == (
            entry.reserve / 100,
            0.0,
            0.0,
        )

    def _reason(self, context: str, allowed: list[str]) -> str:
        if self.status != "running":
            return self.status
        if self.counted >= self.horizon:
            return "horizon"
        if not allowed:
            return "unavailable"
        affordable = any(self.reserves[action][context] <= self.left for action in allowed)
        return "policy" if affordable else "budget"
