"""Record of the decisions of a log: their offers, rounds, times and outcomes, in arrays."""

from __future__ import annotations

from array import array

from almoner.store.events import CANCELLED, EXPIRED, REWARDED, SETTLED

__all__ = ["OUTCOMES", "AuditedOffer", "DecisionRecord"]

OUTCOMES = {SETTLED: 1, REWARDED: 2, CANCELLED: 4, EXPIRED: 8}
"""Outcomes of a decision, as bits."""

AuditedOffer = tuple[str | None, str | None, int | None, int | None]
"""Context, action, cost and reserve of a decision; the last three are None for a skip."""


class DecisionRecord:
    """Decisions by the number of their event.

    Any decision can be settled, rewarded or cancelled at any time, so that each event takes 13
    bytes, and 8 more if rewards must come within a window. Beyond that, memory grows with the
    different pairs of context and action, not with the log.

    Attributes
    ----------
    offers
        The different offers of all decisions.
    offered
        By event, the index of the offer that was decided on; -1 if the event is no decision.
    rounds
        By event, the number of the arrival; -1 if it was not counted.
    outcomes
        By event, the sum of the `OUTCOMES` so far.
    times
        By event, the time of the decision, if rewards must come within a window.
    """

    def __init__(self, *, timed: bool) -> None:
        self._timed = timed
        self.offers: list[AuditedOffer] = []
        self.offered, self.rounds, self.outcomes = array("i", [-1]), array("q", [-1]), bytearray(1)
        self.times = array("q", [0])

    def extend(self, count: int) -> None:
        """Add events, none of them a decision yet."""
        self.offered += array("i", [-1]) * count
        self.rounds += array("q", [-1]) * count
        self.outcomes += bytes(count)
        if self._timed:
            self.times += array("q", [0]) * count

    @property
    def decisions(self) -> int:
        """The number of decisions."""
        return len(self.offered) - self.offered.count(-1)

    def acted(self, decision: int) -> bool:
        """Return whether a decision was an action that was not cancelled."""
        number = self.offered[decision] if 0 < decision < len(self.offered) else -1
        if number < 0 or self.offers[number][1] is None:
            return False
        return not self.outcomes[decision] & OUTCOMES[CANCELLED]
