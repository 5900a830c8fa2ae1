"""State machines of requests on a campaign, each answer compared with `support.money_model`.

After every step: ``spent + reserved + left == budget`` and ``left >= 0`` in whole units, the model
agrees with the ledger, and a fresh replay of the log is exactly where the agent is.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from decimal import ROUND_CEILING, Decimal
from typing import Any

import numpy as np
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
)

import almoner as al
from almoner.live.state.campaign_state import Campaign
from support.agents import (
    agent_factory,
    assert_reports_are_of_the_log,
    refused,
    replay,
    state_values,
)
from support.money_model import ACTIONS, CONTEXTS, Entry, MoneyModel

CENT = Decimal("0.01")
CONTEXT = st.sampled_from(CONTEXTS)
AVAILABLE = st.none() | st.sampled_from([["mail"], ["call"], ["gift"], ["call", "gift"], []])
KEY = st.none() | st.sampled_from(["k1", "k2", "k3", "k4"])
BILL = st.sampled_from([Decimal(0), Decimal(2), Decimal(50)]) | st.decimals(0, 8, places=3)
REWARD = st.sampled_from([0.0, 0.25, 1.0])
FOLLOW_UP = st.one_of(
    st.tuples(st.just("settle"), BILL),
    st.tuples(st.just("reward"), REWARD),
    st.tuples(st.just("cancel"), st.none()),
)
POLICIES = ["thrifty", "ucb-ealp", "thompson-rounded", "greedy", "horizon-alp"]


class Requests(RuleBasedStateMachine):
    """One campaign, two agents that use it alternately, and the model."""

    kind: str

    @initialize(
        budget=st.sampled_from([9000, 2345, 701]),
        horizon=st.sampled_from([50, 20, 9]),
        policy=st.sampled_from(POLICIES),
        defaults=st.sampled_from([None, "learned"]),
    )
    def create(self, budget: int, horizon: int, policy: str, defaults: str | None) -> None:
        self.model, self.defaults = MoneyModel(budget=budget, horizon=horizon), defaults is not None
        self.start(budget, horizon, policy=policy, default_rewards=defaults, actions=ACTIONS)

    def start(self, budget: int, horizon: int, **terms: Any) -> None:
        """Open the campaign, with two agents."""
        self.stack = ExitStack()
        self.factory = self.stack.enter_context(agent_factory(self.kind))
        self.agent = self.factory.open(
            contexts=CONTEXTS,
            horizon=horizon,
            budget=budget * CENT,
            unit=CENT,
            seed=budget + horizon,
            **self.options(),
            **terms,
        )
        self.other = self.factory.open(**self.options())

    def options(self) -> dict[str, Any]:
        """Return the arguments of every agent that are not terms."""
        return {}

    def teardown(self) -> None:
        if hasattr(self, "stack"):
            assert_reports_are_of_the_log(self.agent)
            self.stack.close()

    @rule(context=CONTEXT, available=AVAILABLE, key=KEY)
    def decide(self, context: str, available: list[str] | None, key: str | None) -> None:
        if self.model.conflicts([context], [key]):
            with refused(self.agent, al.Conflict):
                self.agent.decide(context, available=available, key=key)
        else:
            decision = self.agent.decide(context, available=available, key=key)
            self.model.decided(decision, available, key)

    @rule(arrivals=st.lists(st.tuples(CONTEXT, KEY), max_size=5), available=AVAILABLE)
    def decide_many(self, arrivals: list[tuple[str, str | None]], available: Any) -> None:
        contexts, keys = [context for context, _ in arrivals], [key for _, key in arrivals]
        if self.model.conflicts(contexts, keys):
            with refused(self.agent, al.Conflict):
                self.agent.decide_many(contexts, available=available, keys=keys)
        else:
            answers = self.agent.decide_many(contexts, available=available, keys=keys)
            for decision, key in zip(answers, keys, strict=True):
                self.model.decided(decision, available, key)

    @precondition(lambda self: self.model.entries)
    @rule(data=st.data(), whats=st.lists(FOLLOW_UP, min_size=1, max_size=3))
    def follow_up(self, data: st.DataObject, whats: list[tuple[str, Any]]) -> None:
        """Settle, reward or cancel one of the last few decisions, mostly actions."""
        order = sorted(self.model.entries)
        acted = [one for one in order if not self.model.entries[one].skip]
        entry = self.model.entries[data.draw(st.sampled_from(acted[-3:] or order[-1:]))]
        for what, value in whats:
            getattr(self, what)(entry, value)
            self.money_adds_up()

    def settle(self, entry: Entry, cost: Decimal) -> None:
        bill = int((cost / CENT).to_integral_value(ROUND_CEILING))
        if entry.may_be_settled(bill):
            self.model.settled(entry, bill, self.agent.settle(entry.decision.id, cost=cost))
        else:
            with refused(self.agent, al.Conflict):
                self.agent.settle(entry.decision.id, cost=cost)

    def reward(self, entry: Entry, value: float) -> None:
        if entry.may_be_rewarded(value):
            self.agent.reward(entry.decision.id, value)
            entry.reward = value
        else:
            with refused(self.agent, al.Conflict):
                self.agent.reward(entry.decision.id, value)

    def cancel(self, entry: Entry, _: None) -> None:
        if entry.may_be_cancelled():
            self.model.cancelled(entry, self.agent.cancel(entry.decision.id))
        else:
            with refused(self.agent, al.Conflict):
                self.agent.cancel(entry.decision.id)

    @rule(running=st.sampled_from([True, True, False]))
    def pause_or_resume(self, running: bool) -> None:
        (self.agent.resume if running else self.agent.pause)()
        self.model.status = "running" if running else "paused"

    @rule(lost=st.sampled_from(["nothing", "the agent", "the snapshot", "half of the snapshot"]))
    def let_the_other_agent_go_on(self, lost: str) -> None:
        self.agent, self.other = self.other, self.agent
        if "snapshot" in lost:
            with self.agent.store.writing(self.agent.name) as writer:
                writer.save_snapshot('{"vers' if "half" in lost else None)
        if lost != "nothing":
            assert_reports_are_of_the_log(self.agent)
            self.agent.close()
            self.agent = self.factory.open(**self.options())

    @precondition(lambda self: len(self.model.entries) % 4 == 1)  # now and then will do
    @rule(data=st.data())
    def ask_for_nonsense(self, data: st.DataObject) -> None:
        nonsense: list[Callable[[], Any]] = [
            lambda: self.agent.decide("nobody"),
            lambda: self.agent.decide("new", available=["fax"]),
            lambda: self.agent.decide("new", key=""),
            lambda: self.agent.decide_many(["new", "nobody"]),
            lambda: self.agent.settle(10**9, cost=1),
            lambda: self.agent.reward(1, float("nan")),
            lambda: self.agent.reward(0, 1.0),
            lambda: self.agent.settle(1, cost=-1),
            lambda: self.agent.cancel(True),
        ]
        with refused(self.agent, al.AlmonerError):
            data.draw(st.sampled_from(nonsense))()

    @invariant()
    def money_adds_up(self) -> None:
        ledger, model = self.agent.ledger, self.model
        assert ledger.spent + ledger.reserved + ledger.left == ledger.budget
        assert ledger.left >= 0
        assert (ledger.budget, ledger.spent) == (model.budget, model.spent)
        assert (ledger.reserved, ledger.left) == (model.reserved, model.left)
        assert self.agent.look(lambda campaign: campaign.overrun) == model.overrun

    @invariant()
    def everything_is_learned_once(self) -> None:
        state = self.agent.look(lambda campaign: state_values(campaign.state))
        assert state["progress"][0] == self.model.counted
        assert np.sum(state["counts"]) == self.model.learned(skips=False)
        assert np.sum(state["pending"]) == self.model.pending
        assert np.sum(state["skip_counts"]) == self.model.learned(skips=True) * self.defaults

    @invariant()
    def the_log_is_the_truth(self) -> None:
        assert self.agent.look(Campaign.to_dict) == replay(self.agent)
