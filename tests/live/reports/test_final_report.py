"""Final report: groups counted from the log, the lift in figures and words, and other budgets."""

from __future__ import annotations

import json
import math
import re
from dataclasses import asdict
from typing import Any

import numpy as np
import pytest
from support.agents import AgentFactory
from support.clock import Clock

import almoner as al
from almoner.live.audit import audit
from almoner.live.estimates.group_sums import GroupSums
from almoner.live.estimates.lift import compare, group_mean
from almoner.live.export import decisions
from almoner.live.reports.final_report import FinalReport, LiftReport, sentences

RATES = {("new", None): 0.1, ("returning", None): 0.3}
SHOP: dict[str, Any] = {
    "contexts": ["new", "returning"],
    "actions": {"mail": 1, "coupon": 5},
    "horizon": 4_000,
    "budget": 3_000,
    "seed": 3,
}


def bought(rng: np.random.Generator, decision: al.Decision, gain: float) -> float:
    rate = RATES[decision.context, None] + (0 if decision.skipped else gain)
    return float(rng.random() < rate)


def run(agent: al.Agent, arrivals: int, gain: float, *, told: float = 1.0, seed: int = 1) -> None:
    """Let visitors come, and report the share ``told`` of their rewards."""
    rng = np.random.default_rng(seed)
    for _ in range(0, arrivals, 100):
        contexts = ["new" if rng.random() < 0.6 else "returning" for _ in range(100)]
        made = agent.decide_many(contexts)
        rewards = {decision.id: bought(rng, decision, gain) for decision in made}
        agent.reward_many({key: value for key, value in rewards.items() if rng.random() < told})


def lift_of(agent: al.Agent) -> LiftReport:
    lift = agent.final_report().lift
    assert lift is not None
    return lift


@pytest.mark.slow
def test_a_lift_by_hold_out_is_that_of_the_export(factory: AgentFactory) -> None:
    agent = factory.open(**SHOP, holdout=0.3, default_rewards="learned")
    run(agent, 2_000, 0.4, told=0.9)
    lift, rows = lift_of(agent), [*decisions(agent)]
    groups = []
    for held in (False, True):
        mine = [row for row in rows if (row["reason"] == "holdout") is held]
        total = sum(row["reward"] or 0.0 for row in mine)
        groups.append(GroupSums(len(mine), total, total))
        shown = lift.without if held else lift.with_campaign
        assert shown.arrivals == len(mine)
        assert shown.mean == pytest.approx(total / len(mine))
        assert shown.open == sum(row["reward"] is None for row in mine)
    assert (lift.lift, lift.low, lift.high) == pytest.approx(compare(*map(group_mean, groups)))
    assert (lift.method, lift.verdict, lift.warning) == ("holdout", "more", None)
    report = agent.final_report()
    assert lift.extra == pytest.approx(lift.lift * groups[0].arrivals)
    assert lift.cost is not None
    assert lift.cost == pytest.approx((report.spent + report.planned) / lift.extra)
    assert (lift.cost_low or 0.0) < (lift.cost or 0.0) < (lift.cost_high or 0.0)
    assert factory.open().final_report() == report  # of another process, from the log alone


@pytest.mark.slow
def test_a_lift_by_exploration_is_near_the_truth(factory: AgentFactory) -> None:
    """Unbiased: actions add 0.4, and so many were taken; within the interval and no narrower."""
    agent = factory.open(**SHOP, explore=0.2, default_rewards="learned")
    run(agent, 3_000, 0.4)
    lift = lift_of(agent)
    truth = 0.4 * agent.report().served / 3_000
    assert lift.method == "explore"
    assert lift.low < truth < lift.high
    assert lift.verdict == "more"
    assert lift.without.mean == pytest.approx(lift.with_campaign.mean - lift.lift)
    assert lift.without.arrivals == lift.with_campaign.arrivals == 3_000


@pytest.mark.parametrize("method", ["holdout", "explore"])
@pytest.mark.slow
def test_the_lift_of_campaigns_is_covered_by_its_interval(method: str) -> None:
    """60 whole campaigns, adaptive as they are: 95 % within 4 standard errors."""
    runs, covered = 60, 0
    terms = {**SHOP, "horizon": 400, "budget": 300, "policy": "wilson_eager"}
    for number in range(runs):
        agent = al.Agent.open("memory:", name="a", **{**terms, "seed": number, method: 0.25})
        run(agent, 400, 0.3, seed=number)
        lift, served = lift_of(agent), agent.report().served
        truth = 0.3 * served / lift.with_campaign.arrivals
        covered += lift.low <= truth <= lift.high
    assert covered / runs >= 0.95 - 4 * math.sqrt(0.95 * 0.05 / runs)


def test_rewards_in_money_are_reported_in_money() -> None:
    """The same campaign as with rewards in [0, 1], all figures 40 times as large."""
    plain = al.Agent.open("memory:", name="a", **SHOP, holdout=0.3)
    euros = al.Agent.open("memory:", name="a", **SHOP, holdout=0.3, reward_range=(0, 40))
    for agent, factor in ((plain, 1.0), (euros, 40.0)):
        rng = np.random.default_rng(5)
        made = agent.decide_many(["new"] * 400)
        agent.reward_many({d.id: factor * bought(rng, d, 0.4) for d in made})
    small, large = lift_of(plain), lift_of(euros)
    for field in ("lift", "low", "high", "extra", "extra_low", "extra_high"):
        assert getattr(large, field) == pytest.approx(40 * getattr(small, field))
    assert large.without.mean == pytest.approx(40 * small.without.mean)
    assert large.cost == pytest.approx((small.cost or 0.0) / 40)
    assert euros.final_report().reward == pytest.approx(40 * plain.final_report().reward)
    ours, theirs = plain.final_report().budgets, euros.final_report().budgets
    assert [p.reward for p in theirs] == pytest.approx([40 * p.reward for p in ours])


def test_a_campaign_without_a_gain_is_not_distinguishable() -> None:
    agent = al.Agent.open("memory:", name="a", **SHOP, holdout=0.2)
    run(agent, 1_000, 0.0)
    lift = lift_of(agent)
    assert lift.verdict == "unclear"
    assert (lift.cost, lift.cost_high) == (None, None)
    assert "The lift is not distinguishable from 0." in [*sentences(agent.final_report())]


def test_known_rewards_of_skips_count_where_none_is_reported() -> None:
    """3 held out of 10 and 1 skip of the policy at 0.5 each, whatever the actions bring."""
    agent = al.Agent.open(
        "memory:",
        name="a",
        contexts=["new"],
        actions={"coupon": 1},
        horizon=10,
        budget=6,
        default_rewards={"new": 0.5},
        holdout=0.3,
        seed=2,
    )
    for decision in agent.decide_many(["new"] * 10):
        if decision.action is not None:
            agent.reward(decision.id, 1.0)
    lift, report = lift_of(agent), agent.report()
    assert lift.without.mean == pytest.approx(0.5)
    skipped = 10 - report.served - report.skips["holdout"]
    mean = (report.served + 0.5 * skipped) / (report.served + skipped)
    assert lift.with_campaign.mean == pytest.approx(mean)


def test_silence_closes_decisions_of_both_groups_at_the_end_of_the_window(
    factory: AgentFactory,
) -> None:
    now = 1_700_000_000.0
    terms = {**SHOP, "reward_window": "2 days", "default_rewards": "learned", "holdout": 0.3}
    agent = factory.open(**terms, explore=0.1, clock=lambda: now)
    made = agent.decide_many(["new"] * 100)
    agent.reward_many({decision.id: 1.0 for decision in made[:40]})
    before = lift_of(agent)
    assert before.with_campaign.open + before.without.open == 60
    now += 3 * 86_400
    agent.decide_many(["returning"] * 50)
    after = lift_of(agent)
    assert after.with_campaign.open + after.without.open == 50
    assert audit(agent.store, factory.name).decisions == 150
    other = factory.open(clock=lambda: now)
    assert other.final_report() == agent.final_report()
    assert other.look(lambda c: c.to_dict()) == agent.look(lambda c: c.to_dict())


def test_silent_skips_are_closed_although_the_campaign_records_none_of_them(
    factory: AgentFactory,
) -> None:
    """Nobody has to tell the zeros of skips: the groups are alike when their windows end."""
    now = 1_700_000_000.0
    terms = {**SHOP, "reward_window": "2 days", "holdout": 0.3, "horizon": 400, "budget": 100}
    agent = factory.open(**terms, clock=lambda: now)
    made = agent.decide_many(["new"] * 200)
    assert {decision.reason for decision in made} > {"holdout", None}
    agent.reward_many({decision.id: 1.0 for decision in made[:20]})
    lift = lift_of(agent)
    assert lift.with_campaign.open + lift.without.open == 180
    assert lift.warning is None
    now += 2 * 86_400
    agent.reward_many({decision.id: 0.0 for decision in made[20:]})  # they change nothing
    for reader in (agent, factory.open(clock=lambda: now)):
        lift = lift_of(reader)
        assert (lift.with_campaign.open, lift.without.open, lift.warning) == (0, 0, None)
        assert lift.with_campaign.rewarded == lift.with_campaign.arrivals
        assert not any("no reward yet" in text for text in sentences(reader.final_report()))
    agent.decide_many(["new"] * 50)
    lift = lift_of(agent)
    assert lift.with_campaign.open + lift.without.open == 50
    audit(agent.store, factory.name)


def test_silence_of_arrivals_after_the_horizon_counts_for_no_group(factory: AgentFactory) -> None:
    clock = Clock()
    terms = {**SHOP, "horizon": 40, "reward_window": "2 days", "default_rewards": "learned"}
    agent = factory.open(**terms, holdout=0.3, explore=0.1, clock=clock)
    made = agent.decide_many(["new"] * 60)
    assert [decision.reason for decision in made[40:]] == ["horizon"] * 20
    agent.reward(made[50].id, 1.0)
    reader = factory.open(clock=clock)
    for days, waiting in [(1, 40), (3, 0)]:
        clock.now += days * 86_400
        agent.open_decisions()
        for each in (agent, reader, factory.open(clock=clock)):
            lift = lift_of(each)
            groups = lift.with_campaign, lift.without
            assert [sum(group.arrivals for group in groups), sum(g.open for g in groups)] == [
                40,
                waiting,
            ]
            assert min(group.open for group in groups) >= 0
    agent.decide("new")  # which records the zeros
    assert lift_of(agent).with_campaign.open == 0
    audit(agent.store, factory.name)


def test_rewards_told_of_one_group_only_are_warned_of() -> None:
    agent = al.Agent.open("memory:", name="a", **SHOP, holdout=0.3)
    for decision in agent.decide_many(["new"] * 200):
        if decision.reason != "holdout":
            agent.reward(decision.id, 0.0)
    lift = lift_of(agent)
    assert lift.warning is not None
    assert "100% of the arrivals with the campaign and for 0%" in lift.warning
    text = [*sentences(agent.final_report())]
    assert text[-1].startswith("Rewards have come for")
    assert f"{lift.without.open:,} arrivals have no reward yet" in text[-2]


def test_without_a_comparison_the_report_says_why() -> None:
    agent = al.Agent.open("memory:", name="a", **SHOP)
    report = agent.final_report()
    assert report.lift is None
    assert "open the next campaign with holdout=0.1" in str(report.missing)
    held = al.Agent.open("memory:", name="a", **SHOP, holdout=0.1)
    assert "not enough arrivals" in str(held.final_report().missing)
    first = next(sentences(report))
    assert first.startswith("Whether the campaign has worked cannot be said")
    json.dumps(asdict(report))


def test_sentences_on_rewards_in_money_name_the_currency() -> None:
    terms: dict[str, Any] = {**SHOP, "horizon": 400, "holdout": 0.3, "currency": "EUR"}
    for limits, cost in (((0, 350), "for each extra EUR of reward ("), (None, "extra unit of")):
        agent = al.Agent.open("memory:", name="a", **terms, reward_range=limits)
        for decision in agent.decide_many(["new"] * 300):
            reward = 0.0 if decision.reason == "holdout" else 200.0 if limits else 1.0
            agent.reward(decision.id, reward)
        report = agent.final_report()
        first, second, *_ = sentences(report)
        assert (report.reward_range, report.currency) == (limits, "EUR")
        assert cost in second
        assert second.endswith(" EUR).")
        if limits is None:
            assert "EUR" not in first
            continue
        assert first.startswith("An arrival brings 200 EUR with the campaign and 0 EUR without it")
        assert re.search(r"a lift of 200 EUR, 95\s% interval [\d.]+ to [\d.]+ EUR\.$", first)
        assert re.match(r"That is \d\d,\d00 EUR more in all \([\d,]+ to [\d,]+ EUR\)", second)


def test_other_budgets_worked_by_hand() -> None:
    """10 arrivals, mean 1 of a coupon of 1: a budget of 4 brings 4, of 16 no more than 10.

    With half of them held out no more than 5 are served.
    """
    known = al.alp(reward_means=[[1.0]], context_probs=[1.0])
    terms: dict[str, Any] = {
        "contexts": ["new"],
        "actions": {"coupon": 1},
        "horizon": 10,
        "budget": 4,
        "policy": known,
    }
    report: FinalReport = al.Agent.open("memory:", name="a", **terms).final_report()
    assert [point.budget for point in report.budgets] == [1, 2, 4, 6, 8, 16]
    assert [point.reward for point in report.budgets] == pytest.approx([1, 2, 4, 6, 8, 10])
    assert [point.extra for point in report.budgets] == pytest.approx([-3, -2, 0, 2, 4, 6])
    held = al.Agent.open("memory:", name="a", **terms, holdout=0.5).final_report()
    assert [point.reward for point in held.budgets] == pytest.approx([1, 2, 4, 5, 5, 5])


def test_other_budgets_serve_everybody_with_the_default_first() -> None:
    """10 arrivals, a default of 1 that brings 0.1, an action of 3 that brings 0.9.

    With 16 units, 6 beyond the defaults, 3 of them are improved: 7·0.1 + 3·0.9 = 3.4. With 4, four
    defaults are paid for.
    """
    known = al.alp(reward_means=[[0.1, 0.9]], context_probs=[1.0])
    agent = al.Agent.open(
        "memory:", name="a", contexts=["new"], actions={"small": 1, "large": 3}, horizon=10,
        budget=16, policy=known, default="small",
    )  # fmt: skip
    report = agent.final_report()
    assert [point.budget for point in report.budgets] == [4, 8, 16, 24, 32, 64]
    assert [point.reward for point in report.budgets] == pytest.approx([0.4, 0.8, 3.4, 6.6, 9, 9])


def test_the_budget_is_spent_although_arrivals_are_held_out() -> None:
    terms = {**SHOP, "horizon": 1_000, "budget": 1_000, "actions": {"coupon": 5}}
    agent = al.Agent.open("memory:", name="a", **terms, holdout=0.5)
    run(agent, 1_000, 0.4)
    assert agent.ledger.committed >= 0.97 * agent.ledger.budget


def test_the_remedy_for_a_missing_lift_is_one_that_the_campaign_may_have() -> None:
    """A hold-out is refused beside an action in place of skipping."""
    terms: dict[str, Any] = {
        "contexts": ["new"], "actions": {"mail": 0, "coupon": 5}, "horizon": 9, "budget": 20
    }  # fmt: skip
    with al.Agent.open("memory:", name="plain", **terms) as agent:
        assert str(agent.final_report().missing).endswith("the next campaign with holdout=0.1")
    with al.Agent.open("memory:", name="serving", default="mail", **terms) as agent:
        missing = str(agent.final_report().missing)
    assert "'mail' is taken in place of skipping" in missing
    assert "holdout" not in missing
