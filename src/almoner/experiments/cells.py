"""Cells: one policy on one problem each, computed or simulated into rows."""

from __future__ import annotations

import json
import math
import warnings
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from almoner import __version__
from almoner.errors import NotComputable, UntriedPairs
from almoner.experiments.plain_policies import describe
from almoner.experiments.rows import RESULTS, Columns, Row
from almoner.policy.base import Policy
from almoner.problem import Problem
from almoner.simulation.oracle import exact_value, has_exact_value, optimal_value, upper_bound
from almoner.simulation.python_policy import PlainPolicy
from almoner.simulation.simulate import simulate

__all__ = ["Cell", "run_cell"]

EXACT_WEIGHT = 20
"""Work of an exact cell, in replications of its horizon."""

PYTHON_WEIGHT = 100
"""Work of a round of a policy in Python, in rounds of a compiled one."""


@dataclass(frozen=True, kw_only=True)
class Cell:
    """One policy on one problem, at one horizon and budget.

    Attributes
    ----------
    problem_name, policy_name
        Their names in rows and figures.
    problem
        The problem, at its horizon and with its budget.
    policy
        The policy to simulate on it, or an object with ``decide`` and ``learn``.
    ratio
        The budget per round as requested, before the budget was rounded.
    runs, seed
        Replications and their seed; exact cells use neither.
    """

    problem_name: str
    policy_name: str
    problem: Problem
    policy: Policy | PlainPolicy
    ratio: float
    runs: int
    seed: int

    @property
    def columns(self) -> Columns:
        """Columns of the rows."""
        return RESULTS

    @cached_property
    def exact(self) -> bool:
        """Whether the rows are computed exactly, so that they depend on neither runs nor seed."""
        return isinstance(self.policy, Policy) and has_exact_value(self.problem, self.policy)

    @property
    def kind(self) -> str:
        """Kernels that the cell runs; those for unequal costs also learn default rewards."""
        if not isinstance(self.policy, Policy):
            return "python"
        if self.exact:
            return "exact" if self._equal_costs else "exact, unequal"
        unpriced = self._equal_costs and not self.problem.default_rewards.any()
        return "simulated" if unpriced else "unequal"

    @property
    def _equal_costs(self) -> bool:
        return bool(np.all(self.problem.costs == self.problem.costs.flat[0]))

    @property
    def weight(self) -> float:
        """Estimated work, to run the longest cells first."""
        slower = 1 if isinstance(self.policy, Policy) else PYTHON_WEIGHT
        return slower * self.problem.horizon * (EXACT_WEIGHT if self.exact else self.runs)

    @cached_property
    def settings(self) -> dict[str, Any]:
        """Settings that determine the rows, in JSON types."""
        table = {
            "version": __version__,
            "problem": [self.problem_name, self.problem.to_dict()],
            "policy": [self.policy_name, describe(self.policy)],
            "ratio": self.ratio,
            "runs": 0 if self.exact else self.runs,
            "seed": 0 if self.exact else self.seed,
        }
        return json.loads(json.dumps(table))  # type: ignore[no-any-return]  # tuples become lists

    def run(self) -> list[Row]:
        """Return the rows of the cell."""
        return run_cell(self)


def run_cell(cell: Cell) -> list[Row]:
    """Compute the rows of a cell: against the oracle, if computable, and the upper bound."""
    from almoner.lp import solve

    problem, ceiling = cell.problem, upper_bound(cell.problem)
    mean, stderr, q99, worst = _exact(cell, ceiling) if cell.exact else _simulated(cell)
    shared: Row = {
        "version": __version__,
        "method": "exact" if cell.exact else "simulated",
        "problem": cell.problem_name,
        "policy": cell.policy_name,
        "horizon": problem.horizon,
        "ratio": cell.ratio,
        "budget": problem.budget,
        "boundary_distance": solve(problem).boundary_distance,
        "runs": 0 if cell.exact else cell.runs,
        "seed": 0 if cell.exact else cell.seed,
    }
    rows = []
    for against, benchmark in _benchmarks(problem, ceiling).items():
        floor = ceiling - benchmark  # the same for every run: the standard error is unchanged
        regret = {
            "regret_mean": mean - floor,
            "regret_stderr": stderr,
            "regret_q99": None if q99 is None else q99 - floor,
            "regret_max": None if worst is None else worst - floor,
        }
        rows.append(shared | {"against": against, "benchmark": benchmark} | regret)
    return rows


RegretFigures = tuple[float, float | None, float | None, float | None]


def _exact(cell: Cell, ceiling: float) -> RegretFigures:
    assert isinstance(cell.policy, Policy)  # noqa: S101  # for the type checker: it has a value
    return ceiling - exact_value(cell.problem, cell.policy), 0.0, None, None


def _simulated(cell: Cell) -> RegretFigures:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UntriedPairs)  # rows show the regret of too short a length
        regret = simulate(
            cell.problem,
            cell.policy,
            runs=cell.runs,
            seed=cell.seed,
            against="upper bound",
            threads=1,  # cells run in parallel; threads inside them would compete for the cores
        ).regret
    stderr = None if math.isnan(regret.stderr) else regret.stderr
    return regret.mean, stderr, regret.quantile(0.99), regret.max


def _benchmarks(problem: Problem, ceiling: float) -> dict[str, float]:
    try:
        return {"oracle": optimal_value(problem), "upper bound": ceiling}
    except NotComputable:  # too large a problem, or too fine a grid of costs
        return {"upper bound": ceiling}
