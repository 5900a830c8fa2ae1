"""Evidence by age, with numbers worked by hand. A window of 14 seconds has cohorts of a second."""

from __future__ import annotations

import json

import numpy as np
import pytest

from almoner.live.rewards.cohorts import EDGES, GUESS, Cohorts

SECOND = 10**6
WINDOW = 14 * SECOND


def share(cohorts: Cohorts, now: int, age: float) -> float:
    return float(np.interp(age, EDGES, cohorts.shares(now)))


def test_without_outcomes_the_share_is_the_guess() -> None:
    """The product telescopes: F(b) = F(b + 1) · F⁰(b)/F⁰(b + 1)."""
    np.testing.assert_allclose(Cohorts(WINDOW, 1).shares(0), GUESS, rtol=1e-14)
    assert share(Cohorts(WINDOW, 1), 0, 0.5) == pytest.approx(0.75)


def test_decisions_count_by_the_guess_of_their_mean_age() -> None:
    """Three decisions half a window ago count ¾ each; one of a full window's age counts 1."""
    cohorts = Cohorts(WINDOW, 2)
    cohorts.add(0, 0, 93 * SECOND)
    for _ in range(3):
        cohorts.add(0, 1, 100 * SECOND)
    came, made = cohorts.evidence(107 * SECOND, rows=1)
    np.testing.assert_allclose(came, [[1.0, 2.25]], rtol=1e-14)
    np.testing.assert_array_equal(made, [[1.0, 3.0]])
    came, _ = cohorts.evidence(200 * SECOND, rows=1)
    np.testing.assert_array_equal(came, [[1.0, 3.0]])


def test_outcomes_of_old_decisions_move_the_share_by_the_product_limit() -> None:
    """Eight outcomes at once, among decisions all of which are older than the window.

    In the last bin h⁰ = 1 − F⁰(13/14) = 1/196, and h = (0 + 2/196)/(8 + 2), so that
    F(13/14) = 1 − 1/980. In the bin before, h⁰ = 1 − (1 − 4/196)/(1 − 1/196) = 3/195, and
    h = 2·(3/195)/10 = 3/975.
    """
    cohorts = Cohorts(WINDOW, 1)
    for _ in range(8):
        at = cohorts.add(0, 0, 50 * SECOND)
        cohorts.note_outcome(at, at + 1)
    shares = cohorts.shares(100 * SECOND)
    assert shares[-1] == 1.0
    assert shares[-2] == pytest.approx(1 - 1 / 980, rel=1e-14)
    assert shares[-3] == pytest.approx((1 - 1 / 980) * (1 - 3 / 975), rel=1e-14)
    assert shares[0] == 0.0


def test_where_outcomes_come_at_once_decisions_soon_count_in_full() -> None:
    """After 1/256 of a cohort; with 500 outcomes the guess is worth less than 2 %."""
    cohorts = Cohorts(WINDOW, 1)
    for _ in range(500):
        at = cohorts.add(0, 0, 50 * SECOND)
        cohorts.note_outcome(at, at + 1)
    assert cohorts.shares(100 * SECOND)[1] > 0.98


def test_a_delay_counts_only_among_decisions_that_are_old_enough_to_show_it() -> None:
    """A decision three cohorts old says nothing about longer delays."""
    young, none = Cohorts(WINDOW, 1), Cohorts(WINDOW, 1)
    at = young.add(0, 0, 50 * SECOND)
    young.note_outcome(at, at + SECOND // 2)
    ratios = young.shares(53 * SECOND)[1:] / none.shares(53 * SECOND)[1:]
    np.testing.assert_allclose(ratios[EDGES[1:] >= 3 / 14], 1.0, rtol=1e-14)
    assert ratios[4] > 1.0  # at the end of the first cohort


@pytest.mark.parametrize("mean_delay", [0.01, 0.1, 0.4])
def test_the_share_is_learned_whatever_the_age_of_the_decisions(mean_delay: float) -> None:
    """40,000 decisions over a window and a half; delays are exponential, cut at the window.

    Up to a bin's width the share is known to 0.03: about four standard errors where outcomes are
    fewest, some 1,000 that are old enough for the last bins.
    """
    rng, cohorts = np.random.default_rng(1), Cohorts(WINDOW, 1)
    now = 21 * SECOND
    cut = 1 - np.exp(-1 / mean_delay)
    for at in np.sort(rng.uniform(0, now, 40_000)).astype(int).tolist():
        counted = cohorts.add(0, 0, at)
        delay = -mean_delay * np.log(1 - rng.random() * cut) * WINDOW
        if rng.random() < 0.1 and at + delay < now:
            cohorts.note_outcome(counted, int(at + delay))
    truth = (1 - np.exp(-EDGES / mean_delay)) / cut
    np.testing.assert_allclose(cohorts.shares(now), truth, atol=0.03)


def test_a_removed_decision_is_no_evidence() -> None:
    cohorts = Cohorts(WINDOW, 1)
    at = cohorts.add(0, 0, 50 * SECOND)
    kept = cohorts.add(0, 0, 50 * SECOND + 1)
    cohorts.remove(0, 0, at)
    came, made = cohorts.evidence(57 * SECOND + 1, rows=1)
    np.testing.assert_allclose(came, [[0.75]])
    cohorts.add(0, 0, 500 * SECOND)  # its cohort has matured, with the slot that it was in
    cohorts.remove(0, 0, kept)
    assert made == [[1.0]]
    assert cohorts.evidence(500 * SECOND, rows=1)[1] == [[1.0]]


def test_a_clock_that_is_set_back_does_not_reorder_cohorts() -> None:
    cohorts = Cohorts(WINDOW, 1)
    cohorts.add(0, 0, 500 * SECOND)
    assert cohorts.add(0, 0, 50 * SECOND) == 500 * SECOND
    assert cohorts.evidence(501 * SECOND, rows=1)[1] == [[2.0]]


def test_contexts_and_actions_can_be_added() -> None:
    cohorts = Cohorts(WINDOW, 1)
    cohorts.add(0, 0, 0)
    cohorts.add(5, 0, 0)
    cohorts.resize(6, 2)
    cohorts.add(2, 1, 0)
    made = cohorts.evidence(0, rows=6)[1]
    assert made.tolist() == [[1, 0], [0, 0], [0, 1], [0, 0], [0, 0], [1, 0]]


def test_a_snapshot_restores_everything() -> None:
    rng, cohorts = np.random.default_rng(2), Cohorts(WINDOW, 3)
    for at in range(0, 40 * SECOND, SECOND // 7):
        counted = cohorts.add(int(rng.integers(4)), int(rng.integers(3)), at)
        if rng.random() < 0.3:
            cohorts.note_outcome(counted, at + int(rng.integers(5 * SECOND)))
    other = Cohorts(WINDOW, 3)
    other.restore(json.loads(json.dumps(cohorts.to_dict(4))))
    assert other.to_dict(4) == cohorts.to_dict(4)
    for now in (40 * SECOND, 47 * SECOND):
        for one, two in zip(cohorts.evidence(now, 4), other.evidence(now, 4), strict=True):
            np.testing.assert_array_equal(one, two)
