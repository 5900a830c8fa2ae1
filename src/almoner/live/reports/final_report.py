"""Records of a final report: whether a campaign has worked, what it cost, and other budgets."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

__all__ = [
    "BudgetPoint",
    "FinalReport",
    "GroupReport",
    "LiftReport",
    "sentences",
]

MORE, LESS, UNCLEAR = "more", "less", "unclear"
"""Verdicts: the interval of the lift is above 0, below it, or contains it."""


@dataclass(frozen=True, kw_only=True)
class GroupReport:
    """Arrivals with the campaign or without it.

    ``mean`` is the reward of an arrival, with a 95 % interval from ``low`` to ``high``;
    ``rewarded`` arrivals have a reward, and ``open`` ones count as 0 until one comes (a skip whose
    reward is known counts as that). Estimated from exploration, the arrivals without the campaign
    are the same ones.
    """

    arrivals: int
    rewarded: int
    open: int
    mean: float
    low: float
    high: float


@dataclass(frozen=True, kw_only=True)
class LiftReport:
    """The reward of an arrival with the campaign less that without it.

    Attributes
    ----------
    method
        ``"holdout"``: arrivals that were held out are compared with the others. ``"explore"``:
        actions with skips of arrivals that were as likely to be skipped.
    with_campaign, without
        The two groups.
    lift, low, high
        The lift of an arrival, with its 95 % interval. Arrivals are taken to be independent:
        the interval is too narrow where the same persons come again and again.
    extra, extra_low, extra_high
        The same for all arrivals with the campaign together.
    cost, cost_low, cost_high
        Money spent, or planned for open decisions, for each extra unit of reward; None where the
        interval has no such end, and ``cost`` too unless the lift is above 0 beyond doubt.
    verdict
        ``"more"`` or ``"less"`` if the interval is above or below 0, ``"unclear"`` otherwise.
    warning
        A reason to doubt the comparison; None if there is none.
    """

    method: str
    with_campaign: GroupReport
    without: GroupReport
    lift: float
    low: float
    high: float
    extra: float
    extra_low: float
    extra_high: float
    cost: float | None
    cost_low: float | None
    cost_high: float | None
    verdict: str
    warning: str | None


@dataclass(frozen=True, kw_only=True)
class BudgetPoint:
    """The reward of all arrivals to be expected of another budget, by the present estimates.

    ``budget`` is ``multiple`` times that of the campaign, and ``extra`` the difference to it.
    """

    multiple: float
    budget: float
    reward: float
    extra: float


@dataclass(frozen=True, kw_only=True)
class FinalReport:
    """Whether a campaign has worked, so far or at its end.

    Attributes
    ----------
    arrivals, served, rewarded, reward
        Arrivals, actions taken, rewards that have come, and their sum.
    budget, spent, planned
        Money: all of it, that of bills, and the expected cost of open decisions.
    lift
        The comparison with no campaign; None without a hold-out, exploration, or enough arrivals.
    missing
        The reason why there is no lift; None if there is one.
    budgets
        The plan at other budgets.
    """

    name: str
    status: str
    arrivals: int
    served: int
    rewarded: int
    reward: float
    budget: float
    spent: float
    planned: float
    lift: LiftReport | None
    missing: str | None
    budgets: list[BudgetPoint]


def sentences(report: FinalReport) -> Iterator[str]:
    """Yield the report on the lift in sentences for people."""
    lift = report.lift
    if lift is None:
        yield f"Whether the campaign has worked cannot be said: {report.missing}."
        return
    first, second = lift.with_campaign, lift.without
    yield (
        f"An arrival brings {_number(first.mean)} with the campaign and {_number(second.mean)} "
        f"without it: a lift of {_number(lift.lift)}, 95\N{NO-BREAK SPACE}% interval "
        f"{_number(lift.low)} to {_number(lift.high)}."
    )
    if lift.verdict == MORE:
        yield (
            f"That is {lift.extra:,.4g} more in all ({lift.extra_low:,.4g} to "
            f"{lift.extra_high:,.4g}), at {lift.cost:,.4g} for each extra unit of reward "
            f"({lift.cost_low:,.4g} to {lift.cost_high:,.4g})."
        )
    elif lift.verdict == LESS:
        yield "The campaign has brought less than nothing: an arrival brings more without it."
    else:
        yield "The lift is not distinguishable from 0."
    waiting = first.open + (second.open if lift.method == "holdout" else 0)
    if waiting:
        yield f"{waiting:,} arrivals have no reward yet; they count as if none came."
    if lift.warning is not None:
        yield lift.warning[0].upper() + lift.warning[1:] + "."


def _number(value: float) -> str:
    """Return a number with three digits, and a proper minus sign."""
    return f"{value:.3g}".replace("-", "\N{MINUS SIGN}")
