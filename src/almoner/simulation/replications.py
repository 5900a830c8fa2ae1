"""Replications of a compiled policy: chunks of them on threads, summed up as `Totals`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from almoner.money import amounts, budget_left
from almoner.policy.lowering import LoweredPolicy, for_kernels
from almoner.problem import Problem
from almoner.simulation.lanes import play_in_lanes, replications_at_once
from almoner.simulation.runs import Trace, unusable
from almoner.types import Floats, Ints

if TYPE_CHECKING:
    from almoner.kernels.environment import Environment

__all__ = ["Totals", "chunks", "environment_of", "play_compiled", "root_key", "trace_compiled"]

CHUNK_ROUNDS = 4_000_000
"""A chunk takes about half a second: often enough for a progress bar, rare enough to be free."""


class Totals(NamedTuple):
    """Sums over the rounds of each replication, as `almoner.simulation.runs.Runs` holds them.

    ``loss`` is the loss against the best action at the price of the budget, ``untried`` the number
    of pairs that exploration left untried, ``wrong`` the part of the loss by wrong actions, and
    ``left`` the budget left at the end. ``left_at`` and ``loss_at`` (replications, marks) are the
    budget left and the loss so far before the rounds asked for. ``pairs`` (contexts, 1 + actions,
    skip first) counts the actions taken in all replications.
    """

    reward: Floats
    drawn: Floats
    loss: Floats
    spend: Floats
    untried: Floats
    wrong: Floats
    left: Floats
    left_at: Floats
    loss_at: Floats
    pairs: Ints


def environment_of(problem: Problem) -> tuple[Environment, float]:
    """Return the environment of a problem, and the price at which its losses are counted."""
    from almoner.kernels.environment import make_environment
    from almoner.lp import solve

    price = solve(problem).price
    surplus = np.column_stack(
        [problem.default_rewards, problem.reward_means - price * problem.costs]
    )
    losses = surplus.max(axis=1, keepdims=True) - surplus
    environment = make_environment(
        problem.context_probs,
        problem.reward_means,
        problem.default_rewards,
        problem.reward_spread,
        losses,
    )
    return environment, price


def root_key(seed: int) -> np.uint64:
    """Return the key that every random stream of a seed is derived from."""
    return np.random.SeedSequence(seed).generate_state(1, np.uint64)[0]  # type: ignore[no-any-return]


def play_compiled(
    problem: Problem,
    lowered: LoweredPolicy,
    environment: Environment,
    root: np.uint64,
    *,
    runs: int,
    marks: Ints,
    threads: int,
    progress: Callable[[int], object],
) -> Totals:
    """Play replications 0 to ``runs`` − 1 of a policy on threads."""
    from almoner.kernels.loop import FIGURES

    out, noted = np.zeros((runs, FIGURES)), np.empty((runs, len(marks), 2))
    pairs = np.zeros(environment.worth.shape, np.int64)
    together = replications_at_once(lowered, runs)

    def play_chunk(chunk: slice) -> tuple[int, Ints]:
        counts, rows, notes = np.zeros_like(pairs), out[chunk], noted[chunk]
        terms = lowered, environment, root, chunk.start, rows
        if together == 1 or not play_in_lanes(*terms, marks, notes, counts):
            _play(*terms, marks=marks, noted=notes, pairs=counts)
        return chunk.stop - chunk.start, counts

    pool = ThreadPoolExecutor(threads)
    try:
        for count, counts in pool.map(play_chunk, chunks(runs, lowered.horizon, threads, together)):
            pairs += counts
            progress(count)
    finally:
        pool.shutdown(cancel_futures=True)  # on Ctrl-C only the running chunks are finished
    reward, drawn, loss, units, untried, wrong = out.T
    return Totals(
        reward=reward,
        drawn=drawn,
        loss=loss,
        spend=amounts(lowered, units),
        untried=untried,
        wrong=wrong,
        left=budget_left(problem.budget, lowered, lowered.budget - units),
        left_at=budget_left(problem.budget, lowered, noted[:, :, 0]),
        loss_at=noted[:, :, 1],
        pairs=pairs,
    )


def trace_compiled(
    problem: Problem, lowered: LoweredPolicy, environment: Environment, root: np.uint64, run: int
) -> Trace:
    """Play one replication and return every round of it."""
    from almoner.kernels.loop import FIGURES

    choices, numbers = np.empty((lowered.horizon, 2), np.int64), np.empty((lowered.horizon, 3))
    out = np.empty((1, FIGURES))
    _play(lowered, environment, root, run, out, choices=choices, numbers=numbers)
    left = budget_left(problem.budget, lowered, numbers[:, 2])
    return Trace(
        contexts=choices[:, 0],
        actions=choices[:, 1],
        probabilities=numbers[:, 0],
        rewards=numbers[:, 1],
        budget_left=left,
        unusable=float(unusable(left[-1], problem.costs)),
    )


def _play(
    lowered: LoweredPolicy,
    environment: Environment,
    root: np.uint64,
    first: int,
    out: Floats,
    *,
    marks: Ints = np.empty(0, np.int64),  # noqa: B008  # read only
    noted: Floats | None = None,
    pairs: Ints | None = None,
    choices: Ints = np.empty((0, 2), np.int64),  # noqa: B008
    numbers: Floats = np.empty((0, 3)),  # noqa: B008
) -> None:
    """Call the kernel on a state of its own, for one replication per row of ``out``."""
    from almoner.kernels.loop import play
    from almoner.kernels.state import new_hulls, new_memo, new_state

    state = new_state(lowered)
    memo = new_memo(lowered, state)
    play(
        for_kernels(lowered),
        environment,
        state,
        memo,
        new_hulls(lowered),
        root,
        first,
        marks,
        out,
        np.empty((len(out), 0, 2)) if noted is None else noted,
        np.zeros(environment.worth.shape, np.int64) if pairs is None else pairs,
        choices,
        numbers,
    )


def chunks(runs: int, horizon: int, threads: int, together: int = 1) -> Iterator[slice]:
    """Yield the replications that a thread plays before it reports; a multiple of ``together``."""
    size = max(1, min(CHUNK_ROUNDS // horizon, -(-runs // threads)))
    size = -(-size // together) * together
    return (slice(first, min(first + size, runs)) for first in range(0, runs, size))
