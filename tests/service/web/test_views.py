"""Views: contexts of the templates."""

from __future__ import annotations

from dataclasses import replace

from support.reports import report

from almoner.live.agent import Agent
from almoner.policy.recipes import RECIPES
from almoner.service.web.views import campaign_view, learning_policies
from almoner.store import open_store


def test_only_the_contexts_that_come_most_are_shown() -> None:
    context = report().contexts[0]
    many = [replace(context, context=f"c{index}", arrivals=index) for index in range(40)]
    view = campaign_view(report(contexts=many), 200, [], [])
    assert [row["context"].context for row in view["contexts"]] == [
        f"c{index}" for index in range(10, 40)
    ]
    assert view["hidden_contexts"] == 10


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
