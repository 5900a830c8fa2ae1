"""Watch: reports on a campaign, from a copy of where it stands and a fold over its log."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from functools import partial
from itertools import takewhile
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np

from almoner.checks import Floats
from almoner.concurrency.mutex import Mutex
from almoner.concurrency.process import Process
from almoner.live.campaign import RUNNING, Campaign
from almoner.live.closing_time import ClosingTime
from almoner.live.decision import BUDGET, HORIZON
from almoner.live.estimates import UNSEEN, Estimates, interval, optimum
from almoner.live.history import History, Point
from almoner.live.ledger import Ledger
from almoner.live.report import RESERVED, ActionReport, ContextReport, Report
from almoner.live.terms import Terms
from almoner.lp import Solution
from almoner.policy.contexts import KnownContexts
from almoner.policy.rewards import KnownRewards
from almoner.store.events import Event

__all__ = ["Watch", "Watched"]

Result = TypeVar("Result")


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
        while True:
            # Before the history is locked: whoever looks at the campaign may ask for a report.
            standing = self._agent.look(partial(_Standing.of, now=self._agent.now()))
            report = self._follow(partial(self._report, standing))
            if report is not None:
                return report

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

    def _report(self, standing: _Standing, history: History) -> Report | None:
        """Return the report on a campaign as it stood; None if the history has come further."""
        if history.seq > standing.seq:
            return None
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
    funds = max(0, ledger.budget - ledger.committed)
    ratio_start = amount(ledger.budget) / expected
    ratio_now = amount(funds) / coming if coming > 0 else 0.0
    reserves = np.array([terms.reserves_in(context) for context in standing.contexts], np.int64)
    cheapest = int(reserves.min())
    estimates = _estimates(terms, standing, history, ratio_now)
    plan = optimum(estimates, reserves=reserves, funds=funds)
    first = optimum(estimates, reserves=reserves, funds=ledger.budget, ratio=ratio_start)
    gone = arrivals / (arrivals + coming) if arrivals + coming > 0 else 1.0
    waiting, reward_low, reward_high = _awaited(terms, history)
    return Report(
        name=name,
        status=standing.status,
        policy=_policy_name(terms.policy),
        budget=amount(ledger.budget),
        spent=amount(ledger.spent),
        reserved=amount(ledger.reserved),
        planned=amount(ledger.planned),
        left=amount(ledger.left),
        unusable=amount(funds) if funds < cheapest else 0.0,
        overrun=amount(standing.overrun),
        uncharged=amount(history.uncharged),
        cheapest=amount(cheapest),
        blocked=_blocked(standing, cheapest),
        arrivals=arrivals,
        arrivals_left=coming,
        closes=horizon.at.isoformat() if isinstance(horizon, ClosingTime) else None,
        served=history.taken.total(),
        skips=dict(history.skips),
        idle=dict(history.idle),
        rewarded=history.rewarded,
        reward=history.reward,
        waiting=waiting,
        reward_low=reward_low,
        reward_high=reward_high,
        promised=min(arrivals, expected) * first.value,
        guessed=_guessed(terms, standing, estimates, first),
        ratio_start=ratio_start,
        ratio_now=ratio_now,
        pace=ledger.committed / ledger.budget - gone if ledger.budget else 0.0,
        price=plan.price,
        value=plan.value,
        boundaries=plan.boundaries.tolist(),
        contexts=_contexts(terms, standing, history, estimates, plan),
    )


def _blocked(standing: _Standing, cheapest: int) -> str | None:
    """Return why no action can be taken now, if none can."""
    ledger = standing.ledger
    if standing.status != RUNNING:
        return standing.status
    if standing.arrivals_left <= 0:
        return HORIZON
    if ledger.left >= cheapest:
        return None
    return BUDGET if ledger.budget - ledger.committed < cheapest else RESERVED


def _awaited(terms: Terms, history: History) -> tuple[int, float, float]:
    """Return how many decisions wait for rewards, and the sum of all rewards, from and to."""
    waiting, low, high = 0, history.reward, history.reward
    defaults = terms.default_rewards
    pairs: list[tuple[str, str | None, int]] = [(*pair, n) for pair, n in history.taken.items()]
    if defaults is not None:
        pairs += [(context, None, n) for context, n in history.skipped.items()]
    for context, action, count in pairs:
        rewarded, total = history.rewards.get((context, action), (0, 0.0))
        to_come = max(0, count - rewarded)
        least, most = interval(total, rewarded)
        if action is None and isinstance(defaults, dict):
            least = most = defaults[context]
        else:
            waiting += to_come
        low, high = low + to_come * least, high + to_come * most
    return waiting, low, high


def _guessed(terms: Terms, standing: _Standing, estimates: Estimates, plan: Solution) -> int:
    """Return how many pairs the value of a plan rests on of which no reward is known."""
    rewards = terms.policy.rewards
    if isinstance(rewards, KnownRewards) and rewards.means is not None:
        return 0
    used = (plan.probabilities > 0) & (estimates.context_probs > 0)[:, None]
    return int(np.count_nonzero(used & (standing.counts == 0)))


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
            low, high = interval(total, count)
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


def _policy_name(policy: Any) -> str:
    from almoner.policy.recipes import RECIPES

    for name, make in RECIPES.items():
        if make() == policy:
            return name
    return repr(policy)
