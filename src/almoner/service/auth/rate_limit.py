"""How often one client may ask: a bucket of tokens each, refilled at a steady rate."""

from __future__ import annotations

import time
from collections.abc import Callable

__all__ = ["Buckets"]

MANY = 10_000
"""Clients remembered at a time; the one that has been silent longest is forgotten first."""


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
        self._filled.pop(client, None)
        if len(self._filled) >= MANY:
            del self._filled[next(iter(self._filled))]
        self._filled[client] = (tokens - 1, now)  # last, so that the first is the longest silent
        return 0.0
