"""Monte-Carlo simulation on rows: replications are shuffles of the rows, or their own order."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from almoner import checks
from almoner.errors import NotComputable
from almoner.money import amounts, budget_left
from almoner.policy.base import Policy
from almoner.policy.row_lowering import LINEAR
from almoner.simulation.regret import Sample
from almoner.simulation.replications import chunks
from almoner.simulation.rows.row_runs import RowRuns, RowTrace
from almoner.simulation.rows.rows import Rows
from almoner.simulation.rows.setting import Setting, orders, prepare
from almoner.types import Floats, Ints

__all__ = ["simulate_rows", "trace_rows"]

LARGEST_SIMULATION = 1e12
"""Rounds in all runs, times the regressors squared plus 1: some hours."""


def simulate_rows(
    rows: Rows,
    policy: Policy | str,
    *,
    budget: float,
    runs: int = 20,
    seed: int = 0,
    order: str = "shuffle",
    default: str | None = None,
    threads: int | None = None,
    progress: Callable[[int], object] | None = None,
) -> RowRuns:
    """Simulate a policy on rows and measure its regret: see `almoner.simulate`."""
    runs = checks.whole("runs", runs)
    setting = prepare(rows, policy, budget, seed, order, default)
    _refuse_length(setting, runs)
    threads = checks.whole("threads", os.cpu_count() or 1 if threads is None else threads)
    out = _play_all(setting, runs, threads, progress or (lambda count: None))
    benchmark = rows.upper_bound(budget, default=default)
    reward, units, overrun = out[:, :3].T
    return RowRuns(
        policy=policy,
        budget=budget,
        seed=seed,
        against="hindsight",
        order=setting.order,
        default=default,
        benchmark=benchmark,
        reward=reward,
        spend=amounts(setting.grid, units),
        overrun=amounts(setting.grid, overrun),
        shares=out[:, 3:] / len(rows),
        regret=Sample(float(benchmark) - reward),
    )


def trace_rows(
    rows: Rows,
    policy: Policy | str,
    *,
    budget: float,
    seed: int = 0,
    run: int = 0,
    order: str = "shuffle",
    default: str | None = None,
) -> RowTrace:
    """Repeat one replication and return every round of it: see `almoner.trace`."""
    run = checks.whole("run", run, low=0)
    setting = prepare(rows, policy, budget, seed, order, default)
    choices, numbers = np.zeros(len(rows), np.int64), np.zeros((len(rows), 4))
    taken = orders(setting, run, 1)
    _play(setting, run, taken, choices, numbers)
    unit = setting.grid.top / setting.grid.bottom
    return RowTrace(
        rows=taken[0],
        actions=choices,
        probabilities=numbers[:, 0],
        prices=numbers[:, 1] / unit,
        rewards=numbers[:, 2],
        budget_left=budget_left(budget, setting.grid, numbers[:, 3]),
    )


def _refuse_length(setting: Setting, runs: int) -> None:
    rows, width = setting.rows, setting.world.values.shape[1]
    work = len(rows) * runs * (1.0 + (width**2 if setting.lowered.model == LINEAR else 0))
    if work > LARGEST_SIMULATION:
        raise NotComputable(
            f"simulate needs fewer rounds, got {len(rows):,} rows and runs={runs}; take a sample "
            "of the rows"
        )


def _play_all(
    setting: Setting, runs: int, threads: int, progress: Callable[[int], object]
) -> Floats:
    """Play all replications on threads; return a row of figures for each."""

    def play_chunk(chunk: slice) -> Floats:
        return _play(setting, chunk.start, orders(setting, chunk.start, chunk.stop - chunk.start))

    parts = []
    pool = ThreadPoolExecutor(threads)
    try:
        for part in pool.map(play_chunk, chunks(runs, len(setting.rows), threads)):
            parts.append(part)
            progress(len(part))
    finally:
        pool.shutdown(cancel_futures=True)  # on Ctrl-C only the running chunks are finished
    return np.concatenate(parts)


def _play(
    setting: Setting,
    first: int,
    taken: Ints,
    choices: Ints = np.zeros(0, np.int64),  # noqa: B008  # read only
    numbers: Floats = np.zeros((0, 4)),  # noqa: B008
) -> Floats:
    """Call the kernel on a state of its own, for one replication per order."""
    from almoner.kernels.rows.loop import ROW_FIGURES, play_rows
    from almoner.kernels.rows.must_serve import SUMS
    from almoner.kernels.rows.state import new_row_state

    actions = len(setting.rows.actions)
    features = setting.world.values.shape[1] - actions - 1
    out = np.zeros((len(taken), ROW_FIGURES + actions))
    play_rows(
        setting.lowered,
        setting.world,
        new_row_state(setting.lowered, actions=actions, features=features),
        setting.root,
        first,
        taken,
        out,
        choices,
        numbers,
        np.zeros(actions, np.bool_),
        np.zeros(SUMS + actions),
    )
    return out
