"""State machine of a campaign with changing terms, ending reserves and late rewards."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import initialize, invariant, rule

import almoner as al
from almoner.live.audit import audit
from support.agents import refused
from support.money_model import ACTIONS, CONTEXTS, MoneyModel
from support.request_machine import CENT, POLICIES, Requests

HOUR = 3_600.0
EXPIRING = {
    **ACTIONS,
    "call": replace(ACTIONS["call"], expires="2 hours"),
    "gift": replace(ACTIONS["gift"], expires="5 hours", on_expiry="charge"),
}
LIFETIMES = {"call": 2 * HOUR, "gift": 5 * HOUR}


class Changes(Requests):
    """Two agents on one campaign as in `Requests`, with amendments and a clock that is moved."""

    now: float = 1_790_000_000.0
    may_learn = True

    @initialize(
        budget=st.sampled_from([9000, 2345, 701]),
        horizon=st.sampled_from([50, 20, 9]),
        policy=st.sampled_from(POLICIES),
        window=st.sampled_from([None, "3 hours"]),
    )
    def create(self, budget: int, horizon: int, policy: str, window: str | None) -> None:
        self.defaults = False
        self.model = MoneyModel(
            budget=budget,
            horizon=horizon,
            lifetimes=LIFETIMES,
            charged_at_end=["gift"],
            window=None if window is None else 3 * HOUR,
        )
        self.model.pass_time(self.now)
        self.start(budget, horizon, policy=policy, actions=EXPIRING, reward_window=window)

    def options(self) -> dict[str, Any]:
        return {"clock": lambda: self.now}

    @rule(hours=st.sampled_from([0.0, 0.5, 1.0, 1.0, 2.0, 5.0]))
    def wait(self, hours: float) -> None:
        self.now += hours * HOUR
        self.model.pass_time(self.now)

    @rule(change=st.sampled_from([-5000, -400, -1, 1, 300, 2000]))
    def amend_budget(self, change: int) -> None:
        budget = self.model.budget + change
        if budget <= 0 or budget < self.model.spent + self.model.reserved:
            with refused(self.agent, al.InvalidInput):
                self.agent.amend(budget=budget * CENT)
        else:
            self.agent.amend(budget=budget * CENT, note="as the boss says")
            self.model.budget = budget

    @rule(change=st.sampled_from([-30, -3, 1, 20]))
    def amend_horizon(self, change: int) -> None:
        horizon = self.model.horizon + change
        if horizon <= 0 or horizon < self.model.counted:
            with refused(self.agent, al.InvalidInput):
                self.agent.amend(horizon=horizon)
        else:
            self.agent.amend(horizon=horizon)
            self.model.horizon = horizon

    @rule(cents=st.sampled_from([0, 1, 30, 45]), names=st.sampled_from([["mail"], ["mail", "sms"]]))
    def amend_costs(self, cents: int, names: list[str]) -> None:
        known = [name for name in names if name in self.model.reserves]
        self.agent.amend(costs=dict.fromkeys(known, cents * CENT))
        for name in known:
            self.model.reserves[name] = self.model.costs[name] = dict.fromkeys(CONTEXTS, cents)

    @rule(
        lifetime=st.sampled_from([None, 1, 2, 5]),
        on_expiry=st.sampled_from(["release", "charge"]),
        learned=st.booleans(),
    )
    def amend_expiry(self, lifetime: int | None, on_expiry: str, learned: bool) -> None:
        """Change how new reserves of calls end, and whether their cost is learned."""
        call = ACTIONS["call"]
        if lifetime is not None:
            call = replace(call, expires=f"{lifetime} hours", on_expiry=on_expiry)
        self.agent.amend(costs={"call": replace(call, learn_cost=self.may_learn and learned)})
        self.model.lifetimes.pop("call", None)
        self.model.charged_at_end.discard("call")
        if lifetime is not None:
            self.model.lifetimes["call"] = lifetime * HOUR
            if on_expiry == "charge":
                self.model.charged_at_end.add("call")

    @rule(cents=st.sampled_from([10, 80]))
    def add_action(self, cents: int) -> None:
        """Add an action; the same again may be a request that was sent twice."""
        reserves = dict.fromkeys(CONTEXTS, cents)
        if self.model.reserves.setdefault("sms", reserves) == reserves:
            self.model.costs["sms"] = reserves
            self.agent.amend(add={"sms": cents * CENT})
        else:
            with refused(self.agent, al.InvalidInput):
                self.agent.amend(add={"sms": cents * CENT})

    @rule(name=st.sampled_from(["mail", "call", "gift"]))
    def stop_or_restart(self, name: str) -> None:
        if name in self.model.stopped:
            self.agent.amend(restart=[name])
            self.model.stopped.discard(name)
        elif self.model.active == [name]:
            with refused(self.agent, al.InvalidInput):
                self.agent.amend(stop=[name])
        else:
            self.agent.amend(stop=[name], by="the boss")
            self.model.stopped.add(name)

    @invariant()
    def everything_is_learned_once(self) -> None:
        """Compare counts only without a window: there, young decisions count in part."""
        if self.model.window is None and not self.model.stopped:
            super().everything_is_learned_once()

    def teardown(self) -> None:
        if hasattr(self, "agent"):
            audited = audit(self.agent.store, self.agent.name)
            assert audited.overrun == self.model.overrun
            assert (audited.spent, audited.reserved) == (self.model.spent, self.model.reserved)
        super().teardown()
