"""Report: how a campaign is doing, in numbers for people and pages."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["RESERVED", "ActionReport", "ContextReport", "CurvePoint", "Report"]

RESERVED = "reserved"
"""Why no action can be taken now: the money is there, but reserved for open decisions."""


@dataclass(frozen=True, kw_only=True)
class ActionReport:
    """One action in one context.

    ``mean`` is that of the ``rewarded`` rewards seen, with a 95 % Wilson interval from ``low`` to
    ``high``; ``planned`` is the probability that the optimum would give it now, if means were what
    the policy takes them for.
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


@dataclass(frozen=True, kw_only=True)
class ContextReport:
    """One context: how often it came, and what share of it the optimum would serve now.

    ``share`` is that of arrivals; a context of share 0 is planned for at the price of the others.
    """

    context: str
    arrivals: int
    share: float
    served: float
    actions: list[ActionReport]


@dataclass(frozen=True, kw_only=True)
class CurvePoint:
    """The campaign after an arrival."""

    arrivals: int
    at: str
    spent: float
    reserved: float
    planned: float
    reward: float
    price: float | None


@dataclass(frozen=True, kw_only=True)
class Report:
    """How a campaign is doing.

    Attributes
    ----------
    spent, reserved, left
        They add up to ``budget``: what bills have cost, what is reserved for open decisions, and
        what is left to reserve.
    planned
        What the open decisions that ``reserved`` is for are expected to cost.
    unusable
        What will be left, if they do, and is less than any action reserves; 0 if it is not.
    overrun
        By how much bills have exceeded what was reserved for them.
    uncharged
        What of the bills the budget could not bear: they add up to ``spent`` and this.
    cheapest
        The least that any action reserves.
    blocked
        Why no action can be taken now: ``"paused"``, ``"closed"``, ``"horizon"``; ``"reserved"`` if
        less than ``cheapest`` is left until open decisions are settled, ``"budget"`` if even then;
        None if one can be taken.
    arrivals, arrivals_left
        Those so far, and those to come by the horizon or the forecast.
    served, skips
        Actions taken, and skips by reason.
    idle
        Skips of counted arrivals since an action was last taken, by reason.
    rewarded, reward, waiting
        Rewards that have come, their sum, and how many decisions still wait for theirs: actions
        taken, and skips where what they bring is learned.
    reward_low, reward_high
        Where the sum will be once they have come, by the 95 % intervals of the means; what skips
        are known to bring is included.
    promised, guessed
        What the plan at the present estimates would have brought by now, and how many of the pairs
        it uses have no reward yet, so that 0.5 stands in for their means.
    ratio_start, ratio_now
        Budget per arrival at the start, and what is neither spent nor planned per arrival to come.
    pace
        The share of the budget that is spent or planned, less the share of the arrivals gone: above
        0, money goes faster than visitors come; 0 where there is no budget.
    price, value, boundaries
        Of the plan now: what a unit of money is worth, the expected reward of an arrival, and the
        ratios at which the price jumps.
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
