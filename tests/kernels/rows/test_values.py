"""Values and costs of a row: standardised features, bounds, learned costs, a default action."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from support.plain_kernels import plain

import almoner as al
from almoner.kernels.rows.learning import count_visit, observe_outcome
from almoner.kernels.rows.market import _refresh
from almoner.kernels.rows.state import (
    FIXED,
    MEANS,
    NEXT,
    NOW,
    PRODUCT,
    ROUND,
    SPREADS,
    STANDARD,
    UNAVAILABLE,
    Row,
    RowState,
    X,
    new_row_state,
)
from almoner.kernels.rows.values import standardise, value_row
from almoner.policy.row_lowering import LoweredRows, lower_rows


def setting(policy: al.Policy, *, features: int = 2, **terms: Any) -> tuple[LoweredRows, RowState]:
    lowered = lower_rows(policy, horizon=400, budget=10_000, features=features, **terms)
    return lowered, new_row_state(lowered, actions=2, features=features)


def row_of(features: list[float], costs: list[int] | None = None) -> Row:
    return Row(np.array([0.3, 0.6, 0.1, *features]), np.array(costs or [10, 40]))


def warm(lowered: LoweredRows, state: RowState, points: np.ndarray[Any, Any]) -> None:
    """Count arrivals, and learn a reward and a bill of each."""
    for t, point in enumerate(points):
        row = row_of(point.tolist())
        state.progress[ROUND] = t
        plain(count_visit)(lowered, state, row)
        plain(observe_outcome)(lowered, state, row, t % 2, float(point[0] > 0))


def test_features_are_standardised_by_the_first_arrivals_and_cut_off() -> None:
    lowered, state = setting(al.linear())
    points = np.random.default_rng(1).normal([5.0, -100.0], [2.0, 30.0], (lowered.warm_up, 2))
    warm(lowered, state, points)
    assert state.progress[STANDARD] == 1
    assert state.standards[MEANS] == pytest.approx(points.mean(axis=0))
    assert state.standards[SPREADS] == pytest.approx(points.std(axis=0))
    plain(standardise)(lowered, state, row_of([7.0, 1e9]), 0)
    expected = (7.0 - points[:, 0].mean()) / points[:, 0].std()
    assert state.models.scratch[X] == pytest.approx([1.0, expected, 5.0])


def test_a_feature_that_never_varies_says_nothing() -> None:
    lowered, state = setting(al.linear())
    warm(lowered, state, np.tile([5.0, 1.0], (lowered.warm_up, 1)))
    plain(standardise)(lowered, state, row_of([5.0, 1.0]), 0)
    assert state.models.scratch[X] == pytest.approx([1.0, 0.0, 0.0], abs=1e-12)


def test_before_it_features_count_as_their_means_and_outcomes_are_learned_again() -> None:
    """After the warm-up a model is the one that had standardised features from the start."""
    lowered, state = setting(al.linear())
    points = np.random.default_rng(2).normal(3.0, 2.0, (lowered.warm_up, 2))
    plain(standardise)(lowered, state, row_of([3.0, 4.0]), 0)
    assert state.models.scratch[X].tolist() == [1.0, 0.0, 0.0]
    warm(lowered, state, points[:-1])
    last = row_of(points[-1].tolist())
    state.progress[ROUND] = lowered.warm_up - 1
    plain(count_visit)(lowered, state, last)
    scaled = np.column_stack(
        [np.ones(len(points)), (points - points.mean(axis=0)) / points.std(axis=0)]
    )
    for k in range(2):
        seen = [t for t in range(lowered.warm_up - 1) if t % 2 == k]
        prior = np.diag([1.0, lowered.prior, lowered.prior])
        precision = prior + scaled[seen].T @ scaled[seen]
        outcomes = (points[seen, 0] > 0).astype(float)
        right = prior @ np.array([0.5, 0.0, 0.0]) + scaled[seen].T @ outcomes
        assert state.models.coefficients[NOW, k] == pytest.approx(np.linalg.solve(precision, right))
        assert state.models.covariances[NOW, k] == pytest.approx(np.linalg.inv(precision))
    visits = np.linalg.inv(np.eye(3) + scaled.T @ scaled)
    assert state.models.visits[NOW] == pytest.approx(visits)


def test_a_bound_is_the_prediction_and_a_bonus_that_shrinks_with_data() -> None:
    lowered, state = setting(al.linear())
    points = np.random.default_rng(3).normal(size=(lowered.warm_up, 2))
    plain(_refresh)(lowered, state)
    plain(value_row)(lowered, state, row_of([0.0, 0.0]), 5)
    early = state.hulls.gains[5].copy() + 0.1
    assert early.min() > 0.5
    warm(lowered, state, np.tile(points, (8, 1)))
    plain(_refresh)(lowered, state)
    plain(value_row)(lowered, state, row_of([0.0, 0.0]), 5)
    theta = state.models.coefficients[FIXED]
    plain(standardise)(lowered, state, row_of([0.0, 0.0]), 0)
    predicted = theta[:2] @ state.models.scratch[X]
    bonus = state.hulls.gains[5] + 0.1 - predicted
    assert 0 < bonus.min() <= bonus.max() < (early - 0.5).min()
    assert state.models.scratch[PRODUCT].any()


def test_learned_costs_are_declared_ones_times_a_ratio_within_limits() -> None:
    lowered, state = setting(al.linear())
    coefficients = state.models.coefficients
    plain(_refresh)(lowered, state)
    for ratio, expected in ((1.5, [15, 60]), (0.01, [2, 8]), (99.0, [50, 200])):
        coefficients[FIXED, 2:] = [ratio, 0.0, 0.0]
        plain(value_row)(lowered, state, row_of([0.0, 0.0]), 5)
        assert state.costs[5].tolist() == expected


def test_scores_as_given_are_gains_over_the_score_of_skipping() -> None:
    lowered, state = setting(al.priced(), features=0)
    plain(value_row)(lowered, state, row_of([]), 5)
    assert state.hulls.gains[5] == pytest.approx([0.2, 0.5])
    assert state.costs[5].tolist() == [10, 40]
    plain(value_row)(lowered, state, row_of([], [UNAVAILABLE, 40]), 5)
    assert state.hulls.gains[5].tolist() == [-math.inf, pytest.approx(0.5)]


def test_with_a_default_gains_and_costs_are_counted_from_it() -> None:
    lowered, state = setting(al.priced(), features=0, default=0)
    plain(value_row)(lowered, state, row_of([]), 5)
    assert state.hulls.gains[5] == pytest.approx([0.0, 0.3])
    assert state.costs[5].tolist() == [0, 30]
    plain(value_row)(lowered, state, row_of([], [50, 40]), 5)
    assert state.costs[5].tolist() == [0, 0]  # no dearer than the default, so free
    plain(value_row)(lowered, state, row_of([], [UNAVAILABLE, 40]), 5)
    assert state.hulls.gains[5].tolist() == [-math.inf, pytest.approx(0.5)]


@pytest.mark.parametrize("policy", [al.linear(), al.priced(trust=5)])
def test_rows_are_valued_anew_as_soon_as_features_are_standardised(policy: al.Policy) -> None:
    lowered, state = setting(policy)
    state.progress[NEXT] = 99
    warm(lowered, state, np.random.default_rng(4).normal(size=(lowered.warm_up, 2)))
    assert state.progress[NEXT] == 0
    assert np.isfinite(state.models.covariances[NOW]).all()


def test_recalibrated_scores_start_as_they_are_and_follow_rewards() -> None:
    """Rewards are half the scores: with a hundred of them, a prior of 5 is nearly forgotten."""
    lowered, state = setting(al.priced(trust=5), features=0)
    rng = np.random.default_rng(6)
    for t in range(200):
        scores = rng.random(2)
        row = Row(np.array([*scores, 0.0]), np.array([10, 40]))
        state.progress[ROUND] = t
        plain(count_visit)(lowered, state, row)
        plain(observe_outcome)(lowered, state, row, t % 2, 0.5 * float(scores[t % 2]))
    plain(_refresh)(lowered, state)
    row = Row(np.array([0.8, 0.4, 0.0]), np.array([10, 40]))
    plain(value_row)(lowered, state, row, 5)
    assert state.hulls.gains[5] == pytest.approx([0.4, 0.2], abs=0.06)
