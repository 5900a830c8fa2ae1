"""Monte-Carlo over replications: validates, seeds, cuts into chunks, calls the kernels.

Replication r of a seed sees the same contexts and the same reward noise under every policy, and
gives the same numbers whatever the threads and chunks.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from almoner import checks
from almoner.checks import Floats
from almoner.errors import NotComputable, UntriedPairs
from almoner.money import amounts, budget_left
from almoner.policy.base import Policy
from almoner.policy.lowering import Plan, for_kernels, make_plan
from almoner.policy.recipes import recipe
from almoner.problem import FROM_FILE, Problem
from almoner.simulation.oracle import optimal_value, upper_bound
from almoner.simulation.python_policy import PlainPolicy, as_plain, play_plain
from almoner.simulation.runs import Runs, Sample, Trace, unusable

if TYPE_CHECKING:
    from almoner.kernels.loop import World

__all__ = ["AGAINST", "ESTIMATORS", "simulate", "trace"]

AGAINST = ("oracle", "upper bound")
ESTIMATORS = ("reduced", "raw")

CHUNK_ROUNDS = 4_000_000
"""A chunk takes about half a second: often enough for a progress bar, rare enough to be free."""

LARGEST_SIMULATION, LONGEST_TRACE = 1e13, 25_000_000
"""Rounds times pairs in all runs: some hours. Rounds of a trace: a gigabyte."""


def simulate(
    problem: Problem,
    policy: Policy | PlainPolicy | str,
    *,
    runs: int = 1000,
    seed: int = 0,
    against: str = "oracle",
    estimator: str = "reduced",
    marks: Sequence[int] = (),
    threads: int | None = None,
    progress: Callable[[int], object] | None = None,
) -> Runs:
    """Play a policy many times over and measure its regret.

    Parameters
    ----------
    problem
        The world to play in.
    policy
        A `Policy`, the name of a recipe, or any object with ``decide`` and ``learn`` (slow, same
        seeds; see `PlainPolicy`).
    runs
        Number of independent replications.
    seed
        Everything random follows from it.
    against
        What regret is measured from: the exact ``"oracle"``, or the ``"upper bound"`` T·v(B/T).
    estimator
        ``"reduced"`` sums what each choice forgoes at the price of the budget. It has the same mean
        as ``"raw"``, the benchmark minus the rewards as drawn, and less noise: its standard error
        is smaller by a factor of 2 to 6 on the paper's problems.
    marks
        Rounds (1 is the first) before which to note the budget left.
    threads
        How many replications to play at once; all cores if left out.
    progress
        Called with the number of replications finished, each time some are.

    Warns
    -----
    UntriedPairs
        A policy that explores first has left a pair untried in some of the runs.

    Examples
    --------
    >>> from almoner import ucb_alp
    >>> problem = Problem(
    ...     context_probs=[0.4, 0.6], reward_means=[[0.2, 0.8], [0.1, 0.4]],
    ...     horizon=1000, budget=400)
    >>> result = simulate(problem, ucb_alp(), runs=100, seed=7)
    >>> float(result.spend.max())
    400.0
    """
    from almoner.kernels.loop import FIGURES

    problem = checks.kind("problem", problem, Problem, FROM_FILE)
    policy = recipe(policy) if isinstance(policy, str) else policy
    runs = checks.whole("runs", runs)
    seed = checks.whole("seed", seed, low=0)
    against = checks.choice("against", against, AGAINST)
    estimator = checks.choice("estimator", estimator, ESTIMATORS)
    places = _marks(marks, problem.horizon)
    threads = checks.whole("threads", os.cpu_count() or 1 if threads is None else threads)
    _refuse_length("simulate", problem, runs, kept=not isinstance(policy, Policy))
    player = _player(problem, policy)  # refused now, not after the oracle's minute
    ceiling = upper_bound(problem)
    benchmark = ceiling if against == "upper bound" else optimal_value(problem)
    world, price = _world(problem)
    table, left = np.zeros((runs, FIGURES)), np.empty(runs)
    left_at = np.empty((runs, len(places)))
    if isinstance(player, Plan):
        _play_all(player, world, _root(seed), places, table, left_at, threads, progress)
        left = budget_left(problem.budget, player, player.budget - table[:, 3])
        table[:, 3] = amounts(player, table[:, 3])
        left_at = budget_left(problem.budget, player, left_at)
    else:
        for run in range(runs):
            played = play_plain(problem, player, world, _root(seed), run)
            done = played.contexts, played.actions + 1
            before = np.concatenate([[problem.budget], played.budget_left])
            left[run], left_at[run] = before[-1], before[places - 1]
            table[run, :4] = [
                world.worth[done].sum(),
                played.rewards.sum(),
                world.losses[done].sum(),
                problem.budget - left[run],
            ]
            if progress is not None:
                progress(1)
    reward, drawn, loss, spend, untried = table.T
    _warn_of_untried(int(np.count_nonzero(untried)), runs)
    regret = benchmark - drawn
    if estimator == "reduced":
        regret = loss + price * (problem.budget - spend) - (ceiling - benchmark)
    return Runs(
        policy=policy,
        seed=seed,
        against=against,
        estimator=estimator,
        reward=reward,
        reward_drawn=drawn,
        spend=spend,
        unusable=unusable(left, problem.costs),
        regret=Sample(regret),
        budget_left=left_at,
    )


def trace(
    problem: Problem, policy: Policy | PlainPolicy | str, *, seed: int = 0, run: int = 0
) -> Trace:
    """Play one replication of `simulate` again and return everything that happened in it.

    Examples
    --------
    >>> from almoner import alp
    >>> problem = Problem(
    ...     context_probs=[0.4, 0.6], reward_means=[[0.8], [0.4]], horizon=5, budget=5)
    >>> trace(problem, alp(), seed=1).actions.tolist()
    [0, 0, 0, 0, 0]
    """
    from almoner.kernels.loop import FIGURES

    problem = checks.kind("problem", problem, Problem, FROM_FILE)
    policy = recipe(policy) if isinstance(policy, str) else policy
    seed, run = checks.whole("seed", seed, low=0), checks.whole("run", run, low=0)
    _refuse_length("trace", problem, 1, kept=True)
    plan = _player(problem, policy)
    world, _ = _world(problem)
    if not isinstance(plan, Plan):
        return play_plain(problem, plan, world, _root(seed), run)
    choices, numbers = np.empty((plan.horizon, 2), np.int64), np.empty((plan.horizon, 3))
    out = np.empty((1, FIGURES))
    _play_chunk(plan, world, _root(seed), run, out, choices=choices, numbers=numbers)
    after = budget_left(problem.budget, plan, numbers[:, 2])
    return Trace(
        contexts=choices[:, 0],
        actions=choices[:, 1],
        probabilities=numbers[:, 0],
        rewards=numbers[:, 1],
        budget_left=after,
        unusable=float(unusable(after[-1], problem.costs)),
    )


def _player(problem: Problem, policy: Policy | PlainPolicy) -> Plan | PlainPolicy:
    """Return the plan of a policy, or else the object with decide and learn that it is."""
    return make_plan(policy, **problem.terms()) if isinstance(policy, Policy) else as_plain(policy)


def _refuse_length(what: str, problem: Problem, runs: int, *, kept: bool) -> None:
    """Refuse what would take days, or more memory than there is where every round is kept."""
    work = problem.horizon * runs * (problem.costs.size + 100)
    if work > LARGEST_SIMULATION or (kept and problem.horizon > LONGEST_TRACE):
        repeated = "" if kept else f" and runs={runs}"
        raise NotComputable(
            f"{what} needs fewer rounds, got horizon={problem.horizon}{repeated} with "
            f"{len(problem.context_probs)} contexts; scale the problem down"
        )


def _warn_of_untried(found: int, runs: int) -> None:
    if found > 0:
        warnings.warn(
            f"in {found:,} of {runs:,} runs exploration ended with a pair untried, which then "
            "counts as 1; explore for more rounds, or raise the cap",
            UntriedPairs,
            stacklevel=3,
        )


def _play_all(
    plan: Plan,
    world: World,
    root: np.uint64,
    marks: npt.NDArray[np.int64],
    out: Floats,
    left_at: Floats,
    threads: int,
    progress: Callable[[int], object] | None,
) -> None:
    def play_chunk(chunk: slice) -> int:
        _play_chunk(plan, world, root, chunk.start, out[chunk], marks=marks, left_at=left_at[chunk])
        return chunk.stop - chunk.start  # type: ignore[no-any-return]

    pool = ThreadPoolExecutor(threads)
    try:
        for count in pool.map(play_chunk, _chunks(len(out), plan.horizon, threads)):
            if progress is not None:
                progress(count)
    finally:
        pool.shutdown(cancel_futures=True)  # stopped with Ctrl-C: finish no more than is running


def _play_chunk(
    plan: Plan,
    world: World,
    root: np.uint64,
    first: int,
    out: Floats,
    *,
    marks: npt.NDArray[np.int64] = np.empty(0, np.int64),  # noqa: B008  # read only
    left_at: Floats | None = None,
    choices: npt.NDArray[np.int64] = np.empty((0, 2), np.int64),  # noqa: B008
    numbers: Floats = np.empty((0, 3)),  # noqa: B008
) -> None:
    """Play replications from ``first`` on, one per row of ``out``, in a state of their own."""
    from almoner.kernels.loop import play
    from almoner.kernels.state import new_hulls, new_memo, new_state

    state = new_state(plan)
    memo = new_memo(plan, state)
    if left_at is None:
        left_at = np.empty((len(out), 0))
    play(
        for_kernels(plan),
        world,
        state,
        memo,
        new_hulls(plan),
        root,
        first,
        marks,
        out,
        left_at,
        choices,
        numbers,
    )


def _chunks(runs: int, horizon: int, threads: int) -> Iterator[slice]:
    size = max(1, min(CHUNK_ROUNDS // horizon, -(-runs // threads)))
    return (slice(first, min(first + size, runs)) for first in range(0, runs, size))


def _world(problem: Problem) -> tuple[World, float]:
    """Return the world of a problem, with what each choice forgoes at the price, and the price."""
    from almoner.kernels.loop import make_world
    from almoner.lp import solve

    price = solve(problem).price
    surplus = np.column_stack(
        [problem.default_rewards, problem.reward_means - price * problem.costs]
    )
    losses = surplus.max(axis=1, keepdims=True) - surplus
    world = make_world(
        problem.context_probs,
        problem.reward_means,
        problem.default_rewards,
        problem.reward_spread,
        losses,
    )
    return world, price


def _root(seed: int) -> np.uint64:
    return np.random.SeedSequence(seed).generate_state(1, np.uint64)[0]  # type: ignore[no-any-return]


def _marks(marks: Sequence[int], horizon: int) -> npt.NDArray[np.int64]:
    if not isinstance(marks, Iterable):
        raise checks.refuse("marks", "be a list of rounds", marks)
    places = [checks.whole("marks", mark) for mark in marks]
    if places != sorted(set(places)) or (places and places[-1] > horizon):
        raise checks.refuse("marks", f"be different rounds up to {horizon}, rising", list(marks))
    return np.array(places, np.int64)
