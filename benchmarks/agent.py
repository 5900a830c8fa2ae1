"""Benchmark of the agent: a decision in memory, a batch of new contexts."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable
from timeit import Timer

import numpy as np

import almoner as al
from benchmarks.table import Row, within

__all__ = ["admitting", "best_call", "deciding", "decision_seconds", "new_campaign"]

LEARNED_FROM = 3_000
"""Decisions with rewards before the measured ones."""

CALLS, REPEATS = 100, 300
"""Calls per measurement, and measurements: many short ones, so that some meet an idle machine."""

NEW_CONTEXTS = 10_000


def new_campaign(
    url: str, *, contexts: int = 10, actions: int = 5, costs: tuple[float, ...] = (1.0,)
) -> al.Agent:
    """Open a campaign that does not end, with half the budget of an action every round."""
    names = [f"action {number}" for number in range(actions)]
    return al.Agent.open(
        url,
        name="spring",
        contexts=[f"context {number}" for number in range(contexts)],
        actions=dict(zip(names, itertools.cycle(costs), strict=False)),
        horizon=100_000_000,
        budget=50_000_000,
        unit="0.01",
        seed=1,
    )


def deciding() -> list[Row]:
    """Return the CPU time of one decision, after some thousand with rewards."""
    return [
        _decision(10, 5, (1.0,), bar=8e-6),
        _decision(10, 5, (1.0,), bar=1.2e-6, together=64),
        _decision(1_000, 20, (1.0,), bar=100e-6),
        _decision(1_000, 20, (1.0, 1.5, 2.25, 4.0, 0.7), bar=1.5e-3),
    ]


def _decision(
    contexts: int, actions: int, costs: tuple[float, ...], *, bar: float, together: int = 1
) -> Row:
    repeats = REPEATS if together == 1 and len(costs) == 1 else REPEATS // 10
    seconds = decision_seconds(contexts, actions, costs, together=together, repeats=repeats)
    equal = f"{'un' if len(costs) > 1 else ''}equal costs"
    return within(
        what=f"decide, {contexts:,} × {actions}, {equal}{f', {together} a call' * (together > 1)}",
        seconds=seconds,
        bar=bar,
        remark="thrifty, in memory, warm, CPU time" + " of each" * (together > 1),
    )


def decision_seconds(
    contexts: int,
    actions: int,
    costs: tuple[float, ...],
    *,
    together: int = 1,
    repeats: int = REPEATS,
) -> float:
    """Return the CPU time of a decision in memory, or of each of those ``together`` in a call."""
    agent = new_campaign("memory:", contexts=contexts, actions=actions, costs=costs)
    rng = np.random.default_rng(0)
    arrivals = [f"context {number}" for number in rng.integers(contexts, size=LEARNED_FROM)]
    for decision in agent.decide_many(arrivals):
        agent.reward(decision.id, float(rng.random() < 0.3))
    coming = itertools.cycle(arrivals)
    if together == 1:
        return best_call(lambda: agent.decide(next(coming)), repeats=repeats)
    batches = itertools.cycle(
        [arrivals[start : start + together] for start in range(0, LEARNED_FROM, together)][:-1]
    )
    return best_call(lambda: agent.decide_many(next(batches)), repeats=repeats) / together


def best_call(action: Callable[[], object], *, repeats: int = REPEATS) -> float:
    """Return the CPU seconds of a call: the best of many short measurements."""
    timer = Timer(action, timer=time.process_time)
    return min(timer.repeat(repeats, CALLS)) / CALLS


def admitting() -> list[Row]:
    """Return the CPU time of one batch in which every arrival has a new context.

    With rewards before it, a prior is fitted that all new contexts start from.
    """
    return [
        _batch(costs, rewarded=rewarded)
        for rewarded in (False, True)
        for costs in ((1.0,), (1.0, 5.0), (1.0, 2.5, 5.0))
    ]


def _batch(costs: tuple[float, ...], *, rewarded: bool) -> Row:
    names = [f"context {number}" for number in range(NEW_CONTEXTS)]
    actions = {f"action {number}": cost for number, cost in enumerate(costs)}
    seconds = []
    for _ in range(2):
        with al.Agent.open(
            "memory:",
            name="spring",
            contexts=["first"],
            actions=actions,
            horizon=10 * NEW_CONTEXTS,
            budget=5 * NEW_CONTEXTS,
            new_contexts=True,
            seed=1,
        ) as agent:
            if rewarded:
                _reward_some(agent)
            began = time.process_time()
            agent.decide_many(names)
            seconds.append(time.process_time() - began)
    number = f"{len(costs)} cost{'s' * (len(costs) > 1)}"
    return within(
        what=f"{NEW_CONTEXTS:,} new contexts, {number}{', fitted prior' * rewarded}",
        seconds=min(seconds),
        bar=1.0,
        remark="thrifty, in memory, one batch, CPU time",
    )


def _reward_some(agent: al.Agent) -> None:
    """Decide for twenty contexts, ten times each, and reward three of ten actions."""
    rng = np.random.default_rng(0)
    decisions = agent.decide_many([f"old {number % 20}" for number in range(200)])
    agent.reward_many({decision.id: float(rng.random() < 0.3) for decision in decisions})
