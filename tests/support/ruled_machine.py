"""State machine of a campaign with rules: pace, default, hold-out, exploration, persons, risk."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import initialize, invariant, rule

import almoner as al
from almoner.live.transactions.amendment import least_budget
from support.agents import refused
from support.changing_machine import EXPIRING, HOUR, LIFETIMES, Changes
from support.request_machine import AVAILABLE, CENT, CONTEXT, KEY
from support.ruled_model import RuledModel, Rules

RULES = [
    Rules(caps={"hour": 500, "day": 900}),
    Rules(even=True),
    Rules(default="mail"),
    Rules(default="mail", caps={"day": 400}),
    Rules(default="mail", even=True),
    Rules(holdout=0.3),
    Rules(holdout=0.3, explore=0.5, actions=2),
    Rules(explore=0.5, caps={"hour": 500, "day": 900}),
    Rules(holdout=0.3, even=True, actions=1),
    Rules(actions=1, caps={"day": 700}),
    Rules(risk=0.3),
    Rules(risk=0.01, holdout=0.3, explore=0.3, caps={"day": 900}),
]
PERSON = st.none() | st.sampled_from(["ann", "bob", "cem", "dot"])


def terms_of(rules: Rules) -> dict[str, Any]:
    """Return rules as the terms of a campaign."""
    caps = {period: cap * CENT for period, cap in rules.caps.items()}
    persons = rules.actions and al.PerPerson(actions=rules.actions, every="1 day")
    return {
        "pace": "even" if rules.even else caps or None,
        "default": rules.default,
        "holdout": rules.holdout,
        "explore": rules.explore,
        "per_person": persons,
        "risk": rules.risk,
    }


class Ruled(Changes):
    """A campaign as in `Changes`, with rules, and persons who arrive."""

    model: RuledModel

    @initialize(
        budget=st.sampled_from([9000, 2345, 701]),
        horizon=st.sampled_from([50, 20, 9]),
        policy=st.sampled_from(["thrifty", "ucb-ealp", "thompson-rounded", "greedy"]),
        window=st.sampled_from([None, "3 hours"]),
        rules=st.sampled_from(RULES),
    )
    def create(
        self, budget: int, horizon: int, policy: str, window: str | None, rules: Rules
    ) -> None:
        self.defaults = False
        self.may_learn = False  # the model knows declared costs only
        self.model = RuledModel(
            rules,
            budget=budget,
            horizon=horizon,
            lifetimes=LIFETIMES,
            charged_at_end=["gift"],
            window=None if window is None else 3 * HOUR,
        )
        self.model.pass_time(self.now)
        terms = terms_of(rules)
        self.start(budget, horizon, policy=policy, actions=EXPIRING, reward_window=window, **terms)

    @rule(context=CONTEXT, available=AVAILABLE, key=KEY, person=PERSON)
    def decide(
        self, context: str, available: list[str] | None, key: str | None, person: str | None
    ) -> None:
        if self.model.conflicts([context], [key]):
            with refused(self.agent, al.Conflict):
                self.agent.decide(context, available=available, key=key, person=person)
        else:
            decision = self.agent.decide(context, available=available, key=key, person=person)
            self.model.decided_for(person, decision, available, key)

    @rule(arrivals=st.lists(st.tuples(CONTEXT, PERSON), max_size=5), available=AVAILABLE)
    def decide_many(self, arrivals: list[tuple[str, str | None]], available: Any) -> None:
        persons = [person for _, person in arrivals]
        answers = self.agent.decide_many(
            [context for context, _ in arrivals], available=available, persons=persons
        )
        for decision, person in zip(answers, persons, strict=True):
            self.model.decided_for(person, decision, available, None)

    @rule(person=st.sampled_from(["ann", "bob"]))
    def forget(self, person: str) -> None:
        assert self.agent.forget(person) >= 0
        assert self.agent.forget(person) == 0
        self.model.forgotten(person)

    @rule(change=st.sampled_from([-5000, -400, -1, 1, 300, 2000]))
    def amend_budget(self, change: int) -> None:
        """Change the budget; with a risk, what open decisions may cost but for it is kept.

        That may already be more than the budget, which can be raised all the same.
        """
        model, budget = self.model, self.model.budget + change
        kept = model.reserved
        if model.rules.risk:
            least = self.agent.look(lambda campaign: least_budget(campaign, int(self.now * 1e6)))
            assert model.spent <= least <= min(model.budget, model.spent + model.reserved)
            kept = least - model.spent
        if budget <= 0 or budget < model.spent + kept:
            with refused(self.agent, al.InvalidInput):
                self.agent.amend(budget=budget * CENT)
        else:
            self.agent.amend(budget=budget * CENT)
            model.budget = budget

    @rule(name=st.sampled_from(["mail", "call", "gift"]))
    def stop_or_restart(self, name: str) -> None:
        if name == self.model.rules.default:
            with refused(self.agent, al.InvalidInput):
                self.agent.amend(stop=[name])
        else:
            super().stop_or_restart(name)

    @invariant()
    def money_adds_up(self) -> None:
        if not self.model.rules.risk:
            super().money_adds_up()
            return
        ledger, model = self.agent.ledger, self.model
        assert ledger.spent <= ledger.budget
        assert (ledger.budget, ledger.spent, ledger.reserved, ledger.planned, ledger.left) == (
            model.budget,
            model.spent,
            model.reserved,
            model.planned,
            model.left,
        )
        assert self.agent.look(lambda campaign: campaign.overrun) == model.overrun
