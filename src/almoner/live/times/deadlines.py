"""Deadlines of open decisions: the next ones to pass, in the order of their times."""

from __future__ import annotations

from heapq import heapify, heappop, heappush
from typing import Any, NamedTuple

__all__ = ["Deadlines", "OpenDecision"]


class OpenDecision(NamedTuple):
    """A decision with a deadline: the columns that events about it repeat, and its time.

    ``bill`` is what it has cost if nothing is heard of it until then; ``detail`` is the row that a
    reward repeats, in a campaign that learns from rows.
    """

    seq: int
    at: int
    round: int | None
    context: str
    action: str | None
    cost: int | None
    reserve: int | None
    bill: int = 0
    detail: str | None = None


class Deadlines:
    """Open decisions by number in ``open``, each with its deadline in microseconds since 1970."""

    def __init__(self) -> None:
        self.open: dict[int, tuple[int, OpenDecision]] = {}
        self._queue: list[tuple[int, int]] = []

    def __len__(self) -> int:
        return len(self.open)

    def add(self, deadline: int, decision: OpenDecision) -> None:
        """Add a decision."""
        self.open[decision.seq] = deadline, decision
        heappush(self._queue, (deadline, decision.seq))

    def get(self, seq: int) -> OpenDecision | None:
        """Return a decision if it is open."""
        entry = self.open.get(seq)
        return None if entry is None else entry[1]

    def entry(self, seq: int) -> tuple[int | None, OpenDecision | None]:
        """Return the deadline of a decision, and the decision; None for both if it is not open."""
        return self.open.get(seq, (None, None))

    def discard(self, seq: int) -> None:
        """Remove a decision, if it is open."""
        self.open.pop(seq, None)  # its entry in the queue is skipped when it comes up

    def due(self, now: int) -> list[OpenDecision]:
        """Return the decisions whose deadlines have passed, earliest first; they stay open."""
        due = []
        while self._queue and self._queue[0][0] <= now:
            deadline, seq = heappop(self._queue)
            entry = self.open.get(seq)
            if entry is not None and entry[0] == deadline:
                due.append(entry[1])
        for decision in due:  # a transaction may fail: only its events end them
            heappush(self._queue, (self.open[decision.seq][0], decision.seq))
        return due

    def deadlines(self) -> dict[int, int]:
        """Return the deadlines of all open decisions by their numbers."""
        return {seq: deadline for seq, (deadline, _) in self.open.items()}

    def to_list(self) -> list[list[Any]]:
        """Return plain values for a snapshot, in the order of the decisions."""
        return [[deadline, *decision] for deadline, decision in self.open.values()]

    def restore(self, rows: list[list[Any]]) -> None:
        """Restore the result of `to_list`."""
        self.open = {row[1]: (row[0], OpenDecision(*row[1:])) for row in rows}
        self._queue = [(deadline, seq) for seq, (deadline, _) in self.open.items()]
        heapify(self._queue)
