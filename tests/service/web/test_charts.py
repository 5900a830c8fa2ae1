"""Charts: captions, tables and series, against numbers worked out by hand."""

from __future__ import annotations

import json

from support.reports import money, point, report

from almoner.live.reports.report import Amendment
from almoner.service.web import chart_series, charts

AMENDMENT = Amendment(at="", arrivals=10, by=None, note=None, changes=["budget 100 → 160"])


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
    many = report(boundaries=[index / 10 for index in range(1, 21)])
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


def test_the_budget_per_arrival_is_that_of_the_terms_in_force() -> None:
    """100 for 200 arrivals until an amendment after the tenth; then 60 more, for 100 more."""
    curve = [point(1, 0.0, 0.0, 0.0), point(10, 5.0, 0.0, 0.0)]
    amended = report(budget=160.0, horizon=300.0, arrivals_left=250, amendments=[AMENDMENT])
    *_, ratio = charts.charts(amended, 300, curve, money)
    assert [row[1] for row in ratio.rows] == ["0.500", "0.503", "0.500", "0.500"]
    assert "it was 0.500 at the start" in ratio.caption
    assert ratio.changes == 1


def test_a_moved_closing_time_changes_nothing_before_it_was_moved() -> None:
    """100 for 200 arrivals, then 300; the forecast is now a tenth above what was expected."""
    curve = [point(1, 0.0, 0.0, 0.0), point(10, 5.0, 0.0, 0.0)]
    end = "2026-03-02T08:00:00+00:00"
    moved = report(horizon=300.0, closes=end, arrivals_left=280, amendments=[AMENDMENT])
    *_, ratio = charts.charts(moved, 330, curve, money)
    assert [row[1] for row in ratio.rows] == ["0.455", "0.457", "0.452", "0.232"]


def test_with_more_than_the_budget_expected_to_be_spent_nothing_is_left() -> None:
    """With a risk, open decisions may be expected to cost more than there is."""
    beyond = point(50, spent=60.0, planned=45.0, reward=9.0)
    assert beyond.budget < 105
    assert chart_series.ratio_left(report(), 200, beyond) == 0
