"""Quality on rows: close to the hindsight optimum where values are known, in any order."""

from __future__ import annotations

import numpy as np
import pytest
from support.rows import uplift_rows

import almoner as al


@pytest.fixture(scope="module")
def uplifts() -> al.Rows:
    return uplift_rows(100_000)


@pytest.mark.parametrize("share", [0.01, 0.03, 0.1, 0.3, 0.6, 0.9])
def test_known_uplifts_bring_nearly_the_optimum_at_every_budget(
    uplifts: al.Rows, share: float
) -> None:
    budget = share * float(uplifts.costs.max(axis=1).sum())
    result = al.simulate(uplifts, al.priced(), budget=budget, runs=2, seed=1)
    assert result.ratio >= 0.997
    assert result.spend.max() <= budget


def test_kinds_one_after_the_other_cost_at_most_a_hundredth() -> None:
    """Eight kinds, whose mean costs and values differ by up to a half, in random blocks of 500."""
    rng = np.random.default_rng(4)
    kinds = np.repeat(np.arange(8), 500)
    level, dear = 0.8 + 0.4 * rng.random((2, 8))
    scores = level[kinds, None] * rng.random((4000, 2)) * np.array([1.0, 1.7])
    costs = np.round(dear[kinds, None] * (0.2 + rng.random((4000, 2))) * np.array([1, 3]), 2)
    rows = al.Rows(rewards=scores, costs=costs, scores=scores)
    budget = 0.25 * float(costs.max(axis=1).sum())
    random = al.simulate(rows, al.priced(), budget=budget, runs=10, seed=1).ratio
    ratios = []
    for seed in range(10):
        draw = np.random.default_rng(seed)
        order = np.concatenate(
            [draw.permutation(np.flatnonzero(kinds == kind)) for kind in draw.permutation(8)]
        )
        block = al.Rows(rewards=scores[order], costs=costs[order], scores=scores[order])
        result = al.simulate(block, al.priced(), budget=budget, runs=1, order="file", seed=seed)
        ratios.append(result.ratio)
    assert np.mean(ratios) >= random - 0.01


def test_price_controllers_are_behind_the_price_of_the_market() -> None:
    rows = uplift_rows(20_000, seed=3)
    budget = 0.1 * float(rows.costs.max(axis=1).sum())
    ratios = {
        name: al.simulate(rows, name, budget=budget, runs=2, seed=1).ratio
        for name in ("priced", "dual_descent", "pid_pacing", "ema_pacing", "greedy_scores")
    }
    assert ratios.pop("priced") > 0.997 > max(ratios.values())
