"""Reserves that expire: released or charged at the next transaction, with bills that come late."""

from __future__ import annotations

import logging
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.agents import AgentFactory, replay
from support.clock import Clock

import almoner as al
from almoner.live.audit import audit
from almoner.live.times.deadlines import Deadlines, OpenDecision
from almoner.live.times.durations import duration, in_words
from almoner.store.events import EXPIRED

HOUR, DAY = 3_600.0, 86_400.0
COUPON = al.Action(cost="0.6", reserve=5, expires="7 days")
CALL = al.Action(cost=1, reserve=2, expires="90 minutes", on_expiry="charge")


def campaign(factory: AgentFactory, clock: Clock, **terms: Any) -> al.Agent:
    actions = {"coupon": COUPON, "call": CALL, "mail": 1}
    return factory.create(**{"actions": actions, "budget": 60, "clock": clock, **terms})


def test_an_unredeemed_coupon_is_released(factory: AgentFactory) -> None:
    clock = Clock()
    agent = campaign(factory, clock)
    first = agent.decide("new", available=["coupon"])
    clock.now += DAY
    second = agent.decide("new", available=["coupon"])
    clock.now += 6 * DAY - 1
    assert agent.ledger.reserved == 10_000_000
    clock.now += 1
    assert (agent.ledger.reserved, agent.ledger.spent) == (5_000_000, 0)
    events = [event for event in agent.events() if event.kind == EXPIRED]
    assert [(event.decision, event.bill, event.charged) for event in events] == [
        (first.id - agent.first_id, 0, 0)
    ]
    assert [row.id for row in agent.open_decisions()] == [second.id]
    assert audit(agent.store, factory.name).reserved == 5_000_000
    assert replay(agent) == agent.look(lambda campaign: campaign.to_dict())
    agent.reward(first.id, 1.0)  # a purchase may still be told


def test_decisions_of_a_clock_ahead_are_open(factory: AgentFactory) -> None:
    clock = Clock()
    agent = campaign(factory, clock)
    ahead = agent.decide("new", available=["mail"])
    clock.now -= 60
    behind = agent.decide("new", available=["mail"])
    assert [row.id for row in agent.open_decisions()] == [ahead.id, behind.id]
    clock.now += 30
    assert [row.id for row in agent.open_decisions(older_than="20 seconds")] == [behind.id]


def test_a_call_without_a_bill_has_cost_its_reserve(factory: AgentFactory) -> None:
    clock = Clock()
    agent = campaign(factory, clock)
    call = agent.decide("new", available=["call"])
    clock.now += 1.5 * HOUR
    assert (agent.ledger.spent, agent.ledger.reserved) == (2_000_000, 0)
    late = agent.settle(call.id, cost="0.75")  # the bill, known at last
    assert (late.billed, late.charged, late.refunded, late.overrun) == (0.75, 0.75, 1.25, 0)
    assert agent.ledger.spent == 750_000
    assert agent.settle(call.id, cost="0.75") == late
    with pytest.raises(
        al.Conflict, match=r"settled at cost=0.75, got cost=2; a settlement is final"
    ):
        agent.settle(call.id, cost=2)
    audit(agent.store, factory.name)
    assert replay(agent) == agent.look(lambda campaign: campaign.to_dict())


def test_a_bill_after_the_release_is_charged_as_far_as_money_is_left(
    memory: AgentFactory, caplog: pytest.LogCaptureFixture
) -> None:
    clock = Clock()
    agent = campaign(memory, clock, budget=6, horizon=3)
    coupon = agent.decide("new", available=["coupon"])
    clock.now += 7 * DAY
    agent.decide("new", available=["call"])
    with caplog.at_level(logging.WARNING, "almoner"):
        late = agent.settle(coupon.id, cost=5)
    assert (late.billed, late.charged, late.refunded, late.overrun) == (5, 4, 0, 5)
    assert "more than the 0.0 reserved for it; 4.0 was charged" in caplog.text
    assert agent.ledger.left == 0
    assert audit(agent.store, memory.name).overrun == 5_000_000
    assert agent.report().uncharged == 1


def test_an_expired_decision_is_not_cancelled(memory: AgentFactory) -> None:
    clock = Clock()
    agent = campaign(memory, clock)
    coupon = agent.decide("new", available=["coupon"])
    clock.now += 7 * DAY
    with pytest.raises(al.Conflict, match=r"has expired, so it cannot be cancelled; .*cost=0"):
        agent.cancel(coupon.id)
    assert agent.settle(coupon.id, cost=0).charged == 0


def test_a_settlement_and_an_expiry_of_the_same_moment(memory: AgentFactory) -> None:
    """The deadline comes first: the call is charged, and the settlement corrects it."""
    clock = Clock()
    agent = campaign(memory, clock)
    call = agent.decide("new", available=["call"])
    clock.now += 90 * 60
    assert agent.settle(call.id, cost=2).charged == 2
    assert [event.kind for event in agent.events()] == ["decided", "expired", "settled"]


def test_a_settled_action_does_not_expire(factory: AgentFactory) -> None:
    clock = Clock()
    agent = campaign(factory, clock)
    settled, cancelled = (agent.decide("new", available=["coupon"]) for _ in range(2))
    agent.settle(settled.id, cost=5)
    agent.cancel(cancelled.id)
    clock.now += 30 * DAY
    assert agent.ledger.spent == 5_000_000
    assert not [event for event in agent.events() if event.kind == EXPIRED]


def test_money_that_expires_is_spent_again(memory: AgentFactory) -> None:
    clock = Clock()
    agent = campaign(memory, clock, budget=10, horizon=5)
    coupons = [agent.decide("new", available=["coupon"]) for _ in range(3)]
    assert [coupon.action for coupon in coupons] == ["coupon", "coupon", None]
    assert coupons[2].reason == "budget"
    clock.now += 7 * DAY
    report = agent.report()  # knows of the deadlines before they are recorded
    assert (report.reserved, report.left, report.open) == (0, 10, 0)
    assert agent.decide("new", available=["coupon"]).action == "coupon"


def test_the_report_says_when_the_next_reserve_expires(memory: AgentFactory) -> None:
    clock = Clock()
    agent = campaign(memory, clock)
    agent.decide("new", available=["coupon"])
    clock.now += DAY
    agent.decide("new", available=["call"])
    report = agent.report()
    assert (report.open, report.expiring) == (2, 2)
    assert report.next_expiry == "2026-09-22T15:43:20+00:00"


def test_an_expiry_can_be_amended_for_new_decisions(memory: AgentFactory) -> None:
    clock = Clock()
    agent = campaign(memory, clock)
    agent.decide("new", available=["coupon"])
    agent.amend(costs={"coupon": al.Action(cost="0.6", reserve=5, expires="1 day")})
    agent.decide("new", available=["coupon"])
    clock.now += DAY
    assert agent.ledger.reserved == 5_000_000
    audit(agent.store, memory.name)


@pytest.mark.parametrize(
    "later",
    [
        al.Action(cost=1, reserve=2),
        al.Action(cost=1, reserve=2, expires="90 minutes"),
        al.Action(cost=1, reserve=2, expires="1 day", on_expiry="charge"),
    ],
)
def test_an_open_decision_ends_as_it_was_made_whatever_an_amendment_says(
    later: al.Action, factory: AgentFactory
) -> None:
    clock = Clock()
    agent = campaign(factory, clock)
    call, coupon = (agent.decide("new", available=[name]) for name in ("call", "coupon"))
    charged = al.Action(cost="0.6", reserve=5, expires="7 days", on_expiry="charge")
    agent.amend(costs={"call": later, "coupon": charged})
    clock.now += 7 * DAY
    assert (agent.ledger.spent, agent.ledger.reserved) == (2_000_000, 0)
    assert agent.settle(call.id, cost="0.5").refunded == 1.5
    assert agent.settle(coupon.id, cost=0).refunded == 0
    assert replay(agent) == agent.look(lambda campaign: campaign.to_dict())
    audit(agent.store, factory.name)


def test_no_more_is_refunded_than_an_expired_reserve_has_paid(
    factory: AgentFactory, caplog: pytest.LogCaptureFixture
) -> None:
    """With a risk the budget may not bear all of a reserve that is charged when it expires."""
    caplog.set_level(logging.CRITICAL, "almoner")
    clock = Clock()
    call = al.Action(cost=1, reserve=5, expires="1 hour", on_expiry="charge")
    agent = campaign(factory, clock, actions={"call": call}, budget=30, horizon=10, risk=0.4)
    calls = [agent.decide("new") for _ in range(10)]
    for decision in calls[:4]:
        agent.settle(decision.id, cost=7)
    clock.now += HOUR
    assert (agent.ledger.spent, agent.report().uncharged) == (30_000_000, 28)
    expired = [event.charged for event in agent.events() if event.kind == EXPIRED]
    assert expired == [2_000_000, 0, 0, 0, 0, 0]
    first, second = (agent.settle(decision.id, cost=1) for decision in calls[4:6])
    assert (first.charged, first.refunded, first.overrun) == (1, 1, 0)
    assert (second.charged, second.refunded, second.overrun) == (1, 0, 0)
    assert agent.settle(calls[6].id, cost=6).charged == 0
    assert agent.ledger.spent == 30_000_000
    assert agent.report().uncharged == 5 + 5 + 5 + 6
    assert replay(agent) == agent.look(lambda campaign: campaign.to_dict())
    assert audit(agent.store, factory.name).spent == 30_000_000


def test_an_audit_finds_a_refund_of_money_that_was_not_paid(memory: AgentFactory) -> None:
    clock = Clock()
    agent = campaign(memory, clock)
    call = agent.decide("new", available=["call"])
    clock.now += 2 * HOUR
    agent.settle(call.id, cost=1)
    log = agent.store._logs[memory.name]  # type: ignore[attr-defined]
    log.rows[2] = log.rows[2]._replace(detail='{"paid": 3000000}')
    with pytest.raises(al.BrokenLedger, match=r"refunds 3000000 .* not the 2000000 paid"):
        audit(agent.store, memory.name)


def test_snapshots_keep_deadlines(memory: AgentFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("almoner.live.transactions.catch_up.SNAPSHOT_EVERY", 3)
    clock = Clock()
    agent = campaign(memory, clock)
    for _ in range(5):
        agent.decide("new", available=["coupon"])
        clock.now += DAY
    other = memory.open(clock=clock)
    clock.now += 3 * DAY
    assert other.ledger.reserved == 15_000_000
    assert audit(agent.store, memory.name).reserved == 15_000_000


@pytest.mark.parametrize("early", [-1, -(10**12)])
def test_an_audit_finds_a_reserve_that_ended_too_early(memory: AgentFactory, early: int) -> None:
    clock = Clock()
    agent = campaign(memory, clock)
    agent.decide("new", available=["coupon"])
    clock.now += 7 * DAY
    assert agent.ledger.reserved == 0
    log = agent.store._logs[memory.name]  # type: ignore[attr-defined]
    log.rows[1] = log.rows[1]._replace(at=log.rows[1].at + early)
    with pytest.raises(al.BrokenLedger, match="ends the reserve of decision 1 before its time"):
        audit(agent.store, memory.name)


@pytest.mark.parametrize(
    ("action", "message"),
    [
        (al.Action(cost=1, expires="soon"), r"the expiry of 'x' must be a duration .*\"7 days\""),
        (al.Action(cost=1, expires="0 days"), "must be a duration above 0"),
        (al.Action(cost=1, expires=7), "must be a duration"),
        (al.Action(cost=1, on_expiry="charge"), "on_expiry of 'x' must come with expires"),
        (al.Action(cost=1, expires="1 day", on_expiry="keep"), "must be one of release, charge"),
    ],
)
def test_bad_expiries_are_refused(action: al.Action, message: str) -> None:
    with pytest.raises(al.InvalidTerms, match=message):
        al.Agent.open(
            "memory:", name="x", contexts=["new"], actions={"x": action}, horizon=9, budget=9
        )


@given(
    st.lists(
        st.tuples(st.sampled_from(["coupon", "call", "settle", "wait"]), st.integers(0, 200)),
        max_size=25,
    )
)
@settings(max_examples=60)
@pytest.mark.slow
def test_any_order_of_bills_and_deadlines_stays_within_the_budget(
    steps: list[tuple[str, int]],
) -> None:
    """Against a model: a dictionary of open reserves, and the sum of what was paid."""
    clock = Clock()
    agent = al.Agent.open(
        "memory:",
        name="x",
        contexts=["new"],
        actions={"coupon": COUPON, "call": CALL},
        horizon=1000,
        budget=20,
        clock=clock,
    )
    paid: dict[int, int] = {}
    reserved: dict[int, tuple[int, float, int]] = {}

    def lapse() -> None:
        for number, (reserve, deadline, bill) in [*reserved.items()]:
            if deadline <= clock.now:
                del reserved[number]
                paid[number] = bill
                assert bill in (0, reserve)

    for step, number in steps:
        if step == "wait":
            clock.now += number * HOUR
        elif step == "settle" and (paid or reserved):
            known = sorted({*paid, *reserved})
            decision = known[number % len(known)]
            lapse()
            try:
                charged = agent.settle(decision, cost=number / 50).charged
            except al.Conflict:
                continue
            reserved.pop(decision, None)
            paid[decision] = round(charged * 10**6)
        elif step in ("coupon", "call"):
            lapse()
            made = agent.decide("new", available=[step])
            if made.action is not None:
                reserve, hours, bill = (5, 168, 0) if step == "coupon" else (2, 1.5, 2)
                reserved[made.id] = (
                    reserve * 10**6, clock.now + hours * HOUR, bill * 10**6
                )  # fmt: skip
        lapse()
        ledger = agent.ledger
        assert ledger.spent == sum(paid.values())
        assert ledger.reserved == sum(reserve for reserve, _, _ in reserved.values())
        assert ledger.left >= 0
    audit(agent.store, "x")
    assert replay(agent) == agent.look(lambda campaign: campaign.to_dict())


def test_deadlines_come_in_their_order() -> None:
    deadlines = Deadlines()
    for seq, deadline in ((1, 30), (2, 10), (3, 20), (4, 10)):
        deadlines.add(deadline, OpenDecision(seq, 0, None, "new", "mail", 1, 1))
    deadlines.discard(4)
    assert [decision.seq for decision in deadlines.due(20)] == [2, 3]
    assert [decision.seq for decision in deadlines.due(20)] == [2, 3]  # until they are ended
    deadlines.discard(2)
    other = Deadlines()
    other.restore(deadlines.to_list())
    assert [decision.seq for decision in other.due(99)] == [3, 1]
    assert other.to_list() == deadlines.to_list()


@pytest.mark.parametrize(
    ("text", "seconds", "words"),
    [
        ("90 minutes", 5_400, "90 minutes"),
        ("1 day", 86_400, "1 day"),
        ("14 days", 1_209_600, "2 weeks"),
        ("1.5 hours", 5_400, "90 minutes"),
        (timedelta(hours=36), 129_600, "36 hours"),
        ("0.5 seconds", 0.5, "0.5 seconds"),
    ],
)
def test_durations(text: Any, seconds: float, words: str) -> None:
    assert duration("x", text) == seconds * 10**6
    assert in_words(duration("x", text)) == words


@pytest.mark.parametrize("value", ["", "7", "7 d", "-1 days", "1e3 days", "99999 weeks", 7, None])
def test_other_durations_are_refused(value: Any) -> None:
    with pytest.raises(al.InvalidTerms, match="x must be a duration"):
        duration("x", value)
