"""Campaigns with a reward window: silence becomes 0 in the end, and is evidence before."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.agents import AgentFactory, agent_factory, refused, replay
from support.shop import DAY, OPENED, Clock, Shop, random_uplift, run_week

import almoner as al
from almoner.live.audit import audit
from almoner.live.state.campaign_state import Campaign
from almoner.live.terms.written_terms import written_terms
from almoner.store.events import REWARDED

WEEK = "7 days"


def create(factory: AgentFactory, clock: Clock, **terms: Any) -> al.Agent:
    return factory.create(clock=clock, reward_window=WEEK, **terms)


def outcomes(agent: al.Agent) -> list[tuple[int | None, float | None, str | None]]:
    """Return decision, reward and reason of all rewards in the log."""
    return [(e.decision, e.reward, e.reason) for e in agent.events() if e.kind == REWARDED]


def test_silence_becomes_a_reward_of_0_when_the_window_ends(factory: AgentFactory) -> None:
    clock = Clock()
    agent = create(factory, clock)
    told, silent = agent.decide("new"), agent.decide("new")
    clock.now += 6.9 * DAY
    agent.reward(told.id, 1.0)
    assert outcomes(agent) == [(told.id, 1.0, None)]
    clock.now += 0.1 * DAY
    agent.decide("new")
    assert outcomes(agent) == [(told.id, 1.0, None), (silent.id, 0.0, "window")]
    assert audit(agent.store, agent.name).decisions == 3
    clock.now += 8 * DAY
    assert len(agent.look(lambda campaign: campaign.window).waiting) == 0
    assert [reward for _, reward, _ in outcomes(agent)] == [1.0, 0.0, 0.0]
    assert factory.open(clock=clock).look(Campaign.to_dict) == replay(agent)


def test_skips_wait_for_rewards_only_where_these_are_learned(memory: AgentFactory) -> None:
    clock = Clock()
    learned = create(memory, clock, default_rewards="learned", budget=0)
    other = al.Agent.open(memory.url, name="other", **{**vars_of(learned), "default_rewards": None})
    for agent, silences in ((learned, 1), (other, 0)):
        clock.now = OPENED
        skip = agent.decide("new")
        assert skip.action is None
        clock.now += 8 * DAY
        agent.decide("new")
        assert len(outcomes(agent)) == silences
        with refused(agent, al.Conflict, match=f"window of decision {skip.id} ended at 2026-0"):
            agent.reward(skip.id, 1.0)


def vars_of(agent: al.Agent) -> dict[str, Any]:
    """Return the terms and the clock with which to open another campaign."""
    return {**written_terms(agent.terms), "clock": agent._transactions._clock}


def test_a_reward_after_the_window_is_refused_by_one_sentence(memory: AgentFactory) -> None:
    clock = Clock()
    agent = create(memory, clock)
    decision = agent.decide("new")
    clock.now += 7 * DAY
    message = (
        r"^the reward window of decision 1 ended at 2026-09-28T\d\d:\d\d:\d\d\+00:00, 1 week after "
        r"it, so its reward is 0, got reward=1.0; tell rewards within the window$"
    )
    with refused(agent, al.Conflict, match=message):
        agent.reward(decision.id, 1.0)
    agent.reward(decision.id, 0.0)  # which is what was recorded
    assert outcomes(agent) == [(1, 0.0, "window")]


def test_a_zero_after_the_window_says_the_same_as_silence(factory: AgentFactory) -> None:
    """A job may tell the zeros of a week afterwards, those of skips with the others."""
    clock = Clock()
    agent = create(factory, clock)
    action, skip = agent.decide("new"), agent.decide("new", available=[])
    clock.now += 7 * DAY
    agent.reward_many({action.id: 0.0, skip.id: 0.0})
    agent.reward(skip.id, 0)
    assert outcomes(agent) == [(action.id, 0.0, "window")]
    with refused(agent, al.Conflict, "ended at .* so its reward is 0, got reward=0.5"):
        agent.reward(skip.id, 0.5)
    audit(agent.store, agent.name)


def test_a_reward_in_time_may_be_repeated_after_the_window(memory: AgentFactory) -> None:
    clock = Clock()
    agent = create(memory, clock)
    decision = agent.decide("new")
    agent.reward(decision.id, 1.0)
    clock.now += 9 * DAY
    agent.reward(decision.id, 1.0)
    with refused(agent, al.Conflict, match=r"was rewarded with 1\.0"):
        agent.reward(decision.id, 0.5)
    assert outcomes(agent) == [(1, 1.0, None)]


@pytest.mark.parametrize(
    "window", ["7", "soon", 7, "0 days", True, "-1 days", "11 years", "1e9 days"]
)
def test_a_window_must_be_a_duration(window: Any, memory: AgentFactory) -> None:
    with pytest.raises(al.InvalidTerms, match="reward_window must be a duration above 0"):
        memory.create(reward_window=window)


def test_the_window_is_a_term_like_others(memory: AgentFactory) -> None:
    agent = memory.create(reward_window="168 hours")
    assert memory.open(reward_window=WEEK).terms == agent.terms
    message = "opened with reward_window='1 week', got reward_window='2 days'"
    with pytest.raises(al.AlmonerError, match=message):
        memory.open(reward_window="2 days")
    unchanged = al.Agent.open("memory:", name="x", **{**vars_of(agent), "reward_window": None})
    assert "reward_window" not in unchanged.terms.to_dict()


def test_decisions_are_evidence_by_their_age(memory: AgentFactory) -> None:
    """Without rewards F is the guess: after half the window ¾ have come, N stays."""
    clock = Clock()
    agent = create(memory, clock, contexts=["new"], actions={"mail": 1}, horizon=400, budget=400)
    agent.decide_many(["new"] * 8)
    clock.now += 3.5 * DAY
    agent.decide("new")
    state = agent.look(lambda campaign: campaign.state)
    came = float(state.counts[0, 0])
    assert came == pytest.approx(8 * 0.75, rel=1e-9)
    assert came + float(state.pending[0, 0]) == pytest.approx(9)
    agent.reward(3, 1.0)
    state = agent.look(lambda campaign: campaign.state)
    assert (float(state.counts[0, 0]), float(state.sums[0, 0])) == (came, 1.0)
    agent.cancel(9)
    assert float(agent.look(lambda campaign: campaign.state.pending[0, 0])) == pytest.approx(2.0)


def test_the_report_says_what_is_open_and_promises_what_is_due(memory: AgentFactory) -> None:
    """Eight decisions half a window ago count ¾ each; two of them were rewarded."""
    clock = Clock()
    agent = create(memory, clock, contexts=["new"], actions={"mail": 1}, horizon=400, budget=400)
    agent.decide_many(["new"] * 8)
    before = agent.report()
    assert (before.reward_window, before.waiting, before.still_expected) == ("1 week", 8, 1.0)
    assert before.promised == 0
    clock.now += 3.5 * DAY
    for decision in (1, 2):
        agent.reward(decision, 1.0)
    report = agent.report()
    [pair] = report.contexts[0].actions
    evidence = pair.evidence
    assert evidence is not None
    assert 8 * 0.7 < evidence < 8 * 0.8  # the delays of two rewards count, too
    assert pair.rewarded == 2
    assert pair.mean == pytest.approx(2 / evidence)
    assert (report.rewarded, report.waiting) == (2, 6)
    assert report.still_expected == pytest.approx(1 - evidence / 8)
    assert report.reward_low < 2 + 2 / evidence * (8 - evidence) < report.reward_high
    clock.now += 3.5 * DAY
    agent.look(lambda campaign: None)
    report = agent.report()
    assert (report.rewarded, report.waiting, report.still_expected) == (8, 0, 0.0)
    assert report.reward_low == report.reward_high == 2
    assert report.contexts[0].actions[0].mean == 0.25


@pytest.mark.parametrize(
    ("told", "silent", "window", "warned"),
    [
        ([1.0] * 5, 30, None, True),
        ([0.2] * 5, 30, None, True),
        ([1.0, 0.0], 30, None, False),
        ([1.0] * 5, 29, None, False),
        ([], 40, None, False),
        ([1.0] * 31, 30, None, False),
        ([1.0] * 5, 30, WEEK, False),
    ],
)
def test_only_good_news_is_reported(
    told: list[float], silent: int, window: str | None, warned: bool, memory: AgentFactory
) -> None:
    agent = memory.create(
        contexts=["new"], actions={"mail": 1}, horizon=100, budget=100, reward_window=window
    )
    decisions = agent.decide_many(["new"] * (len(told) + silent))
    agent.reward_many({d.id: value for d, value in zip(decisions, told, strict=False)})
    assert agent.report().only_good_news is warned


CONTEXT = st.sampled_from(["new", "returning", "x", "y"])
STEPS = st.lists(
    st.one_of(
        st.tuples(
            st.just("decide"),
            st.lists(st.sampled_from(["new", "returning", "x", "y"]), min_size=1, max_size=4),
        ),
        st.tuples(st.just("reward"), st.sampled_from([0.0, 0.5, 1.0])),
        st.tuples(st.just("cancel"), st.none()),
        st.tuples(st.just("wait"), st.sampled_from([0.001, 0.1, 2.0, 6.9, 30.0])),
        st.tuples(st.just("pause"), st.booleans()),
        st.tuples(st.just("swap"), st.none()),
    ),
    max_size=40,
)
POLICIES = ["thrifty", "ucb-rounded", "thompson-rounded", "kl-ucb-rounded", "wilson-eager"]


@given(
    steps=STEPS,
    policy=st.sampled_from(POLICIES),
    defaults=st.sampled_from([None, "learned"]),
    pick=st.randoms(use_true_random=False),
    equal=st.booleans(),
)
@settings(max_examples=60, deadline=None)
@pytest.mark.slow
def test_every_process_folds_the_same_state(
    steps: list[tuple[str, Any]], policy: str, defaults: str | None, pick: Any, equal: bool
) -> None:
    """Two agents use a campaign in turns; both, a third and a replay agree to the last bit."""
    clock = Clock()
    with agent_factory("memory") as factory:
        agent = create(
            factory,
            clock,
            policy=policy,
            default_rewards=defaults,
            new_contexts=True,
            actions={"mail": 1.0, "coupon": 1.0 if equal else 5.0},
        )
        other = factory.open(clock=clock)
        ids: list[int] = []
        for what, value in steps:
            if what == "decide":
                ids += [decision.id for decision in agent.decide_many(value)]
            elif what == "wait":
                clock.now += value * DAY
            elif what == "pause":
                (agent.pause if value else agent.resume)()
            elif what == "swap":
                agent, other = other, agent
            elif ids:
                with suppress(al.Conflict):
                    if what == "reward":
                        agent.reward(pick.choice(ids), value)
                    else:
                        agent.cancel(pick.choice(ids))
        state = agent.look(Campaign.to_dict)
        assert state == replay(agent) == other.look(Campaign.to_dict)
        audit(agent.store, agent.name)
        ledger = agent.ledger
        assert ledger.left >= 0


@pytest.mark.slow
def test_where_zeros_are_told_by_nobody_a_week_brings_most_of_what_it_could() -> None:
    """Eight weeks of the shop; the benchmark has the same over more (benchmarks/campaigns)."""
    weeks = range(8)
    at_once = np.mean([run_week(Shop(seed), at_once=True, silent=False).uplift for seed in weeks])
    late = [run_week(Shop(seed), reward_window=WEEK) for seed in weeks]
    random = random_uplift(20_000, 1_500)
    share = (np.mean([week.uplift for week in late]) - random) / (at_once - random)
    assert min(week.spent for week in late) >= 0.99 * 1_500
    assert share > 0.6  # 0.87 ± 0.09 over eight weeks
