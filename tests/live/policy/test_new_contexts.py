"""Contexts that were not declared: an error, or learned as they come."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import pytest
from support.agents import TERMS, AgentFactory, observable_state, refused, replay, replayed_state

import almoner as al
from almoner.kernels.state import NEW_COUNT, NEW_MEAN, NEW_SHARE
from almoner.live.policy import context_rows, lower_terms
from almoner.live.policy.live_policy import LivePolicy
from almoner.live.state.campaign_state import Campaign
from almoner.live.transactions.commands import arrivals

OPEN: dict[str, Any] = {"new_contexts": True, "contexts": ["new"]}


def test_a_new_context_is_added_when_it_arrives(factory: AgentFactory) -> None:
    agent = factory.create(**OPEN)
    assert agent.decide("Montréal 🌷").action == "mail"
    assert agent.decide("new").action == "mail"
    assert agent.look(lambda campaign: list(campaign.contexts)) == ["new", "Montréal 🌷"]
    assert agent.look(lambda campaign: campaign.state.context_counts.tolist()) == [1.0, 1.0]
    again = factory.open()
    assert observable_state(again) == observable_state(agent) == replayed_state(agent)
    assert again.decide("Montréal 🌷").id == 3


def test_a_resumed_campaign_keeps_its_terms(factory: AgentFactory) -> None:
    factory.create(**OPEN).decide("returning")
    assert factory.create(**OPEN).terms.contexts == ("new",)
    with pytest.raises(al.DifferentTerms, match="contexts="):
        factory.create(new_contexts=True)  # with both contexts, as if declared


def test_what_was_learned_before_is_kept(factory: AgentFactory) -> None:
    agent, other = factory.create(**OPEN), factory.open(name=factory.name)
    first = agent.decide("new")
    agent.reward(first.id, 0.25)
    second = other.decide("second")
    agent.reward(second.id, 0.5)
    other.settle(second.id, cost=0.5)
    agent.decide("third")
    expected = [[0.25, 0.0], [0.5, 0.0], [0.0, 0.0]]
    for opened in (agent, other, factory.open()):
        assert opened.look(lambda campaign: campaign.state.sums.tolist()) == expected
        assert observable_state(opened) == replayed_state(agent)
    assert agent.ledger == (60_000_000, 500_000, 2_000_000, 2_000_000)


def test_a_batch_may_bring_several_new_contexts(factory: AgentFactory) -> None:
    agent = factory.create(**OPEN)
    agent.decide_many(["b", "new", "c", "b"], keys=["1", None, "3", "4"])
    assert agent.look(lambda campaign: list(campaign.contexts)) == ["new", "b", "c"]
    with refused(agent, al.Conflict, "key '3' was used for context 'c', got context 'd'"):
        agent.decide_many(["e", "d"], keys=[None, "3"])
    assert observable_state(factory.open()) == observable_state(agent) == replayed_state(agent)


def test_a_new_context_during_a_pause_is_folded_alike(factory: AgentFactory) -> None:
    agent = factory.create(**OPEN)
    agent.pause()
    agent.decide("second")
    agent.resume()
    agent.decide("third")
    assert observable_state(factory.open()) == observable_state(agent) == replayed_state(agent)


def test_decisions_are_those_of_a_campaign_that_knew_all_along(memory: AgentFactory) -> None:
    """Contexts that have not come yet have weight 0: declaring them changes nothing."""
    terms: dict[str, Any] = {"budget": 20, "policy": "ucb-ealp", "horizon": 40}
    contexts = ["a", "b", "a", "c", "b"] * 8
    knew = memory.create(name="knew", **{**terms, "contexts": ["a", "b", "c"]})
    learns = memory.create(name="learns", **{**terms, "contexts": ["a"], "new_contexts": True})
    for number, context in enumerate(contexts):
        ours, theirs = knew.decide(context), learns.decide(context)
        assert (ours.action, ours.probability) == (theirs.action, theirs.probability)
        for agent, decision in ((knew, ours), (learns, theirs)):
            agent.reward(decision.id, number % 3 / 2)
    assert knew.look(lambda c: c.to_dict()) == learns.look(lambda c: c.to_dict())


LEARNERS = {
    name: policy
    for name, policy in {
        **{name: make() for name, make in al.RECIPES.items()},
        "usable test": al.epsilon_first_alp(test="usable", contexts=al.EmpiricalContexts()),
        "literal test": al.epsilon_first_alp(test="literal", contexts=al.EmpiricalContexts()),
        "explores": al.epsilon_first_alp(rounds=20, contexts=al.EmpiricalContexts()),
    }.items()
    if policy.contexts == al.EmpiricalContexts() and not isinstance(policy.rewards, al.KnownRewards)
}
"""Every policy that new contexts may be used with."""


@pytest.mark.slow
@pytest.mark.parametrize("defaults", [None, "learned"])
@pytest.mark.parametrize("costs", [{"x": 1.0, "y": 1.0}, {"x": 1.0, "y": 2.5}], ids=["1", "1, 2.5"])
@pytest.mark.parametrize("name", LEARNERS)
def test_a_batch_of_new_contexts_is_decided_as_one_after_the_other(
    name: str, costs: dict[str, float], defaults: Any, memory: AgentFactory
) -> None:
    """So is a fold of their log, and a campaign that declared all of them decides the same."""
    terms: dict[str, Any] = {
        "actions": costs,
        "budget": 40,
        "horizon": 90,
        "policy": LEARNERS[name],
    }
    terms |= {"default_rewards": defaults, "contexts": ["0"], "new_contexts": True}
    together, apart = (memory.create(name=name, **terms) for name in ("together", "apart"))
    known = {"contexts": [str(number) for number in range(20)], "new_contexts": False}
    knew = memory.create(name="knew", **terms | known)
    for batch in range(5):
        coming = [str((number * number + batch) % (4 * batch + 4)) for number in range(18)]
        decisions = together.decide_many(coming)
        singly = [apart.decide(context) for context in coming]
        ids = [replace(one, id=one.id - apart.first_id) for one in singly]
        assert ids == decisions
        knowing = knew.decide_many(coming)
        if (
            "thompson" not in name
        ):  # it numbers draws by the rows of contexts, and how many there are
            for ours, theirs in zip(decisions, knowing, strict=True):
                assert (ours.action, ours.probability) == (theirs.action, theirs.probability)
                assert ours.price == pytest.approx(theirs.price, abs=1e-12)
        for agent in (together, apart, knew):
            first = agent.first_id
            agent.reward_many({one.id + first: one.id % 3 / 2 for one in decisions})
    assert list(together.events()) == [
        event._replace(at=ours.at)
        for ours, event in zip(together.events(), apart.events(), strict=True)
    ]
    assert observable_state(together) == replayed_state(together)
    assert replay(together) == replay(apart)


def test_new_contexts_are_added_without_copying_the_others(
    memory: AgentFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A thousand in a batch: ten doublings, and one plan, as for one; a log of them likewise."""
    count: Counter[str] = Counter()

    def counted(owner: Any, name: str) -> None:
        function = getattr(owner, name)

        def call(*arguments: Any, **named: Any) -> Any:
            count[name] += 1
            return function(*arguments, **named)

        monkeypatch.setattr(owner, name, call)

    agent = memory.create(**OPEN, horizon=5_000)
    for name in ("doubled", "new_buffers"):
        counted(context_rows, name)
    counted(lower_terms, "lower")
    counted(LivePolicy, "replay")
    agent.decide_many([f"context {number}" for number in range(1_000)])
    assert count == {"doubled": 10}
    assert replay(agent) == agent.look(Campaign.to_dict)
    assert count == {"doubled": 20, "new_buffers": 1, "lower": 1, "replay": 1}


def test_what_is_no_name_is_refused(factory: AgentFactory) -> None:
    agent = factory.create(**OPEN)
    odd: list[Any] = ["", "x" * 201, "a\0b", "\ud800", None, 3, True, b"new", ["new"], 1.5]
    for context in odd:
        with refused(
            agent, al.InvalidInput, "context must be a name of 1 to 200 characters, none of"
        ):
            agent.decide(context)
    with refused(agent, al.InvalidInput, "context must be a name"):
        agent.decide_many(["fresh", ""])  # all or none: fresh is not added either


@pytest.mark.parametrize(
    "terms",
    [
        {"actions": {"mail": {"new": 1.0}}},
        {"actions": {"mail": al.Action(cost=1.0, reserve={"new": 2.0})}},
        {"default_rewards": {"new": 0.1}},
        {"policy": al.ealp(reward_means=[[0.5, 0.5]])},
        {"policy": al.ucb_alp(context_probs=[1.0])},
        {"policy": "ucb-ealp2"},
        {"policy": "skip-always"},
    ],
)
def test_terms_that_speak_of_single_contexts_do_not_go_with_new_ones(
    terms: dict[str, Any], memory: AgentFactory
) -> None:
    with pytest.raises(
        al.InvalidTerms, match="new_contexts=True needs costs and a policy that say"
    ):
        memory.open(**{**TERMS, **OPEN, **terms})
    assert memory.name not in memory.create(name="other").store.campaigns()


def test_there_is_an_end_to_new_contexts(
    memory: AgentFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("almoner.live.transactions.arrival_names.PAIRS_LIMIT", 8)
    agent = memory.create(new_contexts=True)
    agent.decide_many(["new", "third", "fourth"])
    with refused(agent, al.InvalidInput, "context must be one of the 4 so far"):
        agent.decide("fifth")
    assert agent.decide("fourth").context == "fourth"


def test_a_batch_is_held_to_the_limit_as_a_whole(
    memory: AgentFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("almoner.live.transactions.arrival_names.PAIRS_LIMIT", 9)
    agent = memory.create(new_contexts=True)
    with refused(agent, al.InvalidInput, "context must be one of the 4 so far.*'fifth'"):
        agent.decide_many(["third", "fourth", "third", "fifth"])
    assert len(agent.decide_many(["third", "third", "fourth", "new"])) == 4


def test_callers_who_share_a_transaction_share_the_limit(
    memory: AgentFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("almoner.live.transactions.arrival_names.PAIRS_LIMIT", 8)
    agent = memory.create(new_contexts=True)
    batches = (["third"], ["fourth", "fifth"], ["fourth", "third"], ["fifth"])
    done = agent.ask_all([[arrivals(batch)] for batch in batches])
    assert [isinstance(answer, al.InvalidInput) for answer in done] == [False, True, False, True]
    assert agent.look(lambda campaign: list(campaign.contexts)) == [
        *TERMS["contexts"],
        "third",
        "fourth",
    ]
    assert observable_state(agent) == replayed_state(agent)


def fitted(agent: al.Agent) -> tuple[list[float], list[float], list[float]]:
    """Return the pooled prior of a context without rewards: means, counts, shares of actions."""
    table: list[list[float]] = agent.look(lambda campaign: campaign.state.action_fit.tolist())
    return table[NEW_MEAN], table[NEW_COUNT], table[NEW_SHARE]


def prior_of(agent: al.Agent, context: str) -> tuple[list[float], list[float], list[float]]:
    """Return the pooled prior of a context."""
    row, state = agent.look(lambda campaign: (campaign.contexts[context], campaign.state))
    fields = (state.prior_means, state.prior_counts, state.action_shares)
    means, counts, shares = (values[row].tolist() for values in fields)
    return means, counts, shares


def rewarded(agent: al.Agent, contexts: list[str]) -> None:
    for number, decision in enumerate(agent.decide_many(contexts)):
        if decision.action is not None:
            agent.reward(decision.id, float(number % 5 == 0))


def test_a_context_that_comes_late_starts_from_what_others_taught(factory: AgentFactory) -> None:
    """The prior is used from the first fit on: 60 rewards would not prove it."""
    pooled = replace(al.thrifty(), prior=al.Pooled())
    agent = factory.create(**OPEN, horizon=400, budget=300, policy=pooled)
    agent.decide("before the first reward")
    assert prior_of(agent, "before the first reward") == ([0.0, 0.0], [0.0, 0.0], [0.0, 0.0])
    rewarded(agent, ["new", "old"] * 30)
    agent.decide("late")
    means, counts, shares = fitted(agent)
    assert min(counts) > 0
    assert max(means) < 0.6, "a fifth of the rewards are 1"
    for context in ("late", "before the first reward"):
        assert prior_of(agent, context) == (means, counts, shares)
    for again in (agent, factory.open()):
        report = {context.context: context for context in again.report().contexts}
        late = report["late"].actions[0]
        assert (late.mean, late.rewarded, late.borrowed) == (None, 0, counts[0])
        assert late.pooled == pytest.approx(means[0])
    assert observable_state(factory.open()) == observable_state(agent) == replayed_state(agent)


def test_without_a_prior_a_new_context_starts_from_nothing(memory: AgentFactory) -> None:
    agent = memory.create(**OPEN, policy=al.wilson_eager(), horizon=400, budget=300)
    rewarded(agent, ["new", "old"] * 30)
    agent.decide("late")
    assert agent.look(lambda campaign: campaign.state.prior_counts.size) == 0
    pairs = [pair for context in agent.report().contexts for pair in context.actions]
    assert {(pair.pooled, pair.borrowed) for pair in pairs} == {(None, None)}


@pytest.mark.parametrize("size", [1, 2, 3, 7, 40, 1_000])
@pytest.mark.parametrize("costs", [{"x": 1.0, "y": 1.0}, {"x": 1.0, "y": 2.5}], ids=["1", "1, 2.5"])
def test_when_a_process_admits_a_context_changes_no_bit(
    costs: dict[str, float], size: int, memory: AgentFactory
) -> None:
    """A fold admits the contexts of a page before its first event, refits of the page included."""
    agent = memory.create(**OPEN, actions=costs, horizon=400, budget=200)
    for batch in range(12):
        rewarded(agent, [str(number % (1 + 3 * batch)) for number in range(5 * batch, 8 * batch)])
    events = list(agent.events())
    assert len({event.context for event in events}) > 16, "rows were doubled a few times"
    folded = Campaign(agent.terms)
    for start in range(0, len(events), size):
        folded.apply(events[start : start + size])
    assert folded.to_dict() == agent.look(Campaign.to_dict)
    working = [campaign.policy._working[1] for campaign in (folded, replayed(agent))]
    for name in ("means", "counts", "roots"):
        one, other = (getattr(memo, name).tolist() for memo in working)
        assert one == other


def replayed(agent: al.Agent) -> Campaign:
    campaign = Campaign(agent.terms)
    campaign.restore(agent.look(Campaign.to_dict))
    return campaign
