"""Costs that are learned from bills, with numbers worked by hand."""

from __future__ import annotations

from typing import Any

import pytest
from support.agents import AgentFactory, replay
from support.shop import DAY, Clock

import almoner as al
from almoner.live.audit import audit
from almoner.live.state.campaign_state import Campaign

CALL = al.Action(cost=1, reserve=4)


def create(factory: AgentFactory, clock: Clock, **terms: Any) -> al.Agent:
    defaults = {"contexts": ["new"], "actions": {"call": CALL}, "horizon": 900, "budget": 2_000}
    return factory.create(**{**defaults, "learn_cost": True, "unit": "0.01", **terms}, clock=clock)


def costs(agent: al.Agent) -> list[list[int]]:
    """Return the expected costs in force, in cents."""
    return agent.look(lambda campaign: campaign.policy.lowered.costs).tolist()  # type: ignore[no-any-return]


def test_the_expected_cost_is_that_of_the_bills_and_of_50_declared_ones(
    factory: AgentFactory,
) -> None:
    """After 10 bills of 3.10, (31 + 50·1)/60 = 1.35, at the next decision; the reserve stays."""
    clock = Clock()
    agent = create(factory, clock)
    for _ in range(10):
        clock.now += 1
        agent.settle(agent.decide("new").id, cost=3.1)
    clock.now += 1
    decision = agent.decide("new")
    assert costs(agent) == [[135]]
    ledger = agent.ledger
    assert (ledger.planned, ledger.reserved, decision.reserved) == (135, 400, 4.0)
    assert agent.look(lambda campaign: campaign.units_left(0)) == 200_000 - 3_100 - 135
    assert factory.open(clock=clock).look(Campaign.to_dict) == replay(agent)
    audit(agent.store, agent.name)


def test_unsettled_decisions_do_not_count_and_cancelled_ones_never(memory: AgentFactory) -> None:
    clock = Clock()
    agent = create(memory, clock)
    first, *_ = agent.decide_many(["new"] * 20)
    clock.now += 1
    agent.cancel(first.id)
    agent.decide("new")
    assert costs(agent) == [[100]]


def test_a_reserve_that_expires_is_a_bill_of_0_and_counts_by_its_age_before(
    memory: AgentFactory,
) -> None:
    """Half way to the end silence counts ¾: 50/(50 + 40·¾) = 0.625, at the end 50/90 = 0.556."""
    clock = Clock()
    coupon = al.Action(cost=1, reserve=4, expires="7 days")
    agent = create(memory, clock, actions={"coupon": coupon})
    agent.decide_many(["new"] * 40)
    clock.now += 3.5 * DAY
    agent.decide("new")
    assert costs(agent) == [[62]]  # of 62.5: rounded to even
    clock.now += 3.5 * DAY
    agent.decide("new")
    assert agent.ledger.reserved == 2 * 400
    [[cost]] = costs(agent)
    assert 54 <= cost <= 56  # the 41st counts, too


@pytest.mark.parametrize("end", ["expiry", "bill", "cancellation"])
def test_decisions_from_before_costs_were_learned_end_as_any_other(
    end: str, factory: AgentFactory
) -> None:
    """One bill of 4 is evidence of one decision, at once: (4 + 50)/51 = 1.06."""
    clock = Clock()
    call = al.Action(cost=1, reserve=4, expires="30 minutes", on_expiry="charge")
    agent = create(factory, clock, actions={"call": call}, learn_cost=False)
    before = agent.decide("new")
    learned = al.Action(cost=1, reserve=4, expires="7 days", learn_cost=True)
    agent.amend(costs={"call": learned})
    if end == "bill":
        agent.settle(before.id, cost=4)
    elif end == "cancellation":
        agent.cancel(before.id)
    clock.now += 1_800
    agent.decide("new")
    assert costs(agent) == [[100 if end == "cancellation" else 106]]
    bills = agent.look(lambda campaign: campaign.evidence.bills)
    assert bills.evidence(agent.now(), 1).min() >= 0
    assert factory.open(clock=clock).look(Campaign.to_dict) == replay(agent)
    assert agent.look(lambda campaign: campaign.copy().to_dict()) == replay(agent)
    audit(agent.store, agent.name)


def test_bills_after_the_expiry_count(memory: AgentFactory) -> None:
    """A late bill of 4 for a released coupon: (4 + 50)/(1 + 50) = 1.06."""
    clock = Clock()
    coupon = al.Action(cost=1, reserve=4, expires="7 days")
    agent = create(memory, clock, actions={"coupon": coupon})
    first = agent.decide("new")
    clock.now += 8 * DAY
    agent.decide("new")
    agent.settle(first.id, cost=4)
    clock.now += 1
    agent.decide("new")
    assert costs(agent) == [[106]]


def test_single_actions_learn_their_costs(memory: AgentFactory) -> None:
    clock = Clock()
    learned = al.Action(cost=1, reserve=4, learn_cost=True)
    actions = {"call": learned, "mail": al.Action(cost=1, reserve=4)}
    agent = create(memory, clock, actions=actions, learn_cost=None)
    for action in [*actions] * 5:
        clock.now += 1
        decision = agent.decide("new", available=[action])
        agent.settle(decision.id, cost=4)
    clock.now += 1
    agent.decide("new")
    assert costs(agent) == [[round((5 * 4 + 50) / 55 * 100), 100]]


def test_no_cost_exceeds_its_reserve(memory: AgentFactory) -> None:
    """Bills of 100 for a reserve of 4."""
    clock = Clock()
    agent = create(memory, clock, budget=100_000)
    for _ in range(20):
        clock.now += 1
        agent.settle(agent.decide("new").id, cost=100)
    clock.now += 1
    agent.decide("new")
    assert costs(agent) == [[400]]


def test_new_contexts_begin_with_the_declared_costs(memory: AgentFactory) -> None:
    clock = Clock()
    agent = create(memory, clock, new_contexts=True)
    for _ in range(10):
        clock.now += 1
        agent.settle(agent.decide("new").id, cost=4)
    clock.now += 1
    agent.decide_many(["other", "third"])
    assert costs(agent) == [[150], [100], [100]]
    assert agent.look(Campaign.to_dict) == replay(agent)


def test_amended_costs_are_those_that_bills_are_added_to(memory: AgentFactory) -> None:
    """(10·4 + 50·2)/60 = 2.33, as soon as they are amended."""
    clock = Clock()
    agent = create(memory, clock)
    for _ in range(10):
        clock.now += 1
        agent.settle(agent.decide("new").id, cost=4)
    clock.now += 1
    agent.decide("new")
    agent.amend(costs={"call": al.Action(cost=2, reserve=4)})
    assert costs(agent) == [[233]]
    assert agent.look(Campaign.to_dict) == replay(agent)


def test_a_stopped_action_keeps_its_learned_cost_in_the_report(memory: AgentFactory) -> None:
    """After 10 bills of 3.10, (31 + 50·1)/60 = 1.35, while the action is stopped too."""
    clock = Clock()
    agent = create(memory, clock, actions={"call": CALL, "mail": 1})

    def shown() -> float:
        clock.now += 1
        agent.decide("new", available=["mail"])
        (context,) = agent.report().contexts
        return context.actions[0].cost

    for _ in range(10):
        clock.now += 1
        agent.settle(agent.decide("new", available=["call"]).id, cost=3.10)
    assert shown() == 1.35
    agent.amend(stop=["call"])
    assert shown() == 1.35
    agent.amend(restart=["call"])
    assert shown() == 1.35


@pytest.mark.parametrize("value", [1, "yes", 0.5])
def test_learn_cost_is_yes_or_no(value: Any, memory: AgentFactory) -> None:
    with pytest.raises(al.InvalidTerms, match="learn_cost must be True or False"):
        memory.create(learn_cost=value)
    with pytest.raises(al.InvalidTerms, match="learn_cost of 'mail' must be True or False"):
        memory.create(actions={"mail": al.Action(cost=1, learn_cost=value)})
