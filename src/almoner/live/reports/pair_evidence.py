"""Evidence of each pair for a report: rewards that came, or decisions by their age."""

from __future__ import annotations

from almoner.live.reports.history import History
from almoner.live.state.campaign_state import Campaign

__all__ = ["PairEvidence"]


class PairEvidence:
    """How many rewards of each pair count: those that came, or, in a window, decisions by age.

    ``still_expected`` is the share of the rewards of all decisions that is still expected.
    """

    def __init__(self, campaign: Campaign, history: History, now: int) -> None:
        self._history, self._window = history, campaign.window
        self.still_expected = 0.0
        if campaign.window is not None:
            came, made = campaign.window.evidence(now, len(campaign.contexts))
            self._came, self._made, self._rows = came.tolist(), made.tolist(), campaign.contexts
            self._columns = campaign.window.columns
            if made.any():
                self.still_expected = float(1.0 - came.sum() / made.sum())

    @property
    def windowed(self) -> bool:
        """Whether rewards come within a window."""
        return self._window is not None

    def of(self, context: str, action: str | None, decisions: int) -> tuple[float, float, float]:
        """Return the evidence of a pair, the sum of its rewards, and the evidence to come."""
        count, total = self._history.rewards.get((context, action), (0, 0.0))
        if self._window is None or not self._window.waits(action):
            return count, total, max(0, decisions - count)
        row, column = self._rows[context], self._columns[action]
        came = self._came[row][column]
        return came, total, max(0.0, self._made[row][column] - came)
