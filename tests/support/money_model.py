"""Reference model of a campaign's money in plain Python, in cents.

It has no policy: it checks each answer of an agent and applies it to its balances.
"""

from __future__ import annotations

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


@dataclass
class Entry:
    """One decision, with its reserve, bill, charge, reward and cancellation."""

    decision: al.Decision
    reserve: int
    billed: int | None = None
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
        return not self.cancelled and self.billed is None

    def may_be_settled(self, bill: int) -> bool:
        """Whether a settlement with this bill must be accepted."""
        return not self.skip and not self.cancelled and self.billed in (None, bill)

    def may_be_rewarded(self, value: float) -> bool:
        """Whether this reward must be accepted."""
        return not self.cancelled and self.reward in (None, value)

    def may_be_cancelled(self) -> bool:
        """Whether a cancellation must be accepted."""
        return not self.skip and self.billed is None and self.reward is None


class MoneyModel:
    """Expected balances of one campaign."""

    def __init__(self, *, budget: int, horizon: int) -> None:
        self.budget, self.horizon, self.counted = budget, horizon, 0
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
    def overrun(self) -> int:
        """Sum of bills above their reserves."""
        return sum(max(0, (entry.billed or 0) - entry.reserve) for entry in self.entries.values())

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
        allowed = list(ACTIONS) if available is None else available
        assert 0 < decision.probability <= 1
        reserve = 0
        if decision.action is None:
            assert decision.reason == self._reason(decision.context, allowed)
        else:
            reserve = RESERVES[decision.action][decision.context]
            assert decision.action in allowed
            assert reserve <= self.left
            assert (self.status, decision.reason) == ("running", None)
            assert self.counted < self.horizon
        self.counted += self.status == "running"
        assert decision.id not in self.entries
        self.entries[decision.id] = Entry(decision, reserve)
        assert decision.reserved == reserve / 100
        assert decision.budget_left == self.left / 100

    def settled(self, entry: Entry, bill: int, settlement: al.Settlement) -> None:
        """Apply a settlement, or compare it with the earlier one."""
        if entry.billed is None:
            entry.charged = min(bill, self.left + entry.reserve)
            entry.billed = bill
            assert settlement.budget_left == self.left / 100
        assert (settlement.id, settlement.billed) == (entry.decision.id, bill / 100)
        assert settlement.charged == entry.charged / 100
        assert settlement.refunded == max(0, entry.reserve - bill) / 100
        assert settlement.overrun == max(0, bill - entry.reserve) / 100

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
        affordable = any(RESERVES[action][context] <= self.left for action in allowed)
        return "policy" if affordable else "budget"
