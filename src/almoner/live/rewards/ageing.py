"""Times at which evidence ages, which follow from the log alone.

Decisions that nothing was heard of yet are evidence by their age (`almoner.live.rewards.cohorts`).
It is brought up to date before some of the decisions: every process that folds the log does so
before the same ones, so that all agree to the last bit.
"""

from __future__ import annotations

__all__ = ["Ageing"]

AGEINGS = 256
"""How often evidence ages within a window, at least."""

GROWTH = 1.08
"""Factor by which the number of decisions grows from one ageing to the next, at most."""


class Ageing:
    """The time of the last ageing, and the decisions by then and so far.

    ``window`` is the shortest time in which evidence comes; None if only the number of decisions
    matters.
    """

    def __init__(self, window: int | None) -> None:
        self.window = window
        self._decisions = self._decisions_then = 0
        self.at = self._latest = -1

    def is_due(self, at: int) -> bool:
        """Return whether evidence is to age before a decision at this time.

        Of decisions at the same time only the first one can be the cause: they may be decided in
        one call of the kernel.
        """
        if at <= self._latest:
            return False
        if self._decisions >= GROWTH * self._decisions_then:
            return True
        return self.window is not None and at - self.at >= self.window // AGEINGS

    def note_ageing(self, at: int) -> None:
        """Note that evidence has aged."""
        self.at, self._decisions_then = at, self._decisions

    def note_decision(self, at: int) -> None:
        """Count a decision."""
        self._decisions += 1
        self._latest = max(self._latest, at)

    def to_list(self) -> list[int]:
        """Return plain values for a snapshot."""
        return [self._decisions, self._decisions_then, self.at, self._latest]

    def restore(self, values: list[int]) -> None:
        """Restore the result of `to_list`."""
        self._decisions, self._decisions_then, self.at, self._latest = values
