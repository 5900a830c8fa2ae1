"""Horizon on the calendar, with a forecast of the arrivals still to come."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from itertools import pairwise
from typing import Any, NamedTuple

from almoner import checks
from almoner.errors import InvalidTerms

__all__ = ["ClosingTime", "ForecastCorrections"]


class ForecastCorrections(NamedTuple):
    """Arrivals and periods left out when the forecast is scaled by the arrivals so far.

    ``early`` counts the arrivals before ``opens``; ``missed`` is the share of the forecast that has
    passed in pauses; ``paused`` is the start of the present pause, in seconds since 1970.
    """

    early: int = 0
    missed: float = 0.0
    paused: float | None = None

    def arrival(self, horizon: ClosingTime, now: float) -> ForecastCorrections:
        """Return the corrections after a counted arrival."""
        early = horizon.opens is not None and now < horizon.opens.timestamp()
        return self._replace(early=self.early + 1) if early else self

    def pause(self, now: float) -> ForecastCorrections:
        """Return the corrections after the start of a pause."""
        return self if self.paused is not None else self._replace(paused=now)

    def resume(self, horizon: ClosingTime, now: float) -> ForecastCorrections:
        """Return the corrections after the end of a pause."""
        return self._replace(missed=self.missed_by(horizon, now), paused=None)

    def missed_by(self, horizon: ClosingTime, now: float) -> float:
        """Return the share of the forecast that has passed in pauses, the present one included."""
        if self.paused is None:
            return self.missed
        return self.missed + max(0.0, horizon.share_due(now) - horizon.share_due(self.paused))


NO_CORRECTIONS = ForecastCorrections()

FEWEST = 1e-6
"""Arrivals expected, at least: the budget per arrival must be a finite number."""


@dataclass(frozen=True, kw_only=True)
class ClosingTime:
    """The end of a campaign on the calendar, and the number of arrivals expected until then.

    Parameters
    ----------
    at
        When the campaign ends: a datetime with a time zone, or the same in ISO 8601.
    arrivals
        The number of arrivals expected between ``opens`` and ``at``.
    opens
        When arrivals begin; left out, when the campaign is created.
    profile
        Points (time, share of the arrivals that will have come by then) between the two; arrivals
        come evenly between two points. Left out, they come evenly all along.
    trust
        The forecast is scaled by the arrivals observed; it weighs as much as this many of them.
        ``math.inf`` keeps the forecast as it is.

    Examples
    --------
    >>> evening = ClosingTime(
    ...     opens="2026-03-01T08:00+00:00", at="2026-03-01T18:00+00:00", arrivals=1000)
    >>> noon = datetime.fromisoformat("2026-03-01T13:00+00:00").timestamp()
    >>> evening.arrivals_left(noon, seen=500), round(evening.arrivals_left(noon, seen=900))
    (500.0, 833)
    """

    at: datetime
    arrivals: float
    opens: datetime | None = None
    profile: tuple[tuple[datetime, float], ...] = ()
    trust: float = 100.0

    def __post_init__(self) -> None:
        at = _moment("at", self.at)
        opens = None if self.opens is None else _moment("opens", self.opens)
        arrivals = checks.number("arrivals", self.arrivals, above=0, high=1e15, error=InvalidTerms)
        checks.number("arrivals", arrivals, low=FEWEST, error=InvalidTerms)
        trust = self.trust
        if trust != math.inf:
            trust = checks.number("trust", trust, low=0, error=InvalidTerms)
        if opens is not None and opens >= at:
            raise InvalidTerms(
                f"opens must come before at, got opens={opens.isoformat()} and at={at.isoformat()}"
            )
        if isinstance(self.profile, str) or not isinstance(self.profile, Iterable):
            raise checks.refuse("profile", "be a list of pairs", self.profile, error=InvalidTerms)
        points = tuple(_point(entry) for entry in self.profile)
        times = [*([opens] if opens else []), *(when for when, _ in points), at]
        shares = [0.0, *(share for _, share in points), 1.0]
        if any(a >= b for a, b in pairwise(times)) or any(a > b for a, b in pairwise(shares)):
            raise checks.refuse(
                "profile",
                "hold rising times between opens and at, with shares that do not fall",
                self.profile,
                error=InvalidTerms,
            )
        for name, value in (("at", at), ("opens", opens), ("profile", points)):
            object.__setattr__(self, name, value)
        object.__setattr__(self, "arrivals", arrivals)
        object.__setattr__(self, "trust", trust)

    def share_due(self, now: float) -> float:
        """Return the share of the arrivals that the forecast expects by now, in [0, 1]."""
        if self.opens is None:
            raise InvalidTerms("opens must be known to say what is due; give opens=…")
        points = [(self.opens, 0.0), *self.profile, (self.at, 1.0)]
        times = [when.timestamp() for when, _ in points]
        if now <= times[0] or now >= times[-1]:
            return 0.0 if now <= times[0] else 1.0
        index = bisect_right(times, now)
        (start, low), (end, high) = points[index - 1], points[index]
        passed = (now - start.timestamp()) / (end.timestamp() - start.timestamp())
        return low + (high - low) * passed

    def arrivals_left(
        self, now: float, *, seen: int, corrections: ForecastCorrections = NO_CORRECTIONS
    ) -> float:
        """Return the number of arrivals still expected after ``seen`` of them.

        The posterior mean of a Poisson stream whose forecast is right up to a factor, which has a
        Gamma prior with mean 1 and the weight of ``trust`` arrivals.
        """
        share, scale = self.share_due(now), 1.0
        due = self.trust + self.arrivals * (share - corrections.missed_by(self, now))
        if not math.isinf(due) and due > 0:
            scale = (self.trust + seen - corrections.early) / due
        return self.arrivals * (1.0 - share) * scale

    def opened(self, now: datetime) -> ClosingTime:
        """Return this closing time with ``opens`` set to ``now`` where it was left out."""
        if self.opens is not None:
            return self
        if now >= self.at:
            raise InvalidTerms(
                f"at must be in the future, got at={self.at.isoformat()}; give a later time"
            )
        return ClosingTime(
            at=self.at, arrivals=self.arrivals, opens=now, profile=self.profile, trust=self.trust
        )

    def moved(self, at: Any, arrivals: float | None = None) -> ClosingTime:
        """Return the forecast with another end; arrivals go on, or stop, as forecast so far.

        Beyond the present end they come at the mean rate until then. Given ``arrivals``, the number
        between ``opens`` and the new end, the forecast is scaled to that; they come evenly if none
        was expected until then.
        """
        end = _moment("closes", at)
        if self.opens is None or end <= self.opens:
            shown = end.isoformat()
            raise checks.refuse(
                "closes", "come after the campaign opens", shown, error=InvalidTerms
            )
        old, new = self.at.timestamp(), end.timestamp()
        share = self.share_due(new)
        points = [point for point in self.profile if point[0] < end] if share > 0 else []
        if new > old:
            share = (new - self.opens.timestamp()) / (old - self.opens.timestamp())
            points.append((self.at, 1.0))
        if share <= 0 and arrivals is None:
            rule, shown = "leave time in which arrivals come", end.isoformat()
            raise checks.refuse("closes", rule, shown, "give arrivals=…", InvalidTerms)
        return ClosingTime(
            at=end,
            arrivals=self.arrivals * share if arrivals is None else arrivals,
            opens=self.opens,
            profile=tuple((when, min(1.0, due / share)) for when, due in points),
            trust=self.trust,
        )

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return {
            "at": self.at.isoformat(),
            "arrivals": self.arrivals,
            "opens": self.opens.isoformat() if self.opens else None,
            "profile": [[when.isoformat(), share] for when, share in self.profile],
            "trust": None if math.isinf(self.trust) else self.trust,
        }

    @classmethod
    def from_dict(cls, table: Any) -> ClosingTime:
        """Build a closing time from the result of `to_dict`."""
        if not isinstance(table, dict):
            raise checks.refuse("a closing time", "be a table", table, error=InvalidTerms)
        checks.known_keys(
            "the closing time",
            table,
            required=("at", "arrivals"),
            optional=("opens", "profile", "trust"),
            error=InvalidTerms,
        )
        return cls(**{**table, "trust": _trust(table)})


def _trust(table: dict[str, Any]) -> Any:
    trust = table.get("trust", ClosingTime.trust)
    return math.inf if trust is None else trust


def _moment(name: str, value: Any) -> datetime:
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value)
        except ValueError:
            raise checks.refuse(name, "be a time in ISO 8601", value, error=InvalidTerms) from None
    if not isinstance(value, datetime) or value.tzinfo is None:
        remedy = "write it like 2026-12-24T18:00+01:00"
        shown = value.isoformat() if isinstance(value, datetime) else value
        raise checks.refuse(name, "be a time with its time zone", shown, remedy, InvalidTerms)
    # Times of one zone compare by the clock on the wall, which repeats an hour in autumn.
    return value.replace(tzinfo=timezone(value.utcoffset() or timedelta()), fold=0)


def _point(entry: Any) -> tuple[datetime, float]:
    if not isinstance(entry, (list, tuple)) or len(entry) != 2:
        raise checks.refuse(
            "profile", "hold pairs of a time and a share", entry, error=InvalidTerms
        )
    share = checks.number("a share of the profile", entry[1], low=0, high=1, error=InvalidTerms)
    return _moment("a time of the profile", entry[0]), share
