"""Contexts that were not declared: an error, or learned as they come."""

from __future__ import annotations

from typing import Any

import pytest
from agents import TERMS, Place, folded, refused, standing

import almoner as al

OPEN: dict[str, Any] = {"new_contexts": True, "contexts": ["new"]}


def test_a_new_context_is_added_when_it_arrives(place: Place) -> None:
    agent = place.create(**OPEN)
    assert agent.decide("Montréal 🌷").action == "mail"
    assert agent.decide("new").action == "mail"
    assert agent.look(lambda campaign: list(campaign.contexts)) == ["new", "Montréal 🌷"]
    assert agent.look(lambda campaign: campaign.state.context_counts.tolist()) == [1.0, 1.0]
    again = place.open()
    assert standing(again) == standing(agent) == folded(agent)
    assert again.decide("Montréal 🌷").id == 3


def test_a_resumed_campaign_keeps_its_terms(place: Place) -> None:
    place.create(**OPEN).decide("returning")
    assert place.create(**OPEN).terms.contexts == ("new",)
    with pytest.raises(al.DifferentTerms, match="contexts="):
        place.create(new_contexts=True)  # with both contexts, as if declared


def test_what_was_learned_before_is_kept(place: Place) -> None:
    agent, other = place.create(**OPEN), place.open(name=place.name)
    first = agent.decide("new")
    agent.reward(first.id, 0.25)
    second = other.decide("second")
    agent.reward(second.id, 0.5)
    other.settle(second.id, cost=0.5)
    agent.decide("third")
    expected = [[0.25, 0.0], [0.5, 0.0], [0.0, 0.0]]
    for asked in (agent, other, place.open()):
        assert asked.look(lambda campaign: campaign.state.sums.tolist()) == expected
        assert standing(asked) == folded(agent)
    assert agent.ledger == (60_000_000, 500_000, 2_000_000, 2_000_000)


def test_a_batch_may_bring_several_new_contexts(place: Place) -> None:
    agent = place.create(**OPEN)
    agent.decide_many(["b", "new", "c", "b"], keys=["1", None, "3", "4"])
    assert agent.look(lambda campaign: list(campaign.contexts)) == ["new", "b", "c"]
    with refused(agent, al.Conflict, "key '3' was used for context 'c', got context 'd'"):
        agent.decide_many(["e", "d"], keys=[None, "3"])
    assert standing(place.open()) == standing(agent) == folded(agent)


def test_a_new_context_during_a_pause_is_folded_alike(place: Place) -> None:
    agent = place.create(**OPEN)
    agent.pause()
    agent.decide("second")
    agent.resume()
    agent.decide("third")
    assert standing(place.open()) == standing(agent) == folded(agent)


def test_decisions_are_those_of_a_campaign_that_knew_all_along(memory: Place) -> None:
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


def test_what_is_no_name_is_refused(place: Place) -> None:
    agent = place.create(**OPEN)
    odd: list[Any] = ["", "x" * 201, "a\0b", "\ud800", None, 3, True, b"new", ["new"], 1.5]
    for context in odd:
        with refused(agent, al.InvalidInput, "context must be a name of 1 to 200 characters, got"):
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
    terms: dict[str, Any], memory: Place
) -> None:
    with pytest.raises(
        al.InvalidTerms, match="new_contexts=True needs costs and a policy that say"
    ):
        memory.open(**{**TERMS, **OPEN, **terms})
    assert memory.name not in memory.create(name="other").store.campaigns()


def test_there_is_an_end_to_new_contexts(memory: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("almoner.campaign.PAIRS_LIMIT", 8)
    agent = memory.create(new_contexts=True)
    agent.decide_many(["new", "third", "fourth"])
    with refused(agent, al.InvalidInput, "context must be one of the 4 so far"):
        agent.decide("fifth")
    assert agent.decide("fourth").context == "fourth"
