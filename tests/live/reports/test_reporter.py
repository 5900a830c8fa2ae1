"""Reports and curves, with numbers that can be checked by hand."""

from __future__ import annotations

import math
import threading
import time
from contextlib import AbstractContextManager
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from support.agents import AgentFactory
from support.clock import Clock

import almoner as al
from almoner.live.audit import audit
from almoner.live.estimates import estimates
from almoner.live.reports import curve, history
from almoner.live.reports.reporter import Reporter
from almoner.lp import solve
from almoner.policy.allocation import AdaptiveLP
from almoner.policy.contexts import EmpiricalContexts
from almoner.policy.rewards import ExploreFirst
from almoner.store import Reader


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


def fresh_reporter(agent: al.Agent) -> Reporter:
    return Reporter(agent.store, agent.name, agent.terms, agent.now)


def test_money_adds_up_and_pace_is_the_difference_of_two_shares() -> None:
    agent = opened()
    decisions = [agent.decide("new" if i % 2 else "old") for i in range(10)]
    taken = [decision for decision in decisions if decision.action]
    agent.settle(taken[0].id, cost=2.0)
    agent.cancel(taken[1].id)
    report = agent.report()
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
    [context] = agent.report().contexts
    [coupon] = context.actions
    z2 = 1.959964**2
    centre = (3 + z2 / 2) / (4 + z2)
    half = 1.959964 * math.sqrt(0.75 + z2 / 4) / (4 + z2)
    assert (coupon.taken, coupon.rewarded, coupon.mean) == (4, 4, 0.75)
    assert (coupon.low, coupon.high) == pytest.approx((centre - half, centre + half))
    assert (context.arrivals, context.share, context.served) == (4, 1.0, 1.0)


LEARNERS = {
    "known rewards": al.alp(context_probs=[1.0], reward_means=[[0.7]]),
    "zeros and ones drawn": al.thompson_rounded(),
    "no learning after four rounds": al.Policy(
        rewards=ExploreFirst(rounds=4, update=False),
        contexts=EmpiricalContexts(),
        allocation=AdaptiveLP(),
    ),
    "all learned": al.thrifty(),
}


@pytest.mark.parametrize("policy", LEARNERS.values(), ids=LEARNERS)
def test_rewards_are_counted_as_they_came_whatever_the_policy_makes_of_them(
    policy: al.Policy,
) -> None:
    """25 rewards of 0.3: policies may ignore them, or keep others in their place."""
    agent = opened(contexts=["new"], budget=1000.0, horizon=25, policy=policy)
    for _ in range(25):
        agent.reward(agent.decide("new").id, 0.3)
    seen = agent.report()
    [[coupon]] = [context.actions for context in seen.contexts]
    assert (coupon.taken, coupon.rewarded, seen.rewarded) == (25, 25, 25)
    assert coupon.mean == pytest.approx(0.3)
    assert coupon.low < 0.3 < coupon.high


def test_a_plan_goes_by_what_the_policy_was_told() -> None:
    """Told 0.7 and shown 0.3, an arrival that is always served is worth 0.7."""
    agent = opened(contexts=["new"], budget=1000.0, policy=LEARNERS["known rewards"])
    for _ in range(5):
        agent.reward(agent.decide("new").id, 0.3)
    seen = agent.report()
    assert (seen.value, seen.contexts[0].actions[0].planned) == (0.7, 1.0)
    assert seen.contexts[0].actions[0].mean == pytest.approx(0.3)


def test_rewards_of_skips_are_nobodys_and_still_counted() -> None:
    agent = opened(default_rewards="learned")
    agent.reward(agent.decide("new", available=[]).id, 0.25)
    reporter = fresh_reporter(agent)
    seen = reporter.report()
    assert (seen.rewarded, seen.reward) == (1, 0.25)
    assert [pair.rewarded for context in seen.contexts for pair in context.actions] == [0, 0]
    assert reporter._up_to_date()[1].rewards == {("new", None): (1, 0.25)}


def test_what_happens_while_a_report_is_worked_out_is_not_in_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    agent = opened(new_contexts=True)
    agent.reward(agent.decide("new").id, 1.0)
    expected = agent.report()

    def solve_slowly(*problem: Any, **ratio: Any) -> Any:
        agent.reward(agent.decide("new").id, 0.0)
        agent.decide("walk-in")
        agent.pause()
        return solve(*problem, **ratio)

    monkeypatch.setattr(estimates, "solve", solve_slowly)
    assert agent.report() == expected


def test_counts_and_campaign_are_of_the_same_moment(monkeypatch: pytest.MonkeyPatch) -> None:
    """However the reads of a report and the writes of others fall, numbers agree."""
    agent = opened(horizon=100, budget=500.0)
    begin = agent.store.reading

    def busy(name: str) -> AbstractContextManager[Reader]:
        agent.reward(agent.decide("new").id, 1.0)
        return begin(name)

    monkeypatch.setattr(agent.store, "reading", busy)
    reporter = fresh_reporter(agent)
    for _ in range(3):
        seen = reporter.report()
        assert seen.served + sum(seen.skips.values()) == seen.arrivals == seen.rewarded
        assert sum(context.arrivals for context in seen.contexts) == seen.arrivals
        assert 5.0 * seen.served == seen.reserved


def test_without_data_everything_is_possible() -> None:
    report = opened().report()
    for context in report.contexts:
        assert context.share == 0.5
        for action in context.actions:
            assert (action.mean, action.low, action.high) == (None, 0.0, 1.0)
    assert (report.reward, report.promised, report.pace) == (0.0, 0.0, 0.0)


def test_money_that_no_action_can_use_is_called_so() -> None:
    agent = opened(budget=7.0, contexts=["new"])
    assert agent.decide("new").action == "coupon"
    assert agent.report().unusable == 2.0
    assert agent.decide("new").reason == "budget"


def test_the_plan_is_that_of_the_estimates() -> None:
    """A context to which a coupon brings nothing is not served; money suffices for the rest."""
    agent = opened(horizon=1000, budget=5000.0, policy=al.wilson_eager())
    for context, value in (("new", 0.0), ("old", 1.0)):
        for _ in range(3):
            decision = agent.decide(context, available=["coupon"])
            agent.reward(decision.id, value)
    report = agent.report()
    means = {context.context: context.actions[0].mean for context in report.contexts}
    assert means == {"new": 0.0, "old": 1.0}
    served = {context.context: context.served for context in report.contexts}
    assert served["new"] == 0.0
    assert served["old"] == 1.0
    assert report.price == 0.0
    assert report.boundaries == pytest.approx([2.5])


def test_the_pooled_estimate_is_that_of_the_policy() -> None:
    """(S + n m)/(C + n) of each pair, with the prior's mean m and count n, as its index has it.

    In a campaign too short to judge predictions, priors are used from the first reward on.
    """
    agent = opened(horizon=75, budget=1000.0, actions={"coupon": 5.0, "mail": 1.0})
    for visit in range(60):
        decision = agent.decide(("new", "old")[visit % 3 == 0])
        if decision.action is not None:
            agent.reward(decision.id, float(visit % 4 == 0))
    campaign = agent.look(lambda campaign: campaign)
    state, memo = campaign.state, campaign.policy._working[1]
    for row, context in enumerate(agent.report().contexts):
        for column, pair in enumerate(context.actions):
            own, total = state.counts[row, column], state.sums[row, column]
            mean, count = state.prior_means[row, column], state.prior_counts[row, column]
            assert count > 0
            assert (pair.rewarded, pair.borrowed) == (own, count)
            assert pair.pooled == pytest.approx((total + count * mean) / (own + count), abs=1e-15)
            assert pair.pooled == memo.means[row, column]
            assert pair.mean == (pytest.approx(total / own) if own else None)


def test_nothing_is_borrowed_before_the_first_reward_or_without_a_prior() -> None:
    waiting, alone = opened(), opened(policy="wilson-eager")
    waiting.decide_many(["new", "old"])
    for context in ("new", "old", "new"):
        alone.reward(alone.decide(context).id, 1.0)
    for agent in (waiting, alone):
        pairs = [pair for context in agent.report().contexts for pair in context.actions]
        assert {(pair.pooled, pair.borrowed) for pair in pairs} == {(None, None)}
    waiting.reward(1, 1.0)
    pairs = [pair for context in waiting.report().contexts for pair in context.actions]
    assert all(pair.pooled is not None and pair.borrowed for pair in pairs)


def test_a_plan_goes_by_the_pooled_estimates_and_guesses_nothing() -> None:
    """Money for all: an arrival is worth the estimate of the pair it gets, rewarded or not.

    Fewer than 15 rewards are too few to judge predictions by.
    """
    agent = opened(contexts=["new", "old"], horizon=1000, budget=5000.0)
    assert agent.report().guessed == 2, "0.5 for both, before the first reward"
    for _ in range(14):
        agent.reward(agent.decide("new").id, 0.25)
    agent.decide("old")
    report = agent.report()
    new, old = (context.actions[0] for context in report.contexts)
    assert (old.mean, old.rewarded, report.guessed) == (None, 0, 0)
    assert new.pooled is not None
    assert old.pooled is not None
    assert 0.25 < old.pooled < 0.5, "far from certain, so that it is not quite that of the other"
    assert report.value == pytest.approx((14 * new.pooled + old.pooled) / 15)
    alone = opened(contexts=["new", "old"], horizon=1000, budget=5000.0, policy="wilson-eager")
    for _ in range(14):
        alone.reward(alone.decide("new").id, 0.25)
    alone.decide("old")
    assert alone.report().guessed == 1
    assert alone.report().value == pytest.approx((14 * 0.25 + 0.5) / 15)


def test_rewards_of_skips_have_no_prior() -> None:
    """With the money gone an arrival is worth its skip: the mean of its own rewards, or 0."""
    agent = opened(default_rewards="learned", horizon=100, budget=10.0)
    for _ in range(60):
        decision = agent.decide("new")
        agent.reward(decision.id, 0.0 if decision.action is None else 1.0)
    agent.reward(agent.decide("old").id, 0.25)
    report = agent.report()
    new, old = report.contexts
    assert report.left == 0.0
    assert (new.actions[0].borrowed or 0) > 0
    assert report.value == pytest.approx(0.25 * old.share)


def test_a_reporter_reads_on_where_it_stopped() -> None:
    agent = opened()
    reporter = fresh_reporter(agent)
    counts = []
    for _ in range(5):
        agent.decide("new")
        counts.append(reporter.report().arrivals)
    assert counts == [1, 2, 3, 4, 5]
    assert reporter.report() == agent.report()


def test_a_curve_stays_short_and_ends_now(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(curve, "POINTS", 16)
    agent = opened(horizon=1000, budget=500.0)
    reporter = fresh_reporter(agent)
    for visit in range(300):
        agent.decide("new" if visit % 2 else "old")
    points = reporter.curve()
    assert 8 <= len(points) <= 17
    arrivals = [point.arrivals for point in points]
    assert arrivals == sorted(set(arrivals))
    assert (arrivals[0], arrivals[-1]) == (1, 300)
    gaps = {later - earlier for earlier, later in pairwise(arrivals[:-1])}
    assert len(gaps) == 1
    last = points[-1]
    assert last.spent + last.reserved == 500.0 - agent.report().left


def test_paused_arrivals_are_not_counted() -> None:
    agent = opened()
    agent.decide("new")
    agent.pause()
    assert agent.decide("new").reason == "paused"
    report = agent.report()
    assert (report.status, report.arrivals, report.skips) == ("paused", 1, {"paused": 1})


def test_after_the_horizon_the_plan_promises_no_more() -> None:
    agent = opened(horizon=4, budget=40.0)
    reporter, promised = fresh_reporter(agent), []
    for _ in range(8):
        agent.decide("new")
        promised.append(reporter.report().promised)
    assert promised[3] > promised[2]
    assert promised[4:] == [promised[3]] * 4


def test_the_curve_knows_what_held_actions_are_expected_to_cost() -> None:
    agent = opened(actions={"call": al.Action(cost=1, reserve=8)})
    agent.decide("new")
    reporter = fresh_reporter(agent)
    [point] = reporter.curve()
    assert (point.reserved, point.planned) == (8.0, 1.0)
    assert (reporter.report().reserved, reporter.report().planned) == (8.0, 1.0)
    assert reporter.report().ratio_now == pytest.approx(39.0 / 19)


def test_a_context_that_has_not_come_is_planned_for_at_the_price() -> None:
    """Money for everybody: ``old`` will be served for sure, and the report says so."""
    agent = opened(actions={"coupon": 1}, horizon=100, budget=100)
    for _ in range(10):
        agent.reward(agent.decide("new").id, 1.0)
    report = agent.report()
    _, old = report.contexts
    assert (report.price, old.share, old.served, old.actions[0].planned) == (0.0, 0.0, 1.0, 1.0)
    assert report.guessed == 0, "nothing of the promise rests on it"
    decision = agent.decide("old")
    assert (decision.action, decision.probability) == ("coupon", 1.0)


@pytest.mark.parametrize(
    ("means", "ratio", "price", "planned"),
    [
        ([0.3, 0.3], 0.5, 0.4, [0.0, 0.0]),  # below the price
        ([0.9, 0.3], 0.5, 0.4, [1.0, 0.0]),  # above it
        ([0.4, 1.3], 0.5, 0.4, [0.0, 1.0]),  # two steps in one, of slope 0.65
        ([0.9, 1.3], 0.5, 0.4, [0.5, 0.5]),  # 0.9 for sure, and half of the 0.4 on top
        ([0.4, 0.5], 0.5, 0.4, [0.5, 0.0]),  # as steep as the price: as often as the others
        ([0.4, 0.5], 1.0, 0.0, [0.0, 1.0]),  # money for all
        ([0.9, 0.9], 0.0, 0.4, [0.0, 0.0]),  # none for anybody
    ],
)
def test_what_a_context_that_never_comes_would_get(
    means: list[float], ratio: float, price: float, planned: list[float]
) -> None:
    """The other context gains 0.4 for 1; the means of this one are of actions for 1 and for 2."""
    guess = estimates.Estimates(
        np.array([1.0, 0.0]),
        np.array([[0.4, 0.0], means]),
        np.array([[1.0, 2.0], [1.0, 2.0]]),
        np.zeros(2),
        ratio,
    )
    plan = estimates.optimum(guess, reserves=np.array([[1, 2], [1, 2]]), funds=10)
    assert plan.price == pytest.approx(price)
    assert plan.probabilities[1].tolist() == pytest.approx(planned)
    assert plan.probabilities[0, 0] == pytest.approx(ratio)


def test_a_read_that_fails_does_not_throw_the_history_away(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    agent = opened()
    agent.decide_many(["new"] * 5)
    assert agent.report().arrivals == 5
    agent.decide("new")
    folded: list[int] = []
    apply = history.History.apply

    def counted(self: Any, events: list[Any]) -> None:
        folded.extend(event[0] for event in events)
        apply(self, events)

    def fails(name: str) -> Any:
        raise al.StoreError("the store is gone")

    monkeypatch.setattr(history.History, "apply", counted)
    with monkeypatch.context() as gone:
        gone.setattr(agent.store, "reading", fails)
        with pytest.raises(al.StoreError, match="is gone"):
            agent.report()
    assert agent.report().arrivals == 6
    assert folded == [6]


def test_a_report_can_be_asked_for_inside_a_look() -> None:
    """It waits for no transaction, so that neither waits for the other, beside other reports."""
    agent = opened()
    agent.decide("new")
    inside, reports = threading.Event(), []

    def look(campaign: Any) -> Any:
        inside.set()
        time.sleep(0.05)
        return agent.report()

    other = threading.Thread(target=lambda: reports.append(inside.wait(60) and agent.report()))
    other.start()
    assert agent.look(look).arrivals == 1
    other.join(60)
    assert len(reports) == 1


@pytest.mark.parametrize("at", [None, "soon", math.nan, 10**30, -(10**18)])
def test_a_time_that_is_none_is_damage_of_the_ledger(at: Any) -> None:
    agent = opened()
    agent.decide_many(["new"] * 2)
    with agent.store.writing(agent.name) as writer:
        [_, last] = writer.events(0)
        writer.append(
            [last._replace(seq=3, decision=3, round=2, left=last.left - 5_000_000, at=at)]
        )
    for read in (agent.report, agent.reporter.curve):
        with pytest.raises(al.BrokenLedger, match=r"cannot be read beyond event .*ledger verify"):
            read()
    with pytest.raises(al.BrokenLedger, match=r"event 3 .*has no valid time"):
        audit(agent.store, agent.name)


def test_a_report_knows_the_deadlines_that_have_passed(memory: AgentFactory) -> None:
    """It says the same before and after the next transaction records them."""
    clock = Clock()
    agent = memory.create(
        actions={"coupon": al.Action(cost=5, expires="1 hour")},
        pace={"day": 10},
        reward_window="1 hour",
        holdout=0.2,
        clock=clock,
    )
    for _ in range(10):
        agent.decide("new")
    clock.now += 7_200
    before = agent.report(), agent.final_report()
    assert before[0].reserved == before[0].waiting == 0
    assert agent.ledger.reserved == 0  # records the deadlines
    assert (agent.report(), agent.final_report()) == before


def risky(clock: Clock, **terms: Any) -> al.Agent:
    coupon = al.Action(cost=1, reserve=5, expires="7 days")
    return opened(
        actions={"coupon": coupon}, risk=0.01, horizon=200, budget=100.0, clock=clock, **terms
    )


def test_with_a_risk_old_decisions_are_expected_to_cost_less() -> None:
    """As the campaign plans with it: r = c (1 − F)/(1 − (c/f) F) at the age of each decision."""
    clock = Clock()
    agent = risky(clock)
    taken = sum(agent.decide("new").action is not None for _ in range(20))
    young = agent.report()
    assert young.planned == pytest.approx(1.0 * taken, rel=0.01)
    clock.now += 3.5 * 86_400
    report, final = agent.report(), agent.final_report()
    assert report.planned == pytest.approx(taken * 0.5 / (1 - 0.2 * 0.5), rel=0.1)
    assert report.spent + report.planned + report.left == pytest.approx(100.0)
    assert report.ratio_now == pytest.approx(report.left / report.arrivals_left)
    assert report.reserved == young.reserved == 5.0 * taken
    assert final.planned == report.planned


@pytest.mark.parametrize("learn_cost", [False, True])
def test_with_a_risk_the_curve_has_the_expected_costs_of_its_time(learn_cost: bool) -> None:
    """Point by point as the report said then, with bills, amendments and costs of arrivals' own."""
    clock = Clock()
    agent = risky(clock, learn_cost=learn_cost, new_contexts=True)
    reported = []
    for arrival in range(60):
        clock.now += 9_000
        costs = {"coupon": 2.5} if arrival % 9 == 4 else None
        decision = agent.decide(["new", "old", "late"][arrival % 3], costs=costs)
        reported.append(agent.report().planned)
        if decision.action is not None and arrival % 5 == 1:
            agent.settle(decision.id, cost=3)
        if arrival == 20:
            longer = al.Action(cost=1.5, reserve=6, expires="9 days")
            agent.amend(budget=140, costs={"coupon": longer}, add={"gift": 1})
    curve = agent.reporter.curve()
    assert [point.planned for point in curve] == reported
    assert curve[-1].spent > 0


def test_a_risk_that_admits_no_further_decision_blocks_until_reserves_age() -> None:
    clock = Clock()
    agent = risky(clock)
    decisions = [agent.decide("new") for _ in range(150)]
    assert decisions[-1].reason == "budget"
    report = agent.report()
    assert report.left >= report.cheapest
    assert report.blocked == "reserved"
    clock.now += 6.5 * 86_400
    assert agent.report().blocked is None
    assert agent.decide("new").action == "coupon"


def test_a_curve_has_the_budget_and_the_horizon_of_its_time() -> None:
    agent = opened()
    agent.decide("new")
    agent.amend(budget=90.0, horizon=30)
    agent.decide("new")
    first, second = agent.reporter.curve()
    assert (first.budget, first.horizon) == (40.0, 20.0)
    assert (second.budget, second.horizon) == (90.0, 30.0)
    report = agent.report()
    assert (report.ratio_start, report.budget / report.horizon) == (2.0, 3.0)


@pytest.mark.parametrize(("defaults", "told"), [(None, 1.0), ("learned", 0.0)])
def test_rewards_of_skips_are_told_apart_where_they_were_to_bring_nothing(
    defaults: str | None, told: float
) -> None:
    agent = opened(default_rewards=defaults)
    agent.reward(agent.decide("new", available=[]).id, 1.0)
    assert (agent.report().reward, agent.report().skip_reward) == (1.0, told)
