"""Figures and sentences as a person reads them on the page."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from decimal import Decimal

from almoner.campaign import RUNNING
from almoner.decision import WHY
from almoner.events import CLOSED, PAUSED
from almoner.report import Report

__all__ = [
    "count",
    "mean_format",
    "money_format",
    "notices",
    "pace",
    "percent",
    "plural",
    "rate",
    "sentence",
    "shares",
    "skipped",
    "state",
    "summary",
    "total",
    "why",
]

MOST_DECIMALS = 6
"""As many as the smallest unit of money has by default."""

FINISHED = "finished"

ON_PACE = 0.005
"""Less than this share of the budget off the straight line is on it: it rounds to 0 %."""


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


def state(report: Report) -> str:
    """Return what a campaign is, in one word: finished is one that runs and has nothing to do."""
    return FINISHED if report.status == RUNNING and report.arrivals_left <= 0 else report.status


def pace(report: Report) -> str:
    """Return whether money goes as fast as visitors come.

    The straight line spends the same on every arrival up to the horizon.
    """
    if not report.arrivals:
        return "no arrival yet"
    if report.arrivals_left <= 0:
        used = (report.spent + report.reserved) / report.budget if report.budget else 1.0
        return f"{percent(used)} of the budget used at the end"
    if abs(report.pace) < ON_PACE:
        return "on pace"
    side = "ahead of" if report.pace > 0 else "behind"
    return f"spending {percent(abs(report.pace))} {side} the straight line"


def summary(report: Report, horizon: float, money: Callable[[float], str]) -> str:
    """Return in one sentence how a campaign is doing."""
    kind = "expected arrival" if report.closes else "arrival"
    if not report.arrivals:
        return f"Nobody has come yet; {money(report.budget)} is for {plural(horizon, kind)}."
    return (
        f"{count(min(report.arrivals, horizon))} of {plural(horizon, kind)} have come, and "
        f"{money(report.spent + report.reserved)} of {money(report.budget)} is spent or held: "
        f"{pace(report)}."
    )


def shares(report: Report, money: Callable[[float], str]) -> str:
    """Return where the budget is: what the bar shows."""
    return (
        f"Of the budget of {money(report.budget)}, {money(report.spent)} is spent, "
        f"{money(report.reserved)} held and {money(report.left)} left."
    )


def skipped(report: Report) -> str:
    """Return what became of the arrivals that are not served: with those, they add up."""
    uncounted = sum(report.skips.get(reason, 0) for reason in (PAUSED, CLOSED))
    skips = sum(report.skips.values()) - uncounted
    cancelled = report.arrivals - report.served - skips
    said = f"{count(skips)} skipped"
    if cancelled > 0:
        said += f", {count(cancelled)} cancelled"
    if uncounted:
        said += f"; {count(uncounted)} more while paused or closed"
    return said


def notices(report: Report, horizon: float, money: Callable[[float], str]) -> list[str]:
    """Return what a person should know beyond the figures, a sentence each."""
    sentences = []
    if report.arrivals > horizon:
        sentences.append(
            f"{count(report.arrivals - horizon)} more have come after the horizon of "
            f"{plural(horizon, 'arrival')}, and were skipped."
        )
    if report.status == PAUSED:
        sentences.append("The campaign is paused: arrivals are skipped, and are not counted.")
    if report.status == CLOSED:
        sentences.append("The campaign is closed: only settlements and rewards are still taken.")
    if report.unusable > 0:
        sentences.append(
            f"{money(report.unusable)} is left, but no action costs that little, so it cannot be "
            "spent."
        )
    if report.overrun > 0:
        sentences.append(
            f"Bills have exceeded what was held for them by {money(report.overrun)} in all; raise "
            "the reserves of the next campaign."
        )
    return sentences


def sentence(text: str) -> str:
    """Return words with a capital at the start and a full stop at the end.

    >>> sentence("there is no such campaign")
    'There is no such campaign.'
    """
    return text[:1].upper() + text[1:] + ("" if text.endswith((".", "!", "?")) else ".")


def why(reason: str | None) -> str:
    """Return why a skip, in words."""
    return WHY.get(reason or "", reason or "")


def _places(amount: float) -> int:
    """Return with how many decimals an amount was written."""
    exponent = Decimal(repr(amount)).normalize().as_tuple().exponent
    return max(0, -exponent) if isinstance(exponent, int) else 0
