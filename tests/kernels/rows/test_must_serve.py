"""Must serve on rows: what is set aside for a default action, by numbers worked by hand."""

from __future__ import annotations

import numpy as np
from support.plain_kernels import plain

from almoner.kernels.rows.must_serve import SUMS, beyond_defaults, count_bill, keep_for_defaults


def test_the_default_of_this_arrival_and_of_all_to_come_is_set_aside() -> None:
    """10 for this arrival and 10 for each of 4 to come; then 20, and their mean of 15 for 3."""
    sums = np.zeros(SUMS + 2)
    assert plain(beyond_defaults)(sums, 10, 0, 5, 200) == 150
    assert plain(beyond_defaults)(sums, 20, 1, 4, 200) == 200 - 20 - 3 * 15
    assert plain(beyond_defaults)(sums, 15, 2, 3, 30) == 0


def test_bills_above_what_was_expected_set_more_aside() -> None:
    """Three bills of 20 where 10 were expected, and one more as expected: 70/40 of 50."""
    sums = np.zeros(SUMS + 2)
    for _ in range(3):
        plain(count_bill)(sums, 0, 0, 10, 20)
    plain(count_bill)(sums, 1, 0, 10, 500)  # of another action
    assert plain(beyond_defaults)(sums, 10, 0, 5, 200) == 200 - 88


def test_a_default_that_costs_nothing_sets_nothing_aside() -> None:
    assert plain(beyond_defaults)(np.zeros(SUMS + 2), 0, 0, 5, 200) == 200


def test_an_action_must_leave_the_defaults_at_its_largest_bill() -> None:
    """40 at twice the expected cost is 80: more than the 60 beyond the defaults and this one's."""
    sums, costs = np.zeros(SUMS + 3), np.array([10, 40, 60])
    fits = np.ones(3, np.bool_)
    plain(keep_for_defaults)(sums, costs, 0, 50, fits)
    assert fits.tolist() == [True, True, True]
    plain(count_bill)(sums, 1, 0, 40, 80)
    plain(count_bill)(sums, 1, 0, 40, 20)
    plain(keep_for_defaults)(sums, costs, 0, 50, fits)
    assert fits.tolist() == [True, False, True]
    plain(keep_for_defaults)(sums, costs, 0, 49, fits)
    assert fits.tolist() == [True, False, False]
