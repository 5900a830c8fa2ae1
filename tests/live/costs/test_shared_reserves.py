"""Campaigns with a risk: reserves may add up to more than the budget, charges never do."""

from __future__ import annotations

import math
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.agents import AgentFactory, agent_factory, replay
from support.shop import DAY, Clock, Shop, run_coupons

import almoner as al
from almoner.live.audit import audit
from almoner.live.audit.auditor import Auditor
from almoner.live.state.campaign_state import Campaign

COUPON = al.Action(cost="0.50", reserve=5, expires="7 days")


def create(factory: AgentFactory, clock: Clock, **terms: Any) -> al.Agent:
    defaults = {"contexts": ["new"], "actions": {"coupon": COUPON}, "horizon": 100, "budget": 100}
    return factory.create(**{**defaults, "risk": 0.01, "unit": "0.01", **terms}, clock=clock)


def test_decisions_are_admitted_up_to_bernsteins_bound(factory: AgentFactory) -> None:
    """n decisions at once: A = n/2, V = n·0.5·5 + (n/2)²·5/(0.5·50), all amounts in money.

    The error is of the last ageing, which is at most the present one.
    """
    clock = Clock()
    agent = create(factory, clock)
    taken = 0
    for _ in range(100):
        clock.now += 1
        decision = agent.decide("new")
        if decision.action is None and decision.reason == "budget":
            break
        taken += decision.action is not None
    level, q = math.log(100), math.log(100) * 5 / 3

    def most(n: int, *, error: float) -> float:
        variance = n * 0.5 * 5 + error * (n * 0.5) ** 2 * 5 / (0.5 * 50)
        return n * 0.5 + q + math.sqrt(q * q + 2 * level * variance)

    assert decision.reason == "budget"
    assert most(taken + 1, error=1.1) > 100 > most(taken, error=0.8)
    ledger = agent.ledger
    assert ledger.reserved == taken * 500 > ledger.budget
    assert (ledger.planned, ledger.left) == (taken * 50, 10_000 - taken * 50)
    assert factory.open(clock=clock).look(Campaign.to_dict) == replay(agent)
    assert audit(agent.store, agent.name).left == ledger.left


def test_without_a_risk_reserves_stay_within_the_budget(memory: AgentFactory) -> None:
    agent = create(memory, Clock(), risk=0)
    decisions = agent.decide_many(["new"] * 30)
    assert sum(decision.action is not None for decision in decisions) == 20
    assert "risk" not in agent.terms.to_dict()


@pytest.mark.parametrize("risk", [5e-324, 1e-310, 1e-200])
def test_a_risk_next_to_none_reserves_nearly_in_full(risk: float, memory: AgentFactory) -> None:
    """One over the smallest floating-point numbers is infinite."""
    agent = create(memory, Clock(), risk=risk)
    decisions = agent.decide_many(["new"] * 30)
    assert sum(decision.action is not None for decision in decisions) == 20
    assert agent.report().reserved == 100
    with pytest.raises(al.InvalidTerms, match=r"least possible now is 100\.0"):
        agent.amend(budget=99)


def test_bills_that_the_budget_cannot_bear_are_recorded_but_not_charged(
    memory: AgentFactory,
) -> None:
    clock = Clock()
    agent = create(memory, clock)
    taken = [agent.decide("new") for _ in range(60)]
    taken = [decision for decision in taken if decision.action is not None]
    charged = [agent.settle(decision.id, cost=5).charged for decision in taken]
    assert len(taken) > 20
    assert charged == [5.0] * 20 + [0.0] * (len(taken) - 20)
    report = agent.report()
    assert (report.spent, report.uncharged, report.overrun) == (100, 5 * len(taken) - 100, 0)
    assert agent.decide("new").reason == "budget"
    audit(agent.store, agent.name)


def test_an_audit_finds_an_action_that_no_risk_admits(memory: AgentFactory) -> None:
    """Of 100, 90 is spent and 10 reserved; one coupon alone takes 0.5 + q + √(q² + 2L·0.5·5)."""
    agent = create(memory, Clock())
    ids = [decision.id for decision in agent.decide_many(["new"] * 20)]
    for decision in ids[:18]:
        agent.settle(decision, cost=5)
    assert agent.decide("new").reason == "budget"
    log = [*agent.events()]
    left = log[-1].left - 50
    forged = log[-1]._replace(action="coupon", cost=50, reserve=500, reason=None, left=left)
    rows = [(*row, None) for row in (*log[:-1], forged)]
    with pytest.raises(
        al.BrokenLedger, match="is taken with 9000 of 10000 spent and 1000 reserved"
    ):
        Auditor("spring", agent.terms).check(rows)
    Auditor("spring", agent.terms).check([(*row, None) for row in log])


def test_money_is_freed_as_coupons_grow_old_and_expire(memory: AgentFactory) -> None:
    clock = Clock()
    agent = create(memory, clock, horizon=150)  # a plan that serves everybody
    while agent.decide("new").reason != "budget":
        clock.now += 1
    clock.now += 3.5 * DAY
    assert agent.decide("new").action == "coupon"
    shared = agent.look(lambda campaign: campaign.evidence.shared)
    assert shared.expected < 0.6 * agent.ledger.planned  # half of it, as nothing was billed
    clock.now += 4 * DAY
    agent.decide("new")
    assert agent.ledger.reserved == 2 * 500


def test_a_budget_falls_to_what_open_decisions_may_cost_but_for_the_risk(
    factory: AgentFactory,
) -> None:
    """30 open decisions at once as above; halfway to their expiry, none was billed: r = .5c/.95."""
    clock = Clock()
    agent = create(factory, clock)
    taken = sum(decision.action is not None for decision in agent.decide_many(["new"] * 30))
    level, q = math.log(100), math.log(100) * 5 / 3

    def least(rest: float) -> float:
        money = taken * rest
        variance = money * 5 + money**2 * 5 / (0.5 * 50)
        return money + q + math.sqrt(q * q + 2 * level * variance)

    for days, rest in ((0.0, 0.5), (3.5, 0.25 / 0.95)):
        clock.now += days * DAY
        needed = least(rest)
        with pytest.raises(al.InvalidTerms, match="may cost but for the risk of"):
            agent.amend(budget=math.floor(0.98 * needed))
        budget = math.ceil(1.02 * needed)
        assert budget < 5 * taken
        agent.amend(budget=budget)
    assert agent.ledger.budget == 100 * budget
    agent.amend(budget=budget + 1)
    clock.now += 4 * DAY
    agent.amend(budget=1)
    audit(agent.store, agent.name)
    assert factory.open(clock=clock).look(Campaign.to_dict) == replay(agent)


def test_a_budget_below_what_may_be_spent_can_be_raised_a_little(memory: AgentFactory) -> None:
    """Learned costs above those declared may bring the open decisions above the budget."""
    clock = Clock()
    agent = create(memory, clock, learn_cost=True, horizon=400, budget=140)
    taken = [one for one in agent.decide_many(["new"] * 90) if one.action is not None]
    for decision in taken[:20]:
        clock.now += 60
        agent.settle(decision.id, cost=5)
    report = agent.report()
    assert report.spent + report.planned > 140
    agent.amend(budget=141)
    with pytest.raises(al.InvalidTerms, match=r"the least possible now is 141\.0"):
        agent.amend(budget=140)


@pytest.mark.parametrize("risk", [-0.1, 0.6, "much", float("nan"), None])
def test_a_risk_is_a_small_number(risk: Any, memory: AgentFactory) -> None:
    if risk is None:
        assert create(memory, Clock(), risk=None).terms.risk == 0
        return
    with pytest.raises(al.InvalidTerms, match="risk must be"):
        create(memory, Clock(), risk=risk)


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("decide"), st.lists(st.sampled_from(["a", "b"]), min_size=1, max_size=9)),
        st.tuples(st.just("settle"), st.sampled_from([0.0, 1.0, 5.0, 9.0])),
        st.tuples(st.just("cancel"), st.none()),
        st.tuples(st.just("wait"), st.sampled_from([0.001, 0.5, 3.0, 8.0])),
        st.tuples(st.just("swap"), st.none()),
    ),
    max_size=40,
)


@given(
    steps=STEPS,
    risk=st.sampled_from([0, 0.01, 0.3]),
    learn=st.booleans(),
    window=st.sampled_from([None, "2 days"]),
    pick=st.randoms(use_true_random=False),
)
@settings(max_examples=50, deadline=None)
@pytest.mark.slow
def test_whatever_is_asked_no_more_than_the_budget_is_charged(
    steps: list[tuple[str, Any]], risk: float, learn: bool, window: str | None, pick: Any
) -> None:
    clock = Clock()
    with agent_factory("memory") as factory:
        terms = {"risk": risk, "learn_cost": learn, "reward_window": window, "budget": 40}
        actions = {"coupon": COUPON, "call": al.Action(cost=1, reserve=2)}
        agent = create(factory, clock, contexts=["a", "b"], actions=actions, **terms)
        other = factory.open(clock=clock)
        ids: list[int] = []
        for what, value in steps:
            if what == "decide":
                ids += [decision.id for decision in agent.decide_many(value)]
            elif what == "wait":
                clock.now += value * DAY
            elif what == "swap":
                agent, other = other, agent
            elif ids:
                with suppress(al.Conflict):
                    if what == "settle":
                        agent.settle(pick.choice(ids), cost=value)
                    else:
                        agent.cancel(pick.choice(ids))
            ledger = agent.ledger
            assert 0 <= ledger.spent <= ledger.budget
            if risk == 0:
                assert ledger.spent + ledger.reserved + ledger.left == ledger.budget
        assert agent.look(Campaign.to_dict) == replay(agent) == other.look(Campaign.to_dict)
        audit(agent.store, agent.name)


@pytest.mark.slow
def test_a_week_of_coupons_spends_most_of_its_budget() -> None:
    """Coupons cost their face value, and only if redeemed; the benchmark has more weeks."""
    weeks = [run_coupons(Shop(seed), risk=0.01, learn_cost=True) for seed in range(3)]
    assert sum(week.spent for week in weeks) / len(weeks) > 0.75 * 1_500
    assert all(week.agent.report().uncharged == 0 for week in weeks)
    careful = run_coupons(Shop(0, visits=3_000), learn_cost=True)
    assert careful.spent < 0.4 * 1_500, "as every coupon is reserved in full"
