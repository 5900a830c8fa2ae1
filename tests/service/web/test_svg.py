"""Geometry of bars and intervals, against numbers worked out by hand."""

from __future__ import annotations

from dataclasses import replace

from support.reports import pair, report

from almoner.live.report import ActionReport
from almoner.service.web import svg


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


def test_the_axis_ignores_pairs_with_few_rewards() -> None:
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
