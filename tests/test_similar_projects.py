"""Problems reported in the issue trackers of similar projects: one test each."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.agents import (
    AgentFactory,
    FailingTransactions,
    agent_factory,
    observable_state,
    refused,
    replayed_state,
)

import almoner as al

CALL = {"call": al.Action(cost=0.5, reserve=0.9)}
NOT_MONEY: list[Any] = [-1, -0.01, float("nan"), float("inf"), -float("inf"), "-1", "nan"]


def test_concurrent_requests_do_not_slip_past_the_cap(factory: AgentFactory) -> None:
    """litellm 34732: check and record were two steps."""
    agents = [factory.create(actions={"call": 1}, budget=5, horizon=500) for _ in range(2)]

    def ask(number: int) -> al.Decision:
        return agents[number % 2].decide("new")

    with ThreadPoolExecutor(8) as pool:
        decisions = list(pool.map(ask, range(120)))
    assert sum(decision.reserved for decision in decisions) <= 5
    ledger = agents[0].ledger
    assert ledger.reserved == 10**6 * sum(decision.action == "call" for decision in decisions)
    assert min(decision.budget_left for decision in decisions) >= 0


def test_fail_closed_when_the_reservation_cannot_be_written(factory: AgentFactory) -> None:
    """litellm 33923: a "fail closed" setting that failed open."""
    agent = factory.create(actions=CALL)
    FailingTransactions(agent.store).left = 2
    for _ in range(2):
        with pytest.raises(al.StoreError):  # no decision, so nothing to act on
            agent.decide("new")
    assert (agent.ledger.reserved, list(agent.events())) == (0, [])
    assert agent.decide("new").action == "call"


def test_outstanding_reservations_count(factory: AgentFactory) -> None:
    """gbrain 4365: a hard cap of 5 that reached 5.135."""
    agent = factory.create(actions=CALL, budget=5, horizon=9)
    decisions = [agent.decide("new") for _ in range(9)]
    reserved = [decision for decision in decisions if decision.action]
    assert len(reserved) == 5  # five times 0.9 is 4.5, a sixth would not fit
    assert decisions[-1].reason == "budget"
    spent = sum(agent.settle(decision.id, cost=1.027).charged for decision in reserved)
    assert round(spent, 6) == 5.0  # 5.135 was billed
    assert agent.ledger == (5_000_000, 5_000_000, 0, 0)
    assert agent.look(lambda campaign: campaign.overrun) == 5 * 127_000


def test_reserve_then_settle_with_the_real_cost_and_refund(factory: AgentFactory) -> None:
    """litellm 38647: worst-case reservations filled the budget at almost no real spend."""
    agent = factory.create(
        actions={"call": al.Action(cost=0.05, reserve=1.0)}, budget=2, horizon=30
    )
    for _ in range(20):
        decision = agent.decide("new")
        assert (decision.action, decision.reserved) == ("call", 1.0)
        agent.settle(decision.id, cost=0.05)
    assert agent.ledger == (2_000_000, 1_000_000, 0, 0)


def test_negative_nan_and_infinite_amounts_are_refused(factory: AgentFactory) -> None:
    """litellm-rs 711."""
    agent = factory.create()
    decision = agent.decide("new")
    for amount in NOT_MONEY:
        with refused(agent, al.InvalidInput):
            agent.settle(decision.id, cost=amount)
        with refused(agent, al.InvalidInput):
            agent.reward(decision.id, amount)
    for number, amount in enumerate(NOT_MONEY):
        for terms in ({"budget": amount}, {"actions": {"call": amount}}, {"unit": amount}):
            with pytest.raises(al.InvalidTerms):
                factory.create(name=f"{factory.name}-{number}", **terms)


def test_a_missing_cost_is_an_error(memory: AgentFactory) -> None:
    """litellm 31481: a cost silently read as 0 because it was declared elsewhere."""
    for actions in (
        {"call": None},
        {"call": al.Action(cost=None)},
        {"call": {"new": 1.0}},
    ):
        with pytest.raises(al.InvalidTerms, match="'call'"):
            memory.create(actions=actions)
    agent = memory.create()
    decision = agent.decide("new")
    with refused(agent, al.InvalidInput, "cost must be a number, got cost=None"):
        agent.settle(decision.id, cost=None)
    with pytest.raises(TypeError, match="cost"):
        agent.settle(decision.id)  # type: ignore[call-arg]


def test_a_small_budget_left_is_reported_and_used(factory: AgentFactory) -> None:
    """promovolve 8: campaigns died with a little money left that the cheapest action exceeded."""
    agent = factory.create(actions={"mail": 1.0, "coupon": 5.0}, budget=7.5, horizon=10)
    agent.settle(agent.decide("new", available=["mail"]).id, cost=5)
    short = agent.decide("new", available=["coupon"])
    assert (short.reason, short.budget_left) == ("budget", 2.5)
    assert short.why == "too little of the budget is left to reserve for any action here"
    rest = [agent.decide("new") for _ in range(8)]
    assert [decision.action for decision in rest].count("mail") == 2  # it buys what it can
    assert rest[-1].budget_left == 0.5


def test_when_the_budget_is_tight_cheaper_actions_are_favoured(memory: AgentFactory) -> None:
    """bernstein 569, arkavo-edge 637."""
    policy = al.alp(context_probs=[0.5, 0.5], reward_means=[[0.5, 0.6], [0.5, 0.6]])
    for budget, action in ((40, "mail"), (199, "coupon"), (200, "coupon")):
        agent = memory.create(name=f"budget {budget}", budget=budget, policy=policy)
        done = [agent.decide("new").action for _ in range(40)]
        assert done.count(action) >= 39


def test_no_price_has_to_be_chosen_to_begin_with(memory: AgentFactory) -> None:
    """Budget_Constrained_Bidding 5: the price follows from budget, horizon and what is known."""
    means, costs = [[0.5, 0.9], [0.4, 0.6]], [1.0, 5.0]
    problem = al.Problem(
        context_probs=[0.3, 0.7], reward_means=means, costs=costs, horizon=40, budget=60
    )
    agent = memory.create(policy=al.alp(context_probs=[0.3, 0.7], reward_means=means))
    assert agent.decide("new").price == pytest.approx(al.solve(problem).price)


def test_a_request_chooses_among_what_is_available_and_forgets_nothing(
    factory: AgentFactory,
) -> None:
    """mabwiser 74 and 99, mab2rec 18, bayesianbandits 102, tf-agents 670, VW 3421."""
    agent = factory.create(actions={"mail": 1, "call": 1, "gift": 1}, budget=100, policy="greedy")
    for action, reward in (("mail", 0.2), ("call", 0.9), ("gift", 0.5)):
        decision = agent.decide("new", available=[action])
        assert decision.action == action
        agent.reward(decision.id, reward)
    assert agent.decide("new").action == "call"
    assert agent.decide("new", available=["mail", "gift"]).action == "gift"
    assert agent.decide("new", available=["mail"]).action == "mail"
    assert agent.decide("new").action == "call"


def test_a_delayed_reward_needs_the_id_alone(factory: AgentFactory) -> None:
    """tf-agents 529, striatum 70, calvera 90: the caller should not have to remember the arm."""
    agent = factory.create()
    ids = [agent.decide(context).id for context in ("new", "returning", "returning")]
    agent.close()
    later = factory.open()
    for number in reversed(ids):
        later.reward(number, 1.0)
    assert later.look(lambda campaign: campaign.state.sums.tolist()) == [[1, 0], [2, 0]]


def test_one_process_learns_while_another_decides() -> None:
    """Requested under "speed and serving" elsewhere; the other process is a real one."""
    program = (
        "import sys, almoner as al\n"
        "with al.Agent.open(sys.argv[1], name=sys.argv[2]) as agent:\n"
        "    for event in list(agent.events()):\n"
        "        agent.reward(event.decision, 0.25)\n"
    )
    with agent_factory("sqlite") as factory:
        agent = factory.create()
        agent.decide_many(["new", "new", "returning"])
        command = [sys.executable, "-c", program, str(factory.url), factory.name]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        assert agent.look(lambda campaign: campaign.state.counts.tolist()) == [[2, 0], [1, 0]]
        assert observable_state(agent) == replayed_state(agent)


def test_state_is_rows_and_json_never_pickle(
    factory: AgentFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """mabwiser 85, contextualbandits 5."""
    monkeypatch.setattr("almoner.live.transactions.catch_up.SNAPSHOT_EVERY", 1)
    agent = factory.create()
    agent.reward(agent.decide("new").id, 1.0)
    with agent.store.writing(agent.name) as writer:
        snapshot = writer.snapshot()
        rows = [value for event in writer.events(0) for value in event]
    kept = [snapshot, agent.store.terms(agent.name)]
    assert all(isinstance(text, str) and text.startswith("{") for text in kept)
    assert {type(value) for value in rows} <= {int, float, str, type(None)}
    sources = Path(al.__file__).parent.rglob("*.py")
    assert not [path.name for path in sources if "import pickle" in path.read_text("utf-8")]


def test_a_bad_persisted_cell_does_not_make_every_request_fail(factory: AgentFactory) -> None:
    """litellm 29397: after a restart."""
    agent = factory.create()
    agent.decide("new")
    with agent.store.writing(agent.name) as writer:
        writer.save_snapshot('{"version": 1, "checksum": "", "body": NaN}')
    agent.store.create(factory.name + "-bad", "not even terms")
    again = factory.open()
    assert again.decide("new").id == 2
    with pytest.raises(al.BrokenLedger, match="cannot be read"):
        factory.open(name=factory.name + "-bad")
    assert factory.open().decide("new").id == 3  # the others in the store do not suffer


def test_the_probability_of_the_choice_is_returned_logged_and_right(memory: AgentFactory) -> None:
    """VW 1352 and 3910, tf-agents 592, growthbook-python 134: of the whole choice, skips too.

    A context that comes half of the time is served with 0.3/0.5; four standard errors of 150.
    """
    policy = al.alp(context_probs=[0.5, 0.5], reward_means=[[0.9], [0.1]])
    served = 0
    for seed in range(150):
        agent = memory.create(
            name=f"{seed}", seed=seed, actions={"mail": 1}, budget=12, policy=policy
        )
        decision = agent.decide("new")
        (event,) = agent.events()
        assert event.probability == decision.probability
        assert decision.probability == pytest.approx(0.6 if decision.action else 0.4)
        served += decision.action is not None
    assert abs(served - 90) <= 4 * np.sqrt(150 * 0.6 * 0.4)


def test_one_agent_serves_many_threads(factory: AgentFactory) -> None:
    """VW 1209 and 1350: not thread-safe."""
    agent = factory.create(budget=1000, horizon=1000)

    def work(number: int) -> int:
        decision = agent.decide(
            ("new", "returning")[number % 2], key=f"visit {number // 2}-{number % 2}"
        )
        agent.reward(decision.id, 0.5)
        return decision.id

    with ThreadPoolExecutor(8) as pool:
        ids = list(pool.map(work, range(100)))
    assert len(set(ids)) == 100
    assert agent.look(lambda campaign: campaign.state.counts.sum()) == 100
    assert observable_state(agent) == replayed_state(agent)


def test_a_retry_is_charged_once(factory: AgentFactory) -> None:
    """Another router applied a second feedback again, and charged a recovered decision 0."""
    agent = factory.create()
    answers = [factory.open().decide("new", key="visit-1") for _ in range(3)]
    assert answers[0] == answers[1] == answers[2]
    for caller in (agent, factory.open()):
        caller.settle(answers[0].id, cost=0.75)
        caller.reward(answers[0].id, 1.0)
    assert agent.ledger == (60_000_000, 750_000, 0, 0)
    assert agent.look(lambda campaign: campaign.state.counts.sum()) == 1
