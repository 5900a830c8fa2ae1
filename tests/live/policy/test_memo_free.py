"""Decisions do not depend on memos: a campaign decides as a fresh one with the same state.

Brackets, warm starts and scratch space only save work. Before every decision a new campaign is made
from what a snapshot would hold, one for each arrival, and must give the same answer: action,
probability, price and reason. Bills above and below the expected cost, refunds, pauses, forecasts
that move, late rewards and the decisions of another process come in between, in any order.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    precondition,
    rule,
    run_state_machine_as_test,
)

import almoner as al
from almoner.errors import AlmonerError
from almoner.live.assignment.decide import decide
from almoner.live.state.campaign_state import Campaign
from almoner.live.terms.parse_terms import make_terms
from almoner.live.terms.terms import Terms
from almoner.live.transactions.new_events import follow_up, set_status
from almoner.store.events import CANCELLED, PAUSED, RESUMED, REWARDED, SETTLED, Event

CONTEXTS = ["a", "b", "c"]
COSTS: dict[str, dict[str, Any]] = {
    "equal": {"x": al.Action(cost=2, reserve=4), "y": al.Action(cost=2, reserve=4)},
    "equal, certain": {"x": 2, "y": 2},
    "unequal": {"x": al.Action(cost=1, reserve=2), "y": al.Action(cost=3, reserve=5)},
}
OPENS = datetime(2026, 3, 1, tzinfo=UTC)
WILSON_TOLD = al.Policy(rewards=al.Wilson(), contexts=al.KnownContexts(), allocation=al.RoundedLP())
POLICIES = {
    **{name: make() for name, make in al.RECIPES.items()},
    "wilson, shares known": WILSON_TOLD,
    "wilson, paced": al.Policy(
        rewards=al.Wilson(), contexts=al.EmpiricalContexts(), allocation=al.AdaptiveLP()
    ),
    "usable test": al.epsilon_first_alp(test="usable", cap=0.6, contexts=al.EmpiricalContexts()),
    "frozen shares": al.ucb_ealp2(until=9),
}

ROW = st.integers(0, len(CONTEXTS) - 1)
AVAILABLE = st.sampled_from([None, None, None, ["x"], ["y"], []])
ARRIVAL = st.tuples(ROW, AVAILABLE)


@dataclass
class Arrival:
    """An arrival to decide."""

    context: str
    available: list[str] | None
    key: None = None
    visitor: None = None
    own_costs: None = None
    row: None = None


def informed(policy: al.Policy, contexts: int) -> al.Policy:
    """Return the same policy with the numbers that it takes as known."""
    table = policy.to_dict()
    if table["rewards"]["kind"] == "KnownRewards":
        table["rewards"]["means"] = [[0.3, 0.6], [0.5, 0.4], [0.1, 0.9]][:contexts]
    if table["contexts"]["kind"] == "KnownContexts":
        shares = np.array([0.2, 0.5, 0.3][:contexts])
        table["contexts"]["probs"] = (shares / shares.sum()).tolist()
    return al.Policy.from_dict(table)


def possible_terms(policy: al.Policy) -> Iterator[Terms]:
    """Yield the terms, of all that are tried, which a policy can be used on."""
    for contexts in (1, 2, 3):
        for actions in COSTS.values():
            for horizon in (25, 400, al.ClosingTime(at=OPENS + timedelta(1), arrivals=400)):
                for defaults in (None, "learned"):
                    try:
                        terms = make_terms(
                            contexts=CONTEXTS[:contexts],
                            actions=actions,
                            horizon=horizon,
                            budget=60 if horizon == 25 else 300,
                            policy=informed(policy, contexts),
                            unit=1,
                            default_rewards=defaults,
                            new_contexts=False,
                            seed=contexts,
                        ).opened(OPENS)
                        Campaign(terms)
                    except AlmonerError:
                        continue
                    yield terms


def compared(event: Event) -> tuple[Any, ...]:
    """Return the fields that must be equal."""
    return event.seq, event.context, event.action, event.reason, event.left, event.round


class Requests(RuleBasedStateMachine):
    """Two processes with one campaign: one decides, the other folds its log."""

    choices: Sequence[Terms]

    @initialize(data=st.data(), before=st.sampled_from([0, 160]))
    def create(self, data: st.DataObject, before: int) -> None:
        """Begin anew, or so late that brackets last for ten rounds, with contexts seldom seen."""
        self.terms = data.draw(st.sampled_from(self.choices))
        self.ours, self.theirs = Campaign(self.terms), Campaign(self.terms)
        self.now = int(OPENS.timestamp() * 1e6)
        self.actions: list[Event] = []
        self.done: dict[int, set[str]] = {}
        for number in range(before):
            row = number % 40 if number % 40 < len(self.ours.contexts) else 0
            (event,) = decide(self.ours, [Arrival(CONTEXTS[row], None)], now=self.now)
            self.log([event])
            if event.action is not None:
                reward = float(number * 7 % 10 < 4)
                self.log([follow_up(self.ours, REWARDED, event, now=self.now, reward=reward)])

    def log(self, events: list[Event]) -> None:
        self.theirs.apply(events)

    @rule(arrivals=st.lists(ARRIVAL, min_size=1, max_size=9), one=st.booleans())
    def decide(self, arrivals: list[tuple[int, Any]], one: bool) -> None:
        names = list(self.ours.contexts)
        coming = [
            Arrival(names[row % len(names)], available)
            for row, available in arrivals[: 1 if one else None]
        ]
        expected, standing = [], self.ours.to_dict()
        for arrival in coming:
            fresh = Campaign(self.terms)
            fresh.restore(standing)
            expected += decide(fresh, [arrival], now=self.now)
            standing = fresh.to_dict()
        events = decide(self.ours, coming, now=self.now)
        assert [compared(event) for event in events] == [compared(event) for event in expected]
        for name in ("probability", "price"):
            values = np.array([getattr(event, name) for event in events], float)
            wanted = np.array([getattr(event, name) for event in expected], float)
            np.testing.assert_allclose(values, wanted, rtol=0, atol=1e-9)
        self.log(events)
        assert self.ours.to_dict() == self.theirs.to_dict() == standing
        self.actions += [event for event in events if event.action is not None]

    @precondition(lambda self: self.actions)
    @rule(
        back=st.integers(0, 9),
        kind=st.sampled_from([SETTLED, SETTLED, REWARDED, REWARDED, CANCELLED]),
        part=st.sampled_from([0.0, 0.25, 0.5, 1.0, 1.5]),
    )
    def follow_up(self, back: int, kind: str, part: float) -> None:
        decided = self.actions[-1 - back % len(self.actions)]
        done = self.done.setdefault(decided.seq, set())
        if kind in done or CANCELLED in done or (kind == CANCELLED and done):
            return
        done.add(kind)
        values: dict[str, Any] = {}
        if kind == SETTLED:
            values["bill"] = int(part * (decided.reserve or 0))
        elif kind == REWARDED:
            values["reward"] = min(1.0, part)
        self.log([follow_up(self.ours, kind, decided, now=self.now, **values)])

    @rule(hours=st.sampled_from([0.01, 0.5, 3.0]))
    def wait(self, hours: float) -> None:
        self.now += int(hours * 3600e6)

    @rule(running=st.sampled_from([True, True, False]))
    def pause_or_resume(self, running: bool) -> None:
        if (self.ours.status == "running") != running:
            self.log([set_status(self.ours, RESUMED if running else PAUSED, now=self.now)])

    @rule()
    def let_the_other_process_go_on(self) -> None:
        self.ours, self.theirs = self.theirs, self.ours


@pytest.mark.parametrize("name", POLICIES)
def test_a_campaign_decides_as_one_made_from_its_state_alone(name: str) -> None:
    choices = [*possible_terms(POLICIES[name])]
    assert choices
    machine = type("Requests", (Requests,), {"choices": choices})
    run_state_machine_as_test(machine, settings=settings(max_examples=12, stateful_step_count=30))


@pytest.mark.parametrize("seed", range(10))
def test_bills_that_differ_from_costs_never_keep_a_decision_from_coming(seed: int) -> None:
    """The search for the price once swung for ever between brackets made for other money."""
    rng = np.random.default_rng(seed)
    terms = make_terms(
        contexts=["a"], actions=COSTS["equal"], horizon=100, budget=80, unit=1, seed=seed
    )
    campaign = Campaign(terms)
    for _ in range(100):
        fresh = Campaign(terms)
        fresh.restore(campaign.to_dict())
        (expected,) = decide(fresh, [Arrival("a", None)], now=0)
        (event,) = decide(campaign, [Arrival("a", None)], now=0)
        assert compared(event) == compared(expected)
        assert event.price == pytest.approx(expected.price, abs=1e-12)
        if event.action is not None:
            follow_up(campaign, SETTLED, event, now=0, bill=int(rng.integers(0, 5)))
            follow_up(campaign, REWARDED, event, now=0, reward=float(rng.random() < 0.4))
