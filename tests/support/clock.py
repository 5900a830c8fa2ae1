"""A clock for agents that stands still until it is moved."""

from __future__ import annotations

__all__ = ["Clock"]


class Clock:
    """Seconds since 1970 in ``now``."""

    def __init__(self, now: float = 1_790_000_000.0) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now
