"""Contexts served: how often each policy serves each context, beside the LP's probability.

The paper explains two of its figures by them and shows no number: UCB-PB passes over the better
context where UCB-ALP does not, and EALP serves more of ten contexts rightly than of two.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from almoner import __version__
from almoner.experiments.reproduction.paper import LONG_HORIZONS, QUICK_LONG_HORIZONS
from almoner.experiments.rows import SERVED, Columns, Row
from almoner.policy.recipes import recipe
from almoner.scenarios import scenario
from almoner.simulation.python_policy import SKIP
from almoner.simulation.simulate import simulate

__all__ = ["ServedContexts", "served"]


@dataclass(frozen=True, kw_only=True)
class ServedContexts:
    """Task that counts the arrivals of each context, and those that were served."""

    problem_name: str
    policy_name: str
    horizon: int
    ratio: float
    runs: int
    seed: int

    @property
    def columns(self) -> Columns:
        """Columns of the rows."""
        return SERVED

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
            "what": "served",
            "problem": [self.problem_name, scenario(self.problem_name).to_dict()],
            "policy": [self.policy_name, recipe(self.policy_name).to_dict()],
            "horizon": self.horizon,
            "ratio": self.ratio,
            "runs": self.runs,
            "seed": self.seed,
        }
        return json.loads(json.dumps(table))  # type: ignore[no-any-return]  # tuples become lists

    def run(self) -> list[Row]:
        """Simulate the policy and return a row for each context."""
        from almoner.lp import solve

        problem = scenario(self.problem_name).scaled(self.horizon, ratio=self.ratio)
        pairs = simulate(
            problem,
            recipe(self.policy_name),
            runs=self.runs,
            seed=self.seed,
            against="upper bound",
            threads=1,
        ).pairs
        planned = solve(problem).probabilities.sum(axis=1)
        return [
            {
                "version": __version__,
                "problem": self.problem_name,
                "policy": self.policy_name,
                "horizon": self.horizon,
                "ratio": self.ratio,
                "budget": problem.budget,
                "runs": self.runs,
                "seed": self.seed,
                "context": context,
                "arrived": float(pairs[context].sum()),
                "skipped": float(pairs[context, SKIP]),
                "planned": float(planned[context]),
            }
            for context in range(len(pairs))
        ]


def served(*, runs: int, seed: int = 0, quick: bool = False) -> tuple[ServedContexts, ...]:
    """Return the tasks: two learners above a boundary, EALP and FLP on one."""
    fewer = max(1, runs // 5)
    return tuple(
        ServedContexts(
            problem_name=problem,
            policy_name=policy,
            horizon=horizon,
            ratio=ratio,
            runs=fewer,
            seed=seed,
        )
        for problem, ratio, policies, horizons in (
            (
                "paper-two",
                0.41,
                ("ucb_alp", "ucb_pb"),
                QUICK_LONG_HORIZONS if quick else LONG_HORIZONS,
            ),
            ("paper-two", 0.4, ("ealp", "flp"), (1000, 10_000)),
            ("paper-ten", 0.5, ("ealp", "flp"), (1000, 10_000)),
        )
        for policy in policies
        for horizon in horizons
    )
