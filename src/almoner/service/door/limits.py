"""How often one client may ask: a bucket of tokens each, refilled at a steady rate."""

from __future__ import annotations

import time
from collections.abc import Callable

__all__ = ["Buckets"]

MANY = 10_000
"""Clients remembered at a time; those whose buckets are full again are forgotten first."""


class Buckets:
    """A bucket for each client, with room for two seconds' worth of requests.

    Examples
    --------
    >>> buckets = Buckets(1, clock=lambda: 0.0)
    >>> [buckets.wait("me") for _ in range(3)], buckets.wait("you")
    ([0.0, 0.0, 1.0], 0.0)
    """

    def __init__(self, rate: float, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._rate, self._room, self._clock = rate, max(1.0, 2 * rate), clock
        self._filled: dict[str, tuple[float, float]] = {}

    def wait(self, client: str) -> float:
        """Take a token; return 0, or how many seconds to wait for the next one."""
        now = self._clock()
        tokens, seen = self._filled.get(client, (self._room, now))
        tokens = min(self._room, tokens + (now - seen) * self._rate)
        if tokens < 1:
            return (1 - tokens) / self._rate
        if len(self._filled) >= MANY and client not in self._filled:
            self._forget(now)
        self._filled[client] = (tokens - 1, now)
        return 0.0

    def _forget(self, now: float) -> None:
        """Drop the clients whose buckets are full, and the longest silent one in any case."""
        self._filled = {
            client: (tokens, seen)
            for client, (tokens, seen) in self._filled.items()
            if tokens + (now - seen) * self._rate < self._room
        }
        if len(self._filled) >= MANY:
            del self._filled[min(self._filled, key=lambda client: self._filled[client][1])]
