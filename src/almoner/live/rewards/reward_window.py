"""Reward window: rewards come within it, silence until its end is a reward of 0.

Decisions wait for their rewards in a queue. Those that none has come for when their window ends are
rewarded with 0 by the campaign itself. Meanwhile they are evidence by their age
(`almoner.live.rewards.cohorts`), which is brought up to date now and then
(`almoner.live.rewards.ageing`).
"""

from __future__ import annotations

from typing import Any

from almoner.live.policy.live_policy import LivePolicy
from almoner.live.rewards.cohorts import Cohorts
from almoner.live.terms.terms import LEARNED, Terms
from almoner.live.times.deadlines import Deadlines, OpenDecision
from almoner.store.events import CANCELLED, REWARDED, Event, EventRow
from almoner.types import Floats

__all__ = ["SILENCE", "RewardWindow"]

SILENCE = "window"
"""The reason of a reward of 0 that was recorded as the window had ended."""


class RewardWindow:
    """The decisions of a campaign that wait for rewards, and all of them as evidence.

    Attributes
    ----------
    length
        The window in microseconds.
    waiting
        The decisions without a reward, with the ends of their windows.
    columns
        The columns of actions and skips (None) in the evidence.
    """

    def __init__(self, terms: Terms, length: int) -> None:
        self.length, self.waiting = length, Deadlines()
        self._skips = terms.default_rewards == LEARNED
        self.columns: dict[str | None, int] = {None: 0}
        self._cohorts = Cohorts(length, 1)
        if terms.inheritance.delays:
            self._cohorts.inherit(terms.inheritance.delays)
        self.amend(terms)

    def amend(self, terms: Terms) -> None:
        """Make room for the actions of the terms."""
        for name in terms.actions:
            self.columns.setdefault(name, len(self.columns))
        self._cohorts.resize(0, len(self.columns))

    def waits(self, action: str | None) -> bool:
        """Return whether a decision for an action, or a skip, waits for a reward."""
        return action is not None or self._skips

    def age(self, at: int, policy: LivePolicy) -> None:
        """Let the evidence age, and tell the policy."""
        policy.set_evidence(self.columns, *self.evidence(at, len(policy.contexts)))

    def add(self, decided: EventRow, row: int, detail: str | None = None) -> None:
        """Add a decision for the context of a row; its silence will have this detail."""
        seq, _, at, _, _, counted, context, action, cost, reserve = decided[:10]
        if self.waits(action):
            counted_at = self._cohorts.add(row, self.columns[action], at)
            columns = seq, counted_at, counted, context, action, cost, reserve
            decision = OpenDecision(*columns, detail=detail)
            self.waiting.add(at + self.length, decision)

    def reward(self, seq: int, at: int, reward: float) -> None:
        """Note that a reward has come, or that the window has ended."""
        decision = self.waiting.get(seq)
        if decision is not None:
            self.waiting.discard(seq)
            if reward > 0.0:
                self._cohorts.note_outcome(decision.at, at)

    def end(self, event: Event, row: int) -> None:
        """Remove the decision of an event that cancels it, for the context of a row."""
        decision = self.waiting.get(event.decision or 0)
        if event.kind == CANCELLED and decision is not None:
            self.waiting.discard(decision.seq)
            self._cohorts.remove(row, self.columns[decision.action], decision.at)

    def silences(self, now: int, *, seq: int, left: int) -> list[Event]:
        """Return rewards of 0 for the decisions whose windows end by now, as events after ``seq``.

        ``left`` is the money left, which they do not change.
        """
        return [
            Event(
                seq=number,
                kind=REWARDED,
                at=now,
                left=left,
                decision=decision.seq,
                round=decision.round,
                context=decision.context,
                action=decision.action,
                cost=decision.cost,
                reserve=decision.reserve,
                reason=SILENCE,
                reward=0.0,
                detail=decision.detail,
            )
            for number, decision in enumerate(self.waiting.due(now), seq + 1)
        ]

    def evidence(self, now: int, contexts: int) -> tuple[Floats, Floats]:
        """Return E and N of each pair at a time."""
        return self._cohorts.evidence(now, contexts)

    def expected_delays(self, now: int) -> list[float]:
        """Return the rewards above 0 so far, by bins of their delays: see `Cohorts`."""
        return self._cohorts.expected_delays(now).tolist()  # type: ignore[no-any-return]

    def to_dict(self, rows: int) -> dict[str, Any]:
        """Return plain values for a snapshot of a campaign with this number of contexts."""
        return {
            "waiting": self.waiting.to_list(),
            "cohorts": self._cohorts.to_dict(rows),
        }

    def restore(self, table: dict[str, Any]) -> None:
        """Restore the result of `to_dict`."""
        self.waiting.restore(table["waiting"])
        self._cohorts.restore(table["cohorts"])
