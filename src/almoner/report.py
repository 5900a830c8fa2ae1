"""Report: how a campaign is doing, in numbers for people and pages."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import takewhile
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np

from almoner.campaign import Campaign
from almoner.checks import Floats
from almoner.closing import ClosingTime
from almoner.events import Event
from almoner.history import History, Point
from almoner.ledger import Ledger
from almoner.lp import Solution, solve
from almoner.mutex import Mutex
from almoner.policy.contexts import KnownContexts
from almoner.policy.rewards import KnownRewards
from almoner.process import Process
from almoner.terms import Terms

__all__ = ["UNSEEN", "ActionReport", "ContextReport", "Estimates", "Report", "Watch"]

Result = TypeVar("Result")

Z95 = 1.959964
"""The two-sided 95 % point of a standard normal."""

UNSEEN = 0.5
"""What a pair never seen counts as in the plan of a report: halfway."""


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
    """One context: how often it came, and what share of it the optimum would serve now."""

    context: str
    arrivals: int
    share: float
    served: float
    actions: list[ActionReport]


@dataclass(frozen=True, kw_only=True)
class Report:
    """How a campaign is doing.

    Attributes
    ----------
    spent, reserved, left
        They add up to ``budget``; what holds ``reserved`` is expected to cost ``planned``;
        ``unusable`` is what is left if no action costs that little.
    overrun
        By how much bills have exceeded what was held for them.
    arrivals, arrivals_left
        Those so far, and those to come by the horizon or the forecast.
    served, skips
        Actions taken, and skips by reason.
    rewarded, reward, promised
        Rewards that have come, their sum, and what the plan at the present estimates would have
        brought by now.
    ratio_start, ratio_now
        Budget per arrival at the start, and what is left for those to come.
    pace
        The share of the budget that is committed, less the share of the arrivals gone: above 0,
        money goes faster than visitors come.
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
    arrivals: int
    arrivals_left: float
    closes: str | None
    served: int
    skips: dict[str, int]
    rewarded: int
    reward: float
    promised: float
    ratio_start: float
    ratio_now: float
    pace: float
    price: float
    value: float
    boundaries: list[float]
    contexts: list[ContextReport]


class Estimates(NamedTuple):
    """What `solve` needs of a campaign: somebody's idea of its statistics."""

    context_probs: Floats
    reward_means: Floats
    costs: Floats
    default_rewards: Floats
    ratio: float


class _Standing(NamedTuple):
    """A copy of what a report needs of a campaign."""

    seq: int
    status: str
    ledger: Ledger
    overrun: int
    contexts: tuple[str, ...]
    arrivals: int
    arrivals_left: float
    counts: Floats
    sums: Floats
    skip_counts: Floats
    skip_sums: Floats

    @classmethod
    def of(cls, campaign: Campaign, now: int) -> _Standing:
        state = campaign.state
        return cls(
            seq=campaign.seq,
            status=campaign.status,
            ledger=campaign.ledger,
            overrun=campaign.overrun,
            contexts=tuple(campaign.contexts),
            arrivals=campaign.arrivals,
            arrivals_left=campaign.arrivals_left(now),
            counts=state.counts.copy(),
            sums=state.sums.copy(),
            skip_counts=state.skip_counts.copy(),
            skip_sums=state.skip_sums.copy(),
        )


class Watched(Protocol):
    """What is watched: an agent."""

    name: str
    terms: Terms

    def now(self) -> int:
        """Return the time, in microseconds since 1970."""

    def look(self, read: Callable[[Campaign], Any]) -> Any:
        """Return what ``read`` says of the campaign, held still for it."""

    def events(self, after: int) -> Iterator[Event]:
        """Yield the log of the campaign after an event."""


class Watch:
    """Follows the log of an agent's campaign, so that a report need not read all of it again."""

    def __init__(self, agent: Watched) -> None:
        self._agent = agent
        self._process = Process()
        self._mutex = Mutex()
        self._history = History(agent.terms.budget)

    def report(self) -> Report:
        """Return how the campaign is doing now."""
        return self._follow(self._report)

    def curve(self) -> list[Point]:
        """Return points along the way, the last one being the present."""
        return self._follow(self._curve)

    def _follow(self, use: Callable[[History], Result]) -> Result:
        """Return what ``use`` makes of the history; if that fails, it is folded anew."""
        self._process.check()
        claim = self._mutex.acquire(sys._getframe())
        try:
            history, self._history = self._history, History(self._agent.terms.budget)
            result = use(history)
            self._history = history
            return result
        finally:
            self._mutex.release(claim)

    def _report(self, history: History) -> Report:
        now = self._agent.now()
        # While it is held still nobody can decide, so it is only copied then.
        standing: _Standing = self._agent.look(lambda campaign: _Standing.of(campaign, now))
        news = self._agent.events(history.seq)
        history.apply(takewhile(lambda event: event.seq <= standing.seq, news))
        return _report(self._agent.name, self._agent.terms, standing, history)

    def _curve(self, history: History) -> list[Point]:
        history.apply(self._agent.events(history.seq))
        return history.points()


def _report(name: str, terms: Terms, standing: _Standing, history: History) -> Report:
    ledger, amount, horizon = standing.ledger, terms.unit.amount, terms.horizon
    expected = horizon.arrivals if isinstance(horizon, ClosingTime) else float(horizon)
    arrivals, coming = standing.arrivals, standing.arrivals_left
    free = max(0, ledger.budget - ledger.committed)
    ratio_now = amount(free) / coming if coming > 0 else 0.0
    estimates = _estimates(terms, standing, history, ratio_now)
    plan = solve(estimates)
    ratio_start = amount(ledger.budget) / expected
    gone = arrivals / (arrivals + coming) if arrivals + coming > 0 else 1.0
    cheapest = min(min(terms.reserves_in(context)) for context in standing.contexts)
    return Report(
        name=name,
        status=standing.status,
        policy=_policy_name(terms.policy),
        budget=amount(ledger.budget),
        spent=amount(ledger.spent),
        reserved=amount(ledger.reserved),
        planned=amount(ledger.planned),
        left=amount(ledger.left),
        unusable=amount(ledger.left) if ledger.left < cheapest else 0.0,
        overrun=amount(standing.overrun),
        arrivals=arrivals,
        arrivals_left=coming,
        closes=horizon.at.isoformat() if isinstance(horizon, ClosingTime) else None,
        served=history.taken.total(),
        skips=dict(history.skips),
        rewarded=history.rewarded,
        reward=history.reward,
        promised=min(arrivals, expected) * solve(estimates, ratio=ratio_start).value,
        ratio_start=ratio_start,
        ratio_now=ratio_now,
        pace=(ledger.committed / ledger.budget if ledger.budget else 0.0) - gone,
        price=plan.price,
        value=plan.value,
        boundaries=plan.boundaries.tolist(),
        contexts=_contexts(terms, standing, history, estimates, plan),
    )


def _contexts(
    terms: Terms, standing: _Standing, history: History, estimates: Estimates, plan: Solution
) -> list[ContextReport]:
    costs, planned = estimates.costs.tolist(), plan.probabilities.tolist()
    amount, names = terms.unit.amount, terms.actions
    reports = []
    for place, context in enumerate(standing.contexts):
        reserves, actions = terms.reserves_in(context), []
        for column, action in enumerate(names):
            count, total = history.rewards.get((context, action), (0, 0.0))
            low, high = _interval(total, count)
            actions.append(
                ActionReport(
                    action=action,
                    cost=costs[place][column],
                    reserve=amount(reserves[column]),
                    taken=history.taken[context, action],
                    rewarded=count,
                    mean=total / count if count else None,
                    low=low,
                    high=high,
                    planned=planned[place][column],
                )
            )
        reports.append(
            ContextReport(
                context=context,
                arrivals=history.arrivals[context],
                share=float(estimates.context_probs[place]),
                served=float(plan.probabilities[place].sum()),
                actions=actions,
            )
        )
    return reports


def _estimates(terms: Terms, standing: _Standing, history: History, ratio: float) -> Estimates:
    """Return the means as the policy has them: they may be given, or those of other draws."""
    rewards, contexts = terms.policy.rewards, terms.policy.contexts
    counts = standing.counts
    means = np.where(counts > 0, standing.sums / np.maximum(counts, 1), UNSEEN)
    if isinstance(rewards, KnownRewards) and rewards.means is not None:
        means = np.array(rewards.means)
    shares = np.array([history.arrivals[name] for name in standing.contexts], np.float64)
    if isinstance(contexts, KnownContexts) and contexts.probs is not None:
        shares = np.array(contexts.probs)
    elif shares.sum() == 0:
        shares = np.ones(len(shares))
    defaults = np.zeros(len(shares))
    if isinstance(terms.default_rewards, dict):
        defaults = np.array([terms.default_rewards[name] for name in standing.contexts])
    elif terms.default_rewards is not None:
        defaults = standing.skip_sums / np.maximum(standing.skip_counts, 1)
    amount = terms.unit.amount
    costs = [[amount(cost) for cost in terms.costs_in(name)] for name in standing.contexts]
    return Estimates(shares / shares.sum(), means, np.array(costs), defaults, ratio)


def _interval(total: float, count: int) -> tuple[float, float]:
    """Return the 95 % Wilson interval of a mean of numbers in [0, 1]; all of it without data."""
    if count == 0:
        return 0.0, 1.0
    mean, spread = total / count, Z95 * Z95 / count
    centre = (mean + spread / 2) / (1 + spread)
    half = Z95 * math.sqrt(mean * (1 - mean) / count + spread / (4 * count)) / (1 + spread)
    return max(0.0, centre - half), min(1.0, centre + half)


def _policy_name(policy: Any) -> str:
    from almoner.policy.recipes import RECIPES

    for name, make in RECIPES.items():
        if make() == policy:
            return name
    return repr(policy)
