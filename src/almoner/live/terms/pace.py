"""Pace of a campaign: caps on its spending by calendar period, or an even spend over its length."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import UTC, datetime, time, timedelta, tzinfo
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

from almoner import checks
from almoner.errors import InvalidTerms
from almoner.money import Denomination

__all__ = ["EVEN", "PERIODS", "Pace", "parse_pace", "period_end", "time_zone", "written_pace"]

EVEN = "even"
"""The value of ``pace`` that holds the spend near the straight line."""

PERIODS = ("hour", "day", "week")

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_HOUR = timedelta(hours=1)

_RULE = f"be {EVEN!r} or amounts by period ({', '.join(PERIODS)}), with a zone if not UTC"
_REMEDY = 'write it like {"day": 500, "zone": "Europe/Berlin"}'


@dataclass(frozen=True, kw_only=True)
class Pace:
    """Caps on the money that a campaign may spend in calendar periods.

    Parameters
    ----------
    hour, day, week
        The most that the decisions of one such period may cost; weeks begin on Monday.
    zone
        The time zone of the calendar, such as ``"Europe/Berlin"``.

    Examples
    --------
    >>> Pace(day=500, zone="Europe/Berlin")
    Pace(hour=None, day=500, week=None, zone='Europe/Berlin')
    """

    hour: Any = None
    day: Any = None
    week: Any = None
    zone: Any = "UTC"


def parse_pace(value: Any, money: Denomination) -> dict[str, Any] | str | None:
    """Check the pace that a person has written; return it with amounts in whole units."""
    if value is None:
        return None
    value = checks.plain(value)
    if isinstance(value, str) and value == EVEN:
        return EVEN
    if isinstance(value, Pace):
        value = {part.name: getattr(value, part.name) for part in fields(value)}
    if not isinstance(value, Mapping):
        raise checks.refuse("pace", _RULE, value, _REMEDY, InvalidTerms)
    checks.known_keys("pace", value, required=(), optional=(*PERIODS, "zone"), error=InvalidTerms)
    caps = {
        period: money.units(
            f"the cap of a{'n' * (period == 'hour')} {period}", cap, above=0, error=InvalidTerms
        )
        for period in PERIODS
        if (cap := value.get(period)) is not None
    }
    if not caps:
        raise checks.refuse("pace", _RULE, dict(value), _REMEDY, InvalidTerms)
    zone = value.get("zone")
    zone = "UTC" if zone is None else checks.plain(zone)
    time_zone(zone)
    return {"caps": caps, "zone": zone}


def written_pace(pace: dict[str, Any] | str | None, money: Denomination) -> Any:
    """Return a stored pace as a person would write it."""
    if not isinstance(pace, dict):
        return pace
    caps = {name: Decimal(cap * money.top) / money.bottom for name, cap in pace["caps"].items()}
    return {**caps, "zone": pace["zone"]}


def time_zone(name: Any) -> tzinfo:
    """Return the time zone of a name."""
    if name == "UTC":
        return UTC
    try:
        return ZoneInfo(name)
    except (KeyError, TypeError, ValueError, OSError, AttributeError):
        raise checks.refuse(
            "the zone of pace",
            "be the name of a time zone",
            name,
            'write it like "Europe/Berlin"',
            InvalidTerms,
        ) from None


def period_end(period: str, at: int, zone: tzinfo) -> int:
    """Return the end of the period that holds a time; both in microseconds since 1970.

    Days and weeks end at midnight of the zone, whatever their length. An hour that daylight saving
    time repeats is two hours.

    Examples
    --------
    >>> noon = 1_792_926_000_000_000  # 2026-10-25 12:00 in Berlin, a day of 25 hours
    >>> (period_end("day", noon, ZoneInfo("Europe/Berlin")) - noon) / 3.6e9
    12.0
    """
    local = (_EPOCH + timedelta(microseconds=at)).astimezone(zone)
    if period == "hour":
        passed = timedelta(
            minutes=local.minute, seconds=local.second, microseconds=local.microsecond
        )
        return at + (_HOUR - passed) // _MICROSECOND
    days = 1 if period == "day" else 7 - local.weekday()
    midnight = datetime.combine(local.date() + timedelta(days=days), time(), zone)
    return (midnight - _EPOCH) // _MICROSECOND
