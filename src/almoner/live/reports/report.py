"""Records of a report: money, arrivals, estimates, the optimum now, and points of the curve."""

from __future__ import annotations

from dataclasses import dataclass, field

__all__ = [
    "RESERVED",
    "ActionReport",
    "Amendment",
    "CapReport",
    "ContextReport",
    "CurvePoint",
    "Report",
    "RowReport",
]

RESERVED = "reserved"
"""Value of ``blocked``: the money is there, but reserved for open decisions."""


@dataclass(frozen=True, kw_only=True)
class ActionReport:
    """One action in one context.

    ``mean`` is that of the ``rewarded`` rewards seen, with a 95 % Wilson interval from ``low`` to
    ``high``; ``planned`` is its probability in the optimum now, at the policy's estimates.

    Where rewards come within a window, a decision without one counts by the share of rewards that
    come by its age: the mean is that of ``evidence`` decisions, and the interval is, too.

    ``cost`` is the expected cost that plans use. Where it is learned, ``declared`` is the cost in
    the terms, and ``billed`` the mean bill, None before there is one.

    A policy with a pooled prior learns about a pair from other contexts and actions too: it adds
    ``borrowed`` rewards, not a whole number, to its ``rewarded`` own ones. ``pooled`` is the mean
    of them all, the estimate that the policy uses; own rewards have a weight of
    rewarded / (rewarded + inherited + borrowed) in it, where ``evidence`` takes the place of
    ``rewarded`` if rewards come within a window. ``inherited`` is the number of rewards that
    the campaign began with, by its prior or by the campaign before it. ``borrowed`` is None if
    nothing is borrowed: under policies without a prior, before the first reward, and while contexts
    and actions predict each other's rewards too badly; ``pooled`` is None if nothing is inherited
    either.

    Means and intervals are in the unit of rewards. A ``stopped`` action is neither planned with nor
    taken.
    """

    action: str
    cost: float
    reserve: float
    taken: int
    rewarded: int
    mean: float | None
    low: float
    high: float
    planned: float
    pooled: float | None = None
    borrowed: float | None = None
    stopped: bool = False
    evidence: float | None = None
    declared: float | None = None
    billed: float | None = None
    inherited: float = 0.0


@dataclass(frozen=True, kw_only=True)
class ContextReport:
    """One context: its arrivals, and the share of them that the optimum would serve now.

    ``share`` is its share of arrivals; with share 0 it is planned for at the price of the others.
    """

    context: str
    arrivals: int
    share: float
    served: float
    actions: list[ActionReport]


@dataclass(frozen=True, kw_only=True)
class Amendment:
    """A change of the terms: when, after how many arrivals, by whom, why, and each in words."""

    at: str
    arrivals: int
    by: str | None
    note: str | None
    changes: list[str]


@dataclass(frozen=True, kw_only=True)
class CurvePoint:
    """The campaign after an arrival; money in amounts, rewards in their unit, time in ISO 8601.

    ``budget`` and ``horizon``, the arrivals in all, are those of the terms in force then.
    """

    arrivals: int
    at: str
    spent: float
    reserved: float
    planned: float
    reward: float
    price: float | None
    budget: float
    horizon: float


@dataclass(frozen=True, kw_only=True)
class RowReport:
    """Figures of a campaign on rows.

    Attributes
    ----------
    price
        The worth of a unit of money at the last decision; None before the first one.
    value_taken, value_left
        Sums over the arrivals so far: the scores of what was decided, and by how much the best
        score was above them, both over the scores of skipping; None with features.
    """

    price: float | None
    value_taken: float | None
    value_left: float | None


@dataclass(frozen=True, kw_only=True)
class CapReport:
    """A limit on spending that the pace of a campaign sets now.

    Attributes
    ----------
    period
        ``"hour"``, ``"day"`` or ``"week"``, or ``"even"`` for the line of an even spend.
    cap, used, left
        The limit, the money reserved or charged for the decisions of the period (for an even
        spend, spent or expected in all), and the rest.
    ends
        The end of the period in ISO 8601, in the zone of the campaign; None for an even spend.
    holds_back
        Whether the plan spends less because of it than the budget would allow.
    """

    period: str
    cap: float
    used: float
    left: float
    ends: str | None
    holds_back: bool


@dataclass(frozen=True, kw_only=True)
class Report:
    """State of a campaign, in numbers for people and pages.

    Attributes
    ----------
    spent, reserved, left
        They add up to ``budget``: money charged for bills, money reserved for open decisions, and
        the rest. With a ``risk`` reserves may add up to more, and it is ``spent``, ``planned`` and
        ``left`` that add up.
    risk
        The probability with which bills may exceed the budget; 0 if they cannot.
    planned
        Expected cost of the open decisions, for which ``reserved`` is the most; with a ``risk``,
        by their age: the longer one has no bill, the less it is expected to cost.
    unusable
        The rest after ``planned``, if it is less than any action reserves; otherwise 0.
    overrun
        Sum by which bills have exceeded their reserves.
    uncharged
        The part of the bills that the budget could not bear; bills are ``spent`` and this.
    cheapest
        The least that any action reserves.
    blocked
        Reason why no action can be taken now: ``"paused"``, ``"closed"``, ``"horizon"``;
        ``"pace"`` if only its limits forbid all of them; ``"reserved"`` if less than ``cheapest``
        is left until open decisions are settled (with a ``risk``, if they may cost too much),
        ``"budget"`` if even then; None if one can be taken.
    arrivals, arrivals_left
        Arrivals so far, and still to come by the horizon or the forecast.
    closes, horizon
        The closing time, if there is one, and the arrivals in all that the terms expect.
    served, skips
        Actions taken, and skips by reason.
    idle
        Skips of counted arrivals since an action was last taken, by reason.
    rewarded, reward, waiting
        Rewards received, their sum, and the number of decisions that wait for one: actions taken,
        and skips if their rewards are learned.
    skip_reward
        The part of ``reward`` that skips have brought although the terms say that they bring
        nothing: the campaign does not learn from it.
    reward_low, reward_high
        Bounds of the sum once they have come, by the 95 % intervals of the means, with the known
        rewards of skips.
    promised, guessed
        Expected reward by now of the plan at the policy's present estimates, and the number of
        pairs in it without any, for whose means 0.5 is used.
    reward_window, still_expected
        The time within which rewards come, such as ``"7 days"``, None if there is no limit; and the
        share of the rewards of all decisions so far that is still expected to come, 0 without such
        a window. With one, decisions ``waiting`` are those within it, ``rewarded`` includes the
        zeros that it has ended with, and ``promised`` only what is due by now.
    only_good_news
        Whether there is no window, all rewards are above 0, and most decisions have none: if that
        is because zeros are not told, every mean is too high.
    ratio_start, ratio_now
        Budget per arrival at the start, before all amendments, and money neither spent nor planned
        per arrival to come.
    pace
        Share of the budget spent or planned, less the share of the arrivals gone: above 0, money
        goes faster than arrivals; 0 if there is no budget.
    open, expiring, next_expiry
        Decisions with money reserved, those of them whose reserve expires, and when the next does.
    amendments
        The changes of the terms so far.
    price, value, boundaries
        Of the plan now: the worth of a unit of money, the expected reward of an arrival, and the
        ratios at which the price jumps.
    reward_range, currency
        The range of rewards if it is not [0, 1], and the currency of money, and of rewards with a
        range. All rewards, sums and prices of the report are in that unit.
    inherited, inherited_from
        The number of rewards that the campaign began with, and the campaign they came from, if any.
    caps
        The limits of its pace in the present periods; the plan uses the smallest ratio of them.
    default
        The action taken in place of skipping, if there is one.
    rows
        Figures of a campaign on rows; None of one with named contexts.
    """

    name: str
    status: str
    policy: str
    budget: float
    spent: float
    reserved: float
    planned: float
    left: float
    unusable: float
    overrun: float
    uncharged: float
    cheapest: float
    blocked: str | None
    arrivals: int
    arrivals_left: float
    closes: str | None
    horizon: float
    served: int
    skips: dict[str, int]
    idle: dict[str, int]
    rewarded: int
    reward: float
    waiting: int
    reward_low: float
    reward_high: float
    promised: float
    guessed: int
    ratio_start: float
    ratio_now: float
    pace: float
    price: float
    value: float
    boundaries: list[float]
    contexts: list[ContextReport]
    open: int = 0
    expiring: int = 0
    next_expiry: str | None = None
    amendments: list[Amendment] = field(default_factory=list)
    reward_window: str | None = None
    still_expected: float = 0.0
    only_good_news: bool = False
    risk: float = 0.0
    reward_range: tuple[float, float] | None = None
    currency: str | None = None
    inherited: float = 0.0
    inherited_from: str | None = None
    caps: list[CapReport] = field(default_factory=list)
    default: str | None = None
    skip_reward: float = 0.0
    rows: RowReport | None = None
