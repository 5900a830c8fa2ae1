"""Settlements: the reserve is replaced by the cost, and the rest can be spent again."""

from __future__ import annotations

import logging
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.agents import TERMS, AgentFactory, observable_state, refused, replayed_state

import almoner as al
from almoner.store import open_store

CALL = {"call": al.Action(cost=1.0, reserve=4.0)}
"""An action that is expected to cost 1, and could cost 4."""

NOT_AMOUNTS: list[Any] = [
    float("nan"), float("inf"), -float("inf"), -1, -1e-9, True, False, None, "", "a lot", "nan",
    "-3", "inf", [1], {}, b"1", 1j, 10**400, 1e300, 2**53, Decimal("NaN"), Decimal("-1"),
    Decimal("1e99"), np.float64("nan"), np.bool_(True), np.array([1.0]),
]  # fmt: skip


def test_the_reserve_is_held_and_the_rest_of_it_refunded(factory: AgentFactory) -> None:
    agent = factory.create(actions=CALL, budget=10)
    decision = agent.decide("new")
    assert (decision.reserved, decision.budget_left) == (4.0, 6.0)
    assert agent.ledger == (10_000_000, 0, 4_000_000, 1_000_000)
    settled = agent.settle(decision.id, cost=1.5)
    assert settled == al.Settlement(
        id=1, billed=1.5, charged=1.5, refunded=2.5, overrun=0.0, budget_left=8.5
    )
    assert agent.ledger == (10_000_000, 1_500_000, 0, 0)
    assert observable_state(agent) == replayed_state(agent)


def test_policies_plan_with_the_cost_and_admission_goes_by_the_reserve(
    factory: AgentFactory,
) -> None:
    """10 for ten calls at 1: the plan serves all, but only two reserves of 4 fit at once."""
    agent = factory.create(actions=CALL, budget=10, horizon=10)
    one, two, three = (agent.decide("new") for _ in range(3))
    assert (one.action, two.action, three.action, three.reason) == ("call", "call", None, "budget")
    agent.settle(one.id, cost=1)
    assert agent.decide("new").action == "call"
    assert agent.look(lambda campaign: int(campaign.state.progress[1])) == 7  # 10 less three means


def test_refunds_can_be_spent_again(factory: AgentFactory) -> None:
    agent = factory.create(actions=CALL, budget=5, horizon=5)
    for left in (4.75, 4.5, 4.25, 4.0):
        decision = agent.decide("new")
        assert decision.action == "call"  # a reserve of 4 fits again
        assert agent.settle(decision.id, cost=0.25).budget_left == left
    assert agent.ledger.spent == 1_000_000


def test_a_free_call_costs_nothing(factory: AgentFactory) -> None:
    agent = factory.create(actions=CALL)
    settled = agent.settle(agent.decide("new").id, cost=0)
    assert (settled.billed, settled.charged, settled.refunded) == (0.0, 0.0, 4.0)
    assert agent.ledger == (60_000_000, 0, 0, 0)


def test_a_bill_is_rounded_up_to_the_smallest_unit(factory: AgentFactory) -> None:
    agent = factory.create(unit="0.01", actions={"call": al.Action(cost="1.00", reserve="4.00")})
    settled = agent.settle(agent.decide("new").id, cost=1.231)
    assert settled.billed == 1.24
    assert agent.ledger.spent == 124


@pytest.mark.parametrize("cost", [1.5, "1.5", Decimal("1.5"), np.float64(1.5), np.float32(1.5)])
def test_an_amount_may_be_written_in_several_ways(cost: Any, memory: AgentFactory) -> None:
    agent = memory.create(actions=CALL)
    assert agent.settle(agent.decide("new").id, cost=cost).billed == 1.5


def test_settling_again_changes_nothing(factory: AgentFactory) -> None:
    agent = factory.create(actions=CALL)
    decision = agent.decide("new")
    settled = agent.settle(decision.id, cost=1.5)
    agent.decide("new")
    before = observable_state(agent)
    for opened in (agent, factory.open()):
        assert opened.settle(decision.id, cost="1.50") == settled
    assert observable_state(agent) == before


def test_another_cost_is_a_conflict(factory: AgentFactory) -> None:
    agent = factory.create(actions=CALL)
    decision = agent.decide("new")
    agent.settle(decision.id, cost=1.5)
    for opened in (agent, factory.open()):
        with refused(
            opened, al.Conflict, "was settled at cost=1.5, got cost=1.6; a settlement is f"
        ):
            opened.settle(decision.id, cost=1.6)


def test_what_is_no_amount_is_refused(factory: AgentFactory) -> None:
    agent = factory.create(actions=CALL)
    held, settled = agent.decide("new"), agent.decide("new")
    agent.settle(settled.id, cost=1)
    for cost in NOT_AMOUNTS:
        with refused(agent, al.InvalidInput, "cost must be"):
            agent.settle(held.id, cost=cost)
    for cost in NOT_AMOUNTS[:3]:
        with refused(agent, al.InvalidInput, "cost must be"):
            agent.settle(settled.id, cost=cost)


def test_an_overrun_is_recorded_in_full_charged_and_reported(
    factory: AgentFactory, caplog: pytest.LogCaptureFixture
) -> None:
    agent = factory.create(actions=CALL, budget=10)
    decision = agent.decide("new")
    with caplog.at_level(logging.WARNING, "almoner"):
        settled = agent.settle(decision.id, cost=5.25)
    assert settled == al.Settlement(
        id=1, billed=5.25, charged=5.25, refunded=0.0, overrun=1.25, budget_left=4.75
    )
    messages = [record.getMessage() for record in caplog.records if record.name == "almoner"]
    assert messages == ["decision 1 cost 5.25, more than the 4.0 reserved for it; 5.25 was charged"]
    assert agent.look(lambda campaign: campaign.overrun) == 1_250_000
    caplog.clear()
    assert agent.settle(decision.id, cost=5.25) == settled
    assert not caplog.records  # logged once


def test_a_bill_within_the_reserve_is_nothing_to_report(
    memory: AgentFactory, caplog: pytest.LogCaptureFixture
) -> None:
    agent = memory.create(actions=CALL)
    for cost in (1, 3.99, 4):
        agent.settle(agent.decide("new").id, cost=cost)
    assert not caplog.records
    assert agent.look(lambda campaign: campaign.overrun) == 0


def test_an_overrun_leaves_what_others_hold_untouched(factory: AgentFactory) -> None:
    """Of 10, two calls hold 4 each; a bill of 100 can take its own 4 and the 2 that are left."""
    agent = factory.create(actions=CALL, horizon=10, budget=10)
    first, second = agent.decide("new"), agent.decide("new")
    settled = agent.settle(first.id, cost=100)
    assert (settled.billed, settled.charged, settled.overrun) == (100.0, 6.0, 96.0)
    assert agent.ledger == (10_000_000, 6_000_000, 4_000_000, 1_000_000)
    (*_, event) = agent.events()
    assert (event.bill, event.charged, event.left) == (100_000_000, 6_000_000, 0)
    assert agent.decide("new").reason == "budget"
    assert agent.settle(second.id, cost=1).budget_left == 3.0
    assert observable_state(agent) == observable_state(factory.open()) == replayed_state(agent)


def test_money_that_fits_no_grid_is_not_lost(factory: AgentFactory) -> None:
    """10 less a bill of 7 leaves 3, one more action at 3, although 3 does not divide 10."""
    agent = factory.create(actions={"call": 3}, budget=10, horizon=2)
    agent.settle(agent.decide("new").id, cost=7)
    last = agent.decide("new")
    assert (last.action, last.budget_left) == ("call", 0.0)


def test_cancelling_refunds_it_all_once(factory: AgentFactory) -> None:
    agent = factory.create(actions=CALL)
    decision = agent.decide("new")
    cancelled = agent.cancel(decision.id)
    assert cancelled == al.Settlement(
        id=1, billed=0.0, charged=0.0, refunded=4.0, overrun=0.0, budget_left=60.0
    )
    assert agent.ledger == (60_000_000, 0, 0, 0)
    before = observable_state(agent)
    assert factory.open().cancel(decision.id) == cancelled
    assert observable_state(agent) == before == replayed_state(agent)


def test_what_happened_cannot_be_cancelled_and_what_did_not_cannot_happen(
    factory: AgentFactory,
) -> None:
    agent = factory.create(actions=CALL)
    settled, rewarded, cancelled = (agent.decide("new").id for _ in range(3))
    agent.settle(settled, cost=1)
    agent.reward(rewarded, 1)
    agent.cancel(cancelled)
    for opened in (agent, factory.open()):
        with refused(opened, al.Conflict, f"decision {settled} was settled, so it did happen"):
            opened.cancel(settled)
        with refused(opened, al.Conflict, f"decision {rewarded} was rewarded, so it did happen"):
            opened.cancel(rewarded)
        with refused(opened, al.Conflict, "was cancelled, so it cannot be settled"):
            opened.settle(cancelled, cost=1)
        with refused(opened, al.Conflict, "was cancelled, so it cannot be rewarded"):
            opened.reward(cancelled, 1)


def test_a_skip_holds_nothing_to_settle_or_cancel(factory: AgentFactory) -> None:
    agent = factory.create()
    skip = agent.decide("new", available=[])
    with refused(agent, al.Conflict, "is a skip: it has no reserve to be settled"):
        agent.settle(skip.id, cost=1)
    with refused(agent, al.Conflict, "is a skip: it has no reserve to be cancelled"):
        agent.cancel(skip.id)


UNKNOWN_IDS: list[Any] = [
    0, -1, 2, 10**6, 2**53, 2**63, 2**64, 10**400, 10**5000, True, "1", "", 1.0, [1], {},
]  # fmt: skip


def test_an_unknown_decision_is_refused(factory: AgentFactory) -> None:
    agent = factory.create()
    agent.decide("new")
    for unknown in UNKNOWN_IDS:
        with refused(agent, al.UnknownDecision, "there is no decision .*use the id that decide r"):
            agent.settle(unknown, cost=1)
    for unknown in UNKNOWN_IDS:
        with refused(agent, al.UnknownDecision, "there is no decision"):
            agent.reward(unknown, 1)
    for unknown in UNKNOWN_IDS[:3]:
        with refused(agent, al.UnknownDecision, "there is no decision"):
            agent.cancel(unknown)


def test_a_decision_is_given_by_its_id_or_its_key(factory: AgentFactory) -> None:
    agent = factory.create(actions={"call": al.Action(cost=1, reserve=4)})
    decision = agent.decide("new", key="visit-1")
    for arguments in ({}, {"id": decision.id, "key": "visit-1"}):
        with refused(agent, al.InvalidInput, "given by its id or by its key, .*give one of them"):
            agent.settle(**arguments, cost=1)  # type: ignore[arg-type]
    for key in ("visit-2", "", 7, "v" * 5_000):
        with refused(agent, al.UnknownDecision, "there is no decision with the key"):
            agent.reward(key=key, value=1.0)  # type: ignore[arg-type]
    agent.reward(key="visit-1", value=1.0)
    agent.reward_many({"visit-1": 1.0})
    assert agent.settle(key="visit-1", cost=1.5).id == decision.id
    assert agent.settle(decision.id, cost=1.5).refunded == 2.5


def test_ids_are_unique_in_a_store(tmp_path: Path, postgres_database: str) -> None:
    for url in ("memory:", f"sqlite:///{tmp_path / 'a.db'}", postgres_database):
        store = open_store(url)
        agents = [al.Agent.open(store, name=f"week-{week}", **TERMS) for week in (46, 47, 48)]
        decisions = [agent.decide("new") for agent in agents]
        assert [decision.id for decision in decisions] == [1, 1_000_000_001, 2_000_000_001]
        for agent in agents:
            for other, decision in zip(agents, decisions, strict=True):
                if other is agent:
                    agent.reward(decision.id, 1.0)
                    continue
                message = f"belongs to campaign '{other.name}', not to '{agent.name}'; send it the"
                with pytest.raises(al.UnknownDecision, match=message):
                    agent.reward(decision.id, 1.0)
        store.close()


def test_the_seq_of_another_event_is_no_decision(factory: AgentFactory) -> None:
    agent = factory.create()
    agent.reward(agent.decide("new").id, 1)
    with refused(agent, al.UnknownDecision, "there is no decision 2"):
        agent.reward(2, 1)


def test_the_noise_of_a_sum_of_floats_is_no_part_of_a_bill(memory: AgentFactory) -> None:
    agent = memory.create(actions={"mail": "0.30"}, unit="0.01")
    decision = agent.decide("new")
    settled = agent.settle(decision.id, cost=0.1 + 0.2)
    assert (settled.billed, settled.overrun) == (0.3, 0.0)
    assert agent.settle(decision.id, cost=0.3) == agent.settle(decision.id, cost="0.3") == settled


def test_an_id_may_be_a_number_of_numpy(factory: AgentFactory) -> None:
    agent = factory.create()
    decision = agent.decide("new")
    agent.reward(np.int64(decision.id), 1.0)  # type: ignore[arg-type]
    assert agent.look(lambda campaign: campaign.state.counts.sum()) == 1
