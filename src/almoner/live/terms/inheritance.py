"""Inheritance: the rewards and arrivals that a campaign begins with."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from almoner.types import Floats

__all__ = ["Inheritance"]


class Inheritance:
    """What a campaign has inherited from the one before, a prior or a log, if anything.

    ``pairs`` has the count and the sum of rewards in [0, 1] by context and action, a skip included;
    ``delays`` the number of rewards above 0 in each bin of delays of a reward window, empty if
    nothing is known of them.
    """

    def __init__(self, table: dict[str, Any] | None) -> None:
        table = {"pairs": {}} if table is None else table
        self.pairs: dict[str, dict[str, tuple[float, float]]] = table["pairs"]
        self.delays: list[float] = table.get("delays", [])
        self._arrivals: dict[str, float] = table.get("arrivals", {})

    @property
    def rewards(self) -> float:
        """The number of rewards, those of skips included."""
        return float(sum(count for row in self.pairs.values() for count, _ in row.values()))

    def in_context(self, context: str) -> dict[str, tuple[float, float]]:
        """Return the count and the sum of rewards of each action in a context."""
        return self.pairs.get(context, {})

    def arrivals(self, contexts: Iterable[str]) -> Floats:
        """Return the arrivals of contexts in the campaign before; ones if nothing is known."""
        counts = np.array([self._arrivals.get(name, 0.0) for name in contexts])
        return counts if counts.any() else np.ones(len(counts))
