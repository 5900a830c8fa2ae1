"""Concentration of the budget left (Lemma 2): simulated quantiles against the law's.

Under ALP the budget left with τ rounds to go, b, is hypergeometric, as if the B served rounds had
been drawn from the T beforehand; so b/τ stays near ρ, and P(b > (ρ + δ)τ) ≤ exp(−2δ²τ). The law
only needs known context probabilities, so it holds under UCB-ALP too, not under a fixed ratio.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from almoner import __version__
from almoner.experiments.rows import BUDGETS, Columns, Row
from almoner.policy.recipes import recipe
from almoner.scenarios import scenario
from almoner.simulation.simulate import simulate
from almoner.types import Floats

__all__ = ["LEVELS", "Concentration", "concentration", "remaining_law"]

LEVELS = (0.01, 0.1, 0.5, 0.9, 0.99)
"""Levels of the quantiles."""


@dataclass(frozen=True, kw_only=True)
class Concentration:
    """Task that compares quantiles of budget left / rounds left with the hypergeometric law's."""

    policy_name: str
    horizon: int
    ratio: float
    runs: int
    seed: int
    problem_name: str = "paper-two"

    @property
    def columns(self) -> Columns:
        """Columns of the rows."""
        return BUDGETS

    @property
    def weight(self) -> float:
        """Estimated work, to run the longest tasks first."""
        return self.horizon * self.runs

    @property
    def kind(self) -> str:
        """Kernels that the task runs."""
        return "simulated"

    @cached_property
    def settings(self) -> dict[str, Any]:
        """Settings that determine the rows, in JSON types."""
        table = {
            "version": __version__,
            "what": "concentration",
            "problem": [self.problem_name, scenario(self.problem_name).to_dict()],
            "policy": [self.policy_name, recipe(self.policy_name).to_dict()],
            "horizon": self.horizon,
            "ratio": self.ratio,
            "runs": self.runs,
            "seed": self.seed,
            "levels": LEVELS,
        }
        return json.loads(json.dumps(table))  # type: ignore[no-any-return]  # tuples become lists

    def run(self) -> list[Row]:
        """Simulate the policy and return its quantiles with the law's."""
        problem = scenario(self.problem_name).scaled(self.horizon, ratio=self.ratio)
        # Steps of five: ρτ is whole there, so quantiles of whole budgets have no rounding jumps.
        fives = np.unique(np.geomspace(1, self.horizon / 5 - 1, 40).round().astype(int))
        rounds_left = 5 * fives[::-1]
        result = simulate(
            problem,
            recipe(self.policy_name),
            runs=self.runs,
            seed=self.seed,
            against="upper bound",
            marks=[self.horizon - int(left) + 1 for left in rounds_left],
            threads=1,
        )
        shared = {
            "version": __version__,
            "problem": self.problem_name,
            "policy": self.policy_name,
            "horizon": self.horizon,
            "ratio": self.ratio,
            "budget": problem.budget,
            "runs": self.runs,
            "seed": self.seed,
        }
        return [
            shared | quantile
            for left, budgets in zip(rounds_left.tolist(), result.budget_left.T, strict=True)
            for quantile in _quantiles(self, left, budgets, round(problem.budget))
        ]


def concentration(*, runs: int, seed: int = 0, quick: bool = False) -> tuple[Concentration, ...]:
    """Return the tasks of the figure: two policies that follow the law, and one that does not.

    At least 2,000 runs, because fewer estimate a quantile of 1 % poorly.
    """
    return tuple(
        Concentration(
            policy_name=name,
            horizon=2000 if quick else 10_000,
            ratio=0.4,
            runs=max(runs, 2000),
            seed=seed,
        )
        for name in ("alp", "ucb_alp", "flp")
    )


def _quantiles(settings: Concentration, left: int, budgets: Floats, budget: int) -> list[Row]:
    """Return the rows for one number of rounds left; quantiles are smallest values reached."""
    reached = np.cumsum(remaining_law(settings.horizon, budget, left))

    def law(level: float) -> float:
        return min(int(np.searchsorted(reached, level - 1e-12)), left) / left

    rows = []
    for level in LEVELS:
        noise = 4 * math.sqrt(level * (1 - level) / settings.runs)
        tail = math.sqrt(math.log(1 / min(level, 1 - level)) / (2 * left))
        bound = settings.ratio + math.copysign(tail, level - 0.5) if level != 0.5 else law(level)
        rows.append(
            {
                "rounds_left": left,
                "level": level,
                "simulated": float(np.quantile(budgets, level, method="inverted_cdf")) / left,
                "law": law(level),
                "law_low": law(max(level - noise, 0.0)),
                "law_high": law(min(level + noise, 1.0)),
                "bound": min(max(bound, 0.0), 1.0),
            }
        )
    return rows


def remaining_law(horizon: int, budget: int, left: int) -> Floats:
    """Return P(b = 0 … left) for the budget b that ALP has left with ``left`` rounds to go.

    Hypergeometric: of ``horizon`` rounds ``budget`` are served, and these ``left`` are any of them.

    Examples
    --------
    >>> remaining_law(4, 2, 2).round(4).tolist()
    [0.1667, 0.6667, 0.1667]
    """
    logs = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, horizon + 1)))])  # log n!

    def choose(n: int, k: Any) -> Any:
        return logs[n] - logs[k] - logs[n - k]

    served = np.arange(max(0, left - (horizon - budget)), min(left, budget) + 1)
    law = np.zeros(left + 1)
    law[served] = np.exp(
        choose(budget, served) + choose(horizon - budget, left - served) - choose(horizon, left)
    )
    return law
