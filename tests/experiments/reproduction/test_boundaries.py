"""Limits of regret at a boundary, and the budgets of the sweeps."""

from __future__ import annotations

import math

import pytest

from almoner.experiments.cells import run_cell
from almoner.experiments.reproduction import boundaries


def test_limits_at_the_boundary() -> None:
    """u₁ − u₂ = 0.4 and √(ρ(1−ρ)T) = 49 at T = 10,000: the constants of the specification."""
    cells = [cell for cell in boundaries.boundary().cells() if cell.problem.horizon == 10_000]
    rows = [row for cell in cells for row in run_cell(cell)]
    limits = {
        (row["policy"], row["method"], row["against"]): row for row in boundaries.limits(rows)
    }
    unit = 0.4 * math.sqrt(0.24 * 10_000)
    assert {key: row["regret_mean"] for key, row in limits.items()} == pytest.approx(
        {
            ("alp", "limit", "oracle"): unit
            * (math.sqrt(math.pi / 8) - 1 / math.sqrt(2 * math.pi)),
            ("alp", "limit", "upper bound"): unit * math.sqrt(math.pi / 8),
            ("oracle", "limit", "upper bound"): unit / math.sqrt(2 * math.pi),
            ("oracle", "exact", "upper bound"): 7.8174,
        },
        rel=1e-4,
    )


def test_the_sweep_over_budgets_meets_every_boundary() -> None:
    edges = {
        "paper-two": [0.4],
        "paper-ten": [0.025, 0.075, 0.15, 0.3, 0.5, 0.7, 0.85, 0.925, 0.975],
    }
    ratios = {cell.ratio for cell in boundaries.ratio(quick=True).cells()}
    assert ratios >= {edge for values in edges.values() for edge in values}
    assert all(
        (cell.problem.budget / cell.problem.horizon) == pytest.approx(cell.ratio)
        for cell in boundaries.ratio().cells()
    )
