"""Invariants of decisions on rows: scores need no scale, and no stream overspends a budget."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.rows import routing_rows, uplift_rows

import almoner as al

STREAMS = 100
"""Streams of an example: with 100 examples, ten thousand."""

SIZES = st.tuples(st.integers(1, 40), st.integers(1, 4))
HOSTILE = st.sampled_from(
    [0.0, -0.0, 1.0, -1.0, 1e-300, 1e300, -1e300, 5e-324, 1e-12, 1 + 1e-15, 0.1, 7.0]
)
CENTS = st.sampled_from([0, 1, 2, 3, 10, 50, 99, 1000, 100_000, 10**9])


@st.composite
def hostile_rows(draw: st.DrawFn) -> al.Rows:
    """Return rows with scores of any size, and bills that have nothing to do with expectations."""
    count, actions = draw(SIZES)
    size = count * actions

    def table(values: Any) -> Any:
        numbers = draw(st.lists(values, min_size=size, max_size=size))
        return np.array(numbers, float).reshape(count, actions)

    return al.Rows(
        rewards=table(st.floats(-1, 1, allow_subnormal=False)),
        costs=table(CENTS) / 100,
        expected_costs=table(CENTS) / 100,
        scores=table(HOSTILE),
        features=table(HOSTILE.filter(lambda value: abs(value) < 1e100)),
    )


@given(hostile_rows(), st.sampled_from(list(al.ROW_RECIPES)), CENTS, st.integers(0, 9))
def test_no_stream_overspends(rows: al.Rows, name: str, cents: int, seed: int) -> None:
    budget = cents / 100
    result = al.simulate(rows, name, budget=budget, runs=STREAMS, seed=seed, threads=1)
    assert result.spend.max() <= budget
    assert result.spend.min() >= 0
    assert np.isfinite(result.reward).all()
    trace = al.trace(rows, name, budget=budget, seed=seed)
    spent, left = Fraction(0), Fraction(str(budget))
    for row, action in zip(trace.rows, trace.actions, strict=True):
        if action >= 0:
            assert Fraction(str(rows.expected_costs[row, action])) <= left
            spent += min(left, Fraction(str(rows.costs[row, action])))
            left = Fraction(str(budget)) - spent
    assert left >= 0


@given(hostile_rows(), st.sampled_from(["priced", "linear", "greedy_scores"]), CENTS)
def test_no_stream_overspends_with_a_default(rows: al.Rows, name: str, cents: int) -> None:
    budget = cents / 100
    result = al.simulate(rows, name, budget=budget, runs=10, threads=1, default="action 1")
    assert result.spend.max() <= budget


@given(
    st.integers(0, 10**6),
    st.sampled_from([2.0**-40, 1e-9, 1e-3, 1 / 3, 7.0, 1e6, 2.0**60]),
    st.sampled_from([0.02, 0.1, 0.4]),
)
def test_decisions_are_the_same_whatever_the_scale_of_scores(
    seed: int, factor: float, share: float
) -> None:
    rows = uplift_rows(250, seed=seed)
    assert rows.scores is not None
    scaled = al.Rows(rewards=rows.rewards, costs=rows.costs, scores=factor * rows.scores)
    budget = share * float(rows.costs.max(axis=1).sum())
    for name in ("priced", "dual_descent", "pid_pacing", "ema_pacing", "greedy_scores"):
        first, second = (al.trace(each, name, budget=budget, seed=seed) for each in (rows, scaled))
        assert first.actions.tolist() == second.actions.tolist()
        assert factor * first.prices == pytest.approx(second.prices, rel=1e-6)


def test_sevenfold_scores_of_routed_prompts_change_no_decision() -> None:
    rows = routing_rows(3000)
    assert rows.scores is not None
    scaled = routing_rows(3000, scores=7 * rows.scores)
    for name in ("priced", "dual_descent", "pid_pacing", "ema_pacing", "fixed_rate"):
        first, second = (al.trace(each, name, budget=20_000, seed=3) for each in (rows, scaled))
        assert first.actions.tolist() == second.actions.tolist()
