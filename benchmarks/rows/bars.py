"""Bars of quality on rows, each measured on shuffles and reported as met or missed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

import almoner as al
from benchmarks.rows.data import (
    block_order,
    full_cost,
    kinds_of_prompts,
    parquet_rows,
    prompts,
    with_true_values,
)

__all__ = ["Bar", "all_bars"]

BUDGETS = (8.3e-5, 2.3e-4, 6.6e-4, 1.9e-3, 5.3e-3)
"""Budgets per request of the published comparison on the prompts."""

RIDGE = dict(zip(BUDGETS, (0.825, 0.878, 0.920, 0.923, 0.926), strict=True))
LINEAR = {0.01: 0.850, 0.02: 0.896, 0.05: 0.924}
GSM8K = {0.02: 0.6054, 0.05: 0.6431, 0.1: 0.6589, 0.2: 0.6898, 0.5: 0.7638}
"""Rewards of the prototype that the rules were measured with, over the same shares and 30 runs."""

UPLIFTS = 100_000


@dataclass(frozen=True)
class Bar:
    """A figure with its standard error and the least that it must be."""

    what: str
    value: float
    stderr: float
    bar: float
    remark: str = ""

    @property
    def met(self) -> bool:
        """Whether the figure reaches the bar."""
        return self.value >= self.bar


def all_bars(*, runs: int) -> Iterator[Bar]:
    """Measure everything, one bar after the other."""
    yield from true_values(runs)
    yield from ridge_scores(runs)
    yield from blocks(runs)
    yield from linear(runs)
    yield from gsm8k(runs)
    yield from uplifts(max(2, runs // 20))


def true_values(runs: int) -> Iterator[Bar]:
    """Measure `priced` where rewards and bills are known: at least 99.8 % of the optimum."""
    rows = with_true_values(prompts())
    for budget in BUDGETS:
        result = al.simulate(rows, al.priced(), budget=budget * len(rows), runs=runs, seed=1)
        yield _share(f"prompts, true values, {budget:g} each", result, 0.998)


def ridge_scores(runs: int) -> Iterator[Bar]:
    """Measure `priced` on cross-fitted scores and expected costs, in reward per prompt."""
    rows = prompts()
    for budget, bar in RIDGE.items():
        result = al.simulate(rows, al.priced(), budget=budget * len(rows), runs=runs, seed=1)
        yield _reward(f"prompts, ridge scores, {budget:g} each", result, len(rows), bar)


def blocks(runs: int) -> Iterator[Bar]:
    """Measure kinds of prompts one after the other: at most 1 % below random order."""
    rows, kinds = with_true_values(prompts()), kinds_of_prompts()
    for budget in BUDGETS:
        money = budget * len(rows)
        random = al.simulate(rows, al.priced(), budget=money, runs=runs, seed=1).ratio
        ratios = np.array([_block_ratio(rows, kinds, money, seed) for seed in range(runs)])
        yield Bar(
            what=f"prompts in blocks of a kind, {budget:g} each",
            value=float(ratios.mean()) / random,
            stderr=float(ratios.std() / len(ratios) ** 0.5),
            bar=0.99,
            remark="as a share of random order",
        )


def linear(runs: int) -> Iterator[Bar]:
    """Measure `linear` on four models, costs learned from their means, in reward per prompt."""
    rows = parquet_rows("paretobandit_k4", rewards="quality_*")
    for share, bar in LINEAR.items():
        budget = share * full_cost(rows)
        result = al.simulate(rows, al.linear(), budget=budget, runs=max(5, runs // 4), seed=1)
        yield _reward(f"four models, features, {share:.0%} of full cost", result, len(rows), bar)


def gsm8k(runs: int) -> Iterator[Bar]:
    """Measure `linear` on two models and school mathematics: within .002 of the prototype."""
    rows = parquet_rows("routellm_gsm8k", rewards="right_*")
    for share, reference in GSM8K.items():
        budget = share * full_cost(rows)
        result = al.simulate(rows, al.linear(), budget=budget, runs=max(10, runs // 2), seed=1)
        what = f"GSM8K, features, {share:.0%} of full cost"
        yield _reward(what, result, len(rows), reference - 0.002)


def uplifts(runs: int) -> Iterator[Bar]:
    """Measure `priced` on known uplifts, two fifths of them negative: at least 99.7 %."""
    rng = np.random.default_rng(5)
    level = rng.normal(0.02, 0.05, (UPLIFTS, 1))
    scores = level * np.array([1.0, 1.4, 1.8]) + rng.normal(0.0, 0.03, (UPLIFTS, 3)) - 0.01
    costs = np.round(rng.gamma(2.0, 0.5, (UPLIFTS, 3)) * np.array([1, 2, 4]) + 0.05, 3)
    rows = al.Rows(rewards=scores, costs=costs, scores=scores)
    for share in (0.01, 0.02, 0.05, 0.1, 0.3, 0.6, 0.9):
        budget = share * float(costs.max(axis=1).sum())
        result = al.simulate(rows, al.priced(), budget=budget, runs=runs, seed=1)
        yield _share(f"{UPLIFTS:,} uplifts, {share:.0%} of full cost", result, 0.997)


def _block_ratio(rows: al.Rows, kinds: npt.NDArray[Any], money: float, seed: int) -> float:
    """Return the share of the optimum with kinds one after the other, in a random order."""
    order = block_order(kinds, seed)
    block = al.Rows(
        rewards=rows.rewards[order], costs=rows.costs[order], scores=rows.rewards[order]
    )
    return al.simulate(block, al.priced(), budget=money, runs=1, order="file", seed=seed).ratio


def _share(what: str, result: al.RowRuns, bar: float) -> Bar:
    best = float(result.benchmark)
    return Bar(what, result.ratio, result.regret.stderr / best, bar, "of the optimum")


def _reward(what: str, result: al.RowRuns, count: int, bar: float) -> Bar:
    mean, stderr = float(result.reward.mean()) / count, result.regret.stderr / count
    return Bar(what, mean, stderr, bar, f"reward each; {100 * result.ratio:.1f} % of the optimum")
