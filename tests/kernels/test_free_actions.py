"""Decisions where some actions cost nothing, against the static LP."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import almoner as al
from almoner.kernels.draws import round_key
from almoner.kernels.state import LEFT, new_hulls, new_memo, new_state
from almoner.kernels.steps import SKIP, decide
from almoner.live.estimates.estimates import Estimates
from almoner.lp import solve
from almoner.policy.lowering import lower

STREAM = np.uint64(77)
COSTS = st.sampled_from([0.0, 0.0, 1.0, 2.0, 3.0])
MEANS = st.sampled_from([0.0, 0.1, 0.25, 0.6, 0.9])


@settings(max_examples=200, deadline=None)
@given(
    costs=st.lists(st.lists(COSTS, min_size=3, max_size=3), min_size=2, max_size=2),
    means=st.lists(st.lists(MEANS, min_size=3, max_size=3), min_size=2, max_size=2),
    budget=st.integers(3, 60),
    known=st.booleans(),
)
@pytest.mark.slow
def test_decisions_follow_the_static_problem(
    costs: list[list[float]], means: list[list[float]], budget: int, known: bool
) -> None:
    """The first of 20 arrivals: the frequencies over many keys are the LP's probabilities.

    Exact rates are compared where the decision is sure, frequencies to five standard errors.
    """
    probs = np.array([0.4, 0.6])
    contexts = al.KnownContexts(probs=(0.4, 0.6)) if known else al.EmpiricalContexts()
    policy = al.Policy(
        rewards=al.KnownRewards(means=tuple(map(tuple, means))),
        contexts=contexts,
        allocation=al.AdaptiveLP(),
    )
    lowered = lower(policy, horizon=20, budget=float(budget), costs=np.array(costs))
    state = new_state(lowered)
    if not known:
        state.context_counts[:] = 4.0, 5.0
        state.progress[0] = 9
    memo, hulls = new_memo(lowered, state), new_hulls(lowered)
    shares = probs if known else np.array([0.4, 0.6])  # of ten, with the arrival of the second
    remaining = 20 - state.progress[0]
    ratio = float(state.progress[LEFT]) / remaining
    grid = lowered.costs.astype(float)
    plan = solve(Estimates(shares, np.array(means), grid, np.zeros(2), ratio))
    draws = np.array(
        [
            decide(lowered, state, memo, hulls, 1, np.uint64(round_key(STREAM, t)))
            for t in range(400)
        ]
    )
    assert np.all(draws[:, 1] > 0)
    gains = [0.0 if one == SKIP else means[1][int(one)] for one in draws[:, 0]]
    spend = [0.0 if one == SKIP else grid[1, int(one)] for one in draws[:, 0]]
    expected = plan.probabilities[1]
    spread = 5 * 0.5 / 20
    assert np.mean(gains) == pytest.approx(expected @ np.array(means)[1], abs=spread)
    assert np.mean(spend) == pytest.approx(expected @ grid[1], abs=3 * spread)
    free = [mean for mean, cost in zip(means[1], costs[1], strict=True) if cost == 0]
    assert min(gains) >= max(free, default=0.0)


def test_what_is_free_is_taken_when_nothing_is_left() -> None:
    lowered = lower(al.thrifty(), horizon=9, budget=4.0, costs=np.array([[0.0, 2.0]]))
    state = new_state(lowered)
    state.progress[LEFT] = 0
    memo, hulls = new_memo(lowered, state), new_hulls(lowered)
    assert decide(lowered, state, memo, hulls, 0, np.uint64(3)) == (0, 1.0)


def test_equal_costs_are_those_above_zero() -> None:
    free = lower(al.thrifty(), horizon=9, budget=4.0, costs=np.zeros((2, 2)))
    paid = lower(al.thrifty(), horizon=9, budget=4.0, costs=np.full((2, 2), 2.0))
    assert (free.priced, paid.priced) == (1, 0)
    assert (free.cheapest, free.cheapest_paid, free.dearest) == (0, 1, 1)
    mixed = lower(al.thrifty(), horizon=9, budget=9.0, costs=np.array([[0.0, 2.0, 3.0]]))
    assert (mixed.cheapest, mixed.cheapest_paid, mixed.dearest) == (0, 2, 3)
