"""Reports written by hand, for tests of the page's sentences and drawings."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from almoner.live.reports.report import ActionReport, ContextReport, CurvePoint, Report
from almoner.service.web.formatting import money_format

money = money_format([100.0, 5.0])
"""Format of the amounts in `report`."""


def pair(**changes: Any) -> ActionReport:
    """Return a pair of context and action with 16 rewards."""
    counts = {"taken": 20, "rewarded": 16, "mean": 0.25, "low": 0.1, "high": 0.45, "planned": 0.5}
    return ActionReport(**{"action": "coupon", "cost": 5.0, "reserve": 5.0, **counts, **changes})


def report(**changes: Any) -> Report:
    """Return a report a quarter of the way: 30 of 100 spent, 5 reserved, straight line at 25."""
    context = ContextReport(context="new", arrivals=50, share=1.0, served=0.5, actions=[pair()])
    return replace(
        Report(
            name="spring",
            status="running",
            policy="thrifty",
            budget=100.0,
            spent=30.0,
            reserved=5.0,
            planned=5.0,
            left=65.0,
            unusable=0.0,
            overrun=0.0,
            uncharged=0.0,
            cheapest=5.0,
            blocked=None,
            arrivals=50,
            arrivals_left=150,
            closes=None,
            horizon=200.0,
            served=7,
            skips={"policy": 43},
            idle={"policy": 4},
            rewarded=7,
            reward=3.0,
            waiting=0,
            reward_low=3.0,
            reward_high=3.0,
            promised=4.0,
            guessed=0,
            ratio_start=0.5,
            ratio_now=65 / 150,
            pace=0.1,
            price=0.05,
            value=0.08,
            boundaries=[0.25, 2.5],
            contexts=[context],
        ),
        **changes,
    )


def point(arrivals: int, spent: float, planned: float, reward: float) -> CurvePoint:
    """Return a point of a curve."""
    return CurvePoint(
        arrivals=arrivals,
        at="2026-03-01T08:00:00+00:00",
        spent=spent,
        reserved=planned,
        planned=planned,
        reward=reward,
        price=None,
        budget=100.0,
        horizon=200.0,
    )
