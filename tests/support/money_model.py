"""What a campaign's money must do, in plain Python and in cents, for tests to compare with.

It knows nothing of policies: it takes each answer, and says what must be true of it.
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
HELD = {
    "mail": {"new": 30, "returning": 30, "lapsed": 30},
    "call": {"new": 220, "returning": 220, "lapsed": 220},
    "gift": {"new": 300, "returning": 450, "lapsed": 600},
}
"""What is held for each action in each context, in cents, written down once more."""


@dataclass
class Entry:
    """One decision: what is held for it, and what has become of it."""

    decision: al.Decision
    held: int
    billed: int | None = None
    charged: int = 0
    reward: float | None = None
    cancelled: bool = False

    @property
    def skip(self) -> bool:
        """Whether nothing was done."""
        return self.decision.action is None

    @property
    def open(self) -> bool:
        """Whether money is still held."""
        return not self.cancelled and self.billed is None

    def may_be_settled(self, bill: int) -> bool:
        """Whether this bill contradicts nothing."""
        return not self.skip and not self.cancelled and self.billed in (None, bill)

    def may_be_rewarded(self, value: float) -> bool:
        """Whether this reward contradicts nothing."""
        return not self.cancelled and self.reward in (None, value)

    def may_be_cancelled(self) -> bool:
        """Whether nothing says that it happened."""
        return not self.skip and self.billed is None and self.reward is None


class Model:
    """The books of one campaign."""

    def __init__(self, *, budget: int, horizon: int) -> None:
        self.budget, self.horizon, self.counted = budget, horizon, 0
        self.status = "running"
        self.entries: dict[int, Entry] = {}
        self.keys: dict[str, al.Decision] = {}

    @property
    def spent(self) -> int:
        """What bills were charged."""
        return sum(entry.charged for entry in self.entries.values())

    @property
    def reserved(self) -> int:
        """What is held."""
        return sum(entry.held for entry in self.entries.values() if entry.open)

    @property
    def left(self) -> int:
        """What can still be reserved."""
        return self.budget - self.spent - self.reserved

    @property
    def overrun(self) -> int:
        """What bills exceeded their reserves by."""
        return sum(max(0, (entry.billed or 0) - entry.held) for entry in self.entries.values())

    def learned(self, *, skips: bool) -> int:
        """Return how many actions, or skips, were rewarded."""
        return sum(
            entry.reward is not None and entry.skip == skips for entry in self.entries.values()
        )

    @property
    def pending(self) -> int:
        """How many actions have neither been rewarded nor cancelled."""
        return sum(
            not entry.skip and entry.reward is None and not entry.cancelled
            for entry in self.entries.values()
        )

    def conflicts(self, contexts: list[str], keys: list[str | None]) -> bool:
        """Return whether a key stands for two contexts, here or in a batch."""
        meant = {key: decision.context for key, decision in self.keys.items()}
        return any(
            key is not None and meant.setdefault(key, context) != context
            for key, context in zip(keys, contexts, strict=True)
        )

    def decided(self, decision: al.Decision, available: list[str] | None, key: str | None) -> None:
        """Enter an answer, or hold it to the one that was given to this key before."""
        if key in self.keys:
            assert decision == self.keys[key]
            return
        if key is not None:
            self.keys[key] = decision
        allowed = list(ACTIONS) if available is None else available
        assert 0 < decision.probability <= 1
        held = 0
        if decision.action is None:
            assert decision.reason == self._reason(decision.context, allowed)
        else:
            held = HELD[decision.action][decision.context]
            assert decision.action in allowed
            assert held <= self.left
            assert (self.status, decision.reason) == ("running", None)
            assert self.counted < self.horizon
        self.counted += self.status == "running"
        assert decision.id not in self.entries
        self.entries[decision.id] = Entry(decision, held)
        assert decision.reserved == held / 100
        assert decision.budget_left == self.left / 100

    def settled(self, entry: Entry, bill: int, said: al.Settlement) -> None:
        """Enter a settlement, once."""
        if entry.billed is None:
            entry.charged = min(bill, self.left + entry.held)
            entry.billed = bill
            assert said.budget_left == self.left / 100
        assert (said.id, said.billed) == (entry.decision.id, bill / 100)
        assert said.charged == entry.charged / 100
        assert said.refunded == max(0, entry.held - bill) / 100
        assert said.overrun == max(0, bill - entry.held) / 100

    def cancelled(self, entry: Entry, said: al.Settlement) -> None:
        """Enter a cancellation, once."""
        entry.cancelled = True
        assert (said.refunded, said.billed, said.charged) == (entry.held / 100, 0.0, 0.0)

    def _reason(self, context: str, allowed: list[str]) -> str:
        if self.status != "running":
            return self.status
        if self.counted >= self.horizon:
            return "horizon"
        if not allowed:
            return "unavailable"
        affordable = any(HELD[action][context] <= self.left for action in allowed)
        return "policy" if affordable else "budget"
