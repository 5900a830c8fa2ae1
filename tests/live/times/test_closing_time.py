"""Closing times and their forecasts, with numbers worked by hand."""

from __future__ import annotations

import json
import math
from datetime import UTC, datetime, timedelta, timezone
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.agents import assert_sentence

from almoner import ClosingTime, InvalidTerms

OPENS = datetime(2026, 3, 1, 8, tzinfo=UTC)
AT = datetime(2026, 3, 1, 18, tzinfo=UTC)


def hours(number: float) -> datetime:
    return OPENS + timedelta(hours=number)


def evening(**terms: Any) -> ClosingTime:
    return ClosingTime(**{"at": AT, "opens": OPENS, "arrivals": 1000, **terms})


@pytest.mark.parametrize(
    ("hour", "share"), [(-1, 0.0), (0, 0.0), (1, 0.1), (2.5, 0.25), (10, 1.0), (11, 1.0)]
)
def test_without_a_profile_arrivals_come_evenly(hour: float, share: float) -> None:
    assert evening().share_due(hours(hour).timestamp()) == pytest.approx(share)


@pytest.mark.parametrize(
    ("hour", "share"),
    [(0, 0.0), (1, 0.1), (2, 0.2), (3, 0.4), (4, 0.6), (5, 0.6), (7, 0.6), (8.5, 0.8), (10, 1.0)],
)
def test_a_profile_is_followed_from_point_to_point(hour: float, share: float) -> None:
    """A fifth in two hours, two more in the next two, nobody for three, the rest in three."""
    profile = ((hours(2), 0.2), (hours(4), 0.6), (hours(7), 0.6))
    assert evening(profile=profile).share_due(hours(hour).timestamp()) == pytest.approx(share)


@pytest.mark.parametrize(
    ("trust", "hour", "seen", "left"),
    [
        (math.inf, 5, 900, 500.0),  # sticks to it
        (math.inf, 0, 0, 1000.0),
        (100, 5, 500, 500.0),  # as forecast
        (100, 5, 900, 500 * 1000 / 600),
        (100, 5, 0, 500 * 100 / 600),
        (0, 5, 250, 250.0),  # only the arrivals so far are known
        (0, 0, 0, 1000.0),  # nothing is known yet
        (100, 10, 5000, 0.0),
    ],
)
def test_the_forecast_is_scaled_by_what_comes(
    trust: float, hour: float, seen: int, left: float
) -> None:
    """A Gamma prior of shape and rate ``trust``, after ``seen`` where 1000·share were due."""
    forecast = evening(trust=trust)
    assert forecast.arrivals_left(hours(hour).timestamp(), seen=seen) == pytest.approx(left)


@given(
    points=st.lists(st.tuples(st.floats(0.01, 9.99), st.floats(0, 1)), max_size=5),
    times=st.lists(st.floats(-2, 12), min_size=2, max_size=6),
)
def test_the_share_due_never_falls(points: list[tuple[float, float]], times: list[float]) -> None:
    moments = sorted({hours(hour) for hour, _ in points})
    shares = sorted(share for _, share in points)[: len(moments)]
    forecast = evening(profile=tuple(zip(moments, shares, strict=True)))
    due = [forecast.share_due(hours(hour).timestamp()) for hour in sorted(times)]
    assert due == sorted(due)
    assert 0 <= due[0] <= due[-1] <= 1


def test_times_may_be_written_as_text() -> None:
    assert ClosingTime(at="2026-03-01T19:00+01:00", arrivals=5) == ClosingTime(at=AT, arrivals=5)  # type: ignore[arg-type]
    written = evening(profile=(("2026-03-01T10:00Z", 0.5),))
    assert written == evening(profile=((hours(2), 0.5),))


def test_it_opens_when_it_is_first_used() -> None:
    unopened = ClosingTime(at=AT, arrivals=10)
    with pytest.raises(InvalidTerms, match="opens must be known to say what is due; give opens="):
        unopened.share_due(0.0)
    assert unopened.opened(OPENS) == ClosingTime(at=AT, arrivals=10, opens=OPENS)
    assert evening().opened(hours(3)) == evening()


@pytest.mark.parametrize(
    "closing",
    [
        evening(),
        evening(trust=math.inf),
        evening(trust=0, profile=((hours(1), 0.0), (hours(9), 1.0))),
        ClosingTime(at=AT.astimezone(timezone(timedelta(hours=-7))), arrivals=0.5),
    ],
)
def test_json_and_back(closing: ClosingTime) -> None:
    assert ClosingTime.from_dict(json.loads(json.dumps(closing.to_dict()))) == closing


@pytest.mark.parametrize("ends_at", [0, 1])
def test_hours_that_a_zone_repeats_are_told_apart(ends_at: int) -> None:
    """In Berlin 2:30 comes twice on that day, an hour apart."""
    berlin = ZoneInfo("Europe/Berlin")
    at = datetime(2026, 10, 25, 2, 30, fold=ends_at, tzinfo=berlin)
    closing = ClosingTime(opens=datetime(2026, 10, 25, tzinfo=berlin), at=at, arrivals=100)
    assert closing.at.timestamp() == at.timestamp()
    assert ClosingTime.from_dict(closing.to_dict()) == closing
    assert closing.moved(closing.at) == closing


def test_a_campaign_may_last_from_the_first_to_the_second_time_of_an_hour() -> None:
    berlin = ZoneInfo("Europe/Berlin")
    first = datetime(2026, 10, 25, 2, 45, tzinfo=berlin)
    second = datetime(2026, 10, 25, 2, 15, fold=1, tzinfo=berlin)
    closing = ClosingTime(opens=first, at=second, arrivals=100)
    assert closing.share_due(first.timestamp() + 900) == 0.5
    with pytest.raises(InvalidTerms, match="opens must come before at"):
        ClosingTime(opens=second, at=first, arrivals=100)


NAN = float("nan")


@pytest.mark.parametrize(
    ("terms", "match"),
    [
        ({"at": "tonight"}, "at must be a time in ISO 8601, got at='tonight'"),
        ({"at": None}, "at must be a time with its time zone"),
        ({"at": 1.8e9}, "at must be a time with its time zone"),
        ({"at": datetime(2026, 3, 1)}, "got at='2026-03-01T00:00:00'; write it like"),
        ({"at": "2026-03-01"}, "at must be a time with its time zone"),
        ({"opens": "2026-03-01T18:00Z"}, "opens must come before at"),
        ({"opens": datetime(2026, 3, 1)}, "opens must be a time with its time zone"),
        ({"arrivals": 0}, "arrivals must be greater than 0"),
        ({"arrivals": -5}, "arrivals must be greater than 0"),
        ({"arrivals": 1e-305}, "arrivals must be at least 1e-06"),
        ({"arrivals": NAN}, "arrivals must be finite"),
        ({"arrivals": math.inf}, "arrivals must be finite"),
        ({"arrivals": 1e300}, "arrivals must be at most 1e\\+15"),
        ({"arrivals": True}, "arrivals must be a number"),
        ({"arrivals": "many"}, "arrivals must be a number"),
        ({"trust": -1}, "trust must be at least 0"),
        ({"trust": NAN}, "trust must be finite"),
        ({"trust": None}, "trust must be a number"),
        ({"trust": -math.inf}, "trust must be finite"),
        ({"profile": 3}, "profile must be a list of pairs"),
        ({"profile": "morning"}, "profile must be a list of pairs"),
        ({"profile": (3,)}, "profile must hold pairs of a time and a share"),
        ({"profile": ((hours(2), 0.5, 1),)}, "profile must hold pairs"),
        ({"profile": ((hours(2), 1.5),)}, "share of the profile must be between 0 and 1"),
        ({"profile": ((hours(2), NAN),)}, "share of the profile must be finite"),
        ({"profile": (("noon", 0.5),)}, "time of the profile must be a time in ISO 8601"),
        ({"profile": ((hours(2), 0.5), (hours(2), 0.6))}, "rising times between opens and at"),
        ({"profile": ((hours(2), 0.5), (hours(3), 0.4))}, "shares that do not fall"),
        ({"profile": ((hours(-1), 0.5),)}, "rising times between opens and at"),
        ({"profile": ((hours(10), 0.5),)}, "rising times between opens and at"),
    ],
)
def test_what_makes_no_sense_is_refused(terms: dict[str, Any], match: str) -> None:
    with pytest.raises(InvalidTerms, match=match) as raised:
        evening(**terms)
    assert_sentence(raised.value)


@pytest.mark.parametrize(
    ("table", "match"),
    [
        (None, "a closing time must be a table"),
        ([], "a closing time must be a table"),
        ({}, "lacks the key 'at'"),
        ({"at": "2026-03-01T18:00Z", "arrivals": 5, "open": 1}, "unknown key 'open'"),
    ],
)
def test_a_table_that_is_none_is_refused(table: Any, match: str) -> None:
    with pytest.raises(InvalidTerms, match=match):
        ClosingTime.from_dict(table)
