"""Format of rewards on the pages: numbers from 0 to 1, or amounts in the campaign's unit."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

from almoner.live.estimates.estimates import UNSEEN
from almoner.live.reports.report import Report
from almoner.live.terms.reward_scale import RewardScale
from almoner.service.web import formatting

__all__ = ["RewardFormat"]

CENTS_BELOW = 1_000.0
"""End of an axis below which means have two decimals: most are far below it."""


class RewardFormat(NamedTuple):
    """Range of the rewards of a campaign (None for 0 to 1), and the currency of its money."""

    limits: tuple[float, float] | None = None
    currency: str | None = None

    @classmethod
    def of(cls, report: Report) -> RewardFormat:
        """Return the format of the rewards of a report."""
        return cls(report.reward_range, report.currency)

    @property
    def low(self) -> float:
        """The least reward."""
        return 0.0 if self.limits is None else self.limits[0]

    @property
    def high(self) -> float:
        """The largest reward."""
        return 1.0 if self.limits is None else self.limits[1]

    @property
    def unit(self) -> str:
        """The currency of rewards; empty where they are plain numbers."""
        return "" if self.limits is None else self.currency or ""

    @property
    def in_unit(self) -> str:
        """The unit in a phrase: `` in EUR``, or empty."""
        return f" in {self.unit}" if self.unit else ""

    @property
    def range_text(self) -> str:
        """The range in words.

        >>> RewardFormat().range_text, RewardFormat((0.0, 350.0), "EUR").range_text
        ('from 0 to 1', 'from 0 to 350 EUR')
        """
        ends = formatting.exact(self.low), formatting.exact(self.high)
        return f"from {ends[0]} to {ends[1]}{self._suffix}"

    @property
    def price_note(self) -> str:
        """What a price is: reward per unit of money, or of one currency per unit of it."""
        if not self.unit:
            return f"reward per {self.currency or 'unit of money'}"
        return f"{self.unit} of reward per {self.unit} of budget"

    @property
    def unseen(self) -> str:
        """The mean that stands for a pair without any reward."""
        scale = RewardScale(self.low, self.high)
        return f"{formatting.figure(scale.value(UNSEEN))}{self._suffix}"

    @property
    def _suffix(self) -> str:
        return f" {self.unit}" if self.unit else ""

    def total(self, value: float) -> str:
        """Return a sum of rewards.

        >>> RewardFormat().total(151.0), RewardFormat((0.0, 350.0), "EUR").total(1234.5)
        ('151', '1,234.50 EUR')
        """
        if self.limits is None:
            return formatting.total(value)
        return f"{_amount(value)}{self._suffix}"

    def promise(self, value: float) -> str:
        """Return a sum of expected rewards."""
        return f"{value:,.1f}" if self.limits is None else self.total(value)

    def one(self, value: float) -> str:
        """Return a single reward, without its unit."""
        return f"{value:g}" if self.limits is None else _amount(value)

    def mean(self, top: float) -> Callable[[float], str]:
        """Return the format of means on an axis that ends at ``top``, without their unit."""
        return formatting.mean_format(top) if self.limits is None else _mean(top)


def _amount(value: float) -> str:
    """Return an amount, with two decimals unless it is whole.

    >>> _amount(-1234.5), _amount(-50)
    ('−1,234.50', '−50')
    """
    if not math.isfinite(value) or value == round(value):
        text = formatting.count(value)
    else:
        text = f"{value:,.2f}" if abs(value) >= 0.1 else formatting.rate(value)
    return text.replace("-", "\N{MINUS SIGN}")


def _mean(top: float) -> Callable[[float], str]:
    """Return a format with at least three digits of the largest mean."""
    decimals = min(8, max(0, 2 - math.floor(math.log10(max(abs(top), 1e-9)))))
    decimals = decimals if decimals > 2 or abs(top) >= CENTS_BELOW else 2
    return lambda mean: f"{mean:,.{decimals}f}".replace("-", "\N{MINUS SIGN}")
