"""Formatting of numbers, money, times, names and sentences for the pages.

Every number has a text, infinity and NaN included: a page must not fail over a figure.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable
from datetime import datetime
from decimal import Decimal

from markupsafe import Markup

__all__ = [
    "Money",
    "clock",
    "count",
    "exact",
    "figure",
    "isolated",
    "mean_format",
    "moment",
    "money_format",
    "percent",
    "plural",
    "rate",
    "sentence",
    "total",
    "visible",
]

Money = Callable[[float], str]
"""Format of an amount of money."""

CONTROLS = re.compile("[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")
"""Control characters, line and paragraph separators, and those that set the direction of text."""

MAX_DECIMALS = 6
"""Number of decimals of the default smallest unit of money."""


def count(number: float) -> str:
    """Return a whole number with thousands separators.

    >>> count(12345.4)
    '12,345'
    """
    return f"{number:,.0f}" if math.isfinite(number) else _not_finite(number)


def plural(number: float, noun: str) -> str:
    """Return a number with its noun in singular or plural.

    >>> plural(1, "arrival"), plural(1200, "arrival")
    ('1 arrival', '1,200 arrivals')
    """
    return f"{count(number)} {noun}{'' if number == 1 else 's'}"


def percent(share: float) -> str:
    """Return a share in per cent, with one decimal where whole numbers would round to 0 or 100.

    >>> percent(0.384), percent(0.004), percent(0.9999), percent(1)
    ('38 %', '0.4 %', '99.9 %', '100 %')
    """
    if not math.isfinite(100 * share):
        return f"{_not_finite(100 * share)} %"
    if share in (0, 1) or 0.01 <= share <= 0.99:
        return f"{share:.0%}".replace("%", " %")
    digits = math.floor(share * 1000) / 10 if share < 1 else round(share * 100, 1)
    return f"{max(digits, 0.1) if share > 0 else 0:.1f} %"


def rate(value: float) -> str:
    """Return a mean, a price or a ratio with three significant digits.

    >>> rate(0.21349), rate(0.00312), rate(12.3456), rate(0), rate(1234.5)
    ('0.213', '0.00312', '12.3', '0', '1,234')
    """
    if value == 0:
        return "0"
    if not math.isfinite(value):
        return _not_finite(value)
    decimals = max(0, 2 - math.floor(math.log10(abs(value))))
    return f"{value:,.{min(decimals, 8)}f}"


def figure(value: float) -> str:
    """Return a number with at most three significant digits, or whole from 100 on.

    >>> figure(0.5), figure(230.0), figure(1234.5), figure(0.21349)
    ('0.5', '230', '1,234', '0.213')
    """
    text = rate(value)
    return text.rstrip("0").removesuffix(".") if "." in text else text


def exact(value: float) -> str:
    """Return a number with up to six significant digits, or whole; never with an exponent.

    >>> exact(0.0125), exact(-112.5), exact(5e6), exact(350.0)
    ('0.0125', '−112.5', '5,000,000', '350')
    """
    text = f"{value:,.0f}" if value == round(value) and abs(value) < 1e15 else f"{value:,.6g}"
    return text.replace("-", "\N{MINUS SIGN}")


def total(value: float) -> str:
    """Return a sum of rewards, without decimals if it is whole.

    >>> total(151.0), total(1234.25), total(0.04)
    ('151', '1,234.2', '0.0')
    """
    whole = not math.isfinite(value) or value == round(value)
    return count(value) if whole else f"{value:,.1f}"


def mean_format(top: float) -> Callable[[float], str]:
    """Return a format for means between 0 and ``top``, all with the same number of decimals.

    >>> mean_format(0.5)(0.0821), mean_format(0.05)(0.0821)
    ('0.082', '0.0821')
    """
    decimals = 3 if top >= 0.1 else 4
    return lambda mean: f"{mean:.{decimals}f}"


def money_format(amounts: Iterable[float], currency: str | None = None) -> Money:
    """Return a format for money with enough decimals for all of ``amounts``.

    >>> money_format([2000.0, 5.0])(1250.0), money_format([10.0, 0.004], "EUR")(1.25)
    ('1,250', '1.250 EUR')
    """
    unit = f" {visible(currency)}" if currency else ""
    needed = max((_decimals(amount) for amount in amounts), default=0)
    decimals = min(max(2, needed) if needed else 0, MAX_DECIMALS)
    return lambda amount: (
        (f"{amount:,.{decimals}f}" if math.isfinite(amount) else _not_finite(amount)) + unit
    )


def clock(time: str) -> str:
    """Return the time of day of an ISO 8601 time, with its zone.

    >>> clock("2026-03-01T08:30:05.123456+00:00")
    '08:30:05 UTC'
    """
    return datetime.fromisoformat(time).strftime("%H:%M:%S %Z")


def moment(time: str) -> str:
    """Return date and time of day of an ISO 8601 time, with its zone.

    >>> moment("2026-12-31T23:30:00+00:00"), moment("2026-12-31T23:30:00+02:00")
    ('2026-12-31 23:30 UTC', '2026-12-31 23:30 UTC+02:00')
    """
    return datetime.fromisoformat(time).strftime("%Y-%m-%d %H:%M %Z")


def isolated(name: str) -> Markup:
    r"""Return a name as HTML that keeps its text direction to itself.

    Without ``<bdi>``, a name in Hebrew or Arabic would reorder the numbers beside it.

    >>> isolated("<new>"), isolated("\u202eevil")
    (Markup('<bdi>&lt;new&gt;</bdi>'), Markup('<bdi>\\u202eevil</bdi>'))
    """
    return Markup("<bdi>{}</bdi>").format(visible(name))


def visible(text: str) -> str:
    r"""Return a text with its control characters as escapes, as in error messages.

    Some of them change the direction of text beyond any element that holds them.

    >>> visible("\u202eevil\n")
    '\\u202eevil\\u000a'
    """
    return CONTROLS.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def sentence(text: str) -> str:
    """Return a text with a capital at the start and a full stop at the end.

    >>> sentence("there is no such campaign")
    'There is no such campaign.'
    """
    return text[:1].upper() + text[1:] + ("" if text.endswith((".", "!", "?")) else ".")


def _not_finite(value: float) -> str:
    """Return infinity as its sign, and NaN as a dash."""
    return "–" if math.isnan(value) else f"{'-' * (value < 0)}∞"


def _decimals(amount: float) -> int:
    """Return the number of decimals of an amount."""
    exponent = Decimal(repr(amount)).normalize().as_tuple().exponent
    return max(0, -exponent) if isinstance(exponent, int) else 0
