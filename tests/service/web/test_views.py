"""Views: contexts of the templates."""

from __future__ import annotations

from dataclasses import replace

import pytest
from support.clock import Clock
from support.reports import pair, report

import almoner as al
from almoner.live.export import LoggedDecision, decisions
from almoner.live.reports.report import ContextReport
from almoner.service.api.campaign_view import CampaignView
from almoner.service.web.estimate_rows import PAIRS_SHOWN
from almoner.service.web.templating import TEMPLATES
from almoner.service.web.views import CONTEXTS_SHOWN, campaign_view


@pytest.mark.parametrize(("rewards", "skip"), [("learned", True), (None, False)])
def test_rewards_are_awaited_of_actions_and_of_skips_that_are_learned(
    rewards: str | None, skip: bool
) -> None:
    clock = Clock()
    coupon = al.Action(cost=1, expires="1 day")
    with al.Agent.open(
        "memory:", name="week", contexts=["new"], actions={"coupon": coupon}, horizon=9, budget=9,
        default_rewards=rewards, reward_window="2 days", clock=clock,
    ) as agent:  # fmt: skip
        made = [agent.decide("new", available=names) for names in ([], ["coupon"], ["coupon"])]
        agent.cancel(made[1].id)
        clock.now += 1.5 * 86_400
        latest = [LoggedDecision(**row) for row in decisions(agent)]
        campaign = agent.look(lambda state: CampaignView.of("week", state, agent.now()))
        shown = campaign_view(agent.report(), 9, [], latest, campaign=campaign)
    assert [row["awaits"] for row in shown["latest"]] == [skip, False, True]
    assert [row["note"] for row in shown["latest"]] == ["", "cancelled", "expired"]


def test_only_the_contexts_that_come_most_are_shown() -> None:
    context = report().contexts[0]
    many = [replace(context, context=f"c{index}", arrivals=index) for index in range(40)]
    view = campaign_view(report(contexts=many), 200, [], [])
    assert [row.context.context for row in view["contexts"]] == [
        f"c{index}" for index in range(10, 40)
    ]
    assert view["hidden_contexts"] == 10


def test_learned_costs_give_no_further_decimals_to_amounts() -> None:
    learned = pair(cost=0.401762, reserve=5.0, declared=0.5, billed=0.300365)
    context = replace(report().contexts[0], actions=[learned])
    money = campaign_view(report(contexts=[context], currency="EUR"), 200, [], [])["money"]
    assert (money(100.0), money(0.401762)) == ("100.00 EUR", "0.40 EUR")


def wide(contexts: int, actions: int) -> list[ContextReport]:
    """Return contexts with many actions: 5 is planned, and later ones were taken more often."""
    pairs = [
        pair(action=f"a{index}", taken=index, planned=float(index == 5)) for index in range(actions)
    ]
    context = report().contexts[0]
    return [replace(context, context=f"c{index}", actions=pairs) for index in range(contexts)]


def test_the_planned_and_the_most_taken_actions_of_a_context_are_shown() -> None:
    view = campaign_view(report(contexts=wide(100, 50)), 200, [], [])
    each = PAIRS_SHOWN // CONTEXTS_SHOWN
    latest = range(50 - each + 1, 50)
    assert len(view["contexts"]) == CONTEXTS_SHOWN
    for row in view["contexts"]:
        shown = [estimate.pair.action for estimate in row.rows]
        assert shown == ["a5", *(f"a{index}" for index in latest)]
        assert (row.hidden, row.hidden_taken) == (50 - each, sum(range(50)) - 5 - sum(latest))
    few = campaign_view(report(contexts=wide(3, PAIRS_SHOWN // 3)), 200, [], [])
    assert {row.hidden for row in few["contexts"]} == {0}, "few contexts have room for all"
    assert not few["hidden_actions"]


def test_the_page_says_how_many_contexts_and_actions_it_leaves_out() -> None:
    view = campaign_view(report(contexts=wide(100, 1000)), 200, [], [])
    text = TEMPLATES.get_template("campaign.html").render(
        here="/", signed_in=False, administers=True, **view
    )
    assert PAIRS_SHOWN // CONTEXTS_SHOWN == 8
    taken = sum(range(993)) - 5
    assert text.count(f">992 more actions, taken {taken:,} times in all</td>") == CONTEXTS_SHOWN
    assert "70 more contexts came less often." in text
    assert "Of each context, the actions in the plan and taken most often are shown." in text
    assert '<a href="/api/campaigns/spring/report">The report as JSON</a> has them all.' in text
    assert "994 other actions</li>" in text, "in the legend"
    assert "50 % served: <bdi>a5</bdi>" in text, "no colour is needed to tell the action"
    assert len(text) < 400_000, "the page is fetched every two seconds"


def test_the_latest_decisions_say_which_were_at_costs_of_their_own() -> None:
    agent = al.Agent.open(
        "memory:", name="a", contexts=["new"], actions={"mail": 1}, horizon=9, budget=9, seed=1
    )
    agent.decide("new", costs={"mail": 0.125})
    agent.decide("new")
    latest = [LoggedDecision(**row) for row in decisions(agent)]
    view = campaign_view(agent.report(), 9, [], latest)
    assert [row["own_cost"] for row in view["latest"]] == ["0.125", ""]
    text = TEMPLATES.get_template("campaign.html").render(
        here="/", signed_in=False, administers=True, **view
    )
    assert text.count("at its own cost of 0.125") == 1
