"""Cells: the settings of one result each, and the rows that follow from them."""

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
from almoner.experiments.rows import RESULTS, Columns, Row
from almoner.policy.base import Policy
from almoner.policy.contexts import KnownContexts, NoContexts
from almoner.policy.rewards import KnownRewards
from almoner.problem import Problem
from almoner.simulation.oracle import exact_value, optimal_value, upper_bound
from almoner.simulation.simulate import simulate

__all__ = ["Cell", "run_cell"]

EXACT_WEIGHT = 20
"""An exact cell takes about as long as twenty replications of its horizon."""


@dataclass(frozen=True, kw_only=True)
class Cell:
    """One policy on one problem, at one horizon and budget.

    Attributes
    ----------
    problem_name, policy_name
        What they are called in rows and figures.
    problem
        The world, at its horizon and with its budget.
    policy
        What is played in it.
    ratio
        The budget per round that was asked for, before the budget was rounded.
    runs, seed
        Replications, and what they follow from; exact cells have no use for either.
    """

    problem_name: str
    policy_name: str
    problem: Problem
    policy: Policy
    ratio: float
    runs: int
    seed: int

    @property
    def columns(self) -> Columns:
        """The columns of its rows."""
        return RESULTS

    @property
    def knowing(self) -> bool:
        """Whether the policy knows all statistics, so that `exact_value` can be asked."""
        return isinstance(self.policy.rewards, KnownRewards) and isinstance(
            self.policy.contexts, (KnownContexts, NoContexts)
        )

    @property
    def exact(self) -> bool:
        """Whether it is certain that nothing is drawn.

        Where a policy knows everything and costs differ, nothing is drawn either, unless the costs
        lie on too fine a grid for `exact_value`. Only that can tell, so runs and seed count.
        """
        return self.knowing and self._equal_costs

    @property
    def kind(self) -> str:
        """Which kernels it runs; those for unequal costs also learn default rewards."""
        if self.knowing:
            return "exact" if self.exact else "exact, unequal"
        plain = self._equal_costs and not self.problem.default_rewards.any()
        return "simulated" if plain else "unequal"

    @property
    def _equal_costs(self) -> bool:
        return bool(np.all(self.problem.costs == self.problem.costs.flat[0]))

    @property
    def weight(self) -> float:
        """Roughly how long it takes, to run the longest first."""
        return self.problem.horizon * (EXACT_WEIGHT if self.exact else self.runs)

    @cached_property
    def settings(self) -> dict[str, Any]:
        """All that the rows follow from, as JSON has it."""
        table = {
            "version": __version__,
            "problem": [self.problem_name, self.problem.to_dict()],
            "policy": [self.policy_name, self.policy.to_dict()],
            "ratio": self.ratio,
            "runs": 0 if self.exact else self.runs,
            "seed": 0 if self.exact else self.seed,
        }
        return json.loads(json.dumps(table))  # type: ignore[no-any-return]  # tuples become lists

    def run(self) -> list[Row]:
        """Return its rows."""
        return run_cell(self)


def run_cell(cell: Cell) -> list[Row]:
    """Return the rows of a cell: against the oracle, where there is one, and the upper bound."""
    from almoner.lp import solve

    problem, ceiling = cell.problem, upper_bound(cell.problem)
    exact = _exact(cell, ceiling)
    drawn = exact is None
    mean, stderr, q99, worst = exact or _simulated(cell)
    shared: Row = {
        "version": __version__,
        "method": "simulated" if drawn else "exact",
        "problem": cell.problem_name,
        "policy": cell.policy_name,
        "horizon": problem.horizon,
        "ratio": cell.ratio,
        "budget": problem.budget,
        "boundary_distance": solve(problem).boundary_distance,
        "runs": cell.runs if drawn else 0,
        "seed": cell.seed if drawn else 0,
    }
    rows = []
    for against, benchmark in _benchmarks(problem, ceiling).items():
        floor = ceiling - benchmark  # the same for every run: it shifts all but the error
        regret = {
            "regret_mean": mean - floor,
            "regret_stderr": stderr,
            "regret_q99": None if q99 is None else q99 - floor,
            "regret_max": None if worst is None else worst - floor,
        }
        rows.append(shared | {"against": against, "benchmark": benchmark} | regret)
    return rows


Figures = tuple[float, float | None, float | None, float | None]


def _exact(cell: Cell, ceiling: float) -> Figures | None:
    if not cell.knowing:
        return None
    try:
        return ceiling - exact_value(cell.problem, cell.policy), 0.0, None, None
    except NotComputable:  # unequal costs on too fine a grid
        return None


def _simulated(cell: Cell) -> Figures:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UntriedPairs)  # rows show what too short a length costs
        regret = simulate(
            cell.problem,
            cell.policy,
            runs=cell.runs,
            seed=cell.seed,
            against="upper bound",
            threads=1,  # cells run side by side; threads inside them would fight for the cores
        ).regret
    stderr = None if math.isnan(regret.stderr) else regret.stderr
    return regret.mean, stderr, regret.quantile(0.99), regret.max


def _benchmarks(problem: Problem, ceiling: float) -> dict[str, float]:
    try:
        return {"oracle": optimal_value(problem), "upper bound": ceiling}
    except NotComputable:  # unequal costs on too fine a grid
        return {"upper bound": ceiling}
