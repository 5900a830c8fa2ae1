"""Records of a final report: whether a campaign has worked, what it cost, and other budgets."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

__all__ = [
    "BudgetPoint",
    "FinalReport",
    "GroupReport",
    "LiftReport",
    "in_digits",
    "in_short",
    "sentences",
]

MORE, LESS, UNCLEAR = "more", "less", "unclear"
"""Verdicts: the interval of the lift is above 0, below it, or contains it."""

ROUNDING = 1e-9
"""Differences of rewards below this are errors of floating-point arithmetic."""


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
        The lift of an arrival, with its 95 % interval. Persons are taken to be independent,
        and arrivals without a person, too: if ``decide`` is not told who arrives, the interval
        is too narrow where the same persons come again and again.
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
    reward_range, currency
        The range of rewards, None for 0 to 1, and the currency of money and of rewards in a range.
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
    reward_range: tuple[float, float] | None = None
    currency: str | None = None

    @property
    def money_unit(self) -> str:
        """The currency after an amount of money, with a space before it; may be empty."""
        return f" {self.currency}" if self.currency else ""

    @property
    def reward_unit(self) -> str:
        """The currency after an amount of reward, which only rewards in a range have."""
        return "" if self.reward_range is None else self.money_unit


def sentences(report: FinalReport) -> Iterator[str]:
    """Yield the report on the lift in sentences for people."""
    lift = report.lift
    if lift is None:
        yield f"Whether the campaign has worked cannot be said: {report.missing}."
        return
    first, second = lift.with_campaign, lift.without
    unit, money = report.reward_unit, report.money_unit
    yield (
        f"An arrival brings {in_short(first.mean)}{unit} with the campaign and "
        f"{in_short(second.mean)}{unit} without it: a lift of {in_short(lift.lift)}{unit}, "
        f"95\N{NO-BREAK SPACE}% interval {in_short(lift.low)} to {in_short(lift.high)}{unit}."
    )
    if lift.verdict == MORE:
        low, extra, high = map(in_digits, (lift.extra_low, lift.extra, lift.extra_high))
        least, cost, most = map(in_digits, (lift.cost_low, lift.cost, lift.cost_high))
        yield (
            f"That is {extra}{unit} more in all ({low} to {high}{unit}), at {cost}{money} for each "
            f"extra {unit.strip() or 'unit'} of reward ({least} to {most}{money})."
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


def in_digits(value: float | None) -> str:
    """Return a sum with four digits, or whole.

    >>> in_digits(12.3456), in_digits(12345.6)
    ('12.35', '12,346')
    """
    value = 0.0 if value is None else value
    return f"{value:,.0f}" if 1e4 <= abs(value) < 1e15 else f"{value:,.4g}"


def in_short(value: float) -> str:
    """Return a mean with three digits, or whole, and a proper minus sign.

    What rounding has left of a difference is 0.

    >>> in_short(0.04489), in_short(-11663.2), in_short(5.6e-16)
    ('0.0449', '−11,663', '0')
    """
    value = 0.0 if abs(value) < ROUNDING else value
    text = f"{value:,.0f}" if 1e3 <= abs(value) < 1e15 else f"{value:.3g}"
    return text.replace("-", "\N{MINUS SIGN}")
