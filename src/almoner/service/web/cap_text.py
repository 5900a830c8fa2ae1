"""Limits of a campaign's pace in words."""

from __future__ import annotations

from typing import NamedTuple

from almoner.live.reports.report import CapReport, Report
from almoner.live.terms.pace import EVEN
from almoner.service.web.formatting import Money, moment

__all__ = ["CapFigure", "cap_figures", "full_caps", "held_back"]


class CapFigure(NamedTuple):
    """A limit as a headline figure: title, money used, the limit, and its end, if it has one."""

    title: str
    used: str
    cap: str
    ends: str | None
    until: str
    holds_back: bool


def cap_figures(report: Report, money: Money) -> list[CapFigure]:
    """Return the limits of the present periods as headline figures."""
    return [
        CapFigure(
            _title(cap),
            money(cap.used),
            money(cap.cap),
            cap.ends,
            moment(cap.ends) if cap.ends else "",
            cap.holds_back,
        )
        for cap in report.caps
    ]


def full_caps(report: Report, money: Money) -> str:
    """Return the limits that leave too little for any action, and when they end."""
    least = min((cap.left for cap in report.caps), default=0.0)
    full = [cap for cap in report.caps if cap.left == least]
    return " and ".join(
        f"{money(cap.used)} of the {money(cap.cap)} that {_limit(cap)} allows is used"
        + (f", until {moment(cap.ends)}" if cap.ends else ", until the line has risen")
        for cap in full
    )


def held_back(report: Report, money: Money) -> str:
    """Return which limit makes the plan spend less than the budget would allow; empty if none."""
    holding = [cap for cap in report.caps if cap.holds_back]
    if not holding or report.blocked is not None:
        return ""
    names = " and ".join(f"{_limit(cap)} ({money(cap.cap)})" for cap in holding)
    verb = "holds" if len(holding) == 1 else "hold"
    return f"The plan spends less than the budget would allow: {names} {verb} it back."


def _title(cap: CapReport) -> str:
    return "Even spend" if cap.period == EVEN else f"This {cap.period}"


def _limit(cap: CapReport) -> str:
    return "the even pace" if cap.period == EVEN else f"the cap of this {cap.period}"
