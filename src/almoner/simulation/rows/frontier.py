"""Value against budget: what policies bring on rows at several budgets, beside the optimum."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from almoner import checks
from almoner.policy.base import Policy
from almoner.policy.recipes import recipe
from almoner.policy.recipes_rows import ROW_RECIPES
from almoner.simulation.rows.rows import Rows
from almoner.simulation.rows.simulate_rows import simulate_rows
from almoner.tables import data_frame

__all__ = ["OPTIMUM", "Frontier", "compute_frontier"]

OPTIMUM = "hindsight"
"""Name of the optimum among the policies of a frontier."""

COLUMNS = [
    *("policy", "budget", "budget_per_row", "reward", "reward_per_row", "stderr_per_row"),
    *("ratio", "spend", "price", "runs"),
]


@dataclass(frozen=True, kw_only=True, eq=False)
class Frontier:
    """The reward of policies at several budgets.

    Attributes
    ----------
    rows
        A dictionary for each policy and budget: ``policy`` (``hindsight`` is the optimum),
        ``budget``, ``reward`` and ``spend`` in total and per row, the standard error of the reward
        per row, its ``ratio`` to the optimum, the ``price`` of the optimum, and the number of
        ``runs`` (0 for the optimum).
    """

    rows: list[dict[str, Any]]

    def to_frame(self) -> Any:
        """Return the rows as a data frame of pandas, which must be installed."""
        return data_frame(self.rows, columns=COLUMNS, instead="rows or to_csv")

    def to_csv(self, path: str | Path) -> None:
        """Write the rows as CSV."""
        with Path(path).open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
            writer.writeheader()
            writer.writerows(self.rows)

    def __repr__(self) -> str:
        policies = list(dict.fromkeys(row["policy"] for row in self.rows))
        budgets = len({row["budget"] for row in self.rows})
        return f"Frontier({', '.join(policies)} at {budgets} budgets)"


def compute_frontier(
    rows: Rows,
    *,
    budgets: Sequence[float],
    policies: Sequence[Policy | str] | None,
    runs: int,
    seed: int,
    order: str,
    default: str | None,
    threads: int | None,
) -> Frontier:
    """Return the frontier of some policies on rows: see `Rows.frontier`."""
    amounts = checks.budgets(budgets)
    named = _named(default_policies(rows) if policies is None else policies)
    records = []
    for budget in amounts:
        optimum = rows.upper_bound(budget, default=default)
        common = {"budget": budget, "budget_per_row": budget / len(rows), "price": optimum.price}
        best = _record(OPTIMUM, float(optimum), optimum.spend, len(rows), common)
        records.append({**best, "ratio": 1.0, "runs": 0, "stderr_per_row": 0.0})
        for name, policy in named.items():
            result = simulate_rows(
                rows,
                policy,
                budget=budget,
                runs=runs,
                seed=seed,
                order=order,
                default=default,
                threads=threads,
            )
            figures = result.summary()
            row = _record(name, figures["reward_mean"], figures["spend_mean"], len(rows), common)
            stderr = figures["reward_stderr"] / len(rows)
            records.append({**row, "ratio": result.ratio, "runs": runs, "stderr_per_row": stderr})
    return Frontier(rows=records)


def default_policies(rows: Rows) -> list[Policy | str]:
    """Return the names of our recipes that the rows have columns for."""
    names: list[Policy | str] = []
    names += ["priced"] if rows.scores is not None else []
    names += ["linear"] if rows.features is not None else []
    return names


def _record(
    name: str, reward: float, spend: float, count: int, common: dict[str, Any]
) -> dict[str, Any]:
    return {
        "policy": name,
        **common,
        "reward": reward,
        "reward_per_row": reward / count,
        "spend": spend,
    }


def _named(policies: Sequence[Policy | str]) -> dict[str, Policy]:
    """Return policies by the name of their recipe, or by their form if they are none."""
    if isinstance(policies, (str, Policy)):
        raise checks.refuse("policies", "be a list of policies", policies)
    known = {make(): name for name, make in ROW_RECIPES.items()}
    made = [recipe(policy) if isinstance(policy, str) else policy for policy in policies]
    return {known.get(policy, repr(policy)): policy for policy in made}
