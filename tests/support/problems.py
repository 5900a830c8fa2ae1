"""Example problems: the paper's two at any size, and hypothesis strategies for random ones."""

from __future__ import annotations

from functools import partial

import pytest
from hypothesis import strategies as st

from almoner.problem import Problem
from almoner.scenarios import scenario


def _paper(name: str, horizon: int, ratio: float) -> Problem:
    return scenario(name).scaled(horizon, ratio=ratio)


Table = list[list[float]]

MAY_END_UNTRIED = pytest.mark.filterwarnings("ignore::almoner.UntriedPairs")
"""Ignores the warning of unexplored pairs, for tests on very small problems."""

PAPER_TWO = partial(_paper, "paper-two")
PAPER_TEN = partial(_paper, "paper-ten")

GRID = st.sampled_from([0.0, 0.2, 0.5, 0.8, 1.0])
"""Few values, so that ties are common; both ends of the range are among them."""

MEANS = GRID | st.integers(0, 1000).map(lambda n: n / 1000)
COSTS = st.sampled_from([0.5, 1.0, 1.5, 2.0, 4.0]) | st.integers(1, 500).map(lambda n: n / 100)


def tables(entries: st.SearchStrategy[float], rows: int, columns: int) -> st.SearchStrategy[Table]:
    row = st.lists(entries, min_size=columns, max_size=columns)
    return st.lists(row, min_size=rows, max_size=rows)


def context_probs(count: int) -> st.SearchStrategy[list[float]]:
    """Distributions over ``count`` contexts, some with probability 0."""
    return (
        st.lists(st.integers(0, 6), min_size=count, max_size=count)
        .filter(any)
        .map(lambda weights: [weight / sum(weights) for weight in weights])
    )


@st.composite
def unit_problems(draw: st.DrawFn) -> Problem:
    """Problems with unit costs: ties, zero probabilities, rewards of 0 and 1, all three spreads."""
    contexts, actions = draw(st.integers(1, 5)), draw(st.integers(1, 4))
    horizon = draw(st.integers(1, 60))
    return Problem(
        context_probs=draw(context_probs(contexts)),
        reward_means=draw(tables(MEANS, contexts, actions)),
        horizon=horizon,
        budget=draw(st.integers(0, horizon + 5)),
        reward_spread=draw(st.sampled_from([0.0, 0.3, 1.0])),
    )


@st.composite
def any_cost_problems(draw: st.DrawFn) -> Problem:
    """Problems with any costs: equal ones, collinear pairs, default rewards."""
    contexts, actions = draw(st.integers(1, 5)), draw(st.integers(1, 5))
    horizon = draw(st.integers(1, 60))
    means, costs = draw(tables(MEANS, contexts, actions)), draw(tables(COSTS, contexts, actions))
    for row, row_costs in zip(means, costs, strict=True):
        if draw(st.booleans()):  # all on one line through skipping
            row[:] = [cost / 5 for cost in row_costs]
    defaults = draw(
        st.just([0.0] * contexts) | st.lists(MEANS, min_size=contexts, max_size=contexts)
    )
    return Problem(
        context_probs=draw(context_probs(contexts)),
        reward_means=means,
        costs=costs,
        default_rewards=defaults,
        horizon=horizon,
        budget=draw(st.integers(0, 6 * horizon)) * draw(st.sampled_from([0.1, 0.5, 1.0])),
        defaults_known=draw(st.booleans()),
    )
