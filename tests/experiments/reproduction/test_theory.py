"""The law of the budget left, the limits at a boundary, and the settings of the figures."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import hypergeom

from almoner.experiments.cells import run_cell
from almoner.experiments.reproduction import paper, theory
from almoner.experiments.rows import BUDGETS


@pytest.mark.parametrize(
    ("horizon", "budget", "left"),
    [(1, 1, 1), (7, 3, 2), (7, 3, 6), (40, 0, 5), (40, 40, 5), (2000, 800, 35)],
)
def test_the_law_is_hypergeometric(horizon: int, budget: int, left: int) -> None:
    law = theory.remaining_law(horizon, budget, left)
    assert law == pytest.approx(hypergeom(horizon, budget, left).pmf(np.arange(left + 1)), abs=1e-9)
    places = np.arange(left + 1)
    ratio, mean = budget / horizon, float(law @ places)
    variance = (horizon - left) / max(horizon - 1, 1) * left * ratio * (1 - ratio)  # Lemma 2
    assert mean == pytest.approx(ratio * left)
    assert float(law @ (places - mean) ** 2) == pytest.approx(variance)


def test_quantiles_of_the_law_and_of_the_runs() -> None:
    alp, fixed = (
        theory.Concentration(policy_name=name, horizon=500, ratio=0.4, runs=2000, seed=1).run()
        for name in ("alp", "flp")
    )
    assert [list(row) for row in alp] == [list(BUDGETS)] * len(alp)
    assert {row["level"] for row in alp} == set(theory.LEVELS)
    for row in alp:  # four standard errors of the level, on either side
        law = hypergeom(500, 200, row["rounds_left"])
        assert row["law"] == law.ppf(row["level"] - 1e-12) / row["rounds_left"]
        assert row["law_low"] <= row["simulated"] <= row["law_high"]
        assert abs(row["law"] - 0.4) <= abs(row["bound"] - 0.4) + 1e-12
    assert not all(row["law_low"] <= row["simulated"] <= row["law_high"] for row in fixed)


def test_limits_at_the_boundary() -> None:
    """u₁ − u₂ = 0.4 and √(ρ(1−ρ)T) = 49 at T = 10,000: the constants of the specification."""
    cells = [cell for cell in theory.boundary().cells() if cell.problem.horizon == 10_000]
    rows = [row for cell in cells for row in run_cell(cell)]
    found = {(row["policy"], row["method"], row["against"]): row for row in theory.limits(rows)}
    unit = 0.4 * math.sqrt(0.24 * 10_000)
    assert {key: row["regret_mean"] for key, row in found.items()} == pytest.approx(
        {
            ("alp", "limit", "oracle"): unit
            * (math.sqrt(math.pi / 8) - 1 / math.sqrt(2 * math.pi)),
            ("alp", "limit", "upper bound"): unit * math.sqrt(math.pi / 8),
            ("oracle", "limit", "upper bound"): unit / math.sqrt(2 * math.pi),
            ("oracle", "exact", "upper bound"): 7.8174,
        },
        rel=1e-4,
    )


def test_the_papers_figures_are_twelve_panels() -> None:
    panels = {
        (name, cell.ratio)
        for name in paper.PANELS
        for cell in paper.panels(name, runs=1, quick=True).cells()
    }
    assert panels == {
        (f"{contexts}-{knowledge}", ratio)
        for contexts, ratios in {"two": (0.39, 0.4, 0.41), "ten": (0.49, 0.5, 0.51)}.items()
        for knowledge in ("known", "unknown")
        for ratio in ratios
    }


def test_the_sweep_over_budgets_meets_every_boundary() -> None:
    edges = {
        "paper-two": [0.4],
        "paper-ten": [0.025, 0.075, 0.15, 0.3, 0.5, 0.7, 0.85, 0.925, 0.975],
    }
    ratios = {cell.ratio for cell in theory.ratio(quick=True).cells()}
    assert ratios >= {edge for found in edges.values() for edge in found}
    assert all(
        (cell.problem.budget / cell.problem.horizon) == pytest.approx(cell.ratio)
        for cell in theory.ratio().cells()
    )
