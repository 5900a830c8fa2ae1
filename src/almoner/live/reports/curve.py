"""Curve of a campaign: its money and reward after some of the arrivals, evenly spaced."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import fields
from datetime import UTC, datetime, timedelta
from operator import attrgetter
from typing import Any

from almoner.live.costs.ledger import Ledger
from almoner.live.reports.report import CurvePoint
from almoner.live.terms.reward_scale import UNSCALED, RewardScale
from almoner.store.events import Event, EventRow

__all__ = ["CurveBuilder", "moment"]

POINTS = 512
"""Points of a curve: at most these, and at least half as many once it had that many."""


EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def moment(at: int) -> str:
    """Return a time in microseconds since 1970 in ISO 8601."""
    return (EPOCH + timedelta(microseconds=at)).isoformat()


class CurveBuilder:
    """Collects points after every ``stride``-th arrival, and after the latest one.

    Parameters
    ----------
    amount
        Returns the amount of money of whole units.
    rewards
        The scale of rewards; sums of them are given in its unit.
    """

    def __init__(self, amount: Callable[[int], float], rewards: RewardScale = UNSCALED) -> None:
        self._amount, self._gain = amount, rewards.gain
        self._points: list[CurvePoint | str] = []  # those of a snapshot as it has them
        self._end: CurvePoint | None = None
        self.stride = 1

    def add(self, decided: EventRow, ledger: Ledger, reward: float, horizon: float) -> None:
        """Add a point after an arrival whose number is a multiple of the stride."""
        self._points.append(self._point(decided, ledger, reward, horizon))
        if len(self._points) >= POINTS:
            self.stride *= 2
            self._points = self._points[::2]

    def end(self, decided: EventRow, ledger: Ledger, reward: float, horizon: float) -> None:
        """Set the point after the latest arrival."""
        self._end = self._point(decided, ledger, reward, horizon)

    def points(self) -> list[CurvePoint]:
        """Return the points in the order of arrivals."""
        points = [_read(point) if isinstance(point, str) else point for point in self._points]
        self._points = [*points]
        if self._end is None or points[-1:] == [self._end]:
            return points
        return [*points, self._end]

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for a snapshot: the points as JSON, each of them written once."""
        points = [_written(point) for point in self._points]
        self._points = [*points]
        end = None if self._end is None else _written(self._end)
        return {"stride": self.stride, "points": points, "end": end}

    def restore(self, table: dict[str, Any]) -> None:
        """Restore the result of `to_dict`."""
        self.stride, self._points = table["stride"], [*table["points"]]
        self._end = None if table["end"] is None else _read(table["end"])

    def _point(
        self, decided: EventRow, ledger: Ledger, reward: float, horizon: float
    ) -> CurvePoint:
        event = Event._make(decided)
        return CurvePoint(
            arrivals=(event.round or 0) + 1,
            at=moment(event.at),
            spent=self._amount(ledger.spent),
            reserved=self._amount(ledger.reserved),
            planned=self._amount(ledger.planned),
            reward=reward,
            price=None if event.price is None else self._gain(event.price),
            budget=self._amount(ledger.budget),
            horizon=horizon,
        )


_NAMES = [field.name for field in fields(CurvePoint)]
_values = attrgetter(*_NAMES)


def _written(point: CurvePoint | str) -> str:
    return point if isinstance(point, str) else json.dumps(_values(point))


def _read(text: str) -> CurvePoint:
    return CurvePoint(**dict(zip(_NAMES, json.loads(text), strict=True)))
