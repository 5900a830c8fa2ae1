"""Simulation of a problem: checks the arguments, plays the replications, measures the regret.

Replication r of a seed sees the same contexts and the same reward noise under every policy, and
gives the same numbers whatever the threads and chunks.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterable, Sequence

import numpy as np

from almoner import checks
from almoner.errors import NotComputable, UntriedPairs
from almoner.policy.base import Policy
from almoner.policy.lowering import LoweredPolicy, lower
from almoner.policy.recipes import recipe
from almoner.problem import Problem
from almoner.simulation.curve import Curve, curve_rounds
from almoner.simulation.own_environment import PlainEnvironment
from almoner.simulation.python_policy import (
    PlainPolicy,
    check_methods,
    play_python,
    trace_python,
)
from almoner.simulation.regret import Benchmark, Estimator, Sample
from almoner.simulation.replications import (
    Totals,
    environment_of,
    play_compiled,
    root_key,
    trace_compiled,
)
from almoner.simulation.runs import Runs, Trace, unusable
from almoner.simulation.simulate_environment import simulate_environment, trace_environment
from almoner.types import Ints

__all__ = ["check_applies", "simulate_against", "trace_problem"]

LARGEST_SIMULATION, LONGEST_TRACE = 1e13, 25_000_000
"""Rounds in all runs, times the pairs plus 100: some hours. Rounds of a trace: a gigabyte."""


def simulate_against(
    benchmark: Benchmark,
    policy: Policy | PlainPolicy | str,
    *,
    world: PlainEnvironment | None = None,
    runs: int = 1000,
    seed: int = 0,
    estimator: str = "reduced",
    marks: Sequence[int] = (),
    threads: int | None = None,
    progress: Callable[[int], object] | None = None,
) -> Runs:
    """Simulate a policy against a benchmark that several may share; see `almoner.simulate`."""
    problem = benchmark.problem
    policy = recipe(policy) if isinstance(policy, str) else policy
    runs = checks.whole("runs", runs)
    seed = checks.whole("seed", seed, low=0)
    estimator = checks.choice("estimator", estimator, Estimator)
    marked = _marked_rounds(marks, problem.horizon)
    threads = checks.whole("threads", os.cpu_count() or 1 if threads is None else threads)
    progress = progress or (lambda count: None)
    in_python = world is not None or not isinstance(policy, Policy)
    _refuse_length("simulate", problem, runs, kept=in_python)
    player = _player(problem, policy)
    benchmark.value  # noqa: B018  # after the policy was checked: the oracle may take a minute
    rounds = curve_rounds(problem.horizon, runs)
    if world is not None:
        return simulate_environment(
            world,
            benchmark,
            policy,
            player,
            runs=runs,
            seed=seed,
            marks=marked,
            rounds=rounds,
            progress=progress,
        )
    play = _player_of_runs(problem, player, seed, runs, threads)
    compiled = isinstance(player, LoweredPolicy)
    noted = marked if compiled else np.union1d(marked, rounds[:-1] + 1)
    totals, price = play(noted, progress)
    _warn_of_untried(int(np.count_nonzero(totals.untried)), runs, policy)
    reduced = benchmark.reduced_regret(totals.loss, totals.spend, price)
    regret = reduced if estimator == Estimator.REDUCED else benchmark.raw_regret(totals.drawn)

    def make_curve() -> Curve:
        early = rounds[:-1] + 1
        again, at = (play(early, lambda count: None)[0], early) if compiled else (totals, noted)
        columns = np.searchsorted(at, early)
        so_far = benchmark.regret_so_far(
            rounds[:-1], again.loss_at[:, columns], again.left_at[:, columns], price
        )
        return Curve(rounds=rounds, values=np.column_stack([so_far, reduced]))

    return Runs(
        problem=problem,
        policy=policy,
        seed=seed,
        against=benchmark.against.value,
        estimator=estimator,
        world=None,
        reward=Sample(totals.reward),
        reward_drawn=totals.drawn,
        spend=totals.spend,
        unusable=unusable(totals.left, problem.costs),
        regret=Sample(regret),
        regret_actions=Sample(totals.wrong),
        regret_contexts=Sample(regret - totals.wrong),
        pairs=np.roll(totals.pairs / runs, -1, axis=1),
        budget_left=totals.left_at[:, np.searchsorted(noted, marked)],
        make_curve=make_curve,
    )


Play = Callable[[Ints, Callable[[int], object]], tuple[Totals, float]]


def _player_of_runs(
    problem: Problem, player: LoweredPolicy | PlainPolicy, seed: int, runs: int, threads: int
) -> Play:
    """Return a function that plays all replications, noting some rounds, and returns the price."""
    environment, price = environment_of(problem)
    root = root_key(seed)

    def play(noted: Ints, progress: Callable[[int], object]) -> tuple[Totals, float]:
        if not isinstance(player, LoweredPolicy):
            world = problem, player, environment, root
            return play_python(*world, runs=runs, marks=noted, progress=progress), price
        totals = play_compiled(
            problem,
            player,
            environment,
            root,
            runs=runs,
            marks=noted,
            threads=threads,
            progress=progress,
        )
        return totals, price

    return play


def trace_problem(
    problem: Problem,
    policy: Policy | PlainPolicy | str,
    *,
    world: PlainEnvironment | None = None,
    seed: int = 0,
    run: int = 0,
) -> Trace:
    """Return every round of one replication; see `almoner.trace`."""
    policy = recipe(policy) if isinstance(policy, str) else policy
    seed, run = checks.whole("seed", seed, low=0), checks.whole("run", run, low=0)
    _refuse_length("trace", problem, 1, kept=True)
    player = _player(problem, policy)
    if world is not None:
        return trace_environment(world, problem, player, seed=seed, run=run)
    environment, _ = environment_of(problem)
    if isinstance(player, LoweredPolicy):
        return trace_compiled(problem, player, environment, root_key(seed), run)
    return trace_python(problem, player, environment, root_key(seed), run)


def _player(problem: Problem, policy: Policy | PlainPolicy) -> LoweredPolicy | PlainPolicy:
    """Return a policy lowered for the kernels, or the checked object of a policy in Python."""
    if isinstance(policy, Policy):
        return lower(policy, **problem.terms())
    return check_methods(policy)


def _refuse_length(caller: str, problem: Problem, runs: int, *, kept: bool) -> None:
    """Refuse a simulation of many hours, or one that keeps more rounds than fit into memory."""
    work = problem.horizon * runs * (problem.costs.size + 100)
    if work > LARGEST_SIMULATION or (kept and problem.horizon > LONGEST_TRACE):
        repeated = "" if kept else f" and runs={runs}"
        raise NotComputable(
            f"{caller} needs fewer rounds, got horizon={problem.horizon}{repeated} with "
            f"{len(problem.context_probs)} contexts; scale the problem down"
        )


def check_applies(problem: Problem, policy: Policy | PlainPolicy | str) -> None:
    """Refuse a policy that does not apply to a problem."""
    _player(problem, recipe(policy) if isinstance(policy, str) else policy)


def _warn_of_untried(count: int, runs: int, policy: Policy | PlainPolicy) -> None:
    if count > 0 and isinstance(policy, Policy):
        value = getattr(policy.rewards, "untried", 1.0)
        warnings.warn(
            f"in {count:,} of {runs:,} runs exploration ended with a pair untried, which then "
            f"counts as {value:g}; explore for more rounds, or raise the cap",
            UntriedPairs,
            stacklevel=4,
        )


def _marked_rounds(marks: Sequence[int], horizon: int) -> Ints:
    """Return the checked rounds before which the budget left is noted."""
    if not isinstance(marks, Iterable):
        raise checks.refuse("marks", "be a list of rounds", marks)
    rounds = [checks.whole("marks", mark) for mark in marks]
    if rounds != sorted(set(rounds)) or (rounds and rounds[-1] > horizon):
        raise checks.refuse("marks", f"be different rounds up to {horizon}, rising", list(marks))
    return np.array(rounds, np.int64)
