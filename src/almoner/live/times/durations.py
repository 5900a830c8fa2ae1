"""Durations as a person writes them, such as ``"7 days"``, in microseconds."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

from almoner import checks
from almoner.errors import InvalidTerms

__all__ = ["LONGEST", "duration", "in_words"]

_SECONDS = {"second": 1, "minute": 60, "hour": 3_600, "day": 86_400, "week": 604_800}
_WRITTEN = re.compile(rf"(\d+(?:\.\d+)?) ?({'|'.join(_SECONDS)})s?")

LONGEST = 3_660 * 86_400 * 10**6
"""The longest duration, ten years: times stay within the years that dates can have."""


def duration(name: str, value: Any) -> int:
    """Return a duration in microseconds.

    Examples
    --------
    >>> duration("reward_window", "7 days"), duration("expires", timedelta(minutes=90))
    (604800000000, 5400000000)
    """
    microseconds = _microseconds(checks.plain(value))
    if microseconds is None or not 0 < microseconds <= LONGEST:
        rule = "be a duration above 0 and of at most ten years"
        remedy = 'write it like "7 days", "36 hours" or "90 minutes"'
        raise checks.refuse(name, rule, value, remedy, InvalidTerms)
    return microseconds


def in_words(microseconds: int) -> str:
    """Return a duration in the largest unit that divides it.

    Examples
    --------
    >>> in_words(604_800_000_000), in_words(5_400_000_000)
    ('1 week', '90 minutes')
    """
    for unit, seconds in reversed(_SECONDS.items()):
        count, rest = divmod(microseconds, seconds * 10**6)
        if rest == 0:
            return f"{count} {unit}" + "s" * (count != 1)
    return f"{microseconds / 1e6!r} seconds"


def _microseconds(value: Any) -> int | None:
    if isinstance(value, timedelta):
        return value // timedelta(microseconds=1)
    match = _WRITTEN.fullmatch(value.strip()) if isinstance(value, str) else None
    if match is None or len(match[1]) > 20:
        return None
    return round(float(match[1]) * _SECONDS[match[2]] * 10**6)
