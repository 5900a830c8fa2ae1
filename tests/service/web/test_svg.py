"""Geometry of bars and intervals, against numbers worked out by hand."""

from __future__ import annotations

from support.reports import pair, report

from almoner.live.reports.report import ActionReport
from almoner.service.web import svg
from almoner.service.web.action_colours import ActionColours


def test_the_budget_bar_adds_up_and_marks_the_straight_line() -> None:
    bar = svg.budget_bar(report())
    assert [(segment.start, segment.width) for segment in bar.segments] == [
        (0.0, 30.0),
        (30.0, 5.0),
        (35.0, 0.0),
    ]
    assert bar.mark == 25.0
    assert svg.budget_bar(report(arrivals=0)).mark is None
    assert svg.budget_bar(report(arrivals_left=0)).mark is None
    nothing = report(budget=0.0, spent=0.0, reserved=0.0, planned=0.0, left=0.0)
    assert [segment.width for segment in svg.budget_bar(nothing).segments] == [0.0] * 3


def test_a_whisker_lies_where_its_numbers_say() -> None:
    assert svg.whisker(pair(), 0.5) == svg.Whisker(20.0, 90.0, 50.0, cut=False)
    assert svg.whisker(pair(), 0.4) == svg.Whisker(25.0, 100.0, 62.5, cut=True)
    unknown = pair(rewarded=0, mean=None, low=0.0, high=1.0)
    assert svg.whisker(unknown, 0.5) == svg.Whisker(0.0, 100.0, None, cut=True)


def test_a_diamond_marks_the_estimate_with_borrowed_rewards() -> None:
    assert svg.whisker(pair(pooled=0.2, borrowed=4.0), 0.5).diamond == 40.0
    assert svg.whisker(pair(pooled=0.2, borrowed=4.0), 0.1).diamond is None, "beyond the axis"
    assert svg.whisker(pair(), 0.5).diamond is None
    unknown = pair(rewarded=0, mean=None, low=0.0, high=1.0, pooled=0.1, borrowed=4.0)
    assert svg.whisker(unknown, 0.5) == svg.Whisker(0.0, 100.0, None, cut=True, diamond=20.0)


def test_the_axis_ignores_pairs_with_few_rewards() -> None:
    def axis(*pairs: ActionReport) -> float:
        return svg.rate_axis(pairs)

    assert axis(pair()) == 0.5
    assert axis(pair(), pair(rewarded=3, high=0.9)) == 0.5, "three rewards tell nothing yet"
    assert axis(pair(rewarded=3, high=0.9)) == 1.0
    assert axis(pair(high=0.013)) == 0.02
    lent = pair(rewarded=0, high=1.0, pooled=0.7, borrowed=4.0)
    assert axis(pair(), lent) == 0.8, "an estimate is always on the axis"
    assert axis(lent) == 1.0


def test_a_served_bar_has_a_segment_for_each_planned_action() -> None:
    actions = [pair(planned=0.25), pair(action="mail", planned=0.0), pair(action="call")]
    colours = ActionColours(
        kinds={"coupon": "action-0", "mail": "action-1", "call": "action-2"}, others=0
    )
    assert svg.served_bar(actions, colours) == [(0.0, 25.0, "action-0"), (25.0, 50.0, "action-2")]


def test_actions_without_a_colour_are_one_segment_at_the_end() -> None:
    planned = {"a": 0.125, "b": 0.25, "c": 0.5, "d": 0.0625}
    actions = [pair(action=name, planned=share) for name, share in planned.items()]
    colours = ActionColours(kinds={"b": "action-1", "d": "action-3"}, others=2)
    assert svg.served_bar(actions, colours) == [
        (0.0, 25.0, "action-1"),
        (25.0, 6.25, "action-3"),
        (31.25, 62.5, "action-others"),
    ]
