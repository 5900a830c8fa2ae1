"""What the page says and draws, worked out by hand from reports."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from almoner.live.agent import Agent
from almoner.live.report import ActionReport, ContextReport, CurvePoint, Report
from almoner.policy.recipes import RECIPES
from almoner.service.web import chart_series, charts, formatting, notices, sentences, svg
from almoner.service.web.views import campaign_view, learning_policies
from almoner.store import open_store


def pair(**changes: Any) -> ActionReport:
    known = {"taken": 20, "rewarded": 16, "mean": 0.25, "low": 0.1, "high": 0.45, "planned": 0.5}
    return ActionReport(**{"action": "coupon", "cost": 5.0, "reserve": 5.0, **known, **changes})


def report(**changes: Any) -> Report:
    """A quarter of the way: 30 of 100 spent, 5 reserved, where the straight line is at 25."""
    context = ContextReport(context="new", arrivals=50, share=1.0, served=0.5, actions=[pair()])
    return replace(
        Report(
            name="spring",
            status="running",
            policy="thrifty",
            budget=100.0,
            spent=30.0,
            reserved=5.0,
            planned=5.0,
            left=65.0,
            unusable=0.0,
            overrun=0.0,
            uncharged=0.0,
            cheapest=5.0,
            blocked=None,
            arrivals=50,
            arrivals_left=150,
            closes=None,
            served=7,
            skips={"policy": 43},
            idle={"policy": 4},
            rewarded=7,
            reward=3.0,
            waiting=0,
            reward_low=3.0,
            reward_high=3.0,
            promised=4.0,
            guessed=0,
            ratio_start=0.5,
            ratio_now=65 / 150,
            pace=0.1,
            price=0.05,
            value=0.08,
            boundaries=[0.25, 2.5],
            contexts=[context],
        ),
        **changes,
    )


money = formatting.money_format([100.0, 5.0])


@pytest.mark.parametrize(
    ("pace", "said"),
    [
        (0.1, "spending 10 % ahead of the straight line"),
        (-0.042, "spending 4 % behind the straight line"),
        (0.004, "on pace"),
        (-0.0049, "on pace"),
    ],
)
def test_the_pace_in_words(pace: float, said: str) -> None:
    assert sentences.pace(report(pace=pace)) == said


def test_before_the_first_arrival_and_after_the_last() -> None:
    assert sentences.pace(report(arrivals=0)) == "nobody has come yet"
    over = report(arrivals=200, arrivals_left=0)
    assert sentences.pace(over) == "35 % of the budget spent or expected to be at the end"
    assert (sentences.state(over), sentences.state(report())) == ("finished", "running")
    assert sentences.state(replace(over, status="closed")) == "closed"
    assert sentences.summary(report(arrivals=0), 200, money) == (
        "Nobody has come yet; 100 is for 200 arrivals."
    )


def test_the_summary_is_one_sentence() -> None:
    assert sentences.summary(report(), 200, money) == (
        "50 of 200 arrivals have come, and 35 of 100 is spent or expected to be: "
        "spending 10 % ahead of the straight line."
    )


def test_what_else_a_person_should_know() -> None:
    assert notices.notices(report(), 200, money) == []
    odd = report(status="paused", blocked="paused", unusable=2.0, overrun=1.0)
    assert notices.notices(odd, 40, money) == [
        "10 more have come after the horizon of 40 arrivals, and were skipped.",
        "The campaign is paused: arrivals are skipped, and are not counted.",
        "2 is left, but no action reserves less than 5, so it cannot be given out.",
        "Bills have exceeded what was reserved for them by 1 in all; raise the reserves of the "
        "next campaign.",
    ]


def test_bills_that_add_up_to_the_budget_are_not_beyond_it() -> None:
    """0.1 + 0.2 is more than 0.3 to a computer."""
    even = report(budget=0.3, spent=0.1, uncharged=0.2, reserved=0.0, left=0.2)
    assert notices.notices(even, 200, formatting.money_format([0.3])) == []


def test_money_has_the_digits_of_the_campaign() -> None:
    assert formatting.money_format([1000.0, 5.0])(1250.0) == "1,250"
    assert formatting.money_format([10.0, 0.5])(1.0) == "1.00"
    assert formatting.money_format([10.0, 0.0004])(1.0) == "1.0000"
    assert formatting.money_format([1e-9])(1.0) == "1.000000"


def test_shares_that_are_nearly_nothing_or_everything() -> None:
    assert [formatting.percent(share) for share in (0, 1e-6, 0.0049, 0.01, 0.995, 0.99999, 1)] == [
        "0 %",
        "0.1 %",
        "0.4 %",
        "1 %",
        "99.5 %",
        "99.9 %",
        "100 %",
    ]


def test_the_budget_bar_adds_up_and_marks_the_straight_line() -> None:
    bar = svg.budget_bar(report())
    assert [(part.start, part.width) for part in bar.segments] == [
        (0.0, 30.0),
        (30.0, 5.0),
        (35.0, 0.0),
    ]
    assert bar.mark == 25.0
    assert svg.budget_bar(report(arrivals=0)).mark is None
    assert svg.budget_bar(report(arrivals_left=0)).mark is None
    nothing = report(budget=0.0, spent=0.0, reserved=0.0, planned=0.0, left=0.0)
    assert [part.width for part in svg.budget_bar(nothing).segments] == [0.0] * 3


def test_a_whisker_lies_where_its_numbers_say() -> None:
    assert svg.whisker(pair(), 0.5) == svg.Whisker(20.0, 90.0, 50.0, cut=False)
    assert svg.whisker(pair(), 0.4) == svg.Whisker(25.0, 100.0, 62.5, cut=True)
    unknown = pair(rewarded=0, mean=None, low=0.0, high=1.0)
    assert svg.whisker(unknown, 0.5) == svg.Whisker(0.0, 100.0, None, cut=True)


def test_the_axis_is_made_for_what_is_known_well() -> None:
    def axis(*pairs: ActionReport) -> float:
        context = replace(report().contexts[0], actions=list(pairs))
        return svg.rate_axis([context])

    assert axis(pair()) == 0.5
    assert axis(pair(), pair(rewarded=3, high=0.9)) == 0.5, "three rewards tell nothing yet"
    assert axis(pair(rewarded=3, high=0.9)) == 1.0
    assert axis(pair(high=0.013)) == 0.02


def test_a_served_bar_has_a_segment_for_each_planned_action() -> None:
    actions = [pair(planned=0.25), pair(planned=0.0), pair(action="call", planned=0.5)]
    assert svg.served_bar(actions) == [(0.0, 25.0, "action-0"), (25.0, 50.0, "action-2")]


def point(arrivals: int, spent: float, planned: float, reward: float) -> CurvePoint:
    return CurvePoint(
        arrivals=arrivals,
        at="2026-03-01T08:00:00+00:00",
        spent=spent,
        reserved=planned,
        planned=planned,
        reward=reward,
        price=None,
    )


def test_charts_say_the_same_in_words_and_tables() -> None:
    curve = [point(1, 0.0, 5.0, 0.0), point(25, 15.0, 5.0, 1.0)]
    spend, reward, ratio = charts.charts(report(), 200, curve, money)
    assert spend.caption == (
        "After 50 of 200 arrivals, 30 is spent and 5 expected for open decisions; the straight "
        "line is at 25."
    )
    assert spend.rows == [
        ["0", "0", "0", "0"],
        ["1", "0", "5", "0"],
        ["25", "15", "20", "12"],  # halves are rounded to even
        ["50", "30", "35", "25"],
    ]
    assert reward.caption.startswith(
        "Rewards add up to 3 so far; 4.0 is promised by now: 25 % less."
    )
    assert reward.rows[-2:] == [["25", "1", "2.0"], ["50", "3", "4.0"]]
    assert ratio.caption == (
        "For each arrival to come there is 0.433, neither spent nor expected to be; it was 0.500 "
        "at the start. "
        "Who is served changes at 0.250 and 2.50: the plan’s boundaries."
    )
    assert [row[1] for row in ratio.rows] == ["0.500", "0.477", "0.457", "0.433"]


def test_after_the_horizon_the_promise_and_the_line_stand_still() -> None:
    over = report(arrivals=250, arrivals_left=0, promised=16.0)  # 0.08 each for 200
    spend, reward, ratio = charts.charts(over, 200, [], money)
    assert spend.rows[-1] == ["250", "30", "35", "100"]
    assert reward.rows[-1] == ["250", "3", "16.0"]
    assert ratio.rows[-1] == ["250", "–"]
    assert ratio.caption.startswith("No arrival is to be served any more; ")


def test_many_boundaries_are_counted_and_none_is_explained() -> None:
    many = report(boundaries=[place / 10 for place in range(1, 21)])
    assert (
        "changes at 20 boundaries, from 0.100 to 2.00."
        in charts.charts(many, 200, [], money)[2].caption
    )
    none = charts.charts(report(boundaries=[]), 200, [], money)[2].caption
    assert none.endswith("The plan has no boundary: nothing is worth its cost.")


def test_chart_data_begins_with_nothing_and_ends_now() -> None:
    curve = [point(index, index / 2, 0.0, 0.0) for index in range(1, 50)]
    data = json.loads(chart_series.chart_data(report(), 200, curve))
    assert data["arrivals"] == list(range(51))
    assert (data["spent"][0], data["spent"][-1], data["committed"][-1]) == (0, 30, 35)
    assert (data["horizon"], data["promised"], data["boundaries"]) == (200, 0.08, [0.25, 2.5])


def test_long_tables_are_thinned_but_keep_both_ends() -> None:
    curve = [point(index, index / 2, 0.0, 0.0) for index in range(1, 50)]
    rows = charts.charts(report(), 200, curve, money)[0].rows
    assert len(rows) == charts.TABLE_ROWS
    assert (rows[0][0], rows[-1][0]) == ("0", "50")


def test_only_the_contexts_that_come_most_are_shown() -> None:
    context = report().contexts[0]
    many = [replace(context, context=f"c{place}", arrivals=place) for place in range(40)]
    view = campaign_view(report(contexts=many), 200, [], [])
    assert [row["context"].context for row in view["contexts"]] == [
        f"c{place}" for place in range(10, 40)
    ]
    assert view["hidden_contexts"] == 10


def test_what_became_of_the_arrivals_adds_up() -> None:
    assert sentences.skipped(report()) == "43 skipped"
    assert sentences.skipped(report(served=5)) == "43 skipped, 2 cancelled"
    uncounted = report(served=4, skips={"policy": 40, "horizon": 3, "paused": 8, "closed": 1})
    assert sentences.skipped(uncounted) == (
        "43 skipped, 3 cancelled; 9 more while paused or closed"
    )


def test_what_is_cancelled_is_neither_served_nor_skipped() -> None:
    terms: dict[str, Any] = {"contexts": ["a", "b"], "actions": {"coupon": 1}}
    agent = Agent.open("memory:", name="a", horizon=40, budget=40, seed=1, **terms)
    made = [agent.decide("a") for _ in range(10)]
    served = [decision for decision in made if not decision.skipped]
    for decision in served[:2]:
        agent.cancel(decision.id)
    agent.pause()
    agent.decide("a")
    assert sentences.skipped(agent.report()) == (
        f"{10 - len(served)} skipped, 2 cancelled; 1 more while paused or closed"
    )


def test_the_policies_offered_can_all_start_without_knowledge() -> None:
    offered = learning_policies()
    assert offered[0][0] == "thrifty"
    assert {offer.name for offer in offered} < set(RECIPES)
    assert [offer.name for offer in offered if offer.contexts == 2] == ["ucb_pb"]
    for name, sentence, _ in offered:
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
