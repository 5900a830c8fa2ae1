"""Tally of the values of rows: what was taken, and what was left, by the caller's scores."""

from __future__ import annotations

import json
from collections.abc import Iterable

from almoner.live.rows.arrival_row import logged_row
from almoner.live.terms.terms import SKIP_NAME
from almoner.store.events import DECIDED, Event, EventRow

__all__ = ["RowTally"]

_KIND, _ROUND, _ACTION, _AVAILABLE, _DETAIL = map(
    Event._fields.index, ("kind", "round", "action", "available", "detail")
)


class RowTally:
    """Sums over the arrivals of a campaign with scores, each over the score of skipping.

    Attributes
    ----------
    taken
        The scores of what was decided.
    left
        What the best score among the available actions, or of a skip, was above that.
    """

    def __init__(self) -> None:
        self.taken = self.left = 0.0

    def apply(self, events: Iterable[EventRow]) -> None:
        """Fold in events of the log, in their order."""
        for event in events:
            if event[_KIND] == DECIDED and event[_ROUND] is not None:
                self._add(event)

    def to_list(self) -> list[float]:
        """Return plain values for a snapshot."""
        return [self.taken, self.left]

    def restore(self, values: list[float]) -> None:
        """Restore the result of `to_list`."""
        self.taken, self.left = values

    def _add(self, event: EventRow) -> None:
        row, _ = logged_row(event[_DETAIL], None)
        scores = dict(row.scores or {})
        idle = scores.pop(SKIP_NAME, 0.0)
        if event[_AVAILABLE] is not None:
            allowed = json.loads(event[_AVAILABLE])
            scores = {name: score for name, score in scores.items() if name in allowed}
        decided = scores.get(event[_ACTION], idle) - idle
        self.taken += decided
        self.left += max([0.0, *(score - idle for score in scores.values())]) - decided
