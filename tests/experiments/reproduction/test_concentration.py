"""The law of the budget left, and its quantiles against simulated ones."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import hypergeom

from almoner.experiments.reproduction import concentration
from almoner.experiments.rows import BUDGETS


@pytest.mark.parametrize(
    ("horizon", "budget", "left"),
    [(1, 1, 1), (7, 3, 2), (7, 3, 6), (40, 0, 5), (40, 40, 5), (2000, 800, 35)],
)
def test_the_law_is_hypergeometric(horizon: int, budget: int, left: int) -> None:
    law = concentration.remaining_law(horizon, budget, left)
    assert law == pytest.approx(hypergeom(horizon, budget, left).pmf(np.arange(left + 1)), abs=1e-9)
    budgets = np.arange(left + 1)
    ratio, mean = budget / horizon, float(law @ budgets)
    variance = (horizon - left) / max(horizon - 1, 1) * left * ratio * (1 - ratio)  # Lemma 2
    assert mean == pytest.approx(ratio * left)
    assert float(law @ (budgets - mean) ** 2) == pytest.approx(variance)


def test_quantiles_of_the_law_and_of_the_runs() -> None:
    alp, fixed = (
        concentration.Concentration(
            policy_name=name, horizon=500, ratio=0.4, runs=2000, seed=1
        ).run()
        for name in ("alp", "flp")
    )
    assert [list(row) for row in alp] == [list(BUDGETS)] * len(alp)
    assert {row["level"] for row in alp} == set(concentration.LEVELS)
    for row in alp:  # four standard errors of the level, on either side
        law = hypergeom(500, 200, row["rounds_left"])
        assert row["law"] == law.ppf(row["level"] - 1e-12) / row["rounds_left"]
        assert row["law_low"] <= row["simulated"] <= row["law_high"]
        assert abs(row["law"] - 0.4) <= abs(row["bound"] - 0.4) + 1e-12
    assert not all(row["law_low"] <= row["simulated"] <= row["law_high"] for row in fixed)
