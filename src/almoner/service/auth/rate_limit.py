"""Rate limit: a token bucket for each client."""

from __future__ import annotations

import time
from collections.abc import Callable

__all__ = ["Buckets"]

CLIENTS = 10_000
"""Clients kept at a time; the one silent longest is dropped first."""


class Buckets:
    """Token buckets by client, each with room for the requests of two seconds.

    Examples
    --------
    >>> buckets = Buckets(1, clock=lambda: 0.0)
    >>> [buckets.wait("me") for _ in range(3)], buckets.wait("you")
    ([0.0, 0.0, 1.0], 0.0)
    """

    def __init__(self, rate: float, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._rate, self._room, self._clock = rate, max(1.0, 2 * rate), clock
        self._buckets: dict[str, tuple[float, float]] = {}

    def wait(self, client: str) -> float:
        """Take a token; return 0, or the seconds until the next one if there is none."""
        now = self._clock()
        tokens, seen = self._buckets.get(client, (self._room, now))
        tokens = min(self._room, tokens + (now - seen) * self._rate)
        if tokens < 1:
            return (1 - tokens) / self._rate
        self._buckets.pop(client, None)
        if len(self._buckets) >= CLIENTS:
            del self._buckets[next(iter(self._buckets))]
        self._buckets[client] = (tokens - 1, now)  # at the end: the first is silent longest
        return 0.0
