"""Value against budget from a log: a point for each budget, with a band from bootstrapped rows."""

from __future__ import annotations

import csv
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from almoner import checks
from almoner.logs.basis import LEVEL, Basis, basis_of, refuse_certainty, refuse_unknown_skips
from almoner.logs.log import Log
from almoner.logs.plans import Judgement, judge, moves_of
from almoner.logs.sums import (
    Model,
    Sums,
    WeightedRows,
    folds_of,
    model_of,
    sum_rows,
    weigh_rows,
)
from almoner.tables import data_frame
from almoner.types import Floats

__all__ = ["LogFrontier", "LogFrontierPoint", "log_frontier"]

FOLDS, BOOTSTRAPS = 5, 200
"""Folds of the cross-fitting, and bootstrap samples."""


@dataclass(frozen=True, kw_only=True)
class LogFrontierPoint:
    """The value of a budget, estimated from a log.

    Attributes
    ----------
    budget
        The budget of all arrivals of the log together.
    value, low, high
        The reward of all arrivals together, doubly robust, with its 95 % interval.
    stderr
        The standard error of the value, from bootstrapped rows.
    snips
        The same value by self-normalised inverse propensities.
    price
        What one more unit of budget would bring.
    spend
        The part of the budget that the plan uses.
    arrivals
        The number of arrivals.
    shares
        Who gets what: for each context the share of its arrivals that gets each action.
    basis
        The evidence of the estimate.
    """

    budget: float
    value: float
    low: float
    high: float
    stderr: float
    snips: float
    price: float
    spend: float
    arrivals: int
    shares: dict[str, dict[str, float]]
    basis: Basis

    @property
    def per_arrival(self) -> float:
        """The value of one arrival."""
        return self.value / self.arrivals


class LogFrontier(list[LogFrontierPoint]):
    """The points of a frontier, by rising budget."""

    @property
    def rows(self) -> list[dict[str, Any]]:
        """Dictionaries for `almoner.plots.frontier_figure`: two estimates at each budget."""
        return [
            {
                "policy": name,
                "budget": point.budget,
                "budget_per_row": point.budget / point.arrivals,
                "reward": value,
                "reward_per_row": value / point.arrivals,
                "stderr_per_row": point.stderr / point.arrivals if name != "SNIPS" else 0.0,
                "price": point.price,
                "spend": point.spend,
            }
            for name in ("doubly robust", "SNIPS")
            for point in self
            for value in [point.value if name != "SNIPS" else point.snips]
        ]

    def to_csv(self, path: str | Path) -> None:
        """Write the points as CSV, without who gets what."""
        records = [_flat(point) for point in self]
        with Path(path).open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, list(records[0]), lineterminator="\n")
            writer.writeheader()
            writer.writerows(records)

    def to_frame(self) -> Any:
        """Return the points as a data frame of pandas, which must be installed."""
        return data_frame([_flat(point) for point in self], instead="the points or to_csv")


def _flat(point: LogFrontierPoint) -> dict[str, Any]:
    record = asdict(point)
    basis: dict[str, Any] = record.pop("basis")
    del record["shares"], basis["warnings"]
    return {**record, **basis}


def log_frontier(
    log: Log, *, budgets: Sequence[float], bootstraps: int = BOOTSTRAPS, seed: int = 0
) -> LogFrontier:
    """Return the frontier of a log: see `almoner.frontier`."""
    amounts = checks.budgets(budgets)
    bootstraps = checks.whole("bootstraps", bootstraps, low=2)
    seed = checks.whole("seed", seed, low=0)
    refuse_unknown_skips(log)
    if log.skip_reward is None:
        refuse_certainty(log, "a frontier")
    cells = log.cells
    rows = weigh_rows(log, cells.codes, len(cells.labels), folds_of(log, FOLDS, seed))
    sums = sum_rows(rows)
    ratios = [amount / len(log) for amount in amounts]
    model = _cross_fitted(sums, log.skip_reward)
    known = log.skip_reward is not None
    moves = moves_of(model)

    def judged(sums: Sums) -> list[Judgement]:
        return [judge(sums, model, moves, ratio, skip_known=known) for ratio in ratios]

    deviations = _deviations(rows, judged, bootstraps, seed)
    return LogFrontier(
        _point(log, sums, values, budget, float(stderr) * len(log))
        for budget, values, stderr in zip(amounts, judged(sums), deviations, strict=True)
    )


def _cross_fitted(sums: Sums, skip_reward: float | None) -> Model:
    """Return a model for each fold, fitted on the other folds; costs are those of all rows."""
    costs = model_of(sums.together(), skip_reward).costs
    return model_of(sums.others(), skip_reward)._replace(costs=costs)


def _deviations(
    rows: WeightedRows,
    judged: Callable[[Sums], list[Judgement]],
    bootstraps: int,
    seed: int,
) -> Floats:
    """Return the standard deviation of the value at each budget over bootstrapped rows.

    Every row counts as often as a Poisson draw of mean 1 says. The plans stay as they are: a fold
    judges plans that others have made, so that its rows are as new to them.
    """
    draws = np.random.default_rng((seed, 1))
    values = []
    for _ in range(bootstraps):
        copies = draws.poisson(1.0, len(rows.places)).astype(np.float64)
        if not copies.any():  # a log of a few rows: a sample has one of them at least
            copies[draws.integers(len(copies))] = 1.0
        values.append([each.robust for each in judged(sum_rows(rows, copies))])
    deviations: Floats = np.std(values, axis=0, ddof=1)
    return deviations


def _point(
    log: Log, sums: Sums, values: Judgement, budget: float, stderr: float
) -> LogFrontierPoint:
    ratio, count = budget / len(log), len(log)
    value, snips = (count * each for each in values)
    model = model_of(sums.together(), log.skip_reward)
    chosen, price = model.plan(0, ratio)
    return LogFrontierPoint(
        budget=budget,
        value=value,
        low=value - LEVEL * stderr,
        high=value + LEVEL * stderr,
        stderr=stderr,
        snips=snips,
        price=price,
        spend=count * float(model.shares[0] @ (chosen * model.costs).sum(axis=1)),
        arrivals=count,
        shares={
            context: dict(zip(("skipped", *log.actions), row, strict=True))
            for context, row in zip(log.contexts, chosen.tolist(), strict=True)
        },
        basis=basis_of(log, chosen),
    )
