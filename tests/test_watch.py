"""Reports and curves, with numbers that can be checked by hand."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import pytest

import almoner as al
from almoner import history
from almoner.report import Watch


def opened(**terms: Any) -> al.Agent:
    given: dict[str, Any] = {
        "contexts": ["new", "old"],
        "actions": {"coupon": 5.0},
        "horizon": 20,
        "budget": 40.0,
        "seed": 2,
        **terms,
    }
    return al.Agent.open("memory:", name="spring", **given)


def test_money_adds_up_and_pace_is_the_difference_of_two_shares() -> None:
    agent = opened()
    decisions = [agent.decide("new" if i % 2 else "old") for i in range(10)]
    taken = [decision for decision in decisions if decision.action]
    agent.settle(taken[0].id, cost=2.0)
    agent.cancel(taken[1].id)
    report = Watch(agent).report()
    assert report.spent + report.reserved + report.left == report.budget == 40.0
    assert report.spent == 2.0
    assert report.reserved == 5.0 * (len(taken) - 2)
    assert (report.arrivals, report.arrivals_left) == (10, 10)
    assert report.pace == pytest.approx((2.0 + report.reserved) / 40 - 0.5)
    assert report.ratio_start == 2.0
    assert report.ratio_now == pytest.approx((38.0 - report.reserved) / 10)
    assert report.served == len(taken) - 1
    assert report.served + 1 + sum(report.skips.values()) == 10
    assert (report.policy, report.status, report.closes) == ("thrifty", "running", None)


def test_estimates_carry_wilson_intervals() -> None:
    """3 successes of 4: centre (3 + z²/2)/(4 + z²), half-width z√(3/4 + z²/4)/(4 + z²)."""
    agent = opened(contexts=["new"], budget=100.0)
    for value in (1.0, 1.0, 0.0, 1.0):
        agent.reward(agent.decide("new").id, value)
    [context] = Watch(agent).report().contexts
    [coupon] = context.actions
    z2 = 1.959964**2
    centre = (3 + z2 / 2) / (4 + z2)
    half = 1.959964 * math.sqrt(0.75 + z2 / 4) / (4 + z2)
    assert (coupon.taken, coupon.rewarded, coupon.mean) == (4, 4, 0.75)
    assert (coupon.low, coupon.high) == pytest.approx((centre - half, centre + half))
    assert (context.arrivals, context.share, context.served) == (4, 1.0, 1.0)


def test_without_data_everything_is_possible() -> None:
    report = Watch(opened()).report()
    for context in report.contexts:
        assert context.share == 0.5
        for action in context.actions:
            assert (action.mean, action.low, action.high) == (None, 0.0, 1.0)
    assert (report.reward, report.promised, report.pace) == (0.0, 0.0, 0.0)


def test_money_that_no_action_can_use_is_called_so() -> None:
    agent = opened(budget=7.0, contexts=["new"])
    assert agent.decide("new").action == "coupon"
    assert Watch(agent).report().unusable == 2.0
    assert agent.decide("new").reason == "budget"


def test_the_plan_is_that_of_the_estimates() -> None:
    """What a coupon brings nothing to is not served, and money is plentiful for the rest."""
    agent = opened(horizon=1000, budget=5000.0)
    for context, value in (("new", 0.0), ("old", 1.0)):
        for _ in range(3):
            decision = agent.decide(context, available=["coupon"])
            agent.reward(decision.id, value)
    report = Watch(agent).report()
    means = {context.context: context.actions[0].mean for context in report.contexts}
    assert means == {"new": 0.0, "old": 1.0}
    served = {context.context: context.served for context in report.contexts}
    assert served["new"] == 0.0
    assert served["old"] == 1.0
    assert report.price == 0.0
    assert report.boundaries == pytest.approx([2.5])


def test_a_watch_reads_on_where_it_stopped() -> None:
    agent = opened()
    watch = Watch(agent)
    counts = []
    for _ in range(5):
        agent.decide("new")
        counts.append(watch.report().arrivals)
    assert counts == [1, 2, 3, 4, 5]
    assert watch.report() == Watch(agent).report()


def test_a_curve_stays_short_and_ends_now(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(history, "POINTS", 16)
    agent = opened(horizon=1000, budget=500.0)
    watch = Watch(agent)
    for visit in range(300):
        agent.decide("new" if visit % 2 else "old")
    points = watch.curve()
    assert 8 <= len(points) <= 17
    arrivals = [point.arrivals for point in points]
    assert arrivals == sorted(set(arrivals))
    assert (arrivals[0], arrivals[-1]) == (1, 300)
    gaps = {later - earlier for earlier, later in pairwise(arrivals[:-1])}
    assert len(gaps) == 1
    last = points[-1]
    assert last.spent + last.reserved == 500_000_000 - agent.ledger.left


def test_paused_arrivals_are_not_counted() -> None:
    agent = opened()
    agent.decide("new")
    agent.pause()
    assert agent.decide("new").reason == "paused"
    report = Watch(agent).report()
    assert (report.status, report.arrivals, report.skips) == ("paused", 1, {"paused": 1})


def test_after_the_horizon_the_plan_promises_no_more() -> None:
    agent = opened(horizon=4, budget=40.0)
    watch, promised = Watch(agent), []
    for _ in range(8):
        agent.decide("new")
        promised.append(watch.report().promised)
    assert promised[3] > promised[2]
    assert promised[4:] == [promised[3]] * 4


def test_the_curve_knows_what_held_actions_are_expected_to_cost() -> None:
    agent = opened(actions={"call": al.Action(cost=1, reserve=8)})
    agent.decide("new")
    watch = Watch(agent)
    [point] = watch.curve()
    assert (point.reserved, point.planned) == (8_000_000, 1_000_000)
    assert (watch.report().reserved, watch.report().planned) == (8.0, 1.0)
    assert watch.report().ratio_now == pytest.approx(39.0 / 19)
