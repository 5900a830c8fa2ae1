"""Evidence of decisions by age: cohorts of decisions, and the share of outcomes come by an age.

A decision that nothing was heard of yet is partial evidence that nothing will come. It counts as
F(a), the share of all outcomes above 0 that have come by its age a (as a share of the window, after
which silence is final: F(1) = 1).

F is learned by the product limit for right-truncated delays (the chain ladder of actuaries). With
D_b outcomes of a delay in bin b, R_b of a delay in bin b or before, both among decisions old enough
to have shown all delays up to the end of bin b,

    h_b = (D_b + κ h⁰_b) / (R_b + κ),    F(start of b) = F(end of b) (1 − h_b),

from the last bin to the first; h⁰ is that of F⁰(a) = 1 − (1 − a)², and κ = 2 the outcomes that this
guess is worth. A straight line instead would let young decisions count too little, and everything
played recently would look too good.

Decisions made within a fourteenth of the window form a cohort, for which their number and their
mean age are kept. So it takes O(1) to add a decision, and O(pairs) to compute the evidence.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from almoner.types import Floats

__all__ = ["EDGES", "Cohorts"]

COHORTS = 14
"""Cohorts in a window."""

SLOTS = 16
"""Cohorts kept apart: those of a window, the one that leaves it, and the present one."""

EDGES = np.array([0.0, 1 / 256, 1 / 64, 1 / 16, 1 / 4, *range(1, COHORTS + 1)]) / COHORTS
"""Ends of the bins of delays, as shares of the window. The first cohort's worth is divided further:
where most outcomes come at once, an hour makes a difference."""

GUESS = 1.0 - (1.0 - EDGES) ** 2
"""F⁰ at the edges."""

GUESS_COUNT = 2.0
"""κ, the outcomes that F⁰ is worth."""


class Cohorts:
    """Numbers of decisions by pair (rows are contexts, columns actions) and cohort.

    Parameters
    ----------
    window
        Microseconds from a decision until silence is final.
    columns
        The number of columns; rows are added as they are needed.
    """

    def __init__(self, window: int, columns: int) -> None:
        self._window, self._width = window, max(1, window // COHORTS)
        self._numbers = [-1] * SLOTS  # of the cohort in each slot
        self._counts = np.zeros((1, columns, SLOTS))
        self._offsets = np.zeros((1, columns, SLOTS))  # sums of times after the cohort's start
        self._matured = np.zeros((1, columns))
        self._delays = np.zeros((SLOTS, len(EDGES) - 1))
        self._past_delays = np.zeros(len(EDGES) - 1)
        self._newest = 0

    def add(self, row: int, column: int, at: int) -> int:
        """Add a decision; return the time by which it is counted.

        It is later than ``at`` if a clock was set back: cohorts begin in their order.
        """
        number = at // self._width
        if number > self._newest:
            self._newest = number
        elif number < self._newest:
            number, at = self._newest, self._newest * self._width
        slot = number % SLOTS
        if self._numbers[slot] != number:
            self._retire(slot)
            self._numbers[slot] = number
        if row >= len(self._matured):
            self.resize(2 * row, self._matured.shape[1])
        self._counts[row, column, slot] += 1.0
        self._offsets[row, column, slot] += (at - number * self._width) / self._window
        return at

    def remove(self, row: int, column: int, at: int) -> None:
        """Remove a decision, given the time by which it is counted."""
        slot = self._slot(at)
        if slot is None:
            self._matured[row, column] -= 1.0
            return
        self._counts[row, column, slot] -= 1.0
        self._offsets[row, column, slot] -= (at % self._width) / self._window

    def note_outcome(self, at: int, now: int) -> None:
        """Note that an outcome above 0 has come, of a decision counted by the time ``at``."""
        delay = min(1.0, max(0.0, (now - at) / self._window))
        place = min(int(np.searchsorted(EDGES, delay, side="right")), len(EDGES) - 1) - 1
        slot = self._slot(at)
        delays = self._past_delays if slot is None else self._delays[slot]
        delays[place] += 1.0

    def shares(self, now: int, guess: Floats = GUESS) -> Floats:
        """Return F at the edges of the bins, learned from the outcomes so far and a guess."""
        ages = self._ages(now) - 0.5 / COHORTS
        shares = np.ones(len(EDGES))
        for b in range(len(EDGES) - 2, 0, -1):
            delays = self._past_delays + self._delays[ages >= EDGES[b + 1]].sum(axis=0)
            guessed = 1.0 - guess[b] / guess[b + 1]
            h = (delays[b] + GUESS_COUNT * guessed) / (delays[: b + 1].sum() + GUESS_COUNT)
            shares[b] = shares[b + 1] * (1.0 - h)
        shares[0] = 0.0
        return shares

    def inherit(self, delays: Sequence[float]) -> None:
        """Begin with outcomes of another campaign: their number in each bin of delays."""
        self._past_delays += delays

    def expected_delays(self, now: int) -> Floats:
        """Return the outcomes so far by bins of delays, as if all of them had been observed.

        Of recent decisions only short delays are known yet: the shares of bins are those of F.
        """
        known = self._past_delays.sum() + self._delays.sum()
        return known * np.diff(self.shares(now))  # type: ignore[no-any-return]

    def evidence(self, now: int, rows: int) -> tuple[Floats, Floats]:
        """Return E, the decisions weighted by F of their age, and N, their number, of each pair."""
        if rows > len(self._matured):
            self.resize(rows, self._matured.shape[1])
        counts, matured = self._counts[:rows], self._matured[:rows]
        came = counts * np.interp(self.ages(now, rows)[0], EDGES, self.shares(now))
        return matured + came.sum(axis=2), matured + counts.sum(axis=2)

    def ages(self, now: int, rows: int) -> tuple[Floats, Floats]:
        """Return mean age (in windows) and number of the decisions of each pair and cohort."""
        counts = self._counts[:rows]
        return self._ages(now) - self._offsets[:rows] / np.maximum(counts, 1.0), counts

    def resize(self, rows: int, columns: int) -> None:
        """Make room for more contexts and actions."""
        more = (max(0, rows - len(self._matured)), max(0, columns - self._matured.shape[1]))
        widths = [(0, more[0]), (0, more[1])]
        self._matured = np.pad(self._matured, widths)
        self._counts = np.pad(self._counts, [*widths, (0, 0)])
        self._offsets = np.pad(self._offsets, [*widths, (0, 0)])

    def to_dict(self, rows: int) -> dict[str, Any]:
        """Return plain values for a snapshot."""
        self.resize(rows, 0)
        return {
            "numbers": list(self._numbers),
            "counts": self._counts[:rows].tolist(),
            "offsets": self._offsets[:rows].tolist(),
            "matured": self._matured[:rows].tolist(),
            "delays": self._delays.tolist(),
            "past_delays": self._past_delays.tolist(),
            "newest": self._newest,
        }

    def restore(self, table: dict[str, Any]) -> None:
        """Restore the result of `to_dict`."""
        self._numbers, self._newest = list(table["numbers"]), table["newest"]
        for name in ("counts", "offsets", "matured", "delays", "past_delays"):
            setattr(self, f"_{name}", np.array(table[name], np.float64))

    def _slot(self, at: int) -> int | None:
        """Return the slot of a cohort; None if it has matured."""
        number = at // self._width
        slot = number % SLOTS
        return slot if self._numbers[slot] == number else None

    def _ages(self, now: int) -> Floats:
        """Return the ages of the beginnings of the cohorts in the slots, in windows."""
        return np.array([(now - number * self._width) / self._window for number in self._numbers])

    def _retire(self, slot: int) -> None:
        """Add a cohort to the matured ones: its slot is used again after more than a window."""
        self._matured += self._counts[:, :, slot]
        self._past_delays += self._delays[slot]
        self._counts[:, :, slot] = self._offsets[:, :, slot] = 0.0
        self._delays[slot] = 0.0
        self._numbers[slot] = -1
