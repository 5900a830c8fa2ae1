"""Sums over arrivals with which the mean rewards of groups are compared."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["Z95", "GroupSums", "OddsSums"]

Z95 = 1.959964
"""The two-sided 95 % point of a standard normal."""


class GroupSums(NamedTuple):
    """Sums over arrivals: their number, the sum of rewards, and that of their squares."""

    arrivals: int = 0
    total: float = 0.0
    squares: float = 0.0

    def plus(self, reward: float) -> GroupSums:
        """Return the sums with another arrival, which brings a reward."""
        return GroupSums(self.arrivals + 1, self.total + reward, self.squares + reward * reward)

    def corrected(self, before: float, reward: float) -> GroupSums:
        """Return the sums after the reward of an arrival has changed."""
        change = reward * reward - before * before
        return self._replace(total=self.total + reward - before, squares=self.squares + change)


class OddsSums(NamedTuple):
    """Sums over skips with the odds o and the rewards r: of o, o², or and or²."""

    odds: float = 0.0
    squares: float = 0.0
    total: float = 0.0
    total_squares: float = 0.0

    def plus(self, odds: float, reward: float) -> OddsSums:
        """Return the sums with another skip."""
        return OddsSums(self.odds + odds, self.squares + odds * odds, *self[2:]).corrected(
            odds, 0.0, reward
        )

    def corrected(self, odds: float, before: float, reward: float) -> OddsSums:
        """Return the sums after the reward of a skip has changed."""
        change = odds * (reward * reward - before * before)
        return self._replace(
            total=self.total + odds * (reward - before), total_squares=self.total_squares + change
        )
