"""Figures as a person reads them on the page."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from decimal import Decimal

__all__ = [
    "count",
    "figure",
    "mean_format",
    "money_format",
    "percent",
    "plural",
    "rate",
    "sentence",
    "total",
]

MOST_DECIMALS = 6
"""As many as the smallest unit of money has by default."""


def count(number: float) -> str:
    """Return a whole number with its thousands apart.

    >>> count(12345.4)
    '12,345'
    """
    return f"{number:,.0f}"


def plural(number: float, noun: str) -> str:
    """Return a number of things.

    >>> plural(1, "arrival"), plural(1200, "arrival")
    ('1 arrival', '1,200 arrivals')
    """
    return f"{count(number)} {noun}{'' if number == 1 else 's'}"


def percent(share: float) -> str:
    """Return a share in per cent, with one digit where a whole number would say 0 or 100.

    >>> percent(0.384), percent(0.004), percent(0.9999), percent(1)
    ('38 %', '0.4 %', '99.9 %', '100 %')
    """
    if share in (0, 1) or 0.01 <= share <= 0.99:
        return f"{share:.0%}".replace("%", " %")
    digits = math.floor(share * 1000) / 10 if share < 1 else round(share * 100, 1)
    return f"{max(digits, 0.1) if share > 0 else 0:.1f} %"


def rate(value: float) -> str:
    """Return a mean, a price or a ratio with three digits that matter.

    >>> rate(0.21349), rate(0.00312), rate(12.3456), rate(0), rate(1234.5)
    ('0.213', '0.00312', '12.3', '0', '1,234')
    """
    if value == 0:
        return "0"
    places = max(0, 2 - math.floor(math.log10(abs(value))))
    return f"{value:,.{min(places, 8)}f}"


def figure(value: float) -> str:
    """Return a number with at most three significant digits, or whole from 100 on.

    >>> figure(0.5), figure(230.0), figure(1234.5), figure(0.21349)
    ('0.5', '230', '1,234', '0.213')
    """
    text = rate(value)
    return text.rstrip("0").removesuffix(".") if "." in text else text


def total(value: float) -> str:
    """Return a sum of rewards: whole where it is whole.

    >>> total(151.0), total(1234.25), total(0.04)
    ('151', '1,234.2', '0.0')
    """
    return f"{value:,.0f}" if value == round(value) else f"{value:,.1f}"


def mean_format(top: float) -> Callable[[float], str]:
    """Return how to write means that lie between 0 and ``top``: all with the same digits.

    >>> mean_format(0.5)(0.0821), mean_format(0.05)(0.0821)
    ('0.082', '0.0821')
    """
    places = 3 if top >= 0.1 else 4
    return lambda mean: f"{mean:.{places}f}"


def money_format(amounts: Iterable[float]) -> Callable[[float], str]:
    """Return how to write money where these amounts occur: all with the same number of digits.

    >>> money_format([2000.0, 5.0])(1250.0), money_format([10.0, 0.004])(1.25)
    ('1,250', '1.250')
    """
    places = max((_places(amount) for amount in amounts), default=0)
    places = min(max(2, places) if places else 0, MOST_DECIMALS)
    return lambda amount: f"{amount:,.{places}f}"


def sentence(text: str) -> str:
    """Return words with a capital at the start and a full stop at the end.

    >>> sentence("there is no such campaign")
    'There is no such campaign.'
    """
    return text[:1].upper() + text[1:] + ("" if text.endswith((".", "!", "?")) else ".")


def _places(amount: float) -> int:
    """Return with how many decimals an amount was written."""
    exponent = Decimal(repr(amount)).normalize().as_tuple().exponent
    return max(0, -exponent) if isinstance(exponent, int) else 0
