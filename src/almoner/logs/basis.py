"""Basis: the evidence of an estimate, as numbers and as sentences."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from almoner.errors import InvalidInput
from almoner.logs.log import Log
from almoner.logs.sums import sum_rows, weigh_rows
from almoner.types import Floats

__all__ = ["LEVEL", "Basis", "basis_of", "refuse_certainty", "refuse_unknown_skips"]

LEVEL = 1.959963984540054
"""Standard errors of a 95 % interval."""


@dataclass(frozen=True, kw_only=True)
class Basis:
    """The evidence that an estimate rests on.

    Attributes
    ----------
    rows
        Rows of the log.
    matches
        Rows in which the log did what the policy would do, on average.
    effective
        Effective sample size: the number of rows of equal weight that would say as much.
    smallest_probability
        The smallest probability of an action in the log.
    warnings
        Sentences on missing overlap and on what was assumed.

    Examples
    --------
    >>> print(Basis(rows=900, matches=300.4, effective=299.7, smallest_probability=0.25))
    900 rows, 300 matches, effective sample size 300, smallest probability 0.25
    """

    rows: int
    matches: float
    effective: float
    smallest_probability: float
    warnings: tuple[str, ...] = ()

    def __str__(self) -> str:
        text = (
            f"{self.rows:,} rows, {self.matches:,.0f} matches, effective sample size "
            f"{self.effective:,.0f}, smallest probability {self.smallest_probability:.3g}"
        )
        return "; ".join([text, *self.warnings])


def basis_of(log: Log, probabilities: Floats) -> Basis:
    """Return the evidence on a policy, given its probabilities (contexts, 1 + actions)."""
    cells = log.cells
    rows = weigh_rows(log, cells.codes, len(cells.labels))
    weights = sum_rows(rows).weights[0]
    counts = sum_rows(rows._replace(weights=rows.weights**0)).weights[0]
    squares = sum_rows(rows._replace(weights=rows.weights**2)).weights[0]
    spread = float((probabilities**2 * squares).sum())
    return Basis(
        rows=len(log),
        matches=float((probabilities * counts).sum()),
        effective=float((probabilities * weights).sum()) ** 2 / spread if spread else 0.0,
        smallest_probability=float(log.probabilities.min()),
        warnings=(*log.notes, *_unseen(log, counts)),
    )


def _unseen(log: Log, counts: Floats) -> list[str]:
    """Return a sentence on the pairs of context and action that the log lacks."""
    known = 0 if log.skip_reward is None else 1
    pairs = [
        f"{('skipping', *log.actions)[action]!r} for {context!r}"
        for context, row in zip(log.contexts, counts, strict=True)
        for action in range(known, len(row))
        if row[action] == 0.0
    ]
    if not pairs:
        return []
    more = f" and {len(pairs) - 3} more" if len(pairs) > 3 else ""
    return [f"overlap is missing: the log never has {', '.join(pairs[:3])}{more}"]


def refuse_unknown_skips(log: Log) -> None:
    """Refuse a log that says nothing of skipping, which every budget may force on an arrival."""
    if log.skip_reward is None and not log.has_skips:
        raise InvalidInput(
            f"{log.source}: a budget skips arrivals, and the log has no skips to say what that "
            "brings; name the action that is skipping with skip=…, or give skip_reward=… if it is "
            "known"
        )


def refuse_certainty(log: Log, what: str) -> None:
    """Refuse a log in which nothing was drawn at random."""
    if np.all(log.probabilities == 1.0):
        raise InvalidInput(
            f"{log.source}: {what} needs actions that were drawn at random, and every row has "
            "probability 1: what other actions would have brought is unknown; log a campaign with "
            "explore= or holdout="
        )
