"""Values of the panel on the worth of a campaign: groups, lift and other budgets."""

from __future__ import annotations

from typing import Any

from almoner.live.reports.final_report import FinalReport, in_short, sentences
from almoner.service.web.formatting import Money, count
from almoner.service.web.reward_format import RewardFormat

__all__ = ["lift_view"]

_GROUPS = {"with_campaign": "With the campaign", "without": "Without it"}
_METHODS = {
    "holdout": "Some arrivals are held out and get nothing; they are compared with the others.",
    "explore": "Some arrivals are decided at random: actions are compared with skips of arrivals "
    "that were about as likely to be skipped.",
}


def lift_view(report: FinalReport, money: Money, *, on_rows: bool = False) -> dict[str, Any]:
    """Return the values of the panel."""
    lift, groups, unit = report.lift, [], report.reward_unit
    rewards = RewardFormat(report.reward_range, report.currency)
    for field, label in _GROUPS.items() if lift is not None else ():
        group = getattr(lift, field)
        groups.append(
            {
                "label": label,
                "arrivals": count(group.arrivals),
                "open": count(group.open),
                "mean": f"{in_short(group.mean)}{unit}",
                "interval": f"{in_short(group.low)} to {in_short(group.high)}{unit}",
            }
        )
    return {
        "method": "" if lift is None else _METHODS[lift.method],
        "verdict": "" if lift is None else lift.verdict,
        "sentences": list(sentences(report)),
        "groups": groups,
        "budgets": [
            {
                "multiple": f"{point.multiple:.0%}".replace("%", "\N{NO-BREAK SPACE}%"),
                "budget": money(point.budget),
                "reward": rewards.total(point.reward),
                "extra": "–" if point.multiple == 1 else _signed(point.extra, rewards),
            }
            for point in report.budgets
            if not on_rows
        ],
    }


def _signed(value: float, rewards: RewardFormat) -> str:
    """Return a difference of rewards with its sign.

    >>> _signed(12.34, RewardFormat()), _signed(-1234.5, RewardFormat((0.0, 350.0), "EUR"))
    ('+12.3', '−1,234.50 EUR')
    >>> _signed(0.0104, RewardFormat((0.0, 5.0)))
    '+0.01'
    """
    digits = 1 if rewards.limits is None else 2
    size = abs(round(value, digits))
    unit = f" {rewards.unit}" if rewards.unit else ""
    text = f"{size:,.0f}" if size == round(size) else f"{size:,.{digits}f}"
    return ("\N{MINUS SIGN}" if value < 0 else "+") + text + unit
