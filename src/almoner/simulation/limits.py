"""Limits of exact computations: refuse costs on no grid, and problems that take too long."""

from __future__ import annotations

from typing import TYPE_CHECKING

from almoner.errors import NotComputable
from almoner.money import Grid, usable_grid
from almoner.problem import Problem

if TYPE_CHECKING:
    from almoner.policy.lowering import LoweredPolicy

__all__ = ["LARGEST_TABLE", "refuse_rounding", "too_large"]

LARGEST_TABLE = 10**7
"""Budgets in one array: 80 megabytes."""

FINE = 100
"""A grid on which the dearest action costs more units than this is fine."""


def refuse_rounding(problem: Problem, name: str, remedy: str) -> None:
    """Refuse costs that have to be rounded to a grid: the computation ``name`` needs exact ones."""
    if not usable_grid(problem.horizon, problem.budget, problem.costs).exact:
        raise NotComputable(
            f"{name} needs costs and a budget on one grid of less than 2**53 units, got costs from "
            f"{problem.costs.min():g} to {problem.costs.max():g} and budget={problem.budget:g}; "
            f"round the costs, or {remedy}"
        )


def too_large(
    problem: Problem, grid: Grid | LoweredPolicy, name: str, remedy: str, bounds: str = ""
) -> NotComputable:
    """Return the error of a computation ``name`` that would take too long or too much memory."""
    if grid.costs.max() > FINE:
        needs = (
            f"costs on a coarser common grid, got costs from {problem.costs.min():g} to "
            f"{problem.costs.max():g} in steps of {grid.top / grid.bottom:g}"
        )
    else:
        needs = (
            f"fewer rounds or contexts, got horizon={problem.horizon}, "
            f"budget={problem.budget:g} and {len(problem.context_probs)} contexts"
        )
    return NotComputable(f"{name} needs {needs}{bounds}; {remedy}")
