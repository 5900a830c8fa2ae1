"""Money used in calendar periods, by the time of the decisions that it was used for."""

from __future__ import annotations

from bisect import bisect_right
from datetime import tzinfo
from typing import Any

from almoner.live.costs.ledger import Ledger
from almoner.live.terms.pace import period_end

__all__ = ["PeriodUsage"]


class PeriodUsage:
    """Money reserved, charged and expected for the decisions of each period of one length.

    A period is known by its end. It counts the decisions recorded with a time in it, even if a
    clock is set back to it: its cap holds for all of them. A reserve that is released later gives
    the money back to that period, which is of use only while it lasts.
    """

    def __init__(self, period: str, cap: int, zone: tzinfo) -> None:
        self.period, self.cap, self._zone = period, cap, zone
        self._used: dict[int, tuple[int, int]] = {}
        # Decisions from _firsts[i] on, up to the next of them, belong to the period _ends[i].
        self._firsts: list[int] = []
        self._ends: list[int] = []

    def end(self, at: int) -> int:
        """Return the end of the period that holds a time."""
        return period_end(self.period, at, self._zone)

    def used(self, end: int) -> tuple[int, int]:
        """Return the money reserved or charged in a period, and the part of it expected."""
        return self._used.get(end, (0, 0))

    def decided(self, seq: int, at: int, reserve: int, cost: int) -> None:
        """Count the money of a decision."""
        end = self.end(at)
        if not self._ends or self._ends[-1] != end:
            self._firsts.append(seq)
            self._ends.append(end)
        self._add(end, reserve, cost)

    def changed(self, decision: int, before: Ledger, after: Ledger) -> None:
        """Count a change of the ledger for the period of the decision that it belongs to."""
        index = bisect_right(self._firsts, decision) - 1
        if index >= 0:
            held = after.spent + after.reserved - before.spent - before.reserved
            self._add(self._ends[index], held, after.committed - before.committed)

    def _add(self, end: int, held: int, expected: int) -> None:
        if held or expected:
            before = self.used(end)
            self._used[end] = before[0] + held, before[1] + expected

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for a snapshot."""
        return {
            "used": [[end, *used] for end, used in self._used.items()],
            "firsts": [*self._firsts],
            "ends": [*self._ends],
        }

    def restore(self, table: dict[str, Any]) -> None:
        """Restore what `to_dict` returned."""
        self._used = {end: (held, expected) for end, held, expected in table["used"]}
        self._firsts, self._ends = [*table["firsts"]], [*table["ends"]]
