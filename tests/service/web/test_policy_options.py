"""Policies of the create form."""

from __future__ import annotations

from almoner.live.agent import Agent
from almoner.policy.recipes import RECIPES
from almoner.service.web.policy_options import learning_policies
from almoner.store import open_store


def test_the_policies_offered_can_all_start_without_knowledge() -> None:
    options = learning_policies()
    assert options[0][0] == "thrifty"
    assert {option.name for option in options} < set(RECIPES)
    assert [option.name for option in options if option.contexts == 2] == ["ucb_pb"]
    for name, sentence, _ in options:
        assert sentence.endswith(".")
        agent = Agent.open(
            open_store("memory:"),
            name=name,
            contexts=["a", "b"],
            actions={"coupon": 1},
            horizon=10,
            budget=5,
            policy=name,
        )
        assert agent.report().policy == name


def test_the_default_and_the_one_before_it_are_told_apart_in_plain_words() -> None:
    sentences = {option.name: option.sentence for option in learning_policies()}
    assert "learn from each other’s rewards" in sentences["thrifty"]
    assert "from its own rewards only" in sentences["wilson_eager"]
    for name in ("thrifty", "wilson_eager"):
        assert not {"Wilson", "pooled", "prior", "index"} & set(sentences[name].split())
