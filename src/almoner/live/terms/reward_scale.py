"""Scale of rewards: from the unit in which people give and read them to the kernels' [0, 1].

A campaign with ``reward_range=(low, high)`` is told rewards from low to high, and shows rewards,
means, sums and prices in the same unit. Kernels and logs keep r = (value - low)/(high - low).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from almoner import checks
from almoner.errors import InvalidInput, InvalidTerms

__all__ = ["CURRENCY_LIMIT", "UNSCALED", "RewardScale", "parse_currency", "parse_reward_range"]

DIGITS = 12
"""Significant digits of a converted number: 37.5 comes back as 37.5, not as 37.50000000000001."""

NARROWEST = 1e-6
"""Smallest width of a range, as a share of its ends: the digits tell a million values apart."""

LARGEST = 1e15
"""Largest reward: sums of as many rewards as a log can hold stay numbers."""

CURRENCY_LIMIT = 12
"""Characters of a currency, at most."""

REMEDY = "scale rewards to [0, 1], or give the campaign a reward_range; for yes and no give 1 and 0"


class RewardScale(NamedTuple):
    """The least and the largest reward, and the name of their unit, if it has one.

    From 0 to 1 all conversions return the number as it is.

    Examples
    --------
    >>> euros = RewardScale(-50.0, 350.0, "EUR")
    >>> euros.reward(37.5), euros.value(0.21875), euros.zero, euros.gain(0.01)
    (0.21875, 37.5, 0.125, 4.0)
    >>> euros.total(0.5, count=3)
    50.0
    """

    low: float = 0.0
    high: float = 1.0
    currency: str = ""

    @property
    def is_identity(self) -> bool:
        """Whether rewards are given in the kernels' own range."""
        return self.low == 0.0 and self.high == 1.0

    @property
    def zero(self) -> float:
        """A reward of 0 in [0, 1]; outside of it if the range does not hold 0."""
        return self._shares(0.0)

    def to_unit(
        self,
        name: str,
        value: Any,
        *,
        error: type[InvalidInput] = InvalidInput,
        remedy: str = "",
    ) -> float:
        """Return a checked reward or mean as a number in [0, 1]."""
        amount = checks.number(name, value, error=error, remedy=remedy)
        if not self.low <= amount <= self.high:
            raise checks.refuse(name, f"be {self}", value, remedy, error)
        return self._shares(amount)

    def reward(self, value: Any) -> float:
        """Return the reward of a decision as a number in [0, 1]."""
        remedy = REMEDY if self.is_identity and not self.currency else ""
        return self.to_unit("reward", value, remedy=remedy)

    def value(self, unit: float) -> float:
        """Return a reward or a mean in [0, 1] as people read it."""
        return unit if self.is_identity else _rounded(self.low + unit * (self.high - self.low))

    def gain(self, unit: float) -> float:
        """Return a difference of rewards, or a price: what more money brings."""
        return unit if self.is_identity else _rounded(unit * (self.high - self.low))

    def total(self, units: float, *, count: float) -> float:
        """Return a sum of ``count`` rewards: n·low + (high - low)·Σr."""
        if self.is_identity:
            return units
        return _rounded(count * self.low + (self.high - self.low) * units)

    def units(self, total: float, *, count: float) -> float:
        """Return the inverse of `total`."""
        if self.is_identity:
            return total
        return (total - count * self.low) / (self.high - self.low)

    def _shares(self, amount: float) -> float:
        return amount if self.is_identity else (amount - self.low) / (self.high - self.low)

    def __str__(self) -> str:
        unit = f" {self.currency}" if self.currency else ""
        return f"between {self.low:.12g} and {self.high:.12g}{unit}"


UNSCALED = RewardScale()
"""The scale of a campaign without a ``reward_range``."""


def parse_reward_range(value: Any) -> tuple[float, float]:
    """Return the least and the largest reward, checked."""
    rule = "be the least and the largest reward, such as (0, 350)"
    if isinstance(value, (str, bytes)) or not isinstance(value, Sequence) or len(value) != 2:
        raise checks.refuse("reward_range", rule, value, error=InvalidTerms)
    low, high = (
        checks.number(f"the {end} of reward_range", bound, error=InvalidTerms)
        for end, bound in zip(("low end", "high end"), value, strict=True)
    )
    if max(abs(low), abs(high)) > LARGEST:
        rule, remedy = f"lie within ±{LARGEST:g}", "give rewards in a larger unit"
        raise checks.refuse("reward_range", rule, (low, high), remedy, InvalidTerms)
    if not low < high:
        remedy = "the low end comes first"
        raise checks.refuse("reward_range", rule, (low, high), remedy, InvalidTerms)
    if high - low < NARROWEST * max(abs(low), abs(high)):
        remedy = "subtract what all rewards have in common"
        rule = "be wider than a millionth of its ends"
        raise checks.refuse("reward_range", rule, (low, high), remedy, InvalidTerms)
    return low, high


def parse_currency(value: Any) -> str:
    """Return the name of a currency, checked: it is shown beside amounts of money."""
    value = checks.plain(value)
    fits = isinstance(value, str) and 0 < len(value) <= CURRENCY_LIMIT and value.isprintable()
    if not fits or value != value.strip():
        rule = f"be a text of 1 to {CURRENCY_LIMIT} printable characters, such as 'EUR'"
        raise checks.refuse("currency", rule, value, error=InvalidTerms)
    return value  # type: ignore[no-any-return]


def _rounded(value: float) -> float:
    return float(f"{value:.{DIGITS}g}")
